//! Comparison of level `nodes` with level `pods` under the same faults: which quantities agree, which differ, and where
//! more replications are needed.

use super::NodesExperiment;
use super::parallel::{NoRuns, in_parallel_with};
use super::player::ExperimentRunner;
use super::replication::{ReplicatedJobSet, ReplicationResult, replication};
use super::stop::ReplicationLimits;
use crate::metrics::RestartOutcome;
use serde::Serialize;
use sim_base::random::MixtureDistribution;
use sim_base::stats::MeanEstimate;
use sim_engine::record::EndReason;

/// Accepted mean difference of goodput: 0.3 points.
const GOODPUT_TOLERANCE: f64 = 0.003;
/// Accepted mean difference of the number of restarts, as a share of the restarts; at least a tenth of a restart.
const RESTARTS_TOLERANCE: f64 = 0.02;
const RESTARTS_TOLERANCE_MIN: f64 = 0.1;
/// Accepted mean difference of the time of a restart, as a share of that time; at least ten seconds, which change
/// goodput by less than 0.1 points.
const LATENCY_TOLERANCE: f64 = 0.02;
const LATENCY_TOLERANCE_MIN_S: f64 = 10.0;
/// Accepted difference of the share of replications in which all work was completed.
const COMPLETED_TOLERANCE: f64 = 0.02;

/// One replication at both levels.
#[derive(Clone, Debug)]
pub struct CheckedLevels {
    /// Result at level `pods`.
    pub pods: ReplicationResult,
    /// Result at level `nodes`.
    pub nodes: ReplicationResult,
}

/// The result of a comparison.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LevelVerdict {
    /// The whole confidence interval of the difference is within the tolerance.
    Agree,
    /// The interval contains accepted and not accepted differences.
    Inconclusive,
    /// The whole interval is outside of the tolerance.
    Differ,
}

impl LevelVerdict {
    /// Name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            LevelVerdict::Agree => "agree",
            LevelVerdict::Inconclusive => "inconclusive",
            LevelVerdict::Differ => "DIFFER",
        }
    }
}

/// The difference "level nodes − level pods" of one quantity over the replications.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LevelDifference {
    /// Name of the quantity.
    pub name: &'static str,
    /// Means at level `pods` and at level `nodes`.
    pub pods: f64,
    /// Mean at level `nodes`.
    pub nodes: f64,
    /// Mean of the paired differences, with its 95 % confidence interval.
    pub difference: MeanEstimate,
    /// Largest accepted difference.
    pub tolerance: f64,
    /// Whether the difference is accepted.
    pub verdict: LevelVerdict,
    /// Number of replications with which the half-width of the interval is about half of the tolerance; only if the
    /// result is inconclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications_needed: Option<u64>,
}

impl CheckedLevels {
    /// Returns true if every JobSet has equal restart counts and terminal states at both levels.
    pub fn is_equal(&self) -> bool {
        let key =
            |jobset: &ReplicatedJobSet| (jobset.restarts, jobset.restarts_count_towards_max, jobset.terminal_state);
        self.pods.jobsets.iter().map(key).eq(self.nodes.jobsets.iter().map(key))
    }

    /// Mean goodput of the JobSets at level `pods` and at level `nodes`; 0 if both are blocked, because the goodput of
    /// a blocked replication depends on its end.
    pub fn goodput(&self) -> [f64; 2] {
        if [&self.pods, &self.nodes].iter().all(|r| r.end_reason == EndReason::Stuck.as_str()) {
            return [0.0, 0.0];
        }
        [&self.pods, &self.nodes].map(goodput)
    }
}

fn goodput(of: &ReplicationResult) -> f64 {
    let all = of.jobsets.iter().filter_map(|jobset| jobset.training.as_ref()?.goodput);
    let (sum, n) = all.fold((0.0, 0.0), |(sum, n), goodput| (sum + goodput, n + 1.0));
    if n > 0.0 { sum / n } else { 0.0 }
}

fn restarts(of: &ReplicationResult) -> f64 {
    of.jobsets.iter().map(|jobset| f64::from(jobset.all_restarts)).sum()
}

/// Mean time of the finished restarts in seconds; `None` without any.
fn latency_s(of: &ReplicationResult) -> Option<f64> {
    let all = of.jobsets.iter().flat_map(|jobset| &jobset.each).filter(|r| r.ending == RestartOutcome::Ready);
    let (sum, n) = all.fold((0.0, 0.0), |(sum, n), r| (sum + r.end.since(r.start).seconds(), n + 1.0));
    (n > 0.0).then(|| sum / n)
}

fn completed(of: &ReplicationResult) -> f64 {
    let is_done = |jobset: &ReplicatedJobSet| jobset.completed_s.is_some();
    f64::from(u8::from(of.jobsets.iter().all(is_done)))
}

/// Returns the differences over these replications; empty without any.
pub fn differences(all: &[CheckedLevels]) -> Vec<LevelDifference> {
    let pairs = |of: &dyn Fn(&ReplicationResult) -> f64| -> Vec<[f64; 2]> {
        all.iter().map(|checked| [of(&checked.pods), of(&checked.nodes)]).collect()
    };
    let latencies: Vec<[f64; 2]> =
        all.iter().filter_map(|checked| Some([latency_s(&checked.pods)?, latency_s(&checked.nodes)?])).collect();
    let share_of = |pairs: &[[f64; 2]], share: f64, least: f64| (mean(pairs, 0) * share).max(least);
    let restarts = pairs(&restarts);
    let quantities = [
        ("completed", pairs(&completed), COMPLETED_TOLERANCE),
        ("restarts", restarts.clone(), share_of(&restarts, RESTARTS_TOLERANCE, RESTARTS_TOLERANCE_MIN)),
        ("restartLatency_s", latencies.clone(), share_of(&latencies, LATENCY_TOLERANCE, LATENCY_TOLERANCE_MIN_S)),
        ("goodput", all.iter().map(CheckedLevels::goodput).collect(), GOODPUT_TOLERANCE),
    ];
    quantities.into_iter().filter_map(|(name, pairs, tolerance)| difference(name, &pairs, tolerance)).collect()
}

fn mean(pairs: &[[f64; 2]], side: usize) -> f64 {
    pairs.iter().map(|pair| pair[side]).sum::<f64>() / pairs.len().max(1) as f64
}

fn difference(name: &'static str, pairs: &[[f64; 2]], tolerance: f64) -> Option<LevelDifference> {
    let difference = MeanEstimate::from_values(pairs.iter().map(|[pods, nodes]| nodes - pods).collect())?;
    let [low, high] = difference.ci95;
    let verdict = if low >= -tolerance && high <= tolerance {
        LevelVerdict::Agree
    } else if low > tolerance || high < -tolerance {
        LevelVerdict::Differ
    } else {
        LevelVerdict::Inconclusive
    };
    let wider = (high - low) / tolerance;
    let needed = (pairs.len() as f64 * wider * wider).ceil() as u64;
    Some(LevelDifference {
        name,
        pods: mean(pairs, 0),
        nodes: mean(pairs, 1),
        difference,
        tolerance,
        verdict,
        replications_needed: (verdict == LevelVerdict::Inconclusive && pairs.len() > 1).then_some(needed),
    })
}

/// Runs replications at both levels; `done` receives the number of completed ones.
pub fn check_levels(
    nodes: &NodesExperiment, (seed, n): (u64, u64), (threads, limits): (usize, &ReplicationLimits),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Vec<CheckedLevels>, NoRuns> {
    let finished = std::sync::atomic::AtomicU64::new(0);
    in_parallel_with(
        || Ok((ExperimentRunner::new(nodes.scenario())?, nodes.player())),
        (n, threads),
        &limits.flag,
        |(pods, player), i| {
            let pods = replication(pods, (seed, i), &[], limits)?;
            let numbers = MixtureDistribution::single(i);
            let outcome = player.run_until(seed, numbers, &|faults| limits.is_reached(faults))?;
            done(finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
            Some(CheckedLevels { pods, nodes: nodes.replication(&outcome, i) })
        },
    )
}
