//! Progress detection: distinguishes a run that advances from one that only retries or loops.
//!
//! Must never read a spec: the components report what is counted here.

use sim_base::*;
use std::collections::BTreeSet;

#[derive(Clone, Default)]
pub struct Progress {
    /// Time of the last change that was not a retry.
    pub last: Time,
    /// Time at which the last cache learns of changes for which it gets no event: an admission webhook reads state
    /// only when it is called, also when it becomes available again.
    pub known: Time,
    /// Time of the last request that was rejected because of state from before that time.
    outdated: Time,
    /// Pending events that may still change state, however long they take.
    pub awaited: u32,
    /// Start of the quiet period at the last search for such an event, and the time of the next one.
    pub awaits: (Time, Time),
    /// Pending events that repeat indefinitely a request that is rejected each time.
    pub idle: usize,
    /// Start of the current moment, the number of its events, and whether it is a livelock.
    moment: Time,
    in_moment: u64,
    pub stands_still: bool,
    /// Subjects of the later events of the moment.
    touched: BTreeSet<(u8, u32)>,
    again: Vec<Again>,
    /// The first Job that was recreated too often.
    pub goes_round: Option<Circle>,
    pub warnings: Vec<String>,
}

/// Number of times that a Job was created since the first count.
#[derive(Copy, Clone, Default)]
struct Again {
    since: Time,
    times: u32,
    /// The purpose of the Job at the first count and at the last.
    first: Made,
    last: Made,
}

/// The purpose for which a JobSet's Job is created.
#[derive(Copy, Clone, Default)]
pub struct Made {
    /// Restart attempts of the JobSet and of the Job.
    pub attempt: (u32, u32),
    /// Restarts that counted towards maxRestarts.
    pub counted: i64,
}

impl Made {
    /// Returns true if the JobSet was recreated or its restarts were reset (REC-6), so that earlier counts do not
    /// apply.
    fn begins_anew(&self, last: &Made) -> bool {
        self.attempt.0 < last.attempt.0 || self.counted < last.counted
    }
}

/// A Job that was recreated too often.
#[derive(Copy, Clone, Debug)]
pub struct Circle {
    pub job: JobId,
    pub times: u32,
    pub within: Duration,
    pub restarts: u32,
    pub counted: i64,
}

/// More creations within this window than any terminating retry of a controller produces.
const AGAIN_MAX: u32 = 1_000;
const AGAIN_WITHIN: Duration = Duration::from_secs(1_000);

/// Maximum number of events per object within a moment; a chain that terminates has fewer.
const IN_MOMENT_EACH: u64 = 200;
/// A moment with fewer events is not checked, and this number is not counted: the events of 100 objects.
const IN_MOMENT_FREE: u64 = 100 * IN_MOMENT_EACH;
const MOMENT: Duration = Duration::from_millis(1);

impl Progress {
    /// Start of the period in which only retries happened, each of which observed all changes before it.
    pub fn quiet_since(&self) -> Time {
        self.last.max(self.known).max(self.outdated)
    }

    /// Records that a request issued at `called` is rejected now.
    pub fn refused(&mut self, called: Time, now: Time) {
        if called < self.last.max(self.known) {
            self.outdated = now;
        }
    }

    /// Returns true if the number of events within a moment shows a livelock: a loop of events that takes almost no
    /// virtual time would never end. `subject` is the object of the event at this time.
    pub fn stands_still_at(&mut self, at: Time, subject: Option<(u8, u32)>) -> bool {
        if at.since(self.moment) >= MOMENT {
            (self.moment, self.in_moment) = (at, 0);
            self.touched.clear();
        }
        self.in_moment += 1;
        self.touches(subject);
        let chains = self.touched.len() as u64 + 1;
        self.stands_still = self.in_moment > IN_MOMENT_FREE + chains * IN_MOMENT_EACH;
        self.stands_still
    }

    /// Records an object that was changed or that an event is about.
    pub fn touches(&mut self, subject: Option<(u8, u32)>) {
        if self.in_moment > IN_MOMENT_FREE {
            self.touched.extend(subject);
        }
    }

    /// Records the creation of a JobSet's Job.
    pub fn made(&mut self, job: JobId, made: Made, now: Time) {
        if self.again.len() <= job.ix() {
            self.again.resize(job.ix() + 1, Again::default());
        }
        let again = &mut self.again[job.ix()];
        let late = now.since(again.since) > AGAIN_WITHIN;
        if again.times == 0 || late || made.begins_anew(&again.last) {
            *again = Again {
                since: now,
                times: 0,
                first: made,
                last: made,
            };
        }
        again.last = made;
        again.times += 1;
        if again.times > AGAIN_MAX {
            let (a, b) = (again.first.attempt, made.attempt);
            self.goes_round = Some(Circle {
                job,
                times: again.times,
                within: now.since(again.since),
                restarts: (b.0 - a.0) + b.1.saturating_sub(a.1),
                counted: made.counted - again.first.counted,
            });
            again.times = 0;
        }
    }
}

impl Circle {
    /// Returns true if the loop still runs after `time`: its restarts are unlimited, or the limit is too far away.
    pub fn outlasts(&self, restarts_left: i64, time: Duration) -> bool {
        let lasts = i128::from(restarts_left) * i128::from(self.within.0);
        lasts > i128::from(time.0) * i128::from(self.counted) || self.counted <= 0
    }
}

#[cfg(test)]
#[path = "../../tests/inside/engine/progress.rs"]
mod tests;
