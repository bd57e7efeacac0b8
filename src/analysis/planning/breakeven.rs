//! Where one choice overtakes another: by bisection on paired differences, as far as their intervals tell.

use super::range::{Range, Unit};
use super::sample::{Play, Sample, pairs};
use crate::experiment::{Better, better};
use serde::Serialize;
use sim_base::stats::{Looks, Paired};
use std::cmp::Ordering;

/// The chance that a sign is right, over all looks at it.
const LEVEL: f64 = 0.95;
/// Halvings of the range on each side of the crossing.
const HALVINGS: usize = 6;

/// One value of the unknown, played with one of the two choices.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Point {
    /// The unknown.
    pub value: f64,
    /// The second choice.
    pub is_b: bool,
}

/// Who is better.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
    /// The interval of the difference contains zero.
    NotSeparated,
}

/// A value that was played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Played {
    /// The unknown.
    pub value: f64,
    /// "B less A", paired.
    pub difference: Option<Paired>,
    /// Who is better.
    pub side: Side,
    /// Replications of each.
    pub replications: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "found")]
pub enum Crossing {
    /// One of them is better wherever it was played.
    Everywhere {
        /// Which.
        side: Side,
    },
    /// They change places.
    At {
        /// Who is better below it.
        below: Side,
        /// Where the mean difference is 0, by the line between the values next to it.
        estimate: f64,
        /// Below this one it is told who is better.
        low: f64,
        /// Above this one it is told that the other is.
        high: f64,
    },
    /// One end tells, and from this value on nobody can.
    OneEnd {
        /// Who is better there.
        side: Side,
        /// At the lower end.
        lower: bool,
        /// Up to, or from, this value.
        until: f64,
    },
    /// Neither end tells.
    NotTold,
    /// They change places more than once.
    SeveralTimes,
}

/// A search that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakEven {
    /// What it found.
    pub crossing: Crossing,
    /// All that were played, ascending.
    pub points: Vec<Played>,
    /// Somebody has ended it early.
    pub interrupted: bool,
}

/// How often values are played.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Replications before the first look; twice as many before each further one.
    pub first_look: u64,
    /// No value is played more often.
    pub most: u64,
}

/// Searches the range.
pub fn break_even<E>(
    (range, metric): (&Range, &str),
    effort: Effort,
    play: &mut Play<'_, Point, E>,
) -> Result<BreakEven, E> {
    let mut search = Search {
        metric,
        effort,
        play,
        points: Vec::new(),
        interrupted: false,
    };
    // The ends, and enough between them to see a second crossing.
    for share in [0.0, 1.0, 0.5, 0.25, 0.75] {
        search.look(range.at(share))?;
    }
    if let Some((low, high)) = search.ends() {
        search.narrow(range, (low, high), low)?;
        search.narrow(range, (low, high), high)?;
    }
    let crossing = search.crossing();
    Ok(BreakEven {
        crossing,
        points: search.points,
        interrupted: search.interrupted,
    })
}

struct Search<'a, 'p, E> {
    metric: &'a str,
    effort: Effort,
    play: &'a mut Play<'p, Point, E>,
    points: Vec<Played>,
    interrupted: bool,
}

impl<E> Search<'_, '_, E> {
    fn side_of(&self, difference: &Paired) -> Side {
        let higher = better(self.metric) == Better::Higher;
        match difference.separated() {
            Some(Ordering::Greater) if higher => Side::B,
            Some(Ordering::Less) if !higher => Side::B,
            Some(Ordering::Greater | Ordering::Less) => Side::A,
            _ => Side::NotSeparated,
        }
    }

    /// Plays a value until it can be told who is better, or often enough.
    fn look(&mut self, value: f64) -> Result<Side, E> {
        if let Some(known) = self.points.iter().find(|p| p.value == value) {
            return Ok(known.side);
        }
        let (mut a, mut b) = (Sample::new(), Sample::new());
        let (mut side, mut difference) = (Side::NotSeparated, None);
        for look in Looks::new(self.effort.first_look as usize, LEVEL).all() {
            let n = (look.n as u64).min(self.effort.most);
            let from = a.len() as u64;
            if self.interrupted || n <= from {
                break;
            }
            for (is_b, sample) in [(false, &mut a), (true, &mut b)] {
                let more = (self.play)(&Point { value, is_b }, from..n)?;
                self.interrupted |= (more.len() as u64) < n - from;
                sample.extend(more);
            }
            difference = Paired::at(&pairs(&a, &b), look.level);
            side = difference.map_or(Side::NotSeparated, |d| self.side_of(&d));
            if side != Side::NotSeparated {
                break;
            }
        }
        if difference.is_none() {
            return Ok(Side::NotSeparated);
        }
        let at = self.points.partition_point(|p| p.value < value);
        let replications = a.len().min(b.len());
        let played = Played {
            value,
            difference,
            side,
            replications,
        };
        self.points.insert(at, played);
        Ok(side)
    }

    /// The two neighbors between which the sides change, if they do so once; those that cannot be told are between.
    fn ends(&self) -> Option<(f64, f64)> {
        let told = self.points.iter().filter(|p| p.side != Side::NotSeparated);
        let told: Vec<&Played> = told.collect();
        let changes = told.windows(2).filter(|w| w[0].side != w[1].side);
        let changes: Vec<_> = changes.map(|w| (w[0].value, w[1].value)).collect();
        match changes[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Moves one end of the interval of the crossing towards the other as far as it can be told: `known` keeps its
    /// side.
    fn narrow(&mut self, range: &Range, (low, high): (f64, f64), known: f64) -> Result<(), E> {
        let side = self.look(known)?;
        let (mut near, mut far) = match known == low {
            true => (low, high),
            false => (high, low),
        };
        for _ in 0..HALVINGS {
            let middle = match (range.is_log(), range.unit) {
                (_, Unit::Whole) => ((near + far) / 2.0).round(),
                (true, _) => libm::sqrt(near * far),
                (false, _) => 0.5 * (near + far),
            };
            if self.interrupted || middle == near || middle == far {
                break;
            }
            match self.look(middle)? == side {
                true => near = middle,
                false => far = middle,
            }
        }
        Ok(())
    }

    fn crossing(&self) -> Crossing {
        let told = self.points.iter().filter(|p| p.side != Side::NotSeparated);
        let told: Vec<&Played> = told.collect();
        let (Some(first), Some(last)) = (told.first(), told.last()) else {
            return Crossing::NotTold;
        };
        let changes = told.windows(2).filter(|w| w[0].side != w[1].side).count();
        let open = |at: Option<&Played>| at.is_some_and(|p| p.side == Side::NotSeparated);
        match changes {
            0 if open(self.points.last()) => Crossing::OneEnd {
                side: first.side,
                lower: true,
                until: last.value,
            },
            0 if open(self.points.first()) => Crossing::OneEnd {
                side: first.side,
                lower: false,
                until: first.value,
            },
            0 => Crossing::Everywhere { side: first.side },
            1 => {
                let (low, high) = self.ends().unwrap_or((first.value, last.value));
                Crossing::At {
                    below: first.side,
                    estimate: self.zero((low, high)),
                    low,
                    high,
                }
            }
            _ => Crossing::SeveralTimes,
        }
    }

    /// Where the mean difference is 0, between these values.
    fn zero(&self, (low, high): (f64, f64)) -> f64 {
        let inside = self
            .points
            .iter()
            .filter(|p| p.value >= low && p.value <= high);
        let means: Vec<(f64, f64)> = inside
            .filter_map(|p| Some((p.value, p.difference?.mean)))
            .collect();
        let crossing = means.windows(2).find(|w| (w[0].1 > 0.0) != (w[1].1 > 0.0));
        crossing.map_or(0.5 * (low + high), |w| {
            let ((x, a), (y, b)) = (w[0], w[1]);
            x + (y - x) * a / (a - b)
        })
    }
}
