//! `summary.json`, schema `jobset-sim/summary/v1`.
//!
//! Kubernetes' fields keep Kubernetes' spelling; must never rename a key that is written in the schema.

#![deny(missing_docs)]

use super::assumed;
use super::restarts::restart::Restart;
use super::training::TrainingSummary;
use super::view::RunView;
use serde::Serialize;
use sim_base::stats;
use sim_base::*;
use sim_engine::record::{ConditionOutcome, JobOutcome, JobSetOutcome, Ledger, LedgerCategory};
use std::collections::BTreeMap;

/// The name of the format.
pub const SCHEMA: &str = "jobset-sim/summary/v1";

/// The file `summary.json`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The name of the format.
    pub schema: &'static str,
    /// Of this program.
    pub version: &'static str,
    /// The scenario's name.
    pub scenario: String,
    /// The hash over all records, in hexadecimal.
    pub digest: String,
    /// Of all random numbers.
    pub seed: u64,
    /// When and why the run ended.
    pub end: End,
    /// In the order of the scenario.
    pub job_sets: Vec<JobSetSummary>,
    /// Accelerator-seconds per category.
    pub ledger: BTreeMap<&'static str, f64>,
    /// What of the accelerators' time was steps that count, where JobSets train.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput: Option<Shares>,
    /// What the accelerators cost.
    pub cost: Cost,
    /// What nothing says of containers, in sentences.
    pub assumed: Vec<String>,
    /// What makes the numbers doubtful, and what is stuck.
    pub warnings: Vec<String>,
    /// Fields of the inputs that the API knows and the model ignores.
    pub not_modelled: Vec<String>,
}

/// How the run ended.
#[derive(Clone, Debug, Serialize)]
pub struct End {
    /// Seconds of virtual time.
    pub t_s: f64,
    /// The word for `EndReason`.
    pub reason: &'static str,
}

/// What the nodes cost.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Of the topology.
    pub currency: String,
    /// Over all categories of the ledger.
    pub total: f64,
    /// By category; only where something has a price.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_category: BTreeMap<&'static str, f64>,
}

/// The final state of one JobSet.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSetSummary {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `Completed`, `Failed` or empty.
    pub terminal_state: &'static str,
    /// Whether the object is gone.
    pub deleted: bool,
    /// `status.restarts`.
    pub restarts: u32,
    /// `status.restartsCountTowardsMax`.
    pub restarts_count_towards_max: u32,
    /// `status.currentInPlaceRestartAttempt`.
    pub current_in_place_restart_attempt: Option<u32>,
    /// `status.previousInPlaceRestartAttempt`.
    pub previous_in_place_restart_attempt: Option<u32>,
    /// `status.conditions`.
    pub conditions: Vec<Condition>,
    /// `status.replicatedJobsStatus`.
    pub replicated_jobs_status: Vec<ReplicatedJobStatus>,
    /// Every child Job object that ever existed, in order of creation.
    pub jobs: Vec<Job>,
    /// Kubernetes Events about it, counted.
    pub events: Vec<Event>,
    /// `training.goodput`; null without a training job.
    pub goodput: Option<f64>,
    /// Its training job, if the scenario gives it one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingSummary>,
    /// Seconds from the fault until all pods were ready again.
    #[serde(rename = "restartLatency_s")]
    pub restart_latency: Latency,
}

/// One of `status.conditions`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Such as `Completed`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `True` or `False`.
    pub status: &'static str,
    /// Kubernetes' reason.
    pub reason: String,
    /// Kubernetes' message.
    pub message: String,
    /// Seconds of virtual time.
    #[serde(rename = "lastTransitionTime_s")]
    pub last_transition_time: f64,
}

/// One of `status.replicatedJobsStatus`.
#[derive(Clone, Debug, Serialize)]
pub struct ReplicatedJobStatus {
    /// Of the replicatedJob.
    pub name: String,
    /// Jobs of which enough pods are ready.
    pub ready: u32,
    /// Jobs that are complete.
    pub succeeded: u32,
    /// Jobs that have failed.
    pub failed: u32,
    /// Jobs with pods that have not ended.
    pub active: u32,
    /// Jobs that are suspended.
    pub suspended: u32,
}

/// One child Job object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// `metadata.name`.
    pub name: String,
    /// `Complete`, `Failed`, `Suspended` or `Running`.
    pub state: &'static str,
    /// Its label `jobset.sigs.k8s.io/restart-attempt`.
    pub restart_attempt: u32,
    /// `status.active`.
    pub active: u32,
    /// `status.ready`.
    pub ready: u32,
    /// `status.succeeded`.
    pub succeeded: u32,
    /// `status.failed`.
    pub failed: u32,
    /// Whether the object is there at the end.
    pub exists: bool,
}

/// Kubernetes Events of one type and reason.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Such as `SuccessfulCreate`.
    pub reason: String,
    /// How many.
    pub count: u64,
}

/// Over restarts that ended with every pod ready.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// How many restarts.
    pub count: usize,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
}

impl Latency {
    /// Of restarts that ended so.
    pub fn of(restarts: impl Iterator<Item = Duration>) -> Latency {
        let sorted = stats::sorted(restarts.map(Duration::seconds).collect());
        Latency {
            count: sorted.len(),
            p50: stats::quantile(&sorted, 0.50),
            p95: stats::quantile(&sorted, 0.95),
            max: sorted.last().copied(),
        }
    }
}

impl Summary {
    /// Of a finished run.
    pub fn of(run: &RunView<'_>) -> Summary {
        let outcome = run.outcome;
        let one = |(i, o)| jobset(run, JobSetId(i as u32), o);
        Summary {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario: run.scenario.name.clone(),
            digest: run.digest(),
            seed: run.seed,
            end: End {
                t_s: outcome.end.seconds(),
                reason: outcome.end_reason.as_str(),
            },
            job_sets: outcome.jobsets.iter().enumerate().map(one).collect(),
            ledger: ledger(&outcome.ledger),
            goodput: Shares::of(&outcome.ledger),
            cost: Cost {
                currency: outcome.ledger.currency.clone(),
                total: total_cost(&outcome.ledger),
                by_category: cost(&outcome.ledger),
            },
            assumed: assumed::containers(run.scenario).sentences(),
            warnings: run.warnings(),
            not_modelled: run.not_modelled.to_vec(),
        }
    }
}

/// Goodput of accelerators, each with another denominator.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// Productive / installed accelerator-time.
    pub fleet: Option<f64>,
    /// Productive / accelerator-time that pods held.
    pub allocated: Option<f64>,
}

impl Shares {
    /// None where nobody trains: what is productive then says nothing.
    pub fn of(ledger: &Ledger) -> Option<Shares> {
        let ns = |c: LedgerCategory| ledger.accelerator_ns[c as usize];
        let installed: u128 = ledger.accelerator_ns.iter().sum();
        let free = ns(LedgerCategory::Idle) + ns(LedgerCategory::Unhealthy);
        let productive = ns(LedgerCategory::Productive);
        let share = |of: u128| (of > 0).then(|| productive as f64 / of as f64);
        (!ledger.of_jobsets.is_empty()).then(|| Shares {
            fleet: share(installed),
            allocated: share(installed - free),
        })
    }
}

/// What each category cost, if anything has a price.
pub fn cost(ledger: &Ledger) -> BTreeMap<&'static str, f64> {
    if ledger.cost_micros.iter().all(|micros| *micros == 0) {
        return BTreeMap::new();
    }
    let categories = ledger.categories().iter();
    let cost = |c: &LedgerCategory| (c.as_str(), ledger.cost_micros[*c as usize] as f64 / 1e6);
    categories.map(cost).collect()
}

/// Accelerator-seconds per category, by its name.
pub fn ledger(ledger: &Ledger) -> BTreeMap<&'static str, f64> {
    let seconds = |c: &LedgerCategory| ledger.accelerator_ns[*c as usize] as f64 / 1e9;
    let categories = ledger.categories().iter();
    categories.map(|c| (c.as_str(), seconds(c))).collect()
}

/// The cost over all categories, in the ledger's currency.
pub fn total_cost(ledger: &Ledger) -> f64 {
    ledger.cost_micros.iter().sum::<u128>() as f64 / 1e6
}

fn jobset(run: &RunView<'_>, id: JobSetId, outcome: &JobSetOutcome) -> JobSetSummary {
    let status = |s: &sim_engine::record::ReplicatedJobStatus| ReplicatedJobStatus {
        name: s.name.clone(),
        ready: s.ready,
        succeeded: s.succeeded,
        failed: s.failed,
        active: s.active,
        suspended: s.suspended,
    };
    let training = run.outcome.training_of(id).map(TrainingSummary::of);
    let event = |c: &super::events::EventCount| Event {
        kind: if c.warning { "Warning" } else { "Normal" },
        reason: run.names.text(c.reason).to_owned(),
        count: c.count,
    };
    JobSetSummary {
        name: run.names.jobset(id).to_owned(),
        namespace: run.namespace(id).to_owned(),
        terminal_state: outcome.terminal_state,
        deleted: outcome.deleted,
        restarts: outcome.restarts,
        restarts_count_towards_max: outcome.restarts_count_towards_max,
        current_in_place_restart_attempt: outcome.current_in_place_restart_attempt,
        previous_in_place_restart_attempt: outcome.previous_in_place_restart_attempt,
        conditions: outcome.conditions.iter().map(condition).collect(),
        replicated_jobs_status: outcome.replicated_jobs_status.iter().map(status).collect(),
        jobs: outcome.jobs.iter().map(|j| job(run, j)).collect(),
        events: run.folded.events.of(id).map(event).collect(),
        goodput: training.as_ref().and_then(|t| t.goodput),
        training,
        restart_latency: Latency::of(run.restarts_of(id).filter_map(Restart::latency)),
    }
}

fn condition(c: &ConditionOutcome) -> Condition {
    Condition {
        kind: c.kind,
        status: if c.status { "True" } else { "False" },
        reason: c.reason.clone(),
        message: c.message.clone(),
        last_transition_time: c.last_transition.seconds(),
    }
}

fn job(run: &RunView<'_>, j: &JobOutcome) -> Job {
    let has = |kind: &str| j.conditions.iter().any(|c| c.status && c.kind == kind);
    let state = ["Complete", "Failed", "Suspended"]
        .into_iter()
        .find(|k| has(k));
    Job {
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
