//! `summary.json`, schema `jobset-sim/summary/v1`.
//!
//! Kubernetes' fields keep Kubernetes' spelling; must never rename a key that is written in the schema.

use super::restart::Restart;
use super::view::RunView;
use crate::base::*;
use crate::record::{ConditionOutcome, JobOutcome, JobSetOutcome, Ledger, LedgerCategory};
use crate::stats;
use serde::Serialize;
use std::collections::BTreeMap;

pub const SCHEMA: &str = "jobset-sim/summary/v1";

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub schema: &'static str,
    pub version: &'static str,
    pub scenario: String,
    pub digest: String,
    pub seed: u64,
    pub end: End,
    pub job_sets: Vec<JobSetSummary>,
    /// Accelerator-seconds per category.
    pub ledger: BTreeMap<&'static str, f64>,
    pub cost: Cost,
    pub warnings: Vec<String>,
    pub not_modelled: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct End {
    pub t_s: f64,
    pub reason: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    pub currency: String,
    pub total: f64,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSetSummary {
    pub name: String,
    pub namespace: String,
    pub terminal_state: &'static str,
    pub deleted: bool,
    pub restarts: u32,
    pub restarts_count_towards_max: u32,
    pub current_in_place_restart_attempt: Option<u32>,
    pub previous_in_place_restart_attempt: Option<u32>,
    pub conditions: Vec<Condition>,
    pub replicated_jobs_status: Vec<ReplicatedJobStatus>,
    pub jobs: Vec<Job>,
    pub events: Vec<Event>,
    /// Needs a training model; null without one.
    pub goodput: Option<f64>,
    #[serde(rename = "restartLatency_s")]
    pub restart_latency: Latency,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub status: &'static str,
    pub reason: String,
    pub message: String,
    #[serde(rename = "lastTransitionTime_s")]
    pub last_transition_time: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReplicatedJobStatus {
    pub name: String,
    pub ready: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub active: u32,
    pub suspended: u32,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    pub name: String,
    /// `Complete`, `Failed`, `Suspended` or `Running`.
    pub state: &'static str,
    pub restart_attempt: u32,
    pub active: u32,
    pub ready: u32,
    pub succeeded: u32,
    pub failed: u32,
    pub exists: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Event {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub reason: String,
    pub count: u64,
}

/// Over restarts that ended with every pod ready.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    pub count: usize,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub max: Option<f64>,
}

impl Latency {
    pub fn of<'a>(restarts: impl Iterator<Item = &'a Restart>) -> Latency {
        let seconds = restarts
            .filter_map(|r| Some(r.latency()?.seconds()))
            .collect();
        let sorted = stats::sorted(seconds);
        Latency {
            count: sorted.len(),
            p50: stats::quantile(&sorted, 0.50),
            p95: stats::quantile(&sorted, 0.95),
            max: sorted.last().copied(),
        }
    }
}

impl Summary {
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
            cost: Cost {
                currency: outcome.ledger.currency.clone(),
                total: total_cost(&outcome.ledger),
            },
            warnings: run.warnings(),
            not_modelled: run.not_modelled.to_vec(),
        }
    }
}

pub fn ledger(ledger: &Ledger) -> BTreeMap<&'static str, f64> {
    let seconds = |c: &LedgerCategory| ledger.accelerator_ns[*c as usize] as f64 / 1e9;
    LedgerCategory::ALL
        .iter()
        .map(|c| (c.as_str(), seconds(c)))
        .collect()
}

pub fn total_cost(ledger: &Ledger) -> f64 {
    ledger.cost_micros.iter().sum::<u128>() as f64 / 1e6
}

fn jobset(run: &RunView<'_>, id: JobSetId, outcome: &JobSetOutcome) -> JobSetSummary {
    let status = |s: &crate::record::ReplicatedJobStatus| ReplicatedJobStatus {
        name: s.name.clone(),
        ready: s.ready,
        succeeded: s.succeeded,
        failed: s.failed,
        active: s.active,
        suspended: s.suspended,
    };
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
        goodput: None,
        restart_latency: Latency::of(run.restarts_of(id)),
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
