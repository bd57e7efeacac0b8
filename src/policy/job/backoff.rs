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
