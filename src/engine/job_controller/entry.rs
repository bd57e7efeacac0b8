//! One key of the Job controller's work queue: its due time, and whether it is queued or processed by a worker
//! (kubernetes.md 1.1).
//! Refers to a key, not to an object: it outlives the Job. Must never set a timer itself.

use crate::ctx::Mark;
use crate::record::Waited;
use sim_base::*;

/// Rate limiter of the work queue for failed syncs: 1 s · 2^k, at most 60 s.
const ERROR_BACKOFF_CAP_S: u64 = 60;

#[derive(Clone)]
pub(super) struct Entry {
    /// Due time of a delayed sync; `NEVER` if there is none.
    due: Time,
    /// The latest trigger of the delayed sync, and the kind of its wait.
    delayed: (Mark, Waited),
    queued: bool,
    processing: bool,
    /// The key was added again while a worker processed it.
    dirty: bool,
    /// The latest trigger of the queued (or requeued) key.
    ready: Mark,
    /// Number of consecutive errors: the exponent of the rate limiter.
    errors: u32,
}

impl Default for Entry {
    fn default() -> Entry {
        Entry {
            due: Time::NEVER,
            delayed: (Mark::default(), Waited::JobBatch),
            queued: false,
            processing: false,
            dirty: false,
            ready: Mark::default(),
            errors: 0,
        }
    }
}

impl Entry {
    /// Requests a sync at `at`, unless an earlier one is due. Returns true if a timer has to be set.
    pub fn ask(&mut self, at: Time, mark: Mark, waited: Waited) -> bool {
        let earlier = at < self.due;
        if earlier {
            self.due = at;
        }
        // A change is covered by the sync that is due; a later retry is not.
        if earlier || waited == Waited::JobBatch {
            self.delayed = (mark, waited);
        }
        earlier
    }

    /// Handles a timer; `None` if its sync was moved to an earlier time.
    pub fn ring(&mut self, now: Time) -> Option<(Mark, Waited)> {
        if !self.is_due(now) {
            return None;
        }
        self.due = Time::NEVER;
        Some(self.delayed)
    }

    /// Returns true if a delayed sync is due at `at`.
    pub fn is_due(&self, at: Time) -> bool {
        self.due == at
    }

    /// Returns true if the key is queued or being processed.
    pub fn is_busy(&self) -> bool {
        self.queued || self.processing
    }

    /// Marks a sync as due. Returns true if the key has to be appended to the queue.
    pub fn ready(&mut self, mark: Mark) -> bool {
        self.ready = mark;
        if self.processing {
            self.dirty = true;
            return false;
        }
        !std::mem::replace(&mut self.queued, true)
    }

    /// A worker removes the key from the queue. Returns the trigger.
    pub fn take(&mut self) -> Mark {
        assert!(self.queued && !self.processing, "a queued key is nobody's");
        self.queued = false;
        self.ready
    }

    /// The worker starts to process the key.
    pub fn begin(&mut self) {
        self.processing = true;
    }

    /// The worker has finished. After an error, returns the delay until the next attempt.
    pub fn end(&mut self, failed: bool) -> Option<Duration> {
        assert!(self.processing, "a sync that ends has begun");
        self.processing = false;
        if !failed {
            self.errors = 0;
            return None;
        }
        let delay = (1u64 << self.errors.min(6)).min(ERROR_BACKOFF_CAP_S);
        self.errors += 1;
        Some(Duration::from_secs(delay))
    }

    /// If the key was added again meanwhile, returns its latest trigger, and the key has to be queued.
    pub fn again(&mut self) -> Option<Mark> {
        let again = std::mem::take(&mut self.dirty) && !std::mem::replace(&mut self.queued, true);
        again.then_some(self.ready)
    }

    /// Resets the error count for a new object with the name.
    pub fn forget_errors(&mut self) {
        self.errors = 0;
    }
}
