//! Probabilities of rare events: for a Fleet by splitting runs, at level `nodes` by resampling random numbers.

use super::resampling::ResampledSearch;
use super::splitting::{BranchFactor, batch, find_levels};
use crate::experiment::parallel::in_parallel_with;
use crate::experiment::{NoRuns, NodesExperiment, ReplicationLimits};
use serde::{Serialize, Serializer};
use sim_api::spec::FleetSpec;
use sim_base::stats::student::StudentMean;
use sim_surrogate::fleet::{SplitBranches, SplitExcess};

/// Schema name of [`RareEventSearch`].
pub const SCHEMA: &str = "jobset-sim/plan-rare/v1";

/// Inputs of the estimation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RareQuestion {
    /// The quantity that must not exceed the limit.
    pub excess: SplitExcess,
    /// The limit: a count, or nanoseconds.
    pub limit: u64,
    /// Number of runs per level.
    pub runs: u32,
    /// Number of independent batches.
    pub batches: u64,
}

/// A level of the quantity, with the proportion of runs that reached it.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct SplittingLevel {
    /// Value of the quantity: a number of restarts, or seconds.
    pub at: f64,
    /// Proportion of the runs starting at the previous level that reached this one, over all batches.
    pub share: f64,
    /// Probability of reaching the level; 0, in JSON null, if no run reached it.
    #[serde(serialize_with = "known")]
    pub chance: f64,
}

/// Result of the estimation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RareEventSearch {
    /// Probability of the rare event; 0, in JSON null, if no run reached the limit.
    #[serde(serialize_with = "known")]
    pub chance: f64,
    /// 95 % confidence interval of the probability; `None` if no run reached the limit.
    pub ci95: Option<[f64; 2]>,
    /// Number of batches.
    pub batches: usize,
    /// Number of runs per level and batch.
    pub runs: u32,
    /// Levels in ascending order; the last one is the limit.
    pub levels: Vec<SplittingLevel>,
    /// Estimated probability of each batch.
    #[serde(skip)]
    pub estimates: Vec<f64>,
    /// Number of simulated runs, including continued parts of runs.
    pub simulated: u64,
    /// True if whole runs were resampled, false if runs were split.
    pub whole_runs: bool,
    /// Number of independent runs that would give a confidence interval of the same width; `None` if no run reached
    /// the limit.
    pub by_counting: Option<f64>,
}

/// Writes a probability of 0, which no simulation can show, as null.
fn known<S: Serializer>(chance: &f64, to: S) -> Result<S::Ok, S::Error> {
    Some(*chance).filter(|chance| *chance > 0.0).serialize(to)
}

/// Estimates the probability for a fleet without a restart limit; `None` if fewer than two batches were completed.
pub fn of_fleet(
    (fleet, seed): (&FleetSpec, u64), question: &RareQuestion, on: (usize, &ReplicationLimits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Option<RareEventSearch>, NoRuns> {
    let stops = |events| on.1.is_reached(events);
    let make = || SplitBranches::new((fleet, seed), question.excess, &stops);
    split(&make, question, on, done)
}

/// Estimates the probability for a scenario at level `nodes` without a restart limit.
pub fn of_nodes(
    (nodes, seed): (&NodesExperiment, u64), question: &RareQuestion, on: (usize, &ReplicationLimits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Option<RareEventSearch>, NoRuns> {
    let make = || ResampledSearch::new(nodes, question.excess, seed);
    let result = split(&make, question, on, done)?;
    Ok(result.map(|rare| RareEventSearch { whole_runs: true, ..rare }))
}

fn split<B: BranchFactor + Send>(
    make: &(dyn Fn() -> B + Sync), question: &RareQuestion, (threads, limits): (usize, &ReplicationLimits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Option<RareEventSearch>, NoRuns> {
    let mut first = make();
    let levels = find_levels(&mut first, question, &limits.flag);
    let finished = std::sync::atomic::AtomicU64::new(0);
    let ready = || Ok(make());
    let all = in_parallel_with(ready, (question.batches, threads), &limits.flag, |branches, i| {
        let shares = batch(branches, (question, &levels), i + 1, &limits.flag)?;
        done(finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
        Some(shares)
    })?;
    let plays: u64 = (0..levels.len()).map(|level| first.run_count(level)).sum();
    Ok(report(question, (&levels, plays), &all))
}

/// Combines the results of the batches to the estimate.
fn report(question: &RareQuestion, (levels, plays): (&[u64], u64), all: &[Vec<f64>]) -> Option<RareEventSearch> {
    let product = |shares: &Vec<f64>, n: usize| shares[..n].iter().product::<f64>();
    let estimates: Vec<f64> = all.iter().map(|s| product(s, levels.len())).collect();
    let mean = StudentMean::from_values(&estimates).filter(|m| m.n > 1)?;
    let interval = mean.log_normal_interval(&estimates, 0.95);
    let unit = match question.excess {
        SplitExcess::Restarts => 1.0,
        SplitExcess::LostTime => 1e-9,
    };
    let chance_to = |n: usize| all.iter().map(|s| product(s, n)).sum::<f64>() / all.len() as f64;
    let level = |(k, at): (usize, &u64)| SplittingLevel {
        at: *at as f64 * unit,
        share: match chance_to(k) {
            before if before > 0.0 => chance_to(k + 1) / before,
            _ => 0.0,
        },
        chance: chance_to(k + 1),
    };
    let p = mean.mean;
    // The half-width of the interval of a proportion p among n is 1.96 sqrt(p (1 − p) / n), solved for n.
    let by_counting = interval.map(|[low, high]| {
        let half = 0.5 * (high - low);
        1.96 * 1.96 * p * (1.0 - p) / (half * half)
    });
    Some(RareEventSearch {
        chance: p,
        ci95: interval.map(|limits| limits.map(|limit| limit.min(1.0))),
        batches: all.len(),
        runs: question.runs,
        levels: levels.iter().enumerate().map(level).collect(),
        simulated: all.len() as u64 * plays * u64::from(question.runs),
        whole_runs: false,
        by_counting,
        estimates,
    })
}

#[cfg(test)]
#[path = "../../../tests/inside/analysis/planning/rare.rs"]
mod tests;
