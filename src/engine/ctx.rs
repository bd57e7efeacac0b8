//! All that a component may use: the store to read, requests, timers, named random numbers, records.
//!
//! Components never see each other, only this. Must never decide anything.

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
    /// The JobSet manager's feature gates now; its webhooks have the same.
    pub gates: FeatureGates,
    /// When the manager's process did not run.
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
    /// Whether the script asks for objects; only then are they kept as posted.
    pub(super) keeps_objects: bool,
}

#[derive(Copy, Clone)]
pub(super) struct Tickets {
    pub wanted: bool,
    pub next: u32,
}

/// A point on a chain of waits: what happens next goes on from here.
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

/// Who watches: part of the name of a watch event's delay. Append only.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Watcher {
    Manager = 1,
    /// How much longer the answer to the manager's own write takes than the watch event about it.
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

    /// Here and now.
    pub fn mark(&self) -> Mark {
        Mark {
            at: self.now,
            cause: self.cause,
            ticket: self.ticket,
        }
    }

    /// The chain goes on `delay` later.
    pub fn wait(&mut self, mark: Mark, delay: Duration, waited: Waited, about: About) -> Mark {
        if delay == Duration::ZERO {
            return mark;
        }
        let to = mark.at + delay;
        self.link(mark, mark.at, to, waited, about)
    }

    /// Sends a request where the chain is; it goes on with the answer.
    pub fn ask(&mut self, mark: Mark, req: Req) -> Mark {
        self.send(mark, req).1
    }

    /// The same, and when it leaves.
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

    /// What follows is caused by what led to `mark`, and has waited since. Returns what was current, for `back_to`.
    pub fn resume(&mut self, mark: Mark, waited: Waited, about: About) -> Mark {
        let before = self.mark();
        let delay = self.now.since(mark.at);
        let mark = self.wait(mark, delay, waited, about);
        self.back_to(mark);
        before
    }

    /// Somebody ends a wait that nothing else would have ended: he is the cause of what follows, and the walk back goes
    /// through the wait.
    pub fn end_wait(&mut self, mark: Mark, waited: Waited, about: About) -> Mark {
        let before = self.resume(mark, waited, about);
        self.cause = before.cause;
        before
    }

    /// Somebody takes an item from his queue: what follows is caused by what put it there. He had been busy until now,
    /// or it has just come: the walk back goes on with what made him free, or with who brought it.
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

    /// Sends a request now; `event` comes with the answer, at the returned time.
    pub fn request(&mut self, req: Req, event: Event) -> Time {
        let answered = self.ask(self.mark(), req);
        self.push(answered, event);
        answered.at
    }

    /// The same, but returns when it reaches the API server, which asks its webhooks then.
    pub fn request_leaving(&mut self, req: Req, event: Event) -> Time {
        let (leaves, answered) = self.send(self.mark(), req);
        self.push(answered, event);
        leaves
    }

    /// Whether the manager's process ran then, so that its webhooks answer.
    #[inline]
    pub fn manager_answers(&self, at: Time) -> bool {
        !self
            .manager_away
            .iter()
            .any(|&(from, to)| from <= at && at < to)
    }

    /// Writes an answered request into the audit log.
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

    /// After the record that has the sums.
    pub fn tell_replicated_job(&mut self, now: &ReplicatedJobNow) {
        self.sink.replicated_job(now);
    }

    /// The first restart begins: requests from now on are counted apart, too.
    pub fn mark_restart(&mut self) {
        self.requests.mark_restart();
    }

    // --- random numbers

    /// What stands for an object in the names of random numbers, and its lane.
    pub fn key_of(&self, about: About) -> (Key, u32) {
        match about {
            About::Nothing => (Key::default(), 0),
            About::JobSet(js) => (self.store.jobsets[js.ix()].key, 0),
            About::Job(job) => (self.store.jobs[job.ix()].key, 0),
            About::Pod(pod) => (self.store.pod_key(pod), self.store.pods.index[pod.ix()]),
            About::Node(node) => (Key::of(&self.store.names.nodes[node.ix()]), 0),
        }
    }

    /// The nth number of a kind about an object.
    pub fn draw(&mut self, purpose: Purpose, about: About, nth: u32, dist: &Dist) -> Duration {
        if let Dist::Fixed(d) = dist {
            return *d;
        }
        let draw = self.name(purpose, about, nth);
        self.draws.sample(draw, dist)
    }

    /// A number in (0, 1) of that name.
    pub fn draw_unit(&mut self, purpose: Purpose, about: About, nth: u32) -> f64 {
        let draw = self.name(purpose, about, nth);
        self.draws.uniform(draw)
    }

    /// The same, uniform over [0, period).
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

    /// From a write to a watcher's cache; `version` counts the changes of the object.
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

    /// Writes a record; what the handler does next is caused by it.
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

    /// A Kubernetes Event on an object.
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

    /// An Event of the Job controller leaves for the API server.
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

    /// Objects are kept as they were posted: the script asks for some.
    pub fn keeps_objects(&self) -> bool {
        self.keeps_objects
    }

    /// The kubelets are the recordings' player: no PLEG, no probes, no limit of their own.
    pub fn scripted(&self) -> bool {
        matches!(self.scenario.timing.kubelet, Kubelet::Scripted { .. })
    }
}
