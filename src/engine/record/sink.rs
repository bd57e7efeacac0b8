//! Whoever wants to know what happens in a run: the sinks that take records.

use super::call::Call;
use super::names::Names;
use super::records::Record;
use super::ticket::Ticket;
use serde_json::Value;
use sim_base::{JobId, JobSetId, Time};
use sim_policy::decision::Decision;

/// An Event on a Job as its controller sends it, behind the correlator that drops and combines some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    pub job: JobId,
    pub warning: bool,
    pub reason: String,
    pub message: String,
}

/// `status.replicatedJobsStatus` of one replicatedJob, as it is stored now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReplicatedJobNow {
    /// Whose.
    pub jobset: JobSetId,
    /// Its place in the spec.
    pub replicated_job: u32,
    /// Ready, succeeded, failed, active, suspended.
    pub replicas: [u32; 5],
}

/// An answered request, as the audit log has it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Who asked for what.
    pub call: Call,
    /// Empty for success, else the HTTP code.
    pub code: &'static str,
    /// When.
    pub at: Time,
}

/// Takes records as they are made.
pub trait Sink {
    /// `names` are those of the run so far: they grow, and a row that is there keeps its meaning. Every id of the
    /// record has its row.
    fn record(&mut self, record: &Record, names: &Names);

    /// Whether `decision` is to be called; explaining a pass costs more than the pass.
    fn wants_decisions(&self) -> bool {
        false
    }

    /// Takes a decision when it is made, before anything of it is carried out.
    fn decision(&mut self, _: Decision) {}

    /// Whether `event` is to be called: most Events on Jobs are no records, there is one for every pod.
    fn wants_events(&self) -> bool {
        false
    }

    /// Takes an Event of the Job controller when it is sent.
    fn event(&mut self, _: &StoredEvent) {}

    /// Whether `objects` is to be called.
    fn wants_objects(&self) -> bool {
        false
    }

    /// Takes what exists at the end of a run, as the API would show it: JobSets, Jobs, pods, Services, claims.
    fn objects(&mut self, _: &[Value]) {}

    /// Whether `ticket` is to be called and records are to carry tickets. Asked once, before the run.
    fn wants_tickets(&self) -> bool {
        false
    }

    /// Takes a ticket when it is made, before the first record that carries it: it may end in the future. Ids ascend.
    fn ticket(&mut self, _: &Ticket) {}

    /// Takes each replicatedJob's own numbers after `Body::ReplicatedJobsStatus`, which has their sums.
    fn replicated_job(&mut self, _: &ReplicatedJobNow) {}

    /// Takes each answered request, if the sink wants tickets.
    fn answered(&mut self, _: &Answered) {}

    /// Events until `stops` is to be asked again, at least one; asked first before the run. `NO_LOOK` by default: most
    /// sinks never stop a run, and a call for each event is two percent of it.
    fn looks_after(&self, _events: u64) -> u64 {
        NO_LOOK
    }

    /// Whether the run is to end here, after `events` events.
    fn stops(&mut self, _events: u64) -> bool {
        false
    }
}

/// So many events that no run has them.
pub const NO_LOOK: u64 = u64::MAX;

/// Keeps nothing.
pub struct Discard;

impl Sink for Discard {
    fn record(&mut self, _: &Record, _: &Names) {}
}

/// Keeps everything.
#[derive(Default)]
pub struct Keep(pub Vec<Record>);

impl Sink for Keep {
    fn record(&mut self, record: &Record, _: &Names) {
        self.0.push(*record);
    }
}

/// What one of them does not want it does not get.
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

/// `None` wants nothing.
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
