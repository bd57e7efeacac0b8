//! The least of several numbers at once that meets a target, such as spare hosts, spare slices and racks: every
//! combination of which no number can be less, and the cheapest of them.
//!
//! More of any of them is assumed to be no worse, as with one: then it is enough to walk along the edge of what meets
//! the target.

use super::least::{Candidate, LEVEL, Plan, look};
use super::sample::{Sample, pairs};
use super::target::{Judgement, Target};
use sim_base::stats::Paired;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// Plays replications of a combination; fewer than asked for where somebody has interrupted it.
pub type PlaySeveral<'a, E> = dyn FnMut(&[u64], Range<u64>) -> Result<Sample, E> + 'a;

/// A combination that was played.
#[derive(Clone, Debug)]
pub struct Combination {
    /// One number of each, in their order.
    pub values: Vec<u64>,
    /// What it is worth; its `value` says nothing.
    pub candidate: Candidate,
    /// Its cost less that of the cheapest, paired.
    pub dearer: Option<Paired>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Several {
    /// Those that meet the target and of which no number can be less, the cheapest first.
    pub least: Vec<Combination>,
    /// Those that may meet it, and cannot be told.
    pub open: Vec<Combination>,
    /// The greatest of all, if it does not meet the target.
    pub greatest: Option<Combination>,
    /// Combinations that were played.
    pub played: usize,
    /// Somebody has ended it early.
    pub interrupted: bool,
}

/// Searches; `plans` has the bounds of each number, and how often a combination may be played.
pub fn several<E>(
    plans: &[Plan],
    target: &Target,
    play: &mut PlaySeveral<'_, E>,
) -> Result<Several, E> {
    let mut search = Search {
        plans,
        target,
        play,
        known: BTreeMap::new(),
        interrupted: false,
    };
    let greatest: Vec<u64> = plans.iter().map(|plan| plan.max).collect();
    search.judge(&greatest)?;
    let surely = |j: Judgement| j == Judgement::Meets;
    let perhaps = |j: Judgement| j != Judgement::Misses;
    let least = search.edge(&mut Vec::new(), &surely)?;
    let open = search.edge(&mut Vec::new(), &perhaps)?;
    Ok(search.told(&least, &open, &greatest))
}

struct Search<'a, 'p, E> {
    plans: &'a [Plan],
    target: &'a Target,
    play: &'a mut PlaySeveral<'p, E>,
    known: BTreeMap<Vec<u64>, (Sample, Judgement)>,
    interrupted: bool,
}

impl<E> Search<'_, '_, E> {
    fn judge(&mut self, values: &[u64]) -> Result<Judgement, E> {
        if let Some((_, judgement)) = self.known.get(values) {
            return Ok(*judgement);
        }
        let play = &mut |which| (self.play)(values, which);
        let found = look(&self.plans[0], self.target, play, &mut self.interrupted)?;
        let judgement = found.1;
        if !found.0.is_empty() {
            self.known.insert(values.to_vec(), found);
        }
        Ok(judgement)
    }

    /// The least number behind those before it for which `is` holds with all that follow at their greatest; `high` is
    /// known to do.
    fn first(
        &mut self,
        before: &[u64],
        (low, high): (u64, u64),
        is: &dyn Fn(Judgement) -> bool,
    ) -> Result<u64, E> {
        let rest = self.plans[before.len() + 1..].iter().map(|plan| plan.max);
        let rest: Vec<u64> = rest.collect();
        let (mut low, mut high) = (low, high);
        while low < high && !self.interrupted {
            let middle = low + (high - low) / 2;
            let values = [before, &[middle], &rest].concat();
            match is(self.judge(&values)?) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(high)
    }

    /// Every combination behind the numbers before it for which `is` holds and of which no number can be less.
    fn edge(
        &mut self,
        before: &mut Vec<u64>,
        is: &dyn Fn(Judgement) -> bool,
    ) -> Result<Vec<Vec<u64>>, E> {
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
        // With more of this one than there is none of the others can be less.
        before.push(plan.max);
        let last = self.edge(before, is)?;
        before.pop();
        let mut found: Vec<Vec<u64>> = Vec::new();
        for value in from..=plan.max {
            before.push(value);
            let behind = self.edge(before, is)?;
            before.pop();
            let is_last = behind == last;
            let longer = behind.into_iter().map(|rest| [vec![value], rest].concat());
            found.extend(longer);
            if is_last || self.interrupted {
                break;
            }
        }
        Ok(minimal(found))
    }

    fn told(self, least: &[Vec<u64>], open: &[Vec<u64>], greatest: &[u64]) -> Several {
        let of = |values: &[u64]| {
            let (sample, judgement) = self.known.get(values)?;
            Some(Combination {
                values: values.to_vec(),
                candidate: Candidate {
                    value: 0,
                    estimated: self.target.estimate(sample, LEVEL),
                    judgement: *judgement,
                    change: None,
                    sample: sample.clone(),
                },
                dearer: None,
            })
        };
        let mut told: Vec<Combination> = least.iter().filter_map(|values| of(values)).collect();
        by_cost(&mut told);
        let open = open.iter().filter(|values| !least.contains(values));
        let greatest = of(greatest).filter(|_| told.is_empty());
        Several {
            open: open.filter_map(|values| of(values)).collect(),
            greatest,
            played: self.known.len(),
            interrupted: self.interrupted,
            least: told,
        }
    }
}

/// Those that no other one is below or beside in every number.
fn minimal(all: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    let below = |a: &[u64], b: &[u64]| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
    let keep = |one: &&Vec<u64>| !all.iter().any(|other| below(other, one));
    all.iter().filter(keep).cloned().collect()
}

/// The cheapest first, over the replications that all of them have.
fn by_cost(all: &mut [Combination]) {
    let common = all.iter().map(|c| c.candidate.sample.len()).min();
    let common = common.unwrap_or(0);
    let costs = |c: &Combination| -> Sample {
        let rows = c.candidate.sample[..common].iter();
        rows.map(|row| super::Row {
            value: Some(row.cost),
            ..*row
        })
        .collect()
    };
    let sum = |c: &Combination| costs(c).iter().map(|row| row.cost).sum::<f64>();
    all.sort_by(|a, b| match sum(a).total_cmp(&sum(b)) {
        Ordering::Equal => a.values.cmp(&b.values),
        other => other,
    });
    let Some(cheapest) = all.first().map(costs) else {
        return;
    };
    for other in &mut all[1..] {
        other.dearer = Paired::of(&pairs(&cheapest, &costs(other)));
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/analysis/planning/several.rs"]
mod tests;
