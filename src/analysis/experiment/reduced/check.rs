//! Comparison of the reduced model with the pod level under the same faults: which results are equal, and how far
//! the others differ.

use super::ReducedExperiment;
use crate::experiment::parallel::{NoRuns, in_parallel_with};
use crate::experiment::replication::{ReplicationResult, replication};
use crate::{experiment::player::ExperimentRunner, experiment::stop::ReplicationLimits};
use serde::Serialize;
use sim_base::stats::MeanEstimate;
use sim_engine::record::EndReason;
use sim_surrogate::reduced::MEAN_DIFFERENCE_MAX;

/// Results of one replication at both levels.
#[derive(Clone, Debug)]
pub struct CheckedModel {
    /// Result of the simulation at pod level.
    pub pods: ReplicationResult,
    /// Result of the reduced model.
    pub reduced: ReplicationResult,
    /// Number of faults close to the boundary between two outcomes.
    pub boundary_cases: u32,
    /// Error bound of goodput.
    pub bound: f64,
}

/// Restart counts and final state of the JobSet at one level.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CountedEvents {
    /// The field `status.restarts`.
    pub restarts: u32,
    /// The field `status.restartsCountTowardsMax`.
    pub counts: u32,
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
}

impl CountedEvents {
    /// Extracts the counts from a replication.
    pub fn from_replication(replication: &ReplicationResult) -> CountedEvents {
        let jobset = &replication.jobsets[0];
        CountedEvents {
            restarts: jobset.restarts,
            counts: jobset.restarts_count_towards_max,
            terminal_state: jobset.terminal_state,
        }
    }
}

fn goodput(replication: &ReplicationResult) -> Option<f64> {
    replication.jobsets[0].training.as_ref()?.goodput
}

impl CheckedModel {
    /// Returns true if both levels have the same counts.
    pub fn is_equal(&self) -> bool {
        CountedEvents::from_replication(&self.pods) == CountedEvents::from_replication(&self.reduced)
    }

    /// Goodput at pod level and in the reduced model; 0 if both are blocked, because the goodput of a blocked
    /// replication depends on its end.
    pub fn goodput(&self) -> (f64, f64) {
        if [&self.pods, &self.reduced].iter().all(|r| r.end_reason == EndReason::Stuck.as_str()) {
            return (0.0, 0.0);
        }
        (goodput(&self.pods).unwrap_or(0.0), goodput(&self.reduced).unwrap_or(0.0))
    }

    /// Returns true if goodput differs by at most the error bound.
    pub fn is_within_bound(&self) -> bool {
        let (pods, reduced) = self.goodput();
        (pods - reduced).abs() <= self.bound
    }

    /// Evaluates the agreement of the levels.
    pub fn agreement(&self) -> ModelAgreement {
        match (self.is_equal() && self.is_within_bound(), self.boundary_cases) {
            (true, _) => ModelAgreement::Equal,
            (false, 0) => ModelAgreement::Different,
            (false, _) => ModelAgreement::Close,
        }
    }
}

/// Agreement of both levels in a replication.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ModelAgreement {
    /// The counts are equal, and goodput is within its error bound.
    Equal,
    /// The levels differ, and a boundary case explains it.
    Close,
    /// The levels differ without explanation.
    Different,
}

impl ModelAgreement {
    /// Name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            ModelAgreement::Equal => "equal",
            ModelAgreement::Close => "close",
            ModelAgreement::Different => "DIFFERENT",
        }
    }
}

impl Serialize for ModelAgreement {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// Mean differences "reduced model − pod level" over the replications. Boundary cases may have either outcome, so
/// their differences must average to about zero.
#[derive(Clone, Debug, Serialize)]
pub struct ModelDifferences {
    /// Difference of `status.restarts`.
    pub restarts: MeanEstimate,
    /// Difference of goodput.
    pub goodput: MeanEstimate,
    /// Names of the quantities whose mean difference is too large: more than the accepted share of restarts, or more
    /// than the error bounds.
    pub uneven: Vec<&'static str>,
}

impl ModelDifferences {
    /// Computes the differences of pairs (pod level, reduced model) and their error bounds; `None` without pairs.
    pub fn compare(restarts: &[[f64; 2]], goodput: &[[f64; 2]], bounds: Vec<f64>) -> Option<ModelDifferences> {
        let more = |of: &[[f64; 2]]| MeanEstimate::from_values(of.iter().map(|[a, b]| b - a).collect());
        let all = MeanEstimate::from_values(restarts.iter().map(|[pods, _]| *pods).collect())?;
        let bound = MeanEstimate::from_values(bounds)?.mean;
        let (restarts, goodput) = (more(restarts)?, more(goodput)?);
        let uneven = [
            ("restarts", is_beyond(&restarts, all.mean * MEAN_DIFFERENCE_MAX)),
            ("goodput", is_beyond(&goodput, bound)),
        ];
        let uneven = uneven.into_iter().filter(|(_, is)| *is);
        Some(ModelDifferences { uneven: uneven.map(|(what, _)| what).collect(), restarts, goodput })
    }
}

/// Returns true if the whole confidence interval of the difference is outside of ±`allowed`.
fn is_beyond(difference: &MeanEstimate, allowed: f64) -> bool {
    let [low, high] = difference.ci95;
    difference.n > 1 && (low > allowed || high < -allowed)
}

/// Runs replications at both levels; `done` receives the number of completed ones.
pub fn check_reduced(
    reduced: &ReducedExperiment, (seed, n): (u64, u64), (threads, limits): (usize, &ReplicationLimits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<CheckedModel>, NoRuns> {
    let finished = std::sync::atomic::AtomicU64::new(0);
    in_parallel_with(
        || Ok((ExperimentRunner::new(reduced.scenario())?, reduced.player().with_bound())),
        (n, threads),
        &limits.flag,
        |(pods, jobset_pods), i| {
            let pods = replication(pods, (seed, i), &[], limits)?;
            let outcome = jobset_pods.run_until((seed, i), &|faults| limits.is_reached(faults))?;
            done(finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
            Some(CheckedModel {
                pods,
                boundary_cases: outcome.boundary_cases,
                bound: outcome.bound.unwrap_or(0.0),
                reduced: reduced.replication(&outcome, i),
            })
        },
    )
}
