//! What the manager keeps of one JobSet: its cache, its place in the work queue, its errors.

use super::cache::{CachedJobSet, CachedJobs};
use crate::ctx::Mark;
use crate::record::Waited;
use sim_base::*;

#[derive(Clone, Default)]
pub struct Row {
    pub cached: CachedJobSet,
    pub jobs: CachedJobs,
    pub queued: bool,
    /// The newest reason for the pass that is queued, or that follows the one at hand.
    pub mark: Mark,
    pub timer: Timer,
    /// A change of a pod is on its way to the cache; further ones arrive with it. The newest of them.
    pub pod_news: Option<Mark>,
    /// Passes in a row that ended with an error: the rate limiter's exponent.
    pub errors: u32,
    /// Passes so far: part of the names of their requests.
    pub passes: u32,
    /// Changes of its Service so far: part of the names of their delays.
    pub services: u32,
}

/// When the key comes back to the queue by itself; only the earliest of several counts.
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
    /// True if it has to ring at `at`, and not earlier anyway.
    pub fn set(&mut self, at: Time, mark: Mark, waited: Waited) -> bool {
        (self.mark, self.waited) = (mark, waited);
        let earlier = at < self.due;
        self.due = self.due.min(at);
        earlier
    }

    /// Since when somebody has waited, and for what; `None`: it rings for a time that an earlier one replaced.
    pub fn ring(&mut self, now: Time) -> Option<(Mark, Waited)> {
        if !self.is_due(now) {
            return None;
        }
        self.due = Time::NEVER;
        Some((self.mark, self.waited))
    }

    /// Whether the key comes back then.
    pub fn is_due(&self, at: Time) -> bool {
        self.due == at
    }
}

/// A pod object: its row, and the how manieth in it.
pub(super) type PodObject = (PodId, u32);
