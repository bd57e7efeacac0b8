//! How long the Job controller waits before it replaces failed pods (kubernetes.md 1.5;
//! `pkg/controller/job/backoff_utils.go`).
//!
//! Must never look at anything but finish times: the API server stores them in whole seconds, so every wait ends up
//! to a second early (D-10).

use crate::ttl::whole_seconds;
use sim_base::{Duration, Time};

/// `DefaultJobPodFailureBackOff` and `MaxJobPodFailureBackOff`.
pub const POD_FAILURE_BACK_OFF: Duration = Duration::from_secs(10);
pub const MAX_POD_FAILURE_BACK_OFF: Duration = Duration::from_secs(600);

/// Failed pods of a Job since its last success, and when the last of them ended; kept in memory per Job key.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BackoffRecord {
    pub failures: u32,
    pub last_failure: Option<Time>,
}

impl BackoffRecord {
    /// The record after a sync that saw these pods end for the first time. Any success forgets what was before it;
    /// failures count only if they ended in a later second than the last success.
    pub fn after(
        self,
        last_success: Option<Time>,
        failed: impl Iterator<Item = Time> + Clone,
    ) -> BackoffRecord {
        let failed = failed.map(whole_seconds);
        let last_failure = failed.clone().max();
        match (last_success.map(whole_seconds), last_failure) {
            (None, None) => self,
            (None, some) => BackoffRecord {
                failures: self.failures + failed.count() as u32,
                last_failure: some,
            },
            (Some(success), _) => {
                let later = failed.filter(|f| *f > success);
                BackoffRecord {
                    failures: later.clone().count() as u32,
                    last_failure: later.max(),
                }
            }
        }
    }

    /// 10 s · 2^(f−1), at most 600 s, from the finish of the last failed pod; what is left of it.
    pub fn remaining(self, now: Time) -> Duration {
        let Some(last) = self.last_failure.filter(|_| self.failures > 0) else {
            return Duration::ZERO;
        };
        // 2^6 · 10 s is beyond the cap already.
        let factor = 1 << (self.failures - 1).min(6);
        let whole = POD_FAILURE_BACK_OFF
            .saturating_mul(factor)
            .min(MAX_POD_FAILURE_BACK_OFF);
        (whole_seconds(last) + whole).since(now)
    }
}

/// With backoffLimitPerIndex every index waits for itself: whether the index of `replaced`, the failed pod whose
/// finalizer is kept for it, may be created now; else how long it still has to wait. `failures` counts that pod too.
pub fn until_index(replaced: Option<(u32, Time)>, now: Time) -> Duration {
    let record = replaced.map(|(failures, ended)| BackoffRecord {
        failures,
        last_failure: Some(ended),
    });
    record.unwrap_or_default().remaining(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time((seconds * 1e9) as u64)
    }

    #[test]
    fn the_wait_doubles_to_ten_minutes_from_the_whole_second_of_the_last_failure() {
        let wait = |failures, now| {
            let record = BackoffRecord {
                failures,
                last_failure: Some(at(100.9)),
            };
            record.remaining(at(now)).0 / 1_000_000_000
        };
        let waits: Vec<u64> = (0..9).map(|f| wait(f, 100.0)).collect();
        assert_eq!(waits, [0, 10, 20, 40, 80, 160, 320, 600, 600]);
        assert_eq!(wait(1, 110.0), 0, "0.9 s early");
        assert_eq!(wait(1, 500.0), 0, "over long ago");
    }

    #[test]
    fn a_success_forgets_all_failures_but_later_ones() {
        let old = BackoffRecord {
            failures: 3,
            last_failure: Some(at(50.0)),
        };
        for (succeeded, failed, failures, last, sentence) in [
            (&[][..], &[][..], 3, Some(50.0), "nothing new"),
            (&[][..], &[61.2, 60.1][..], 5, Some(61.0), "failures add up"),
            (&[62.0][..], &[][..], 0, None, "a success"),
            (
                &[62.0][..],
                &[61.0, 62.9][..],
                0,
                None,
                "the second of the success is not later",
            ),
            (
                &[62.0][..],
                &[61.0, 63.5][..],
                1,
                Some(63.0),
                "one failure after the success",
            ),
        ] {
            let times = |t: &'static [f64]| t.iter().copied().map(at);
            let got = old.after(times(succeeded).max(), times(failed));
            let want = BackoffRecord {
                failures,
                last_failure: last.map(at),
            };
            assert_eq!(got, want, "{sentence}");
        }
    }

    #[test]
    fn each_index_waits_for_its_own_failures() {
        assert_eq!(until_index(None, at(5.0)), Duration::ZERO);
        assert_eq!(
            until_index(Some((1, at(5.4))), at(6.0)),
            Duration::from_secs(9)
        );
        assert_eq!(
            until_index(Some((2, at(5.4))), at(6.0)),
            Duration::from_secs(19)
        );
    }
}
