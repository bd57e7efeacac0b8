//! The interface of a component to the rest of the simulation: the store (read-only), requests, timers, named random
//! numbers and records.
//!
//! Components do not access each other directly. Must never make a decision.

use super::apiserver::stored::StoredObject;
use super::event::SimulationEvent;
use super::progress::RestartProgress;
use super::queue::EventQueue;
use super::requests::{RequestAnswer, RequestEntry, RequestTable, RequestTimes};
use crate::record::{
    AdmissionNow, AnsweredRequest, Body, Call, NO_CAUSE, NO_TICKET, ObjectRef, PolicyDecision, PolicyOutcome,
    RecordSink, ReplicatedJobNow, SimulationRecord, StoredEvent, TicketSubject, TicketWait, WorkTicket,
};
use sim_api::spec::{FeatureGates, KubeletTiming, ScenarioSpec};
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_base::{Duration, JobSetId, SimTime, TextId};

pub struct EngineContext<'a> {
    pub scenario: &'a ScenarioSpec,
    pub now: SimTime,
    pub store: &'a mut StoredObject,
    pub draws: &'a mut DrawSequence,
    /// Feature gates of the JobSet manager in effect now; its webhooks use the same gates.
    pub gates: FeatureGates,
    /// Periods in which the JobSet manager's process was not running.
    pub manager_downtimes: Vec<(SimTime, SimTime)>,
    pub progress: RestartProgress,
    pub(super) requests: &'a mut RequestTable,
    pub(super) queue: &'a mut EventQueue,
    pub(super) sink: &'a mut dyn RecordSink,
    pub(super) cause: u32,
    pub(super) ticket: u32,
    pub(super) tickets: TicketSource,
    pub(super) records: u32,
    pub(super) digest: u64,
    /// True if the script reads objects; only then are objects kept as they were posted.
    pub(super) keeps_objects: bool,
}

#[derive(Copy, Clone)]
pub(super) struct TicketSource {
    pub enabled: bool,
    pub next: u32,
}

/// A point on a chain of waits, from which the next wait starts.
#[derive(Copy, Clone, Debug)]
pub struct ContextMark {
    pub at: SimTime,
    cause: u32,
    ticket: u32,
}

impl Default for ContextMark {
    fn default() -> ContextMark {
        ContextMark { at: SimTime::ZERO, cause: NO_CAUSE, ticket: NO_TICKET }
    }
}

/// The receiver of a watch event; part of the name of the random delay. Append only.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StoreWatcher {
    Manager = 1,
    /// Additional delay of the response to the manager's own write, compared with the watch event for it.
    ManagerOwnWrite = 2,
    GarbageCollector = 3,
    Kubelet = 4,
    Webhook = 5,
    Agent = 6,
    TtlController = 7,
    Scheduler = 8,
    /// The collector's watch of pods.
    GarbageCollectorPods = 9,
    NodeLifecycle = 10,
    Kueue = 11,
    /// Kueue's watch of Workloads.
    KueueWorkloads = 12,
    /// Kueue's watch of Nodes.
    KueueNodes = 13,
    /// Kueue's watch of pods.
    KueuePods = 14,
}

impl EngineContext<'_> {
    // --- waits

    /// Returns the mark of the current instant and its cause.
    pub fn mark(&self) -> ContextMark {
        ContextMark { at: self.now, cause: self.cause, ticket: self.ticket }
    }

    /// Extends the chain by a wait of `delay`.
    pub fn add_wait(
        &mut self, mark: ContextMark, delay: Duration, waited: TicketWait, about: TicketSubject,
    ) -> ContextMark {
        if delay == Duration::ZERO {
            return mark;
        }
        let to = mark.at + delay;
        self.add_ticket(mark, &RequestTimes { granted: mark.at, answered_at: to, in_flight: 0 }, waited, about)
    }

    /// Sends a request at the mark; the chain continues with the response.
    pub fn request_at_mark(&mut self, mark: ContextMark, req: RequestEntry) -> ContextMark {
        self.request_with_times(mark, req).1
    }

    /// Sends a request like `request_at_mark`, and also returns the time at which it leaves the client.
    fn request_with_times(&mut self, mark: ContextMark, req: RequestEntry) -> (SimTime, ContextMark) {
        let (key, substream_index) = self.stream_key(req.subject);
        let substream_index = req.substream.unwrap_or(substream_index);
        let times = self.requests.send(self.draws, &req, (key, substream_index), mark.at);
        let waited = TicketWait::Request(req.call);
        let answered = self.add_ticket(mark, &times, waited, req.subject);
        (times.granted, answered)
    }

    fn add_ticket(
        &mut self, mark: ContextMark, times: &RequestTimes, waited: TicketWait, about: TicketSubject,
    ) -> ContextMark {
        if !self.tickets.enabled {
            return ContextMark { at: times.answered_at, ..mark };
        }
        let ticket = WorkTicket {
            id: self.tickets.next,
            parent: mark.ticket,
            from: mark.at,
            granted: times.granted,
            to: times.answered_at,
            in_flight: times.in_flight,
            wait: waited,
            subject: about,
        };
        self.tickets.next += 1;
        self.sink.ticket(&ticket);
        ContextMark { at: ticket.to, ticket: ticket.id, ..mark }
    }

    /// Schedules an event at the end of the chain.
    pub fn schedule(&mut self, mark: ContextMark, event: SimulationEvent) {
        self.progress.awaited += u32::from(event.is_awaited());
        self.queue.push_with_ticket(mark.at, event, mark.cause, mark.ticket);
    }

    /// Makes the cause of `mark` the cause of everything that follows, with a wait since then. Returns the previous
    /// state for `restore_mark`.
    pub fn resume(&mut self, mark: ContextMark, waited: TicketWait, about: TicketSubject) -> ContextMark {
        let before = self.mark();
        let delay = self.now.since(mark.at);
        let mark = self.add_wait(mark, delay, waited, about);
        self.restore_mark(mark);
        before
    }

    /// Ends a wait that no scheduled event would have ended. The current handler becomes the cause of what follows,
    /// and the critical path continues through the wait.
    pub fn end_wait(&mut self, mark: ContextMark, waited: TicketWait, about: TicketSubject) -> ContextMark {
        let before = self.resume(mark, waited, about);
        self.cause = before.cause;
        before
    }

    /// Takes an item from a worker's queue: the cause of what follows is whatever enqueued the item. If the worker
    /// was busy, the critical path continues with the work that occupied it, otherwise with the enqueuing event.
    pub fn take_cause(&mut self, item: ContextMark) -> ContextMark {
        let before = self.mark();
        self.cause = item.cause;
        before
    }

    pub fn restore_mark(&mut self, mark: ContextMark) {
        self.cause = mark.cause;
        self.ticket = mark.ticket;
    }

    pub fn schedule_at(&mut self, at: SimTime, waited: TicketWait, about: TicketSubject, event: SimulationEvent) {
        let delay = at.since(self.now);
        self.schedule_after(delay, waited, about, event);
    }

    pub fn schedule_after(
        &mut self, delay: Duration, waited: TicketWait, about: TicketSubject, event: SimulationEvent,
    ) {
        let mark = self.add_wait(self.mark(), delay, waited, about);
        self.schedule(mark, event);
    }

    /// Sends a request now and schedules `event` at the time of the response, which is returned.
    pub fn request(&mut self, req: RequestEntry, event: SimulationEvent) -> SimTime {
        let answered = self.request_at_mark(self.mark(), req);
        self.schedule(answered, event);
        answered.at
    }

    /// Sends a request like `request`, but returns the time at which it reaches the API server and its webhooks are
    /// called.
    pub fn request_with_departure(&mut self, req: RequestEntry, event: SimulationEvent) -> SimTime {
        let (leaves, answered) = self.request_with_times(self.mark(), req);
        self.schedule(answered, event);
        leaves
    }

    /// Returns true if the manager's process was running at `at`, so that its webhooks respond.
    #[inline]
    pub fn is_manager_up(&self, at: SimTime) -> bool {
        !self.manager_downtimes.iter().any(|&(from, to)| from <= at && at < to)
    }

    /// Adds an answered request to the audit log.
    pub fn record_response(&mut self, call: Call, answer: RequestAnswer) {
        self.record_response_at(call, answer, self.now);
    }

    pub fn record_response_at(&mut self, call: Call, answer: RequestAnswer, at: SimTime) {
        self.requests.record_response(call, answer, at);
        if self.tickets.enabled {
            let code = answer.code();
            self.sink.request_answered(&AnsweredRequest { call, code, at });
        }
    }

    /// Notifies the sink of a replicatedJob's status; called after the record that contains its totals.
    pub fn notify_replicated_job(&mut self, now: &ReplicatedJobNow) {
        self.sink.replicated_job(now);
    }

    /// Notifies the sink of a JobSet that Kueue manages; called after a change of its spec or Workload.
    pub fn notify_admission(&mut self, jobset: JobSetId) {
        if self.scenario.kueue.is_none() {
            return;
        }
        let row = &self.store.jobsets[jobset.ix()];
        let now = AdmissionNow { jobset, at: self.now, suspended: row.suspended(), workload: row.workload.clone() };
        self.sink.admission(&now);
    }

    /// Marks the start of the first restart: later requests are also counted separately.
    pub fn mark_restart(&mut self) {
        self.requests.mark_restart();
    }

    // --- random numbers

    /// Returns the key that identifies an object in the names of random numbers, and its lane.
    #[inline]
    pub fn stream_key(&self, about: TicketSubject) -> (StreamKey, u32) {
        match about {
            TicketSubject::Nothing => (StreamKey::default(), 0),
            TicketSubject::JobSet(js) => (self.store.jobsets[js.ix()].key, 0),
            TicketSubject::Job(job) => (self.store.jobs[job.ix()].key, 0),
            TicketSubject::Pod(pod) => (self.store.pod_key(pod), self.store.pods.index[pod.ix()]),
            TicketSubject::Node(node) => (StreamKey::from_text(&self.store.names.nodes[node.ix()]), 0),
        }
    }

    /// Draws the `nth` value of a kind for an object.
    pub fn draw(&mut self, purpose: StreamPurpose, about: TicketSubject, nth: u32, dist: &Distribution) -> Duration {
        if let Distribution::Fixed(d) = dist {
            return *d;
        }
        let draw = self.draw_name(purpose, about, nth);
        self.draws.sample(draw, dist)
    }

    /// Draws a uniform number in (0, 1) under that name.
    pub fn draw_unit(&mut self, purpose: StreamPurpose, about: TicketSubject, nth: u32) -> f64 {
        let draw = self.draw_name(purpose, about, nth);
        self.draws.uniform(draw)
    }

    /// Draws a uniform duration in [0, period) under that name.
    pub fn draw_phase(&mut self, purpose: StreamPurpose, about: TicketSubject, nth: u32, period: Duration) -> Duration {
        let draw = self.draw_name(purpose, about, nth);
        Duration((self.draws.uniform(draw) * period.0 as f64) as u64)
    }

    fn draw_name(&self, purpose: StreamPurpose, about: TicketSubject, nth: u32) -> UniformDraw {
        let (entity, substream_index) = self.stream_key(about);
        UniformDraw { purpose, entity, occurrence: nth, substream: substream_index }
    }

    /// Draws the delay from a write to a watcher's cache; `version` is the number of changes of the object so far.
    pub fn watch_lag(&mut self, watcher: StoreWatcher, about: TicketSubject, version: u32) -> Duration {
        let dist = &self.scenario.timing.watch_lag;
        if let Distribution::Fixed(d) = dist {
            return *d;
        }
        let (key, substream_index) = self.stream_key(about);
        let draw = UniformDraw {
            purpose: StreamPurpose::WatchLag,
            entity: key.part(watcher as u64),
            occurrence: version,
            substream: substream_index,
        };
        self.draws.sample(draw, dist)
    }

    // --- records

    /// Writes a record, which becomes the cause of what the handler does next.
    pub fn emit(&mut self, body: Body) {
        let record = SimulationRecord { seq: self.records, cause: self.cause, at: self.now, ticket: self.ticket, body };
        self.digest = crate::record::digest::add(self.digest, &record, &self.store.names);
        let next = self.records.checked_add(1);
        self.records = next.expect("fewer than 4 billion records");
        self.sink.record(&record, &self.store.names);
        if !body.is_retry() {
            self.progress.last_change = self.now;
        }
        self.cause = record.seq;
    }

    pub fn intern(&mut self, text: &str) -> TextId {
        self.store.intern(text)
    }

    /// Emits a Kubernetes Event for an object.
    pub fn emit_kube_event(&mut self, object: ObjectRef, warning: bool, reason: &str, message: &str) {
        let (reason, message) = (self.intern(reason), self.intern(message));
        self.emit(Body::KubeEvent { object, warning, reason, message });
    }

    pub fn receives_events(&self) -> bool {
        self.sink.receives_events()
    }

    /// Sends an Event of the Job controller or of the scheduler to the API server.
    pub fn emit_stored_event(&mut self, event: StoredEvent) {
        self.sink.event(&event);
    }

    pub fn receives_decisions(&self) -> bool {
        self.sink.receives_decisions()
    }

    pub fn emit_decision(&mut self, what: PolicyOutcome) {
        let decision =
            PolicyDecision { id: 0, at: self.now, cause: (self.cause != NO_CAUSE).then_some(self.cause), what };
        self.sink.decision(decision);
    }

    // --- the scenario

    /// Returns true if objects are kept as posted, because the script reads some of them.
    pub fn keeps_objects(&self) -> bool {
        self.keeps_objects
    }

    /// Returns true if the kubelets are scripted, as in replayed recordings: no PLEG, no probes and no rate limits of
    /// their own.
    pub fn has_scripted_kubelets(&self) -> bool {
        matches!(self.scenario.timing.kubelet, KubeletTiming::Scripted { .. })
    }
}
