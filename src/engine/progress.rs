//! Progress detection: distinguishes a run that advances from one that only retries or loops.
//!
//! Must never read a spec: the components report what is counted here.

use sim_base::{Duration, JobId, JobSetId, NodeId, PodId, SimTime};
use std::collections::BTreeSet;

#[derive(Clone, Default)]
pub struct RestartProgress {
    /// Time of the last change that was not a retry.
    pub last_change: SimTime,
    /// Time at which the last cache learns of changes for which it gets no event: an admission webhook reads state
    /// only when it is called, also when it becomes available again.
    pub caches_updated: SimTime,
    /// Time of the last request that was rejected because of state from before that time.
    last_stale_rejection: SimTime,
    /// Pending events that may still change state, however long they take.
    pub awaited: u32,
    /// Start of the quiet period at the last search for such an event, and the time of the next one.
    pub awaited_search: (SimTime, SimTime),
    /// Pending events that repeat indefinitely a request that is rejected each time.
    pub idle_events: usize,
    /// Start of the current moment, the number of its events, and whether it is a livelock.
    moment: SimTime,
    events_in_moment: u64,
    pub livelock: bool,
    /// Subjects of the later events of the moment.
    touched: BTreeSet<EventSubject>,
    recreations: Vec<RestartCount>,
    /// The first Job that was recreated too often.
    pub restart_loop: Option<RestartLoop>,
    pub warnings: Vec<String>,
}

/// The object that an event or a change is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventSubject {
    Pod(PodId),
    Job(JobId),
    JobSet(JobSetId),
    Node(NodeId),
    /// Fault or manager stop, by its index in the script.
    Fault(u32),
    /// Clock of usage-based aging, by its index.
    AgingClock(u32),
    /// Follower of an exclusive placement, by its row.
    Follower(u32),
    /// Pod whose creation is in progress, by the number of the request.
    PodCreation(u32),
}

/// Number of times that a Job was created since the first count.
#[derive(Copy, Clone, Default)]
struct RestartCount {
    start: SimTime,
    times: u32,
    /// The purpose of the Job at the first count and at the last.
    first: CreatedJobs,
    last: CreatedJobs,
}

/// The purpose for which a JobSet's Job is created.
#[derive(Copy, Clone, Default)]
pub struct CreatedJobs {
    /// Restart attempts of the JobSet and of the Job.
    pub attempt: (u32, u32),
    /// Restarts that counted towards maxRestarts.
    pub counted: i64,
}

impl CreatedJobs {
    /// Returns true if the JobSet was recreated or its restarts were reset (REC-6), so that earlier counts do not
    /// apply.
    fn is_new_series(&self, last: &CreatedJobs) -> bool {
        self.attempt.0 < last.attempt.0 || self.counted < last.counted
    }
}

/// A Job that was recreated too often.
#[derive(Copy, Clone, Debug)]
pub struct RestartLoop {
    pub job: JobId,
    pub times: u32,
    pub duration: Duration,
    pub restarts: u32,
    pub counted: i64,
}

/// More creations within this window than any terminating retry of a controller produces.
const MAX_RECREATIONS: u32 = 1_000;
const RECREATION_WINDOW: Duration = Duration::from_secs(1_000);

/// Maximum number of events per object within a moment; a chain that terminates has fewer.
const MAX_EVENTS_PER_OBJECT: u64 = 200;
/// A moment with fewer events is not checked, and this number is not counted: the events of 100 objects.
const UNCHECKED_EVENTS: u64 = 100 * MAX_EVENTS_PER_OBJECT;
const MOMENT: Duration = Duration::from_millis(1);

impl RestartProgress {
    /// Start of the period in which only retries happened, each of which observed all changes before it.
    pub fn quiet_since(&self) -> SimTime {
        self.last_change.max(self.caches_updated).max(self.last_stale_rejection)
    }

    /// Records that a request issued at `called` is rejected now.
    pub fn record_rejection(&mut self, called: SimTime, now: SimTime) {
        if called < self.last_change.max(self.caches_updated) {
            self.last_stale_rejection = now;
        }
    }

    /// Returns true if the number of events within a moment shows a livelock: a loop of events that takes almost no
    /// virtual time would never end. `subject` returns the object of the event.
    #[inline(always)]
    pub fn detect_livelock(&mut self, at: SimTime, subject: impl FnOnce() -> Option<EventSubject>) -> bool {
        if at.since(self.moment) >= MOMENT {
            (self.moment, self.events_in_moment) = (at, 0);
            if !self.touched.is_empty() {
                self.touched.clear();
            }
        }
        self.events_in_moment += 1;
        self.record_subject(subject);
        let max = || UNCHECKED_EVENTS + (self.touched.len() as u64 + 1) * MAX_EVENTS_PER_OBJECT;
        self.livelock = self.events_in_moment > UNCHECKED_EVENTS && self.events_in_moment > max();
        self.livelock
    }

    /// Records an object that was changed or that an event is about.
    #[inline(always)]
    pub fn record_subject(&mut self, subject: impl FnOnce() -> Option<EventSubject>) {
        if self.events_in_moment > UNCHECKED_EVENTS {
            self.touched.extend(subject());
        }
    }

    /// Records the creation of a JobSet's Job.
    pub fn record_creation(&mut self, job: JobId, made: CreatedJobs, now: SimTime) {
        if self.recreations.len() <= job.ix() {
            self.recreations.resize(job.ix() + 1, RestartCount::default());
        }
        let again = &mut self.recreations[job.ix()];
        let late = now.since(again.start) > RECREATION_WINDOW;
        if again.times == 0 || late || made.is_new_series(&again.last) {
            *again = RestartCount { start: now, times: 0, first: made, last: made };
        }
        again.last = made;
        again.times += 1;
        if again.times > MAX_RECREATIONS {
            let (a, b) = (again.first.attempt, made.attempt);
            self.restart_loop = Some(RestartLoop {
                job,
                times: again.times,
                duration: now.since(again.start),
                restarts: (b.0 - a.0) + b.1.saturating_sub(a.1),
                counted: made.counted - again.first.counted,
            });
            again.times = 0;
        }
    }
}

impl RestartLoop {
    /// Returns true if the loop still runs after `time`: its restarts are unlimited, or the limit is too far away.
    pub fn runs_past(&self, restarts_left: i64, time: Duration) -> bool {
        let lasts = i128::from(restarts_left) * i128::from(self.duration.0);
        lasts > i128::from(time.0) * i128::from(self.counted) || self.counted <= 0
    }
}

#[cfg(test)]
#[path = "../../tests/inside/engine/progress.rs"]
mod tests;
