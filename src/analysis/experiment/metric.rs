//! The metrics of a replication: every value under a stable name, or the reason why it has none.
//!
//! The only place that defines them. Names are paths in `summary.json`.

use super::fleets::compared;
use super::outcome::ReplicationOutcome;
use super::replication::{ReplicatedAdmission, ReplicatedJobSet, ReplicationResult, RestartQuantile};
use crate::{metrics::step_time::MeanStep, metrics::training::TrainingSummary};
use sim_api::spec::{FleetSpec, ScenarioSpec};
use sim_base::Duration;
use sim_base::stats::{MeanEstimate, SampleKind};
use sim_engine::record::{LedgerCategory, TrainingPhase};
use sim_surrogate::fleet::FleetSimulation;

/// The value of a metric in one replication, or why there is none.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum MeasuredMetric {
    /// The value of the metric.
    Value(f64),
    /// The metric does not exist, for example without a restart.
    Absent,
    /// A JobSet failed before its work was done: counts as the worst value.
    Failed,
    /// The run was blocked before the metric was defined: counts as the worst value.
    Blocked,
    /// The time limit came before the metric was defined: counts as the worst value.
    Censored,
}

impl MeasuredMetric {
    /// The value, if there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            MeasuredMetric::Value(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the reason why the metric of a replication without completed work has no value.
    fn missing(outcome: ReplicationOutcome) -> MeasuredMetric {
        match outcome {
            ReplicationOutcome::Failed => MeasuredMetric::Failed,
            ReplicationOutcome::Blocked => MeasuredMetric::Blocked,
            ReplicationOutcome::Unfinished | ReplicationOutcome::Running | ReplicationOutcome::Completed => {
                MeasuredMetric::Censored
            }
        }
    }

    /// Returns true if the metric has no value because the replication did not complete its work.
    pub fn is_worst(self) -> bool {
        matches!(self, MeasuredMetric::Failed | MeasuredMetric::Blocked | MeasuredMetric::Censored)
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

/// Returns the direction of a metric: higher is better only for completed work, productive time and goodput.
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
        "usefulWork_s",
    ];
    if high.contains(&last) || metric.contains("goodput") { BetterDirection::Higher } else { BetterDirection::Lower }
}

/// Returns the kind of a metric's values: outcomes are 0 or 1, and their mean is a share of the replications.
pub fn sample_kind(metric: &str) -> SampleKind {
    let name = metric.rsplit('.').next().unwrap_or(metric);
    if ["completed", "blocked", "failed", "depleted"].contains(&name) && !is_by_cause(metric) {
        SampleKind::Indicator
    } else {
        SampleKind::Number
    }
}

/// Limits the interval of a mean to values that the metric can have: no metric is negative, and shares of time are at
/// most 1.
pub fn possible_interval(metric: &str, mean: f64, [low, high]: [f64; 2]) -> [f64; 2] {
    let low = if mean >= 0.0 { low.max(0.0) } else { low };
    let high = if is_share(metric) && mean <= 1.0 { high.min(1.0) } else { high };
    [low, high]
}

/// Returns the estimate of a metric with an interval of possible values; `None` if there are no values.
pub fn metric_mean(metric: &str, values: Vec<f64>) -> Option<MeanEstimate> {
    let estimate = MeanEstimate::from_sample(values, sample_kind(metric))?;
    Some(MeanEstimate { ci95: possible_interval(metric, estimate.mean, estimate.ci95), ..estimate })
}

/// Returns whether the values of a metric are between 0 and 1.
pub fn is_share(metric: &str) -> bool {
    const SHARES: [&str; 6] = ["goodput", "ettr", "effective_training_ratio", "exposedShare", "fleet", "allocated"];
    let last = metric.rsplit('.').next().unwrap_or(metric);
    !is_by_cause(metric) && (SHARES.contains(&last) || sample_kind(metric) == SampleKind::Indicator)
}

/// Returns whether a metric counts events or adds up losses until the end of a run. A run that fails or is blocked has
/// less time for them, so a low value of it is no advantage.
pub fn accumulates(metric: &str) -> bool {
    const SINGLE: [&str; 3] = ["restartLatency_s", "stepTime_s", "admissionWait_s"];
    let is_single = metric.split('.').any(|part| SINGLE.contains(&part)) && !is_by_cause(metric);
    better(metric) == BetterDirection::Lower && !is_share(metric) && !is_single
}

/// End reason of a run that its time limit ended.
pub const TIME_LIMIT: &str = "TimeLimit";

/// Returns whether a metric is a sum over the time of a run, so that it has no rank for runs of different length.
pub fn grows_with_time(metric: &str) -> bool {
    const SUMS: [&str; 4] = ["productive", "compute_h", "productive_h", "usefulWork_s"];
    let last = metric.rsplit('.').next().unwrap_or(metric);
    SUMS.contains(&last) || accumulates(metric) && last != "perProductiveAcceleratorHour"
}

/// Returns why a limit cannot be one of a metric whose values are between 0 and 1.
pub fn limit_outside_share(metric: &str, limit: f64) -> Option<String> {
    let is_outside = is_share(metric) && !(0.0..=1.0).contains(&limit);
    is_outside.then(|| {
        let percent = if limit > 1.0 && limit <= 100.0 {
            format!(": write {limit}% or {}", limit / 100.0)
        } else {
            String::new()
        };
        format!("{metric} is a ratio between 0 and 1, and the limit is {limit}{percent}")
    })
}

/// All metrics of a replication, in the order of reports. `names` are the names of its JobSets: if there are several,
/// metrics of a JobSet are prefixed with its name.
pub fn metrics(replication: &ReplicationResult, names: &[String]) -> Vec<(String, MeasuredMetric)> {
    if !replication.outputs.is_empty() {
        return of_fleet(replication);
    }
    let outcome = replication.outcome();
    let mut all = Vec::new();
    let several = replication.jobsets.len() > 1;
    for (i, jobset) in replication.jobsets.iter().enumerate() {
        let name = names.get(i).map_or("", String::as_str);
        let prefix = if several { format!("{name}.") } else { String::new() };
        let own = of_jobset(jobset, outcome).into_iter();
        let own = own.chain(of_admission(jobset, outcome)).chain(of_training(jobset, outcome));
        all.extend(own.map(|(metric, m)| (format!("{prefix}{metric}"), m)));
        for (cause, taken) in &jobset.taken {
            for (metric, value) in [(LOST_BY, taken.lost_s), (RECOVERY_BY, taken.recovery_s)] {
                let value = if outcome == ReplicationOutcome::Blocked {
                    MeasuredMetric::Blocked
                } else {
                    MeasuredMetric::Value(value)
                };
                all.push((format!("{prefix}{metric}{cause}"), value));
            }
        }
    }
    all.extend(of_run(replication, outcome));
    all
}

/// Returns the names of all metrics that replications of a scenario may have, except those of single causes.
pub fn metric_names(scenario: &ScenarioSpec) -> Vec<String> {
    let jobsets: Vec<String> = scenario.jobsets.iter().map(|j| j.jobset.name.clone()).collect();
    let communicates = scenario.training.iter().any(|job| job.communication.is_some());
    let mean_step = communicates.then(MeanStep::default);
    let training = (!scenario.training.is_empty()).then(|| TrainingSummary { mean_step, ..TrainingSummary::default() });
    let ledger_s = LedgerCategory::ALL.map(|category| (category.as_str(), 1.0));
    let complete = ReplicationResult {
        end_reason: "TimeLimit",
        fleet_goodput: training.as_ref().map(|_| 1.0),
        jobsets: scenario
            .jobsets
            .iter()
            .map(|submitted| {
                let is_managed = scenario.kueue.as_ref().is_some_and(|kueue| kueue.manages(&submitted.jobset));
                let admission = is_managed.then(ReplicatedAdmission::default);
                ReplicatedJobSet { training: training.clone(), admission, ..ReplicatedJobSet::default() }
            })
            .collect(),
        cost: 1.0,
        cost_by_category: ledger_s.into(),
        ledger_s: ledger_s.into(),
        ..ReplicationResult::default()
    };
    metrics(&complete, &jobsets).into_iter().map(|(name, _)| name).collect()
}

/// Returns the names of all metrics of a fleet.
pub fn fleet_metric_names(fleet: &FleetSpec) -> Vec<String> {
    let ended = FleetSpec { stop_at: Duration(1), ..fleet.clone() };
    let replication = compared(&FleetSimulation::new(&ended).run(0, 0), 0);
    of_fleet(&replication).into_iter().map(|(name, _)| name).collect()
}

/// Returns the metrics of the whole run: outcome, times, accelerator time and cost.
fn of_run(replication: &ReplicationResult, outcome: ReplicationOutcome) -> Vec<(String, MeasuredMetric)> {
    let flag = |is: bool| MeasuredMetric::Value(f64::from(u8::from(is)));
    let is_completed = outcome == ReplicationOutcome::Completed;
    // Time and cost up to the completion of the work.
    let to_complete = |value: f64| {
        if is_completed { MeasuredMetric::Value(value) } else { MeasuredMetric::missing(outcome) }
    };
    let is_worst = !replication.has_totals();
    let in_the_end = |value: f64| {
        if is_worst { MeasuredMetric::missing(outcome) } else { MeasuredMetric::Value(value) }
    };
    let end = match replication.end_reason {
        TIME_LIMIT if !is_worst => MeasuredMetric::Censored,
        _ => in_the_end(replication.end_s),
    };
    let mut all = vec![
        ("completed".to_owned(), flag(is_completed)),
        ("blocked".to_owned(), flag(outcome == ReplicationOutcome::Blocked)),
        ("end.t_s".to_owned(), end),
    ];
    // Pods without a run time never complete.
    let has_end = outcome != ReplicationOutcome::Running;
    if has_end {
        let value = to_complete(replication.completed_s());
        all.push(("timeToComplete_s".to_owned(), value));
    }
    for (category, seconds) in &replication.ledger_s {
        all.push((format!("ledger.{category}"), in_the_end(*seconds)));
    }
    if let Some(fleet) = replication.fleet_goodput {
        all.push(("goodput.fleet".to_owned(), in_the_end(fleet)));
    }
    all.push(("cost.total".to_owned(), in_the_end(replication.cost)));
    if replication.cost > 0.0 {
        if has_end {
            all.push(("cost.toComplete".to_owned(), to_complete(replication.cost)));
        }
        if let Some(hours) = replication.productive_h() {
            let value = in_the_end(replication.cost / hours);
            all.push(("cost.perProductiveAcceleratorHour".to_owned(), value));
        }
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
    if is_by_cause(metric) && replication.outcome() != ReplicationOutcome::Blocked {
        MeasuredMetric::Value(0.0)
    } else {
        MeasuredMetric::Absent
    }
}

/// Returns whether an output of a fleet is known. The training time of a job that did not complete its work is unknown,
/// and so is the ratio of a job that failed or is blocked.
fn is_known_output(name: &str, outcome: ReplicationOutcome) -> bool {
    match name {
        "training_time_h" => outcome == ReplicationOutcome::Completed,
        "effective_training_ratio" => !matches!(outcome, ReplicationOutcome::Failed | ReplicationOutcome::Blocked),
        _ => true,
    }
}

/// Returns an output of a fleet as a metric.
pub(super) fn measured_output((name, value): (&str, f64), outcome: ReplicationOutcome) -> MeasuredMetric {
    if is_known_output(name, outcome) { MeasuredMetric::Value(value) } else { MeasuredMetric::missing(outcome) }
}

/// Returns the metrics of a fleet.
fn of_fleet(replication: &ReplicationResult) -> Vec<(String, MeasuredMetric)> {
    let outcome = replication.outcome();
    let one = |(name, value): &(String, f64)| (name.clone(), measured_output((name, *value), outcome));
    replication.outputs.iter().map(one).collect()
}

fn of_jobset(jobset: &ReplicatedJobSet, outcome: ReplicationOutcome) -> [(&'static str, MeasuredMetric); 8] {
    let quantile = |p: f64| match jobset.latency_quantile(p) {
        RestartQuantile::Seconds(seconds) => MeasuredMetric::Value(seconds),
        RestartQuantile::Unfinished => MeasuredMetric::missing(outcome),
        RestartQuantile::NoRestart => MeasuredMetric::Absent,
    };
    let failed = f64::from(u8::from(jobset.terminal_state == "Failed"));
    let counted = jobset.restarts_count_towards_max;
    [
        ("restartLatency_s.p50", quantile(0.5)),
        ("restartLatency_s.p95", quantile(0.95)),
        ("restartLatency_s.max", quantile(1.0)),
        ("restarts", MeasuredMetric::Value(f64::from(jobset.all_restarts))),
        ("recoveries", MeasuredMetric::Value(jobset.each.len() as f64)),
        ("restartBudgetUsed", MeasuredMetric::Value(f64::from(jobset.restart_budget_used))),
        ("restartsCountTowardsMax", MeasuredMetric::Value(f64::from(counted))),
        ("failed", MeasuredMetric::Value(failed)),
    ]
}

/// Returns the metrics of the admission by Kueue. Without a reservation the wait is longer than the run.
fn of_admission(
    jobset: &ReplicatedJobSet, outcome: ReplicationOutcome,
) -> impl Iterator<Item = (&'static str, MeasuredMetric)> + use<> {
    let metrics = jobset.admission.map(|own| {
        let first = own.first_wait_s.map_or(MeasuredMetric::missing(outcome), MeasuredMetric::Value);
        let total = if own.first_wait_s.is_some() { MeasuredMetric::Value(own.total_wait_s) } else { first };
        let evictions = MeasuredMetric::Value(f64::from(own.evictions));
        [("admissionWait_s", first), ("queueWait_s", total), ("evictions", evictions)]
    });
    metrics.into_iter().flatten()
}

/// Returns the metrics of the training job, if the JobSet has one. Ratios of a JobSet that failed are unknown, because
/// they end with the failure.
fn of_training(
    jobset: &ReplicatedJobSet, outcome: ReplicationOutcome,
) -> impl Iterator<Item = (&'static str, MeasuredMetric)> + use<> {
    let metrics = jobset.training.as_ref().map(|t| {
        let is_failed = jobset.terminal_state == "Failed" && !(t.done && t.work_s.is_some());
        let measured = |value: Option<f64>| match value {
            _ if outcome == ReplicationOutcome::Blocked => MeasuredMetric::Blocked,
            Some(v) => MeasuredMetric::Value(v),
            None => MeasuredMetric::Absent,
        };
        let ratio = |value: Option<f64>| {
            if is_failed { MeasuredMetric::Failed } else { measured(value) }
        };
        let phase = |phase: TrainingPhase| t.time_s.get(phase.as_str()).copied();
        let of_steps = t.mean_step.as_ref().map(|mean| {
            [("stepTime_s", measured(Some(mean.step_s))), ("exposedShare", measured(Some(mean.exposed_share)))]
        });
        let all = [
            ("goodput", ratio(t.goodput)),
            ("ettr", ratio(t.ettr)),
            ("interruptions", measured(Some(f64::from(t.interruptions)))),
            ("usefulWork_s", phase(TrainingPhase::Productive).map_or(MeasuredMetric::Absent, MeasuredMetric::Value)),
            ("lost_s", measured(phase(TrainingPhase::Lost))),
            ("recovery_s", measured(phase(TrainingPhase::Recovery))),
            ("checkpoint_s", measured(phase(TrainingPhase::Checkpoint))),
        ];
        all.into_iter().chain(of_steps.into_iter().flatten())
    });
    metrics.into_iter().flatten()
}
