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
mod tests {
    use super::*;

    /// The Job's makings, a tenth of a second apart, for these attempts.
    fn circle(attempts: impl Iterator<Item = u32>) -> Option<Circle> {
        let mut progress = Progress::default();
        for (i, n) in attempts.enumerate() {
            let made = Made {
                attempt: (n, 0),
                counted: i64::from(n),
            };
            let now = Time::ZERO + Duration::from_millis(100 * i as u64);
            progress.made(JobId(0), made, now);
        }
        progress.goes_round
    }

    #[test]
    fn restarts_are_counted_anew_when_the_jobset_is_made_again() {
        let found = circle(0..1_001).map(|c| (c.times, c.restarts, c.counted));
        assert_eq!(found, Some((1_001, 1_000, 1_000)));
        assert!(circle((0..600).chain(0..600)).is_none());
        assert!(circle((0..600).chain(0..1_001)).is_some());
    }

    /// After how many of these events, all at once, time stands still.
    fn named_after(subjects: impl Iterator<Item = u32>) -> Option<usize> {
        let mut progress = Progress::default();
        let mut still = subjects.map(|s| progress.stands_still_at(Time::ZERO, Some((b'P', s))));
        still.position(|still| still)
    }

    #[test]
    fn a_moment_of_many_objects_passes_and_one_of_a_single_object_soon_does_not() {
        let chains = (0..50).flat_map(|_| 0..65_535);
        assert_eq!(named_after(chains), None, "50 events of each pod");
        assert_eq!(named_after((0..1_000_000).map(|_| 7)), Some(20_400));
    }

    #[test]
    fn a_circle_lasts_unless_the_limit_of_restarts_ends_it_in_time() {
        let circle = circle(0..1_001).unwrap();
        let hour = Duration::from_secs(3_600);
        for (left, expected) in [(100, false), (35_999, false), (36_001, true)] {
            assert_eq!(
                circle.outlasts(left, hour),
                expected,
                "{left} left, ten a second"
            );
        }
        assert!(
            Circle {
                counted: 0,
                ..circle
            }
            .outlasts(1, hour),
            "nothing is counted"
        );
    }
}
