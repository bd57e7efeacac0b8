//! What tells a run that goes on from one that only retries, or that goes round in circles.
//!
//! Must never look at a spec: what is counted here is told by those who do it.

use crate::base::*;

#[derive(Default)]
pub struct Progress {
    /// When something last changed that was not a retry.
    pub last: Time,
    /// Events under way that may still change something, however long they take.
    pub awaited: u32,
    /// Events under way that repeat for ever what is refused each time: nothing comes of them.
    pub idle: usize,
    /// When the present moment began, the events in it, and whether it will not end.
    pub moment: Time,
    pub in_moment: u64,
    pub stands_still: bool,
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

impl Progress {
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
