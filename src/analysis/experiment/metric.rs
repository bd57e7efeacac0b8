//! The metrics of a replication: every value under a stable name, or the reason why it has none.
//!
//! The only place that defines them. Names are paths in `summary.json`.

use super::replication::{ReplicatedJobSet, ReplicationResult};
use crate::metrics::RestartOutcome;
use sim_engine::record::{LedgerCategory, TrainingPhase};

/// The value of a metric in one replication, or why there is none.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum MeasuredMetric {
    /// The value of the metric.
    Value(f64),
    /// The metric does not exist, for example without a restart.
    Absent,
    /// The run was blocked before the metric was defined.
    Stuck,
    /// The run ended before the metric was defined.
    Cut,
}

impl MeasuredMetric {
    /// The value, if there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            MeasuredMetric::Value(v) => Some(v),
            _ => None,
        }
    }
}

/// Whether lower or higher values of a metric are better.
#[derive(Copy, Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BetterDirection {
    /// Lower values are better.
    Lower,
    /// Higher values are better.
    Higher,
}

/// Returns the direction of a metric: higher is better only for productive time and goodput.
pub fn better(metric: &str) -> BetterDirection {
    let last = metric.rsplit('.').next().unwrap_or(metric);
    let high = [
        LedgerCategory::Productive.as_str(),
        "goodput",
        "ettr",
        "effective_training_ratio",
        "compute_h",
        "productive_h",
        "completed",
    ];
    if high.contains(&last) || metric.contains("goodput") {
        BetterDirection::Higher
    } else {
        BetterDirection::Lower
    }
}

/// All metrics of a replication, in the order of reports. `names` are the names of its JobSets: if there are several,
/// metrics of a JobSet are prefixed with its name.
pub fn metrics(replication: &ReplicationResult, names: &[String]) -> Vec<(String, MeasuredMetric)> {
    if !replication.outputs.is_empty() {
        return of_fleet(replication);
    }
    let mut all = Vec::new();
    let several = replication.jobsets.len() > 1;
    for (i, jobset) in replication.jobsets.iter().enumerate() {
        let name = names.get(i).map_or("", String::as_str);
        let prefix = if several {
            format!("{name}.")
        } else {
            String::new()
        };
        let own = of_jobset(jobset, replication.end_reason).into_iter();
        let own = own.chain(of_training(jobset, replication.end_reason));
        all.extend(own.map(|(metric, m)| (format!("{prefix}{metric}"), m)));
        let stuck = replication.end_reason == "Stuck";
        for (cause, taken) in &jobset.taken {
            for (metric, value) in [(LOST_BY, taken.lost_s), (RECOVERY_BY, taken.recovery_s)] {
                let value = if stuck {
                    MeasuredMetric::Stuck
                } else {
                    MeasuredMetric::Value(value)
                };
                all.push((format!("{prefix}{metric}{cause}"), value));
            }
        }
    }
    let end = match replication.end_reason {
        "Stuck" => MeasuredMetric::Stuck,
        "TimeLimit" => MeasuredMetric::Cut,
        _ => MeasuredMetric::Value(replication.end_s),
    };
    // A blocked run has no end, so values that depend on the end are unknown.
    let in_the_end = |value: f64| match end {
        MeasuredMetric::Stuck => MeasuredMetric::Stuck,
        _ => MeasuredMetric::Value(value),
    };
    let stuck = f64::from(u8::from(end == MeasuredMetric::Stuck));
    all.push(("stuck".to_owned(), MeasuredMetric::Value(stuck)));
    all.push(("end.t_s".to_owned(), end));
    for (category, seconds) in &replication.ledger_s {
        all.push((format!("ledger.{category}"), in_the_end(*seconds)));
    }
    if let Some(fleet) = replication.fleet_goodput {
        all.push(("goodput.fleet".to_owned(), in_the_end(fleet)));
    }
    all.push(("cost.total".to_owned(), in_the_end(replication.cost)));
    if replication.cost > 0.0 {
        for (category, cost) in &replication.cost_by_category {
            all.push((format!("cost.{category}"), in_the_end(*cost)));
        }
    }
    all
}

/// Prefix of the loss per cause, which is zero in a run without that cause.
const LOST_BY: &str = "lost_s.";
const RECOVERY_BY: &str = "recovery_s.";

/// Returns true for a metric of a single cause.
pub fn is_by_cause(metric: &str) -> bool {
    metric.contains(LOST_BY) || metric.contains(RECOVERY_BY)
}

/// Returns the value of a metric that the replication does not list: zero for a metric of a cause that did not
/// occur, otherwise [`MeasuredMetric::Absent`].
pub fn unnamed(metric: &str, replication: &ReplicationResult) -> MeasuredMetric {
    if is_by_cause(metric) && replication.end_reason != "Stuck" {
        MeasuredMetric::Value(0.0)
    } else {
        MeasuredMetric::Absent
    }
}

/// Returns the metrics of a fleet. The training time of an unfinished job is unknown.
fn of_fleet(replication: &ReplicationResult) -> Vec<(String, MeasuredMetric)> {
    let one = |(name, value): &(String, f64)| {
        let measured = match (name.as_str(), replication.end_reason) {
            ("training_time_h", "TimeLimit") => MeasuredMetric::Cut,
            ("training_time_h", "Failed" | "Depleted" | "Stuck") => MeasuredMetric::Stuck,
            _ => MeasuredMetric::Value(*value),
        };
        (name.clone(), measured)
    };
    replication.outputs.iter().map(one).collect()
}

fn of_jobset(jobset: &ReplicatedJobSet, end_reason: &str) -> [(&'static str, MeasuredMetric); 6] {
    // If a restart is unfinished, the finished ones do not represent the run.
    let unfinished = jobset
        .each
        .iter()
        .any(|r| r.ending == RestartOutcome::Unfinished);
    let latency = |value: Option<f64>| match value {
        _ if unfinished && end_reason == "Stuck" => MeasuredMetric::Stuck,
        _ if unfinished => MeasuredMetric::Cut,
        Some(v) => MeasuredMetric::Value(v),
        None => MeasuredMetric::Absent,
    };
    let failed = f64::from(u8::from(jobset.terminal_state == "Failed"));
    let counted = jobset.restarts_count_towards_max;
    [
        ("restartLatency_s.p50", latency(jobset.latency_p50_s)),
        ("restartLatency_s.p95", latency(jobset.latency_p95_s)),
        ("restartLatency_s.max", latency(jobset.latency_max_s)),
        (
            "restarts",
            MeasuredMetric::Value(f64::from(jobset.restarts)),
        ),
        (
            "restartsCountTowardsMax",
            MeasuredMetric::Value(f64::from(counted)),
        ),
        ("failed", MeasuredMetric::Value(failed)),
    ]
}

/// Returns the metrics of the training job, if the JobSet has one.
fn of_training(
    jobset: &ReplicatedJobSet,
    end_reason: &str,
) -> impl Iterator<Item = (&'static str, MeasuredMetric)> + use<> {
    let stuck = end_reason == "Stuck";
    let told = jobset.training.as_ref().map(|t| {
        let share = |value: Option<f64>| match value {
            _ if stuck => MeasuredMetric::Stuck,
            Some(v) => MeasuredMetric::Value(v),
            None => MeasuredMetric::Absent,
        };
        let seconds = |phase: TrainingPhase| share(t.time_s.get(phase.as_str()).copied());
        [
            ("goodput", share(t.goodput)),
            ("ettr", share(t.ettr)),
            ("interruptions", share(Some(f64::from(t.interruptions)))),
            ("lost_s", seconds(TrainingPhase::Lost)),
            ("recovery_s", seconds(TrainingPhase::Recovery)),
            ("checkpoint_s", seconds(TrainingPhase::Checkpoint)),
        ]
    });
    told.into_iter().flatten()
}
