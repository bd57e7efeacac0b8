//! Sinks, which receive the records of a run.

use super::call::Call;
use super::names::RecordNames;
use super::records::SimulationRecord;
use super::ticket::WorkTicket;
use serde_json::Value;
use sim_base::{JobSetId, SimTime};
use sim_kueue::workload::Workload;
use sim_policy::decision::PolicyDecision;
use std::sync::Arc;

/// An Event about a Job or FailedScheduling about a pod, as its controller sends it, after the event correlator, which
/// drops and merges some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Kind and name, such as `Job/a`.
    pub object: String,
    pub warning: bool,
    pub reason: String,
    pub message: String,
}

/// The entry of one replicatedJob in `status.replicatedJobsStatus`, as stored now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReplicatedJobNow {
    pub jobset: JobSetId,
    /// Index of the replicatedJob in the spec.
    pub replicated_job: u32,
    /// Numbers of Jobs that are ready, succeeded, failed, active, suspended.
    pub replicas: [u32; 5],
}

/// The suspension and the Workload of a JobSet that Kueue manages, as stored now.
#[derive(Clone, Debug)]
pub struct AdmissionNow {
    pub jobset: JobSetId,
    pub at: SimTime,
    pub suspended: bool,
    pub workload: Option<Arc<Workload>>,
}

/// An answered request, as in the audit log.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AnsweredRequest {
    /// Client, verb and resource.
    pub call: Call,
    /// Empty for success, otherwise the HTTP status code.
    pub code: &'static str,
    pub at: SimTime,
}

/// Receives records while they are written.
pub trait RecordSink {
    /// Receives a record. `names` contains the names of the run so far, including every id of the record; rows are
    /// appended and never change their meaning.
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames);

    /// Returns true if `decision` is to be called; explaining a pass costs more than the pass itself.
    fn receives_decisions(&self) -> bool {
        false
    }

    /// Receives a decision when it is made, before any of its effects.
    fn decision(&mut self, _: PolicyDecision) {}

    /// Returns true if `event` is to be called. Most Events about Jobs are not records, because there is one per pod,
    /// and an attempt of the scheduler is a record even if its Event is merged with an earlier one.
    fn receives_events(&self) -> bool {
        false
    }

    /// Receives an Event of the Job controller or of the scheduler when it is sent.
    fn event(&mut self, _: &StoredEvent) {}

    /// Returns true if `objects` is to be called.
    fn receives_objects(&self) -> bool {
        false
    }

    /// Receives the objects that exist at the end of a run, as the API would show them: JobSets, Jobs, pods,
    /// Services, claims.
    fn objects(&mut self, _: &[Value]) {}

    /// Returns true if `ticket` is to be called and records are to carry tickets. Called once, before the run.
    fn receives_tickets(&self) -> bool {
        false
    }

    /// Receives a ticket when it is created, before the first record that carries it; it may end in the future. Ids
    /// ascend.
    fn ticket(&mut self, _: &WorkTicket) {}

    /// Receives the numbers of each replicatedJob after `Body::ReplicatedJobsStatus`, which contains their totals.
    fn replicated_job(&mut self, _: &ReplicatedJobNow) {}

    /// Receives the suspension and the Workload of a JobSet after each change of one of them.
    fn admission(&mut self, _: &AdmissionNow) {}

    /// Receives each answered request, if the sink collects tickets.
    fn request_answered(&mut self, _: &AnsweredRequest) {}

    /// Number of events until the next call of `should_stop`, at least one; first called before the run.
    /// `NO_STOP_CHECK` by default, because most sinks never stop a run and a call per event costs two percent of its
    /// time.
    fn events_until_stop_check(&self, _events: u64) -> u64 {
        NO_STOP_CHECK
    }

    /// Returns true if the run is to end now, after `events` events.
    fn should_stop(&mut self, _events: u64) -> bool {
        false
    }
}

/// Larger than the number of events of any run.
pub const NO_STOP_CHECK: u64 = u64::MAX;

pub struct DiscardSink;

impl RecordSink for DiscardSink {
    fn record(&mut self, _: &SimulationRecord, _: &RecordNames) {}
}

#[derive(Default)]
pub struct KeepSink(pub Vec<SimulationRecord>);

impl RecordSink for KeepSink {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.0.push(*record);
    }
}

/// Forwards to each of the two sinks what it requests.
impl<A: RecordSink, B: RecordSink> RecordSink for (A, B) {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        self.0.record(record, names);
        self.1.record(record, names);
    }

    fn receives_decisions(&self) -> bool {
        self.0.receives_decisions() || self.1.receives_decisions()
    }

    fn decision(&mut self, decision: PolicyDecision) {
        match (self.0.receives_decisions(), self.1.receives_decisions()) {
            (true, true) => {
                self.0.decision(decision.clone());
                self.1.decision(decision);
            }
            (true, false) => self.0.decision(decision),
            _ => self.1.decision(decision),
        }
    }

    fn receives_events(&self) -> bool {
        self.0.receives_events() || self.1.receives_events()
    }

    fn event(&mut self, event: &StoredEvent) {
        self.0.event(event);
        self.1.event(event);
    }

    fn receives_objects(&self) -> bool {
        self.0.receives_objects() || self.1.receives_objects()
    }

    fn objects(&mut self, all: &[Value]) {
        self.0.objects(all);
        self.1.objects(all);
    }

    fn receives_tickets(&self) -> bool {
        self.0.receives_tickets() || self.1.receives_tickets()
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        self.0.ticket(ticket);
        self.1.ticket(ticket);
    }

    fn replicated_job(&mut self, now: &ReplicatedJobNow) {
        self.0.replicated_job(now);
        self.1.replicated_job(now);
    }

    fn admission(&mut self, now: &AdmissionNow) {
        self.0.admission(now);
        self.1.admission(now);
    }

    fn request_answered(&mut self, answered: &AnsweredRequest) {
        self.0.request_answered(answered);
        self.1.request_answered(answered);
    }

    fn events_until_stop_check(&self, events: u64) -> u64 {
        self.0.events_until_stop_check(events).min(self.1.events_until_stop_check(events))
    }

    fn should_stop(&mut self, events: u64) -> bool {
        self.0.should_stop(events) || self.1.should_stop(events)
    }
}

/// `None` requests nothing.
impl<S: RecordSink> RecordSink for Option<S> {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        if let Some(sink) = self {
            sink.record(record, names);
        }
    }

    fn receives_decisions(&self) -> bool {
        self.as_ref().is_some_and(S::receives_decisions)
    }

    fn decision(&mut self, decision: PolicyDecision) {
        if let Some(sink) = self {
            sink.decision(decision);
        }
    }

    fn receives_objects(&self) -> bool {
        self.as_ref().is_some_and(S::receives_objects)
    }

    fn objects(&mut self, all: &[Value]) {
        if let Some(sink) = self {
            sink.objects(all);
        }
    }

    fn receives_tickets(&self) -> bool {
        self.as_ref().is_some_and(S::receives_tickets)
    }

    fn replicated_job(&mut self, now: &ReplicatedJobNow) {
        if let Some(sink) = self {
            sink.replicated_job(now);
        }
    }

    fn admission(&mut self, now: &AdmissionNow) {
        if let Some(sink) = self {
            sink.admission(now);
        }
    }

    fn request_answered(&mut self, answered: &AnsweredRequest) {
        if let Some(sink) = self {
            sink.request_answered(answered);
        }
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        if let Some(sink) = self {
            sink.ticket(ticket);
        }
    }

    fn events_until_stop_check(&self, events: u64) -> u64 {
        self.as_ref().map_or(NO_STOP_CHECK, |sink| sink.events_until_stop_check(events))
    }

    fn should_stop(&mut self, events: u64) -> bool {
        self.as_mut().is_some_and(|sink| sink.should_stop(events))
    }
}
