//! The manager's data about one JobSet: its cache, work-queue state and error count.

use super::cache::{CachedJobSet, CachedJobs};
use crate::{ctx::ContextMark, record::TicketWait};
use sim_base::{PodId, SimTime};

#[derive(Clone, Default)]
pub struct JobSetSyncRow {
    pub cached: CachedJobSet,
    pub jobs: CachedJobs,
    pub queued: bool,
    /// The latest trigger of the queued pass, or of the one that follows the current pass.
    pub mark: ContextMark,
    pub timer: RowTimer,
    /// The latest of the pod changes that are being delivered to the cache together.
    pub pod_changes: Option<ContextMark>,
    /// Number of consecutive passes with an error: the exponent of the rate limiter.
    pub errors: u32,
    /// Reason and first line of the Event of the last failed creation.
    pub failure: String,
    /// Number of passes so far, part of the names of their requests.
    pub passes: u32,
    /// Number of changes of its Service so far, part of the names of their delays.
    pub services: u32,
}

/// A delayed requeue of the key; only the earliest time counts.
#[derive(Copy, Clone, Debug)]
pub struct RowTimer {
    due: SimTime,
    mark: ContextMark,
    waited: TicketWait,
}

impl Default for RowTimer {
    fn default() -> RowTimer {
        RowTimer { due: SimTime::NEVER, mark: ContextMark::default(), waited: TicketWait::ErrorBackoff }
    }
}

impl RowTimer {
    /// Returns true if a timer has to be set for `at`, because no earlier one is set.
    pub fn set(&mut self, at: SimTime, mark: ContextMark, waited: TicketWait) -> bool {
        (self.mark, self.waited) = (mark, waited);
        let earlier = at < self.due;
        self.due = self.due.min(at);
        earlier
    }

    /// Returns the start and kind of the wait; `None` if an earlier timer replaced this one.
    pub fn fire(&mut self, now: SimTime) -> Option<(ContextMark, TicketWait)> {
        if !self.is_due(now) {
            return None;
        }
        self.due = SimTime::NEVER;
        Some((self.mark, self.waited))
    }

    /// Returns true if the key is requeued at that time.
    pub fn is_due(&self, at: SimTime) -> bool {
        self.due == at
    }
}

/// A pod object: its row and its incarnation.
pub(super) type PodObjectRow = (PodId, u32);
