//! Search for the smallest combinations of several numbers that satisfy a target, such as spare hosts, spare slices
//! and racks: all combinations in which no number can be reduced, cheapest first.
//!
//! The search assumes that larger numbers are not worse, so it only follows the boundary of the satisfying
//! combinations.

use super::minimum::{JudgedSample, SearchCandidate, SearchPlan, look};
use super::sample::{SampleMetric, pairs};
use super::target::{MetricTarget, TargetJudgement};
use sim_base::stats::{PairedDifference, SampleKind};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// Runs replications of a combination; returns fewer than requested if interrupted.
pub type CombinationRun<'a, E> = dyn FnMut(&[u64], Range<u64>) -> Result<SampleMetric, E> + 'a;

/// An evaluated combination.
#[derive(Clone, Debug)]
pub struct ParameterCombination {
    /// One value per searched number, in the order of `plans`.
    pub values: Vec<u64>,
    /// Evaluation of the combination; its field `value` is not used.
    pub candidate: SearchCandidate,
    /// Paired difference of its cost from the cost of the cheapest combination.
    pub dearer: Option<PairedDifference>,
}

/// Result of the search.
#[derive(Clone, Debug)]
pub struct MultiResult {
    /// Minimal combinations that satisfy the target, cheapest first.
    pub least: Vec<ParameterCombination>,
    /// Minimal combinations for which it is inconclusive whether they satisfy the target.
    pub open: Vec<ParameterCombination>,
    /// The largest combination, if it does not satisfy the target.
    pub greatest: Option<ParameterCombination>,
    /// Number of evaluated combinations.
    pub simulated: usize,
    /// True if the search was interrupted.
    pub interrupted: bool,
}

/// Searches for the minimal combinations. `plans` contains the bounds of each number and the number of replications.
pub fn find_minimums<E>(
    plans: &[SearchPlan], target: &MetricTarget, play: &mut CombinationRun<'_, E>,
) -> Result<MultiResult, E> {
    let mut search = MultiSearch { plans, target, play, known: BTreeMap::new(), interrupted: false };
    let greatest: Vec<u64> = plans.iter().map(|plan| plan.max).collect();
    search.judge(&greatest)?;
    let surely = |j: TargetJudgement| j == TargetJudgement::Meets;
    let perhaps = |j: TargetJudgement| j != TargetJudgement::Misses;
    let least = search.edge(&mut Vec::new(), &surely)?;
    let open = search.edge(&mut Vec::new(), &perhaps)?;
    Ok(search.report(&least, &open, &greatest))
}

struct MultiSearch<'a, 'p, E> {
    plans: &'a [SearchPlan],
    target: &'a MetricTarget,
    play: &'a mut CombinationRun<'p, E>,
    known: BTreeMap<Vec<u64>, JudgedSample>,
    interrupted: bool,
}

impl<E> MultiSearch<'_, '_, E> {
    fn judge(&mut self, values: &[u64]) -> Result<TargetJudgement, E> {
        if let Some(known) = self.known.get(values) {
            return Ok(known.judgement);
        }
        let play = &mut |which| (self.play)(values, which);
        let result = look(&self.plans[0], self.target, play, &mut self.interrupted)?;
        let judgement = result.judgement;
        if !result.sample.is_empty() {
            self.known.insert(values.to_vec(), result);
        }
        Ok(judgement)
    }

    /// Bisects for the smallest value of the next number for which `is` holds. The numbers in `before` are fixed,
    /// all following ones are at their maximum. `is` must hold for `high`.
    fn first(
        &mut self, before: &[u64], (low, high): (u64, u64), is: &dyn Fn(TargetJudgement) -> bool,
    ) -> Result<u64, E> {
        let rest = self.plans[before.len() + 1..].iter().map(|plan| plan.max);
        let rest: Vec<u64> = rest.collect();
        let (mut low, mut high) = (low, high);
        while low < high && !self.interrupted {
            let middle = low + (high - low) / 2;
            let values = [before, &[middle], &rest].concat();
            if is(self.judge(&values)?) { high = middle } else { low = middle + 1 }
        }
        Ok(high)
    }

    /// Returns all combinations with the first numbers in `before` for which `is` holds and no further number can be
    /// reduced.
    fn edge(&mut self, before: &mut Vec<u64>, is: &dyn Fn(TargetJudgement) -> bool) -> Result<Vec<Vec<u64>>, E> {
        let plans = self.plans;
        let plan = &plans[before.len()];
        let rest = plans[before.len()..].iter().map(|plan| plan.max);
        let all: Vec<u64> = before.iter().copied().chain(rest).collect();
        if !is(self.judge(&all)?) || self.interrupted {
            return Ok(Vec::new());
        }
        let from = self.first(before, (plan.min, plan.max), is)?;
        if before.len() + 1 == plans.len() {
            return Ok(vec![vec![from]]);
        }
        // The combinations with the largest value: once a smaller value reaches them, larger values change nothing.
        before.push(plan.max);
        let last = self.edge(before, is)?;
        before.pop();
        let mut result: Vec<Vec<u64>> = Vec::new();
        for value in from..=plan.max {
            before.push(value);
            let behind = self.edge(before, is)?;
            before.pop();
            let is_last = behind == last;
            let longer = behind.into_iter().map(|rest| [vec![value], rest].concat());
            result.extend(longer);
            if is_last || self.interrupted {
                break;
            }
        }
        Ok(minimal(result))
    }

    fn report(self, least: &[Vec<u64>], open: &[Vec<u64>], greatest: &[u64]) -> MultiResult {
        let of = |values: &[u64]| {
            let JudgedSample { sample, judgement, estimated } = self.known.get(values)?;
            Some(ParameterCombination {
                values: values.to_vec(),
                candidate: SearchCandidate {
                    value: 0,
                    estimated: *estimated,
                    judgement: *judgement,
                    change: None,
                    sample: sample.clone(),
                },
                dearer: None,
            })
        };
        let mut smallest: Vec<ParameterCombination> = least.iter().filter_map(|values| of(values)).collect();
        by_cost(&mut smallest);
        let open = open.iter().filter(|values| !least.contains(values));
        let greatest = of(greatest).filter(|_| smallest.is_empty());
        MultiResult {
            open: open.filter_map(|values| of(values)).collect(),
            greatest,
            simulated: self.known.len(),
            interrupted: self.interrupted,
            least: smallest,
        }
    }
}

/// Removes combinations in which some number is larger and none is smaller than in another one.
fn minimal(all: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    let below = |a: &[u64], b: &[u64]| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
    let keep = |one: &&Vec<u64>| !all.iter().any(|other| below(other, one));
    all.iter().filter(keep).cloned().collect()
}

/// Sorts by cost over the replications that all of them have, cheapest first.
fn by_cost(all: &mut [ParameterCombination]) {
    let common = all.iter().map(|c| c.candidate.sample.len()).min();
    let common = common.unwrap_or(0);
    let costs = |c: &ParameterCombination| -> SampleMetric {
        let rows = c.candidate.sample[..common].iter();
        rows.map(|row| super::SampleRow { value: Some(row.cost), ..*row }).collect()
    };
    let sum = |c: &ParameterCombination| costs(c).iter().map(|row| row.cost).sum::<f64>();
    all.sort_by(|a, b| match sum(a).total_cmp(&sum(b)) {
        Ordering::Equal => a.values.cmp(&b.values),
        other => other,
    });
    let Some(cheapest) = all.first().map(costs) else {
        return;
    };
    for other in &mut all[1..] {
        other.dearer = PairedDifference::from_pairs(&pairs(&cheapest, &costs(other)), SampleKind::Number);
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/analysis/planning/minimum_multi.rs"]
mod tests;
