//! The manager's data about one JobSet: its cache, work-queue state and error count.

use super::cache::{CachedJobSet, CachedJobs};
use crate::ctx::Mark;
use crate::record::Waited;
use sim_base::*;

#[derive(Clone, Default)]
pub struct Row {
    pub cached: CachedJobSet,
    pub jobs: CachedJobs,
    pub queued: bool,
    /// The latest trigger of the queued pass, or of the one that follows the current pass.
    pub mark: Mark,
    pub timer: Timer,
    /// The latest of the pod changes that are being delivered to the cache together.
    pub pod_news: Option<Mark>,
    /// Number of consecutive passes with an error: the exponent of the rate limiter.
    pub errors: u32,
    /// Number of passes so far, part of the names of their requests.
    pub passes: u32,
    /// Number of changes of its Service so far, part of the names of their delays.
    pub services: u32,
}

/// A delayed requeue of the key; only the earliest time counts.
#[derive(Copy, Clone, Debug)]
pub struct Timer {
    due: Time,
    mark: Mark,
    waited: Waited,
}

impl Default for Timer {
    fn default() -> Timer {
        Timer {
            due: Time::NEVER,
            mark: Mark::default(),
            waited: Waited::ErrorBackoff,
        }
    }
}

impl Timer {
    /// Returns true if a timer has to be set for `at`, because no earlier one is set.
    pub fn set(&mut self, at: Time, mark: Mark, waited: Waited) -> bool {
        (self.mark, self.waited) = (mark, waited);
        let earlier = at < self.due;
        self.due = self.due.min(at);
        earlier
    }

    /// Returns the start and kind of the wait; `None` if an earlier timer replaced this one.
    pub fn ring(&mut self, now: Time) -> Option<(Mark, Waited)> {
        if !self.is_due(now) {
            return None;
        }
        self.due = Time::NEVER;
        Some((self.mark, self.waited))
    }

    /// Returns true if the key is requeued at that time.
    pub fn is_due(&self, at: Time) -> bool {
        self.due == at
    }
}

/// A pod object: its row and its incarnation.
pub(super) type PodObject = (PodId, u32);
