//! What tells a run that goes on from one that only retries, or that goes round in circles.
//!
//! Must never look at a spec: what is counted here is told by those who do it.

use sim_base::*;
use std::collections::BTreeSet;

#[derive(Clone, Default)]
pub struct Progress {
    /// When something last changed that was not a retry.
    pub last: Time,
    /// When the last cache knows what no event will tell it: an admission webhook looks only when it is called. When it
    /// answers again, too.
    pub known: Time,
    /// When the last request was refused for what was so before that.
    outdated: Time,
    /// Events under way that may still change something, however long they take.
    pub awaited: u32,
    /// Since when it was quiet when somebody last looked for one of them, and when the next one comes.
    pub awaits: (Time, Time),
    /// Events under way that repeat for ever what is refused each time: nothing comes of them.
    pub idle: usize,
    /// When the present moment began, the events in it, and whether it will not end.
    moment: Time,
    in_moment: u64,
    pub stands_still: bool,
    /// What the later ones of these events are about.
    touched: BTreeSet<(u8, u32)>,
    again: Vec<Again>,
    /// The first Job that was made again too often.
    pub goes_round: Option<Circle>,
    pub warnings: Vec<String>,
}

/// How often a Job was made since then.
#[derive(Copy, Clone, Default)]
struct Again {
    since: Time,
    times: u32,
    /// What it was made for, then and last.
    first: Made,
    last: Made,
}

/// What a Job of a JobSet is made for.
#[derive(Copy, Clone, Default)]
pub struct Made {
    /// Restarts of the JobSet and of the Job.
    pub attempt: (u32, u32),
    /// Restarts that counted towards maxRestarts.
    pub counted: i64,
}

impl Made {
    /// The JobSet was made again, or its restarts were forgotten (REC-6): what was counted before is of no use.
    fn begins_anew(&self, last: &Made) -> bool {
        self.attempt.0 < last.attempt.0 || self.counted < last.counted
    }
}

/// A Job that was made too often.
#[derive(Copy, Clone, Debug)]
pub struct Circle {
    pub job: JobId,
    pub times: u32,
    pub within: Duration,
    pub restarts: u32,
    pub counted: i64,
}

/// More often within this time than any controller repeats what has an end.
const AGAIN_MAX: u32 = 1_000;
const AGAIN_WITHIN: Duration = Duration::from_secs(1_000);

/// More events of each object within a moment than a chain that ends can have.
const IN_MOMENT_EACH: u64 = 200;
/// A moment with fewer events is not looked into, and so many are not counted: those of a hundred objects.
const IN_MOMENT_FREE: u64 = 100 * IN_MOMENT_EACH;
const MOMENT: Duration = Duration::from_millis(1);

impl Progress {
    /// Since when nothing but retries has happened, each of which met all that had changed.
    pub fn quiet_since(&self) -> Time {
        self.last.max(self.known).max(self.outdated)
    }

    /// A request that was decided at `called` is refused now.
    pub fn refused(&mut self, called: Time, now: Time) {
        if called < self.last.max(self.known) {
            self.outdated = now;
        }
    }

    /// Whether so much has happened within a moment that it goes round in circles: what takes no time, or hardly any,
    /// can do so for longer than anybody waits. `subject`: what the event at this time is about.
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

    /// An object is changed, or an event is about it.
    pub fn touches(&mut self, subject: Option<(u8, u32)>) {
        if self.in_moment > IN_MOMENT_FREE {
            self.touched.extend(subject);
        }
    }

    /// A Job of a JobSet is made.
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
    /// Whether it still goes round at the end of that time: its restarts are not limited, or the limit is too far away.
    pub fn outlasts(&self, restarts_left: i64, time: Duration) -> bool {
        let lasts = i128::from(restarts_left) * i128::from(self.within.0);
        lasts > i128::from(time.0) * i128::from(self.counted) || self.counted <= 0
    }
}

#[cfg(test)]
#[path = "../../tests/inside/engine/progress.rs"]
mod tests;
