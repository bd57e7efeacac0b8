//! The interface of a component to the rest of the simulation: the store (read-only), requests, timers, named random
//! numbers and records.
//!
//! Components do not access each other directly. Must never make a decision.

use super::apiserver::stored::Stored;
use super::event::Event;
use super::progress::Progress;
use super::queue::EventQueue;
use super::requests::{Answer, Req, Requests};
use crate::record::*;
use sim_api::spec::{FeatureGates, Kubelet, Scenario};
use sim_base::random::{Dist, Draw, Draws, Key, Purpose};
use sim_base::*;

pub struct Ctx<'a> {
    pub scenario: &'a Scenario,
    pub now: Time,
    pub store: &'a mut Stored,
    pub draws: &'a mut Draws,
    /// Feature gates of the JobSet manager in effect now; its webhooks use the same gates.
    pub gates: FeatureGates,
    /// Periods in which the JobSet manager's process was not running.
    pub manager_away: Vec<(Time, Time)>,
    pub progress: Progress,
    pub(super) requests: &'a mut Requests,
    pub(super) queue: &'a mut EventQueue,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) cause: u32,
    pub(super) ticket: u32,
    pub(super) tickets: Tickets,
    pub(super) records: u32,
    pub(super) digest: u64,
    /// True if the script reads objects; only then are objects kept as they were posted.
    pub(super) keeps_objects: bool,
}

#[derive(Copy, Clone)]
pub(super) struct Tickets {
    pub wanted: bool,
    pub next: u32,
}

/// A point on a chain of waits, from which the next wait starts.
#[derive(Copy, Clone, Debug)]
pub struct Mark {
    pub at: Time,
    cause: u32,
    ticket: u32,
}

impl Default for Mark {
    fn default() -> Mark {
        Mark {
            at: Time::ZERO,
            cause: NO_CAUSE,
            ticket: NO_TICKET,
        }
    }
}

/// The receiver of a watch event; part of the name of the random delay. Append only.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Watcher {
    Manager = 1,
    /// Additional delay of the response to the manager's own write, compared with the watch event for it.
    ManagerOwnWrite = 2,
    Collector = 3,
    Kubelet = 4,
    Webhook = 5,
    Agent = 6,
    TtlController = 7,
    Scheduler = 8,
}

impl Ctx<'_> {
    // --- waits

    /// Returns the mark of the current instant and its cause.
    pub fn mark(&self) -> Mark {
        Mark {
            at: self.now,
            cause: self.cause,
            ticket: self.ticket,
        }
    }

    /// Extends the chain by a wait of `delay`.
    pub fn wait(&mut self, mark: Mark, delay: Duration, waited: Waited, about: About) -> Mark {
        if delay == Duration::ZERO {
            return mark;
        }
        let to = mark.at + delay;
        self.link(mark, mark.at, to, waited, about)
    }

    /// Sends a request at the mark; the chain continues with the response.
    pub fn ask(&mut self, mark: Mark, req: Req) -> Mark {
        self.send(mark, req).1
    }

    /// Sends a request like `ask`, and also returns the time at which it leaves the client.
    fn send(&mut self, mark: Mark, req: Req) -> (Time, Mark) {
        let (key, lane) = self.key_of(req.about);
        let lane = req.lane.unwrap_or(lane);
        let times = self.requests.send(self.draws, &req, (key, lane), mark.at);
        let waited = Waited::Request(req.call);
        let answered = self.link(mark, times.granted, times.answered, waited, req.about);
        (times.granted, answered)
    }

    fn link(&mut self, mark: Mark, granted: Time, to: Time, waited: Waited, about: About) -> Mark {
        if !self.tickets.wanted {
            return Mark { at: to, ..mark };
        }
        let ticket = Ticket {
            id: self.tickets.next,
            parent: mark.ticket,
            from: mark.at,
            granted,
            to,
            waited,
            about,
        };
        self.tickets.next += 1;
        self.sink.ticket(&ticket);
        Mark {
            at: to,
            ticket: ticket.id,
            ..mark
        }
    }

    /// Schedules an event at the end of the chain.
    pub fn push(&mut self, mark: Mark, event: Event) {
        self.progress.awaited += u32::from(event.is_awaited());
        self.queue
            .push_with_ticket(mark.at, event, mark.cause, mark.ticket);
    }

    /// Makes the cause of `mark` the cause of everything that follows, with a wait since then. Returns the previous
    /// state for `back_to`.
    pub fn resume(&mut self, mark: Mark, waited: Waited, about: About) -> Mark {
        let before = self.mark();
        let delay = self.now.since(mark.at);
        let mark = self.wait(mark, delay, waited, about);
        self.back_to(mark);
        before
    }

    /// Ends a wait that no scheduled event would have ended. The current handler becomes the cause of what follows,
    /// and the critical path continues through the wait.
    pub fn end_wait(&mut self, mark: Mark, waited: Waited, about: About) -> Mark {
        let before = self.resume(mark, waited, about);
        self.cause = before.cause;
        before
    }

    /// Takes an item from a worker's queue: the cause of what follows is whatever enqueued the item. If the worker
    /// was busy, the critical path continues with the work that occupied it, otherwise with the enqueuing event.
    pub fn take(&mut self, item: Mark) -> Mark {
        let before = self.mark();
        self.cause = item.cause;
        before
    }

    pub fn back_to(&mut self, mark: Mark) {
        self.cause = mark.cause;
        self.ticket = mark.ticket;
    }

    pub fn at(&mut self, at: Time, waited: Waited, about: About, event: Event) {
        let delay = at.since(self.now);
        self.after(delay, waited, about, event);
    }

    pub fn after(&mut self, delay: Duration, waited: Waited, about: About, event: Event) {
        let mark = self.wait(self.mark(), delay, waited, about);
        self.push(mark, event);
    }

    /// Sends a request now and schedules `event` at the time of the response, which is returned.
    pub fn request(&mut self, req: Req, event: Event) -> Time {
        let answered = self.ask(self.mark(), req);
        self.push(answered, event);
        answered.at
    }

    /// Sends a request like `request`, but returns the time at which it reaches the API server and its webhooks are
    /// called.
    pub fn request_leaving(&mut self, req: Req, event: Event) -> Time {
        let (leaves, answered) = self.send(self.mark(), req);
        self.push(answered, event);
        leaves
    }

    /// Returns true if the manager's process was running at `at`, so that its webhooks respond.
    #[inline]
    pub fn manager_answers(&self, at: Time) -> bool {
        !self
            .manager_away
            .iter()
            .any(|&(from, to)| from <= at && at < to)
    }

    /// Adds an answered request to the audit log.
    pub fn answered(&mut self, call: Call, answer: Answer) {
        self.answered_at(call, answer, self.now);
    }

    pub fn answered_at(&mut self, call: Call, answer: Answer, at: Time) {
        self.requests.answered(call, answer, at);
        if self.tickets.wanted {
            let code = answer.code();
            self.sink.answered(&Answered { call, code, at });
        }
    }

    /// Notifies the sink of a replicatedJob's status; called after the record that contains its totals.
    pub fn tell_replicated_job(&mut self, now: &ReplicatedJobNow) {
        self.sink.replicated_job(now);
    }

    /// Marks the start of the first restart: later requests are also counted separately.
    pub fn mark_restart(&mut self) {
        self.requests.mark_restart();
    }

    // --- random numbers

    /// Returns the key that identifies an object in the names of random numbers, and its lane.
    pub fn key_of(&self, about: About) -> (Key, u32) {
        match about {
            About::Nothing => (Key::default(), 0),
            About::JobSet(js) => (self.store.jobsets[js.ix()].key, 0),
            About::Job(job) => (self.store.jobs[job.ix()].key, 0),
            About::Pod(pod) => (self.store.pod_key(pod), self.store.pods.index[pod.ix()]),
            About::Node(node) => (Key::of(&self.store.names.nodes[node.ix()]), 0),
        }
    }

    /// Draws the `nth` value of a kind for an object.
    pub fn draw(&mut self, purpose: Purpose, about: About, nth: u32, dist: &Dist) -> Duration {
        if let Dist::Fixed(d) = dist {
            return *d;
        }
        let draw = self.name(purpose, about, nth);
        self.draws.sample(draw, dist)
    }

    /// Draws a uniform number in (0, 1) under that name.
    pub fn draw_unit(&mut self, purpose: Purpose, about: About, nth: u32) -> f64 {
        let draw = self.name(purpose, about, nth);
        self.draws.uniform(draw)
    }

    /// Draws a uniform duration in [0, period) under that name.
    pub fn draw_phase(
        &mut self,
        purpose: Purpose,
        about: About,
        nth: u32,
        period: Duration,
    ) -> Duration {
        let draw = self.name(purpose, about, nth);
        Duration((self.draws.uniform(draw) * period.0 as f64) as u64)
    }

    fn name(&self, purpose: Purpose, about: About, nth: u32) -> Draw {
        let (entity, lane) = self.key_of(about);
        Draw {
            purpose,
            entity,
            occurrence: nth,
            lane,
        }
    }

    /// Draws the delay from a write to a watcher's cache; `version` is the number of changes of the object so far.
    pub fn watch_lag(&mut self, watcher: Watcher, about: About, version: u32) -> Duration {
        let dist = &self.scenario.timing.watch_lag;
        if let Dist::Fixed(d) = dist {
            return *d;
        }
        let (key, lane) = self.key_of(about);
        let draw = Draw {
            purpose: Purpose::WatchLag,
            entity: key.and(watcher as u64),
            occurrence: version,
            lane,
        };
        self.draws.sample(draw, dist)
    }

    // --- records

    /// Writes a record, which becomes the cause of what the handler does next.
    pub fn emit(&mut self, body: Body) {
        let record = Record {
            seq: self.records,
            cause: self.cause,
            at: self.now,
            ticket: self.ticket,
            body,
        };
        self.digest = crate::record::digest::add(self.digest, &record, &self.store.names);
        let next = self.records.checked_add(1);
        self.records = next.expect("fewer than 4 billion records");
        self.sink.record(&record, &self.store.names);
        if !body.is_retry() {
            self.progress.last = self.now;
        }
        self.cause = record.seq;
    }

    pub fn text(&mut self, text: &str) -> TextId {
        self.store.intern(text)
    }

    /// Emits a Kubernetes Event for an object.
    pub fn kube_event(&mut self, object: ObjectRef, warning: bool, reason: &str, message: &str) {
        let (reason, message) = (self.text(reason), self.text(message));
        self.emit(Body::KubeEvent {
            object,
            warning,
            reason,
            message,
        });
    }

    pub fn wants_events(&self) -> bool {
        self.sink.wants_events()
    }

    /// Sends an Event of the Job controller to the API server.
    pub fn stored_event(&mut self, event: StoredEvent) {
        self.sink.event(&event);
    }

    pub fn wants_decisions(&self) -> bool {
        self.sink.wants_decisions()
    }

    pub fn decision(&mut self, what: Decided) {
        let decision = Decision {
            id: 0,
            at: self.now,
            cause: (self.cause != NO_CAUSE).then_some(self.cause),
            what,
        };
        self.sink.decision(decision);
    }

    // --- the scenario

    /// Returns true if objects are kept as posted, because the script reads some of them.
    pub fn keeps_objects(&self) -> bool {
        self.keeps_objects
    }

    /// Returns true if the kubelets are scripted, as in replayed recordings: no PLEG, no probes and no rate limits of
    /// their own.
    pub fn scripted(&self) -> bool {
        matches!(self.scenario.timing.kubelet, Kubelet::Scripted { .. })
    }
}
