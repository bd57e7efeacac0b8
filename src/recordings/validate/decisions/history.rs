//! Collects the history of the JobSet's status, its Events and the responses to user actions from the records of a run.
//!
//! The comparison is the task of `decisions`.

use crate::validate::recording::JobRow;
use serde_json::Value;
use sim_api::spec::keys::RESTART_ATTEMPT;
use sim_api::spec::{FaultAction, RequestVerb, ScenarioSpec, UserRequest};
use sim_base::{JobId, JobSetId, SimTime};
use sim_engine::record::{
    Body, JobConditionType, JobSetConditionType, ObjectRef, RecordNames, RecordSink, SimulationRecord, StoredEvent,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The part of a JobSet's status of which every change is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryState {
    pub restarts: u32,
    pub restarts_count_towards_max: u32,
    pub terminal_state: String,
    pub current: Option<u32>,
    pub previous: Option<u32>,
    /// Conditions as (type, status, reason), in the order of the API.
    pub conditions: Vec<(String, String, String)>,
}

/// The JobSet of the recording, which is the first of the scenario.
const JOBSET: JobSetId = JobSetId(0);

/// A Kubernetes Event as emitted, without masking.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryReport {
    /// Involved object as `Job/name` or `Pod/name`; `None` for the JobSet.
    object: Option<String>,
    pub warning: bool,
    pub reason: String,
    pub message: String,
}

impl HistoryReport {
    pub fn object(&self, jobset: &str) -> String {
        self.object.clone().unwrap_or_else(|| format!("JobSet/{jobset}"))
    }
}

/// A sink that collects the data to compare, other than the final state and the pods.
#[derive(Default)]
pub struct DecisionHistory {
    created: Option<SimTime>,
    state: HistoryState,
    /// Time of the status write that is being collected. One write consists of several records.
    pending_write: Option<SimTime>,
    /// Status values, each with the time from which it was current.
    states: Vec<(SimTime, HistoryState)>,
    /// Numbers of ready, succeeded, failed, active and suspended Jobs over all replicatedJobs.
    counts: Vec<(SimTime, [u32; 5])>,
    pub events: BTreeSet<HistoryReport>,
    /// Whether each scripted action found its pod or node, by action index.
    pub action_found_object: BTreeMap<u32, bool>,
    /// Response of the API server to each request, by action index.
    pub responses: BTreeMap<u32, String>,
    /// Jobs that belong to no JobSet, in order of creation.
    other_jobs: Vec<(JobId, JobRow)>,
    /// Manifests of such Jobs by name, in order of creation.
    job_manifests: BTreeMap<String, VecDeque<Value>>,
}

impl DecisionHistory {
    /// Returns all status values in order, without repetitions, each with its start time in seconds. The first one
    /// is empty.
    pub fn states(&self) -> Vec<(f64, HistoryState)> {
        let mut states = vec![(0.0, HistoryState::default())];
        let newest = self.pending_write.map(|at| (at, self.state.clone()));
        for (at, state) in self.states.iter().chain(&newest) {
            if states.last().is_none_or(|(_, last)| last != state) {
                states.push((self.seconds(*at), state.clone()));
            }
        }
        states
    }

    /// Returns the Job counts, each with its start time in seconds.
    pub fn counts(&self) -> Vec<(f64, [u32; 5])> {
        let mut counts = vec![(0.0, [0; 5])];
        counts.extend(self.counts.iter().map(|(at, c)| (self.seconds(*at), *c)));
        counts
    }

    /// Creates a history with the manifests of the Jobs that exist at the start or are created by a user.
    pub fn new(scenario: &ScenarioSpec) -> DecisionHistory {
        let created = scenario.faults.iter().filter_map(|fault| match &fault.action {
            FaultAction::Request(UserRequest { verb: RequestVerb::Create { object, .. }, .. }) => Some(object),
            _ => None,
        });
        let mut history = DecisionHistory::default();
        for job in scenario.objects.iter().chain(created).filter(|object| object["kind"] == "Job") {
            let name = job["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            history.job_manifests.entry(name).or_default().push_back(job.clone());
        }
        history
    }

    /// Returns all Jobs that belong to no JobSet, in order of creation.
    pub fn other_jobs(&self) -> impl Iterator<Item = &JobRow> {
        self.other_jobs.iter().map(|(_, row)| row)
    }

    /// Completes the rows of Jobs without a JobSet from the objects that exist at the end.
    pub fn complete_other_jobs(&mut self, objects: &[Value]) {
        let jobs = objects.iter().filter(|o| o["kind"] == "Job");
        for job in jobs {
            let metadata = &job["metadata"];
            let mut rows = self.other_jobs.iter_mut().map(|(_, row)| row);
            let Some(row) = rows.find(|row| row.exists && metadata["name"] == row.name.as_str()) else {
                continue;
            };
            let count = |key: &str| job["status"][key].as_u64().unwrap_or(0) as u32;
            (row.active, row.ready) = (count("active"), count("ready"));
            (row.succeeded, row.failed) = (count("succeeded"), count("failed"));
            row.terminating = Some(count("terminating"));
            read_spec(row, job);
        }
    }

    fn other_job(&mut self, body: &Body, names: &RecordNames) {
        let (Body::JobCreated { job, .. } | Body::JobCondition { job, .. } | Body::JobGone { job }) = *body else {
            return;
        };
        if names.jobs.get(job.ix()).is_none_or(|j| j.jobset.is_some() || j.standalone_pod) {
            return;
        }
        if let Body::JobCreated { .. } = body {
            let mut row = JobRow { name: names.job(job).to_owned(), exists: true, ..JobRow::default() };
            if let Some(manifest) = self.job_manifests.get_mut(&row.name).and_then(VecDeque::pop_front) {
                read_spec(&mut row, &manifest);
            }
            self.other_jobs.push((job, row));
            return;
        }
        let Some((_, row)) = self.other_jobs.iter_mut().rev().find(|(id, _)| *id == job) else {
            return;
        };
        match *body {
            Body::JobCondition { kind, status, reason, message, .. } => {
                let head = format!("{}={}", kind.as_str(), condition_status(status));
                let text = format!("{head} {}: {}", names.text(reason), names.text(message));
                row.conditions.push(text);
                if kind == JobConditionType::Suspended {
                    row.suspended = status;
                }
            }
            _ => row.exists = false,
        }
    }

    /// Returns the creation time of the JobSet in seconds. Times of a recording are relative to it.
    pub fn created_s(&self) -> f64 {
        self.created.map_or(0.0, SimTime::seconds)
    }

    fn seconds(&self, at: SimTime) -> f64 {
        at.seconds() - self.created_s()
    }

    fn pending_state(&mut self, at: SimTime) -> &mut HistoryState {
        if let Some(before) = self.pending_write.filter(|before| *before != at) {
            self.states.push((before, self.state.clone()));
        }
        self.pending_write = Some(at);
        &mut self.state
    }

    fn set_condition(&mut self, at: SimTime, kind: JobSetConditionType, status: bool, reason: &str) {
        let state = self.pending_state(at);
        let status_text = condition_status(status).to_owned();
        match state.conditions.iter_mut().find(|c| c.0 == kind.as_str()) {
            Some(c) => (c.1, c.2) = (status_text, reason.to_owned()),
            None => {
                let new = (kind.as_str().to_owned(), status_text, reason.to_owned());
                state.conditions.push(new);
            }
        }
        let terminal = matches!(kind, JobSetConditionType::Completed | JobSetConditionType::Failed);
        if terminal && status {
            state.terminal_state = kind.as_str().to_owned();
        }
    }
}

/// Reads the compared fields of a Job other than its status.
fn read_spec(row: &mut JobRow, job: &Value) {
    row.suspended = job["spec"]["suspend"] == true;
    let attempt = job["metadata"]["labels"][RESTART_ATTEMPT].as_str();
    row.restart_attempt = attempt.unwrap_or_default().to_owned();
}

pub fn condition_status(status: bool) -> &'static str {
    if status { "True" } else { "False" }
}

impl RecordSink for DecisionHistory {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        let at = record.at;
        self.other_job(&record.body, names);
        match record.body {
            Body::RestartCounted { jobset: JOBSET, restarts, counted, .. } => {
                let state = self.pending_state(at);
                (state.restarts, state.restarts_count_towards_max) = (restarts, counted);
            }
            Body::PreviousAttempt { jobset: JOBSET, attempt } => self.pending_state(at).previous = Some(attempt),
            Body::CurrentAttempt { jobset: JOBSET, attempt } => self.pending_state(at).current = Some(attempt),
            Body::JobSetCondition { jobset: JOBSET, kind, status, reason, .. } => {
                self.set_condition(at, kind, status, names.text(reason))
            }
            Body::JobSetCreated { jobset: JOBSET } => {
                self.created.get_or_insert(at);
            }
            Body::ReplicatedJobsStatus { jobset: JOBSET, ready, succeeded, failed, active, suspended } => {
                let counts = [ready, succeeded, failed, active, suspended];
                self.counts.push((at, counts));
            }
            Body::Fault { index, node, pod } => {
                let result = node.is_some() || pod.is_some();
                self.action_found_object.insert(index, result);
            }
            Body::Answered { index, answer } => {
                self.responses.insert(index, names.text(answer).to_owned());
            }
            Body::KubeEvent { object: ObjectRef::JobSet(JOBSET), warning, reason, message } => {
                self.events.insert(HistoryReport {
                    object: None,
                    warning,
                    reason: names.text(reason).to_owned(),
                    message: names.text(message).to_owned(),
                });
            }
            _ => {}
        }
    }

    fn receives_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: &StoredEvent) {
        self.events.insert(HistoryReport {
            object: Some(event.object.clone()),
            warning: event.warning,
            reason: event.reason.clone(),
            message: event.message.clone(),
        });
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/decisions/history.rs"]
pub mod tests;
