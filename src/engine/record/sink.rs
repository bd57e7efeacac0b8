//! Sinks, which receive the records of a run.

use super::call::Call;
use super::names::Names;
use super::records::Record;
use super::ticket::Ticket;
use serde_json::Value;
use sim_base::{JobId, JobSetId, Time};
use sim_policy::decision::Decision;

/// An Event about a Job as its controller sends it, after the event correlator, which drops and merges some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    pub job: JobId,
    pub warning: bool,
    pub reason: String,
    pub message: String,
}

/// The entry of one replicatedJob in `status.replicatedJobsStatus`, as stored now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReplicatedJobNow {
    /// The JobSet.
    pub jobset: JobSetId,
    /// Index of the replicatedJob in the spec.
    pub replicated_job: u32,
    /// Numbers of Jobs that are ready, succeeded, failed, active, suspended.
    pub replicas: [u32; 5],
}

/// An answered request, as in the audit log.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Client, verb and resource.
    pub call: Call,
    /// Empty for success, otherwise the HTTP status code.
    pub code: &'static str,
    /// Time of the response.
    pub at: Time,
}

/// Receives records while they are written.
pub trait Sink {
    /// Receives a record. `names` contains the names of the run so far, including every id of the record; rows are
    /// appended and never change their meaning.
    fn record(&mut self, record: &Record, names: &Names);

    /// Returns true if `decision` is to be called; explaining a pass costs more than the pass itself.
    fn wants_decisions(&self) -> bool {
        false
    }

    /// Receives a decision when it is made, before any of its effects.
    fn decision(&mut self, _: Decision) {}

    /// Returns true if `event` is to be called. Most Events about Jobs are not records, because there is one per pod.
    fn wants_events(&self) -> bool {
        false
    }

    /// Receives an Event of the Job controller when it is sent.
    fn event(&mut self, _: &StoredEvent) {}

    /// Returns true if `objects` is to be called.
    fn wants_objects(&self) -> bool {
        false
    }

    /// Receives the objects that exist at the end of a run, as the API would show them: JobSets, Jobs, pods,
    /// Services, claims.
    fn objects(&mut self, _: &[Value]) {}

    /// Returns true if `ticket` is to be called and records are to carry tickets. Called once, before the run.
    fn wants_tickets(&self) -> bool {
        false
    }

    /// Receives a ticket when it is created, before the first record that carries it; it may end in the future. Ids
    /// ascend.
    fn ticket(&mut self, _: &Ticket) {}

    /// Receives the numbers of each replicatedJob after `Body::ReplicatedJobsStatus`, which contains their totals.
    fn replicated_job(&mut self, _: &ReplicatedJobNow) {}

    /// Receives each answered request, if the sink collects tickets.
    fn answered(&mut self, _: &Answered) {}

    /// Number of events until the next call of `stops`, at least one; first called before the run. `NO_LOOK` by
    /// default, because most sinks never stop a run and a call per event costs two percent of its time.
    fn looks_after(&self, _events: u64) -> u64 {
        NO_LOOK
    }

    /// Returns true if the run is to end now, after `events` events.
    fn stops(&mut self, _events: u64) -> bool {
        false
    }
}

/// Larger than the number of events of any run.
pub const NO_LOOK: u64 = u64::MAX;

/// A sink that discards all records.
pub struct Discard;

impl Sink for Discard {
    fn record(&mut self, _: &Record, _: &Names) {}
}

/// A sink that keeps all records.
#[derive(Default)]
pub struct Keep(pub Vec<Record>);

impl Sink for Keep {
    fn record(&mut self, record: &Record, _: &Names) {
        self.0.push(*record);
    }
}

/// Forwards to each of the two sinks what it requests.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn record(&mut self, record: &Record, names: &Names) {
        self.0.record(record, names);
        self.1.record(record, names);
    }

    fn wants_decisions(&self) -> bool {
        self.0.wants_decisions() || self.1.wants_decisions()
    }

    fn decision(&mut self, decision: Decision) {
        match (self.0.wants_decisions(), self.1.wants_decisions()) {
            (true, true) => {
                self.0.decision(decision.clone());
                self.1.decision(decision);
            }
            (true, false) => self.0.decision(decision),
            _ => self.1.decision(decision),
        }
    }

    fn wants_events(&self) -> bool {
        self.0.wants_events() || self.1.wants_events()
    }

    fn event(&mut self, event: &StoredEvent) {
        self.0.event(event);
        self.1.event(event);
    }

    fn wants_objects(&self) -> bool {
        self.0.wants_objects() || self.1.wants_objects()
    }

    fn objects(&mut self, all: &[Value]) {
        self.0.objects(all);
        self.1.objects(all);
    }

    fn wants_tickets(&self) -> bool {
        self.0.wants_tickets() || self.1.wants_tickets()
    }

    fn ticket(&mut self, ticket: &Ticket) {
        self.0.ticket(ticket);
        self.1.ticket(ticket);
    }

    fn replicated_job(&mut self, now: &ReplicatedJobNow) {
        self.0.replicated_job(now);
        self.1.replicated_job(now);
    }

    fn answered(&mut self, answered: &Answered) {
        self.0.answered(answered);
        self.1.answered(answered);
    }

    fn looks_after(&self, events: u64) -> u64 {
        self.0.looks_after(events).min(self.1.looks_after(events))
    }

    fn stops(&mut self, events: u64) -> bool {
        self.0.stops(events) || self.1.stops(events)
    }
}

/// `None` requests nothing.
impl<S: Sink> Sink for Option<S> {
    fn record(&mut self, record: &Record, names: &Names) {
        if let Some(sink) = self {
            sink.record(record, names);
        }
    }

    fn wants_decisions(&self) -> bool {
        self.as_ref().is_some_and(S::wants_decisions)
    }

    fn decision(&mut self, decision: Decision) {
        if let Some(sink) = self {
            sink.decision(decision);
        }
    }

    fn wants_objects(&self) -> bool {
        self.as_ref().is_some_and(S::wants_objects)
    }

    fn objects(&mut self, all: &[Value]) {
        if let Some(sink) = self {
            sink.objects(all);
        }
    }

    fn wants_tickets(&self) -> bool {
        self.as_ref().is_some_and(S::wants_tickets)
    }

    fn replicated_job(&mut self, now: &ReplicatedJobNow) {
        if let Some(sink) = self {
            sink.replicated_job(now);
        }
    }

    fn answered(&mut self, answered: &Answered) {
        if let Some(sink) = self {
            sink.answered(answered);
        }
    }

    fn ticket(&mut self, ticket: &Ticket) {
        if let Some(sink) = self {
            sink.ticket(ticket);
        }
    }

    fn looks_after(&self, events: u64) -> u64 {
        self.as_ref()
            .map_or(NO_LOOK, |sink| sink.looks_after(events))
    }

    fn stops(&mut self, events: u64) -> bool {
        self.as_mut().is_some_and(|sink| sink.stops(events))
    }
}
