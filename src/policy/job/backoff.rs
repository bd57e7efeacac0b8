//! Back-off of the Job controller before it replaces failed pods (kubernetes.md 1.5;
//! `pkg/controller/job/backoff_utils.go`). Must never use anything but finish times, which the API server stores in
//! whole seconds, so each wait ends up to one second early (D-10).

use crate::ttl::whole_seconds;
use sim_base::{Duration, SimTime};

/// `DefaultJobPodFailureBackOff` and `MaxJobPodFailureBackOff`.
pub const POD_FAILURE_BACK_OFF: Duration = Duration::from_secs(10);
pub const MAX_POD_FAILURE_BACK_OFF: Duration = Duration::from_secs(600);

/// Number of pods of a Job that failed since its last success, and the latest finish time; kept in memory per Job key.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BackoffRecord {
    pub failures: u32,
    pub last_failure: Option<SimTime>,
}

impl BackoffRecord {
    /// The record after a sync that observed the end of these pods. A success resets the record; failures count only
    /// if they finished in a later second than the last success.
    pub fn after_sync(
        self, last_success: Option<SimTime>, failed: impl Iterator<Item = SimTime> + Clone,
    ) -> BackoffRecord {
        let failed = failed.map(whole_seconds);
        let last_failure = failed.clone().max();
        match (last_success.map(whole_seconds), last_failure) {
            (None, None) => self,
            (None, some) => BackoffRecord { failures: self.failures + failed.count() as u32, last_failure: some },
            (Some(success), _) => {
                let later = failed.filter(|f| *f > success);
                BackoffRecord { failures: later.clone().count() as u32, last_failure: later.max() }
            }
        }
    }

    /// Remaining back-off: 10 s · 2^(f−1), at most 600 s, from the finish of the last failed pod.
    pub fn remaining(self, now: SimTime) -> Duration {
        let Some(last) = self.last_failure.filter(|_| self.failures > 0) else {
            return Duration::ZERO;
        };
        // 2^6 · 10 s exceeds the maximum.
        let factor = 1 << (self.failures - 1).min(6);
        let complete = POD_FAILURE_BACK_OFF.saturating_mul(factor).min(MAX_POD_FAILURE_BACK_OFF);
        (whole_seconds(last) + complete).since(now)
    }
}

/// With backoffLimitPerIndex each index has its own back-off: the remaining time until the index of `replaced` may be
/// created; zero if now. `replaced` is the failed pod whose finalizer is kept, with the number of failures including
/// that pod.
pub fn until_index(replaced: Option<(u32, SimTime)>, now: SimTime) -> Duration {
    let record = replaced.map(|(failures, ended)| BackoffRecord { failures, last_failure: Some(ended) });
    record.unwrap_or_default().remaining(now)
}
