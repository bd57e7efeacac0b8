//! Break-even search: the value at which one choice becomes better than another, by bisection on paired differences.

use super::range::{ParameterRange, RangeUnit};
use super::sample::{SampleMetric, SampleRow, SampleRun, pairs};
use crate::experiment::{BetterDirection, better, is_below_resolution, sample_kind};
use serde::Serialize;
use sim_base::stats::{PairedDifference, PlannedLooks, SampleKind, planned_looks};
use std::cmp::Ordering;

/// Confidence level of one decision, over all interim analyses of its replications.
const LEVEL: f64 = 0.95;
/// Number of bisections on each side of the crossing.
const HALVINGS: usize = 6;

/// A value of the parameter together with the choice to simulate.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SearchPoint {
    /// Value of the parameter.
    pub value: f64,
    /// True for the second choice.
    pub is_b: bool,
}

/// The better choice.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BreakEvenSide {
    /// The first choice.
    A,
    /// The second choice.
    B,
    /// Neither choice is conclusively better: the interval of the difference contains zero.
    Inconclusive,
}

/// Comparison of both choices at one value of the parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedPoint {
    /// Value of the parameter.
    pub value: f64,
    /// Paired difference "B − A".
    pub difference: Option<PairedDifference>,
    /// The better choice at this value.
    pub side: BreakEvenSide,
    /// Number of replications of each choice.
    pub replications: usize,
    /// Number of replications that each choice completes.
    pub completed: [usize; 2],
}

/// Result of the search.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "found")]
pub enum BreakEvenCrossing {
    /// One choice is better at all evaluated values.
    Everywhere {
        /// The better choice.
        side: BreakEvenSide,
    },
    /// The better choice changes within the range.
    At {
        /// The better choice below the crossing.
        below: BreakEvenSide,
        /// Zero of the mean difference, by linear interpolation between neighboring values.
        estimate: f64,
        /// Largest evaluated value at which the choice `below` is conclusively better.
        low: f64,
        /// Smallest evaluated value at which the other choice is conclusively better.
        high: f64,
    },
    /// Conclusive at one end of the range, inconclusive from some value on.
    OneEnd {
        /// The better choice at that end.
        side: BreakEvenSide,
        /// True for the lower end.
        lower: bool,
        /// Last value, seen from that end, at which the choice is conclusively better.
        until: f64,
    },
    /// One choice is conclusively better between these values, and the comparison is inconclusive at both ends.
    Inside {
        /// The better choice.
        side: BreakEvenSide,
        /// The first conclusive value.
        low: f64,
        /// The last conclusive value.
        high: f64,
    },
    /// The comparison is inconclusive at all evaluated values.
    NotTold,
    /// The better choice changes more than once within the range.
    SeveralTimes,
}

/// Result of a finished search.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakEven {
    /// The position of the break-even value.
    pub crossing: BreakEvenCrossing,
    /// All evaluated values, ascending.
    pub points: Vec<SimulatedPoint>,
    /// True if the search was interrupted.
    pub interrupted: bool,
}

/// Number of replications per value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SearchEffort {
    /// Number of replications before the first interim analysis; doubled for each further one.
    pub first_look: u64,
    /// Maximum number of replications per value.
    pub most: u64,
}

/// Searches the range for the value at which the better choice changes.
pub fn break_even<E>(
    (range, metric): (&ParameterRange, &str), effort: SearchEffort, play: &mut SampleRun<'_, SearchPoint, E>,
) -> Result<BreakEven, E> {
    let mut search = BreakEvenSearch { metric, effort, play, points: Vec::new(), interrupted: false };
    // Evaluates the ends, and enough values between them to detect a second crossing.
    for share in [0.0, 1.0, 0.5, 0.25, 0.75] {
        search.look(range.at(share))?;
    }
    if let Some((low, high)) = search.bounds() {
        search.narrow(range, (low, high), low)?;
        search.narrow(range, (low, high), high)?;
    }
    let crossing = search.crossing();
    Ok(BreakEven { crossing, points: search.points, interrupted: search.interrupted })
}

struct BreakEvenSearch<'a, 'p, E> {
    metric: &'a str,
    effort: SearchEffort,
    play: &'a mut SampleRun<'p, SearchPoint, E>,
    points: Vec<SimulatedPoint>,
    interrupted: bool,
}

/// Confidence level of each test: completion and metric share the error probability if some replications do not
/// complete.
fn level_of_each_test((a, b): (&SampleMetric, &SampleMetric), level: f64) -> f64 {
    let is_complete = a.iter().chain(b).all(|row| !row.is_worst);
    if is_complete { level } else { 0.5 * (1.0 + level) }
}

impl<E> BreakEvenSearch<'_, '_, E> {
    /// Judges common replications: the choice that completes more of them is better; otherwise the metric decides, but
    /// never for a choice that completes fewer.
    fn judge(&self, (a, b): (&SampleMetric, &SampleMetric), level: f64) -> Option<SimulatedPoint> {
        let pairs = pairs(a, b);
        let is_completed = |row: &SampleRow| f64::from(u8::from(!row.is_worst));
        let completion: Vec<(f64, f64)> = a.iter().zip(b).map(|(x, y)| (is_completed(x), is_completed(y))).collect();
        let completed = [a, b].map(|sample| sample.iter().filter(|row| !row.is_worst).count());
        let level = level_of_each_test((a, b), level);
        let completion = PairedDifference::at_level(&completion, SampleKind::Indicator, level);
        let difference = PairedDifference::at_level(&pairs, sample_kind(self.metric), level).filter(|d| d.n > 1);
        let resolved = difference.filter(|_| !is_below_resolution(&pairs));
        let higher = better(self.metric) == BetterDirection::Higher;
        let by_completion = completion.map_or(BreakEvenSide::Inconclusive, |d| Self::side_of(&d, true));
        let by_metric = resolved.map_or(BreakEvenSide::Inconclusive, |d| Self::side_of(&d, higher));
        let by_metric = match by_metric {
            BreakEvenSide::A if completed[0] < completed[1] => BreakEvenSide::Inconclusive,
            BreakEvenSide::B if completed[1] < completed[0] => BreakEvenSide::Inconclusive,
            side => side,
        };
        let side = if by_completion == BreakEvenSide::Inconclusive { by_metric } else { by_completion };
        let replications = a.len().min(b.len());
        completion.map(|_| SimulatedPoint { value: 0.0, difference, side, replications, completed })
    }

    /// Replaces the interval of a look by that after a stop at this look, which leads to the same order.
    fn set_final_interval(
        &self, difference: &mut PairedDifference, samples: (&SampleMetric, &SampleMetric),
        (design, stage): (&PlannedLooks, usize),
    ) {
        let (pairs, kind) = (pairs(samples.0, samples.1), sample_kind(self.metric));
        let at_level = |level: f64| {
            let found = PairedDifference::at_level(&pairs, kind, level_of_each_test(samples, level));
            found.map_or([None; 2], |difference| difference.ci95.map(Some))
        };
        if let [Some(low), Some(high)] = design.final_interval(stage, 0.0, at_level) {
            let mut exact = *difference;
            exact.ci95 = [low, high];
            if exact.significant_order() == difference.significant_order() {
                *difference = exact;
            }
        }
    }

    fn side_of(difference: &PairedDifference, higher: bool) -> BreakEvenSide {
        match difference.significant_order() {
            Some(Ordering::Greater) if higher => BreakEvenSide::B,
            Some(Ordering::Less) if !higher => BreakEvenSide::B,
            Some(Ordering::Greater | Ordering::Less) => BreakEvenSide::A,
            _ => BreakEvenSide::Inconclusive,
        }
    }

    /// Adds replications at a value until the comparison is conclusive or the maximum is reached.
    fn look(&mut self, value: f64) -> Result<BreakEvenSide, E> {
        if let Some(known) = self.points.iter().find(|p| p.value == value) {
            return Ok(known.side);
        }
        let (mut a, mut b) = (SampleMetric::new(), SampleMetric::new());
        let mut judged = None;
        let design = planned_looks(self.effort.first_look as usize, self.effort.most as usize, LEVEL);
        for (stage, look) in design.looks.iter().enumerate() {
            let (n, from) = (look.n as u64, a.len() as u64);
            if self.interrupted {
                break;
            }
            for (is_b, sample) in [(false, &mut a), (true, &mut b)] {
                let more = (self.play)(&SearchPoint { value, is_b }, from..n)?;
                self.interrupted |= (more.len() as u64) < n - from;
                sample.extend(more);
            }
            judged = self.judge((&a, &b), look.level);
            let is_open = judged.as_ref().is_none_or(|point| point.side == BreakEvenSide::Inconclusive);
            if !is_open || self.interrupted || stage + 1 == design.looks.len() {
                if let Some(difference) = judged.as_mut().and_then(|point| point.difference.as_mut()) {
                    self.set_final_interval(difference, (&a, &b), (&design, stage));
                }
                break;
            }
        }
        let Some(point) = judged else {
            return Ok(BreakEvenSide::Inconclusive);
        };
        let (at, side) = (self.points.partition_point(|p| p.value < value), point.side);
        self.points.insert(at, SimulatedPoint { value, ..point });
        Ok(side)
    }

    /// Returns the two neighboring conclusive values between which the better choice changes. Inconclusive values
    /// may lie between them. `None` unless the choice changes exactly once.
    fn bounds(&self) -> Option<(f64, f64)> {
        let conclusive = self.points.iter().filter(|p| p.side != BreakEvenSide::Inconclusive);
        let conclusive: Vec<&SimulatedPoint> = conclusive.collect();
        let changes = conclusive.windows(2).filter(|w| w[0].side != w[1].side);
        let changes: Vec<_> = changes.map(|w| (w[0].value, w[1].value)).collect();
        match changes[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Narrows the interval that contains the crossing from the side of `known`: moves that end as long as the same
    /// choice is conclusively better.
    fn narrow(&mut self, range: &ParameterRange, (low, high): (f64, f64), known: f64) -> Result<(), E> {
        let side = self.look(known)?;
        let (mut near, mut far) = if known == low { (low, high) } else { (high, low) };
        for _ in 0..HALVINGS {
            let middle = match (range.is_log(), range.unit) {
                (_, RangeUnit::Whole) => ((near + far) / 2.0).round(),
                (true, _) => libm::sqrt(near * far),
                (false, _) => 0.5 * (near + far),
            };
            if self.interrupted || middle == near || middle == far {
                break;
            }
            if self.look(middle)? == side { near = middle } else { far = middle }
        }
        Ok(())
    }

    fn crossing(&self) -> BreakEvenCrossing {
        let conclusive = self.points.iter().filter(|p| p.side != BreakEvenSide::Inconclusive);
        let conclusive: Vec<&SimulatedPoint> = conclusive.collect();
        let (Some(first), Some(last)) = (conclusive.first(), conclusive.last()) else {
            return BreakEvenCrossing::NotTold;
        };
        let changes = conclusive.windows(2).filter(|w| w[0].side != w[1].side).count();
        let open = |at: Option<&SimulatedPoint>| at.is_some_and(|p| p.side == BreakEvenSide::Inconclusive);
        match changes {
            0 if open(self.points.first()) && open(self.points.last()) => {
                BreakEvenCrossing::Inside { side: first.side, low: first.value, high: last.value }
            }
            0 if open(self.points.last()) => {
                BreakEvenCrossing::OneEnd { side: first.side, lower: true, until: last.value }
            }
            0 if open(self.points.first()) => {
                BreakEvenCrossing::OneEnd { side: first.side, lower: false, until: first.value }
            }
            0 => BreakEvenCrossing::Everywhere { side: first.side },
            1 => {
                let (low, high) = self.bounds().unwrap_or((first.value, last.value));
                BreakEvenCrossing::At { below: first.side, estimate: self.zero((low, high)), low, high }
            }
            _ => BreakEvenCrossing::SeveralTimes,
        }
    }

    /// Returns the zero of the mean difference between two values, by linear interpolation.
    fn zero(&self, (low, high): (f64, f64)) -> f64 {
        let inside = self.points.iter().filter(|p| p.value >= low && p.value <= high);
        let means: Vec<(f64, f64)> = inside.filter_map(|p| Some((p.value, p.difference?.mean))).collect();
        let crossing = means.windows(2).find(|w| (w[0].1 > 0.0) != (w[1].1 > 0.0));
        crossing.map_or(0.5 * (low + high), |w| {
            let ((x, a), (y, b)) = (w[0], w[1]);
            x + (y - x) * a / (a - b)
        })
    }
}
