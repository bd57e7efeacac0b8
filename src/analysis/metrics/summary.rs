//! Contents of `summary.json`, schema `jobset-sim/summary/v1`.
//!
//! Kubernetes fields keep their Kubernetes spelling. Must never rename a key that the schema contains.

#![deny(missing_docs)]

use super::admission::AdmissionSummary;
use super::assumed;
use super::restarts::restart::RestartMetrics;
use super::training::TrainingSummary;
use super::view::RunView;
use serde::Serialize;
use sim_base::stats;
use sim_base::{Duration, JobSetId};
use sim_engine::record::{ConditionOutcome, JobOutcome, JobSetOutcome, LedgerCategory, TimeLedger};
use std::collections::BTreeMap;

/// Name and version of the format.
pub const SCHEMA: &str = "jobset-sim/summary/v1";

/// Contents of the file `summary.json`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Name and version of the format, see [`SCHEMA`].
    pub schema: &'static str,
    /// Version of jobset-sim that wrote the file.
    pub version: &'static str,
    /// Name of the scenario.
    pub scenario: String,
    /// Hash over all records, in hexadecimal.
    pub digest: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Time and reason of the end of the run.
    pub end: RunEnd,
    /// JobSets in the order of the scenario.
    pub job_sets: Vec<JobSetSummary>,
    /// Accelerator-seconds by category.
    pub ledger: BTreeMap<&'static str, f64>,
    /// Productive shares of the accelerator time; `None` if no JobSet trains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput: Option<TimeShares>,
    /// Cost of the accelerators.
    pub cost: AcceleratorCost,
    /// Assumptions about containers whose run time is not specified, as sentences.
    pub assumed: Vec<String>,
    /// Reasons to doubt the numbers, and permanently blocked or suspended JobSets.
    pub warnings: Vec<String>,
    /// Input fields that are valid in the Kubernetes API and ignored by the model.
    pub not_modelled: Vec<String>,
}

/// Time and reason of the end of the run.
#[derive(Clone, Debug, Serialize)]
pub struct RunEnd {
    /// End of the run in seconds of virtual time.
    pub t_s: f64,
    /// Spelling of the `EndReason`.
    pub reason: &'static str,
}

/// Cost of the nodes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceleratorCost {
    /// Currency of the prices in the topology.
    pub currency: String,
    /// Sum over all categories of the ledger.
    pub total: f64,
    /// Cost by category; empty if nothing has a price.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_category: BTreeMap<&'static str, f64>,
    /// Accelerator-hours without cost, of on-demand machines while they did not exist; absent if there are none.
    #[serde(rename = "notBilled_h", skip_serializing_if = "Option::is_none")]
    pub not_billed_h: Option<f64>,
}

/// Final state of one JobSet.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSetSummary {
    /// Name of the JobSet (`metadata.name`).
    pub name: String,
    /// Namespace of the JobSet (`metadata.namespace`).
    pub namespace: String,
    /// `Completed`, `Failed`, or empty if the JobSet has not finished.
    pub terminal_state: &'static str,
    /// Whether the object was deleted before the end of the run.
    pub deleted: bool,
    /// Number of restarts (`status.restarts`).
    pub restarts: u32,
    /// Restarts that count towards `maxRestarts` (`status.restartsCountTowardsMax`).
    pub restarts_count_towards_max: u32,
    /// Metric `restarts`: number of restarts of every kind that were ordered, of the whole JobSet, of single Jobs, and
    /// in place.
    pub restarts_of_every_kind: u32,
    /// Metric `restartBudgetUsed`: the use of `maxRestarts` as the controller compares it with the limit.
    pub restart_budget_used: u32,
    /// Metric `recoveries`: number of intervals from a fault or an eviction until every pod was ready again, the rows
    /// of `restarts.csv`.
    pub recoveries: usize,
    /// Latest in-place restart attempt whose barrier is open (`status.currentInPlaceRestartAttempt`).
    pub current_in_place_restart_attempt: Option<u32>,
    /// Latest in-place restart attempt that agents must leave (`status.previousInPlaceRestartAttempt`).
    pub previous_in_place_restart_attempt: Option<u32>,
    /// Conditions of the JobSet (`status.conditions`).
    pub conditions: Vec<SummaryCondition>,
    /// Job counts by replicatedJob (`status.replicatedJobsStatus`).
    pub replicated_jobs_status: Vec<ReplicatedJobSummary>,
    /// Every child Job object that ever existed, in order of creation.
    pub jobs: Vec<JobSummary>,
    /// Kubernetes Events of the JobSet and its objects, counted by type and reason.
    pub events: Vec<SummaryEvent>,
    /// Copy of `training.goodput`; `None` without a training job.
    pub goodput: Option<f64>,
    /// Its admission, if Kueue manages it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<AdmissionSummary>,
    /// Its training job, if the scenario defines one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingSummary>,
    /// Seconds from the fault until all pods were ready again.
    #[serde(rename = "restartLatency_s")]
    pub restart_latency: LatencySummary,
}

/// One entry of `status.conditions`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryCondition {
    /// Type of the condition, such as `Completed`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Status: `True` or `False`.
    pub status: &'static str,
    /// Reason of the condition, as set by the JobSet controller.
    pub reason: String,
    /// Message of the condition, as set by the JobSet controller.
    pub message: String,
    /// Time of the last change of the status, in seconds of virtual time.
    #[serde(rename = "lastTransitionTime_s")]
    pub last_transition_time: f64,
}

/// One entry of `status.replicatedJobsStatus`.
#[derive(Clone, Debug, Serialize)]
pub struct ReplicatedJobSummary {
    /// Name of the replicatedJob.
    pub name: String,
    /// Number of Jobs with enough ready pods.
    pub ready: u32,
    /// Number of completed Jobs.
    pub succeeded: u32,
    /// Number of failed Jobs.
    pub failed: u32,
    /// Number of Jobs with active pods.
    pub active: u32,
    /// Number of suspended Jobs.
    pub suspended: u32,
}

/// One child Job object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSummary {
    /// Name of the Job (`metadata.name`).
    pub name: String,
    /// State of the Job: `Complete`, `Failed`, `Suspended` or `Running`.
    pub state: &'static str,
    /// Value of its label `jobset.sigs.k8s.io/restart-attempt`.
    pub restart_attempt: u32,
    /// Number of active pods (`status.active`).
    pub active: u32,
    /// Number of ready pods (`status.ready`).
    pub ready: u32,
    /// Number of succeeded pods (`status.succeeded`).
    pub succeeded: u32,
    /// Number of failed pods (`status.failed`).
    pub failed: u32,
    /// Whether the object exists at the end of the run.
    pub exists: bool,
}

/// Kubernetes Events of one type and reason.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryEvent {
    /// Type of the Events: `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Reason of the Events, such as `SuccessfulCreate`.
    pub reason: String,
    /// Number of Events.
    pub count: u64,
}

/// Restart latency in seconds, over restarts that ended with every pod ready.
#[derive(Clone, Debug, Serialize)]
pub struct LatencySummary {
    /// Number of restarts with a latency.
    pub count: usize,
    /// Median latency; `None` without restarts.
    pub p50: Option<f64>,
    /// 95th percentile of the latency; `None` without restarts.
    pub p95: Option<f64>,
    /// Longest latency; `None` without restarts.
    pub max: Option<f64>,
}

impl LatencySummary {
    /// Computes the statistics of the given latencies.
    pub fn from_durations(restarts: impl Iterator<Item = Duration>) -> LatencySummary {
        let sorted = stats::sorted(restarts.map(Duration::seconds).collect());
        LatencySummary {
            count: sorted.len(),
            p50: stats::quantile(&sorted, 0.50),
            p95: stats::quantile(&sorted, 0.95),
            max: sorted.last().copied(),
        }
    }
}

impl RunSummary {
    /// Builds the summary of a finished run.
    pub fn from_run(run: &RunView<'_>) -> RunSummary {
        let outcome = run.outcome;
        let one = |(i, o)| jobset(run, JobSetId(i as u32), o);
        RunSummary {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario: run.scenario.name.clone(),
            digest: run.digest(),
            seed: run.seed,
            end: RunEnd { t_s: outcome.end.seconds(), reason: outcome.end_reason.as_str() },
            job_sets: outcome.jobsets.iter().enumerate().map(one).collect(),
            ledger: ledger(&outcome.ledger),
            goodput: TimeShares::from_ledger(&outcome.ledger),
            cost: AcceleratorCost {
                currency: outcome.ledger.currency.clone(),
                total: total_cost(&outcome.ledger),
                by_category: cost(&outcome.ledger),
                not_billed_h: (outcome.ledger.not_billed_ns > 0).then(|| outcome.ledger.not_billed_ns as f64 / 3.6e12),
            },
            assumed: assumed::containers(run.scenario)
                .sentences()
                .into_iter()
                .chain(assumed::existing_workloads(run.scenario))
                .chain(assumed::kueue(run.scenario).map(|fact| format!("Kueue {fact}")))
                .collect(),
            warnings: run.warnings(),
            not_modelled: run.not_modelled.to_vec(),
        }
    }
}

/// Accelerator goodput with two denominators.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct TimeShares {
    /// Productive ÷ installed accelerator time.
    pub fleet: Option<f64>,
    /// Productive ÷ accelerator time held by pods.
    pub allocated: Option<f64>,
}

impl TimeShares {
    /// Returns the shares, or `None` if no JobSet trains: the productive category has no meaning then.
    pub fn from_ledger(ledger: &TimeLedger) -> Option<TimeShares> {
        let ns = |c: LedgerCategory| ledger.accelerator_ns[c as usize];
        let installed: u128 = ledger.accelerator_ns.iter().sum();
        let free = ns(LedgerCategory::Idle) + ns(LedgerCategory::Unhealthy);
        let productive = ns(LedgerCategory::Productive);
        let share = |of: u128| (of > 0).then(|| productive as f64 / of as f64);
        (!ledger.by_jobset.is_empty())
            .then(|| TimeShares { fleet: share(installed), allocated: share(installed - free) })
    }
}

/// Returns the cost by category; empty if nothing has a price.
pub fn cost(ledger: &TimeLedger) -> BTreeMap<&'static str, f64> {
    if ledger.cost_micros.iter().all(|micros| *micros == 0) {
        return BTreeMap::new();
    }
    let categories = ledger.categories().iter();
    let cost = |c: &LedgerCategory| (c.as_str(), ledger.cost_micros[*c as usize] as f64 / 1e6);
    categories.map(cost).collect()
}

/// Returns the accelerator-seconds by name of the category.
pub fn ledger(ledger: &TimeLedger) -> BTreeMap<&'static str, f64> {
    let seconds = |c: &LedgerCategory| ledger.accelerator_ns[*c as usize] as f64 / 1e9;
    let categories = ledger.categories().iter();
    categories.map(|c| (c.as_str(), seconds(c))).collect()
}

/// Returns the cost over all categories, in the ledger's currency.
pub fn total_cost(ledger: &TimeLedger) -> f64 {
    ledger.cost_micros.iter().sum::<u128>() as f64 / 1e6
}

fn jobset(run: &RunView<'_>, id: JobSetId, outcome: &JobSetOutcome) -> JobSetSummary {
    let status = |s: &sim_engine::record::ReplicatedJobStatus| ReplicatedJobSummary {
        name: s.name.clone(),
        ready: s.ready,
        succeeded: s.succeeded,
        failed: s.failed,
        active: s.active,
        suspended: s.suspended,
    };
    let training =
        run.outcome.training_for(id).map(|t| TrainingSummary::from_outcome(t, run.scenario.training_for(id)));
    let event = |c: &super::events::EventCount| SummaryEvent {
        kind: if c.warning { "Warning" } else { "Normal" },
        reason: run.names.text(c.reason).to_owned(),
        count: c.count,
    };
    let totals = run.folded.counted.totals(id);
    JobSetSummary {
        name: run.names.jobset(id).to_owned(),
        namespace: run.namespace(id).to_owned(),
        terminal_state: outcome.terminal_state,
        deleted: outcome.deleted,
        restarts: outcome.restarts,
        restarts_count_towards_max: outcome.restarts_count_towards_max,
        restarts_of_every_kind: totals.restarts,
        restart_budget_used: totals.budget_used,
        recoveries: run.restarts_of(id).count(),
        current_in_place_restart_attempt: outcome.current_in_place_restart_attempt,
        previous_in_place_restart_attempt: outcome.previous_in_place_restart_attempt,
        conditions: outcome.conditions.iter().map(condition).collect(),
        replicated_jobs_status: outcome.replicated_jobs_status.iter().map(status).collect(),
        jobs: outcome.jobs.iter().map(|j| job(run, j)).collect(),
        events: run.folded.events.for_jobset(id).map(event).collect(),
        goodput: training.as_ref().and_then(|t| t.goodput),
        admission: run
            .admission_of(id)
            .map(|own| AdmissionSummary::new(own, run.outcome.end, |id| run.job_set_name(id))),
        training,
        restart_latency: LatencySummary::from_durations(run.restarts_of(id).filter_map(RestartMetrics::latency)),
    }
}

fn condition(c: &ConditionOutcome) -> SummaryCondition {
    SummaryCondition {
        kind: c.kind,
        status: if c.status { "True" } else { "False" },
        reason: c.reason.clone(),
        message: c.message.clone(),
        last_transition_time: c.last_transition.seconds(),
    }
}

fn job(run: &RunView<'_>, j: &JobOutcome) -> JobSummary {
    let has = |kind: &str| j.conditions.iter().any(|c| c.status && c.kind == kind);
    let state = ["Complete", "Failed", "Suspended"].into_iter().find(|k| has(k));
    JobSummary {
        name: run.names.job(j.job).to_owned(),
        state: state.unwrap_or("Running"),
        restart_attempt: j.restart_attempt.parse().unwrap_or(0),
        active: j.active,
        ready: j.ready,
        succeeded: j.succeeded,
        failed: j.failed,
        exists: j.exists,
    }
}
