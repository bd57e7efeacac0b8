//! Search for the smallest number that satisfies a target, by bisection. Inconclusive candidates get more
//! replications; cases that remain inconclusive are reported.
//!
//! The search assumes that larger numbers are not worse. It checks this assumption against all evaluated candidates.

use super::sample::{SampleMetric, SampleRow, SampleRun, paired_difference};
use super::target::{EstimatedTarget, MetricTarget, TargetJudgement, TargetStatistic};
use serde::Serialize;
use sim_base::stats::{PairedDifference, planned_looks, values_for_quantile_interval};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bounds of the search, and number of replications per candidate.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct SearchPlan {
    /// The smallest candidate.
    pub min: u64,
    /// The largest candidate.
    pub max: u64,
    /// Number of replications before the first interim analysis; doubled for each further one.
    pub first_look: u64,
    /// Maximum number of replications per candidate.
    pub most: u64,
}

/// Confidence level of the judgment of one candidate, over all interim analyses.
pub const LEVEL: f64 = 0.95;

/// Result of the search.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "found")]
pub enum SearchAnswer {
    /// This number satisfies the target, and the next smaller one, if any, does not.
    Least {
        /// The smallest number.
        value: u64,
    },
    /// The smallest number lies in this range; more precision is not conclusive.
    Between {
        /// The smallest possible result.
        low: u64,
        /// This number satisfies the target.
        high: u64,
    },
    /// Even the largest candidate does not satisfy the target.
    Nothing,
    /// It is inconclusive whether the largest candidate satisfies the target.
    Open {
        /// The smallest number that may satisfy the target; smaller ones do not.
        low: u64,
    },
}

/// An evaluated candidate.
#[derive(Clone, Debug)]
pub struct SearchCandidate {
    /// The evaluated number.
    pub value: u64,
    /// Replications of this candidate.
    pub sample: SampleMetric,
    /// Whether it satisfies the target.
    pub judgement: TargetJudgement,
    /// The statistic of the target with its 95 % confidence interval.
    pub estimated: Option<EstimatedTarget>,
    /// Paired difference of its metric from the previous candidate in the table.
    pub change: Option<PairedDifference>,
}

/// Result of a finished search.
#[derive(Clone, Debug)]
pub struct MinimumSearch {
    /// The smallest number, as far as it was determined.
    pub answer: SearchAnswer,
    /// All evaluated candidates, ascending.
    pub candidates: Vec<SearchCandidate>,
    /// Candidates that are worse than the previous one, contrary to the assumption.
    pub not_monotone: Vec<u64>,
    /// True if the search was interrupted.
    pub interrupted: bool,
}

/// Searches for the smallest number that satisfies the target.
pub fn find_minimum<E>(
    plan: &SearchPlan, target: &MetricTarget, play: &mut SampleRun<'_, u64, E>,
) -> Result<MinimumSearch, E> {
    let mut search = SearchRequest { plan, target, play, known: BTreeMap::new(), interrupted: false };
    let answer = search.answer()?;
    search.neighbors(answer)?;
    Ok(search.report(answer))
}

struct SearchRequest<'a, 'p, E> {
    plan: &'a SearchPlan,
    target: &'a MetricTarget,
    play: &'a mut SampleRun<'p, u64, E>,
    known: BTreeMap<u64, JudgedSample>,
    interrupted: bool,
}

impl<E> SearchRequest<'_, '_, E> {
    fn answer(&mut self) -> Result<SearchAnswer, E> {
        let (min, max) = (self.plan.min, self.plan.max);
        let greatest = self.judge(max)?;
        if greatest == TargetJudgement::Misses && !self.interrupted {
            // Smaller candidates show whether the number matters at all; with an upper limit they may satisfy it.
            let mut meets = None;
            for value in [min + (max - min) / 2, min] {
                if self.judge(value)? != TargetJudgement::Misses {
                    meets = Some(value);
                }
            }
            let Some(high) = meets else { return Ok(SearchAnswer::Nothing) };
            self.first(high, |j| j == TargetJudgement::Meets)?;
            return Ok(match self.least() {
                SearchAnswer::Open { low } => SearchAnswer::Open { low: self.first_open().unwrap_or(low) },
                found => found,
            });
        }
        if max > min {
            self.judge(min)?;
        }
        if greatest == TargetJudgement::Meets {
            self.first(max, |j| j == TargetJudgement::Meets)?;
        }
        self.first(max, |j| j != TargetJudgement::Misses)?;
        Ok(self.least())
    }

    /// Derives the answer from all evaluated candidates, because the assumption of the bisection may not hold.
    fn least(&self) -> SearchAnswer {
        let min = self.plan.min;
        let meets = self.known.iter().filter(|(_, k)| k.judgement == TargetJudgement::Meets);
        let high = meets.map(|(v, _)| *v).min();
        let below = |v: u64| high.is_none_or(|high| v < high);
        let misses = self.known.iter().filter(|(v, k)| below(**v) && k.judgement == TargetJudgement::Misses);
        let low = misses.map(|(v, _)| v + 1).max().unwrap_or(min);
        match high {
            Some(high) if low == high => SearchAnswer::Least { value: high },
            Some(high) => SearchAnswer::Between { low, high },
            None => SearchAnswer::Open { low },
        }
    }

    /// The smallest evaluated candidate that may satisfy the target.
    fn first_open(&self) -> Option<u64> {
        self.known.iter().find(|(_, k)| k.judgement == TargetJudgement::Open).map(|(value, _)| *value)
    }

    /// Bisects for the first candidate for which `is` holds; it must hold for all larger ones, including `high`.
    fn first(&mut self, high: u64, is: impl Fn(TargetJudgement) -> bool) -> Result<(), E> {
        let (mut low, mut high) = (self.plan.min, high);
        while low < high && !self.interrupted {
            let middle = low + (high - low) / 2;
            if is(self.judge(middle)?) { high = middle } else { low = middle + 1 }
        }
        Ok(())
    }

    /// Evaluates a candidate until it is conclusive or the limit of replications is reached.
    fn judge(&mut self, value: u64) -> Result<TargetJudgement, E> {
        if let Some(known) = self.known.get(&value) {
            return Ok(known.judgement);
        }
        let play = &mut |which| (self.play)(&value, which);
        let judged = look(self.plan, self.target, play, &mut self.interrupted)?;
        let judgement = judged.judgement;
        self.known.insert(value, judged);
        Ok(judgement)
    }

    /// Evaluates the neighbors of the answer as well, so that tables can compare them.
    fn neighbors(&mut self, answer: SearchAnswer) -> Result<(), E> {
        let around = match answer {
            SearchAnswer::Least { value } => value,
            SearchAnswer::Between { high, .. } => high,
            SearchAnswer::Nothing | SearchAnswer::Open { .. } => return Ok(()),
        };
        for value in [around.checked_sub(1), Some(around + 1)].into_iter().flatten() {
            if (self.plan.min..=self.plan.max).contains(&value) && !self.interrupted {
                self.judge(value)?;
            }
        }
        Ok(())
    }

    fn report(self, answer: SearchAnswer) -> MinimumSearch {
        let mut candidates: Vec<SearchCandidate> = Vec::new();
        let mut not_monotone = Vec::new();
        for (value, judged) in self.known {
            let JudgedSample { sample, judgement, estimated } = judged;
            let before = candidates.last();
            let change = before.and_then(|b| paired_difference(&self.target.metric, &b.sample, &sample));
            let worse = if self.target.at_least { Ordering::Less } else { Ordering::Greater };
            let crossed =
                before.is_some_and(|b| b.judgement == TargetJudgement::Meets && judgement == TargetJudgement::Misses);
            if crossed || change.and_then(|c| c.significant_order()) == Some(worse) {
                not_monotone.push(value);
            }
            candidates.push(SearchCandidate { value, estimated, judgement, change, sample });
        }
        candidates.retain(|c| !c.sample.is_empty());
        MinimumSearch { answer, candidates, not_monotone, interrupted: self.interrupted }
    }
}

/// The replications of one candidate and the judgment at their last interim analysis.
pub(super) struct JudgedSample {
    pub sample: SampleMetric,
    pub judgement: TargetJudgement,
    /// The estimate with its interval at `LEVEL`, which takes the earlier analyses into account.
    pub estimated: Option<EstimatedTarget>,
}

impl SearchPlan {
    /// Number of replications from which on the target can be judged, if it is more than the maximum.
    pub fn too_few(&self, target: &MetricTarget) -> Option<usize> {
        let TargetStatistic::Quantile(p) = target.statistic else {
            return None;
        };
        let mut most = self.most as usize;
        // The required number at the last look, which depends on the number of looks.
        loop {
            let looks = planned_looks(self.first_look as usize, most, LEVEL).looks;
            let needed = looks.last().map_or(0, |look| values_for_quantile_interval(p, look.level));
            if needed <= most {
                return (most as u64 > self.most).then_some(most);
            }
            most = needed;
        }
    }
}

/// Adds replications of one candidate until its judgment is conclusive or the maximum is reached.
pub(super) fn look<E>(
    plan: &SearchPlan, target: &MetricTarget, play: &mut dyn FnMut(Range<u64>) -> Result<SampleMetric, E>,
    interrupted: &mut bool,
) -> Result<JudgedSample, E> {
    let mut judged = JudgedSample { sample: SampleMetric::new(), judgement: TargetJudgement::Open, estimated: None };
    let design = planned_looks(plan.first_look as usize, plan.most as usize, LEVEL);
    for (stage, look) in design.looks.iter().enumerate() {
        let (n, from) = (look.n as u64, judged.sample.len() as u64);
        if *interrupted {
            break;
        }
        let more = play(from..n)?;
        *interrupted = (more.len() as u64) < n - from;
        judged.sample.extend(more);
        judged.judgement = target.test_sample(&judged.sample, look.level);
        if judged.judgement != TargetJudgement::Open || stage + 1 == design.looks.len() || *interrupted {
            judged.estimated = target.final_estimate(&judged.sample, (&design, stage));
            break;
        }
    }
    Ok(judged)
}

impl SearchCandidate {
    /// Returns the mean cost of a replication that completed its work; of all replications if none did.
    pub fn cost(&self) -> f64 {
        let some_completed = self.excluded() < self.sample.len();
        let counts = |row: &&SampleRow| !(some_completed && row.is_worst);
        let costs = self.sample.iter().filter(counts).map(|row| row.cost);
        let (n, sum) = costs.fold((0_u32, 0.0), |(n, sum), cost| (n + 1, sum + cost));
        sum / f64::from(n.max(1))
    }

    /// Returns the number of replications without completed work, which count as the worst value.
    pub fn excluded(&self) -> usize {
        self.sample.iter().filter(|row: &&SampleRow| row.is_worst).count()
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/analysis/planning/minimum.rs"]
mod tests;
