//! One key of the Job controller's work queue: when it is due, whether it waits for a worker or is with one
//! (kubernetes.md 1.1).
//!
//! Knows a key, not an object: it outlives the Job. Must never set a timer itself.

use crate::ctx::Mark;
use crate::record::Waited;
use sim_base::*;

/// Work queue limiter of failed syncs: 1 s · 2^k, at most 60 s.
const ERROR_BACKOFF_CAP_S: u64 = 60;

#[derive(Clone)]
pub(super) struct Entry {
    /// When a delayed sync is due; `NEVER` if none.
    due: Time,
    /// The newest of what the delayed sync is for, and what that waits for.
    delayed: (Mark, Waited),
    queued: bool,
    processing: bool,
    /// Due again while a worker had it.
    dirty: bool,
    /// The newest of what put it into the queue, or will when its worker is done.
    ready: Mark,
    /// Errors in a row: the rate limiter's exponent.
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
    /// A sync at `at`, unless one is due earlier. True: a timer has to be set.
    pub fn ask(&mut self, at: Time, mark: Mark, waited: Waited) -> bool {
        let earlier = at < self.due;
        if earlier {
            self.due = at;
        }
        // A change goes along with the sync that is due; one more attempt for later does not.
        if earlier || waited == Waited::JobBatch {
            self.delayed = (mark, waited);
        }
        earlier
    }

    /// A timer rings; `None` if it was set for a sync that came earlier after all.
    pub fn ring(&mut self, now: Time) -> Option<(Mark, Waited)> {
        if !self.is_due(now) {
            return None;
        }
        self.due = Time::NEVER;
        Some(self.delayed)
    }

    /// Whether a delayed sync is due then.
    pub fn is_due(&self, at: Time) -> bool {
        self.due == at
    }

    /// Whether it waits for a worker or is with one.
    pub fn is_busy(&self) -> bool {
        self.queued || self.processing
    }

    /// A sync is due. True: the key goes to the end of the queue.
    pub fn ready(&mut self, mark: Mark) -> bool {
        self.ready = mark;
        if self.processing {
            self.dirty = true;
            return false;
        }
        !std::mem::replace(&mut self.queued, true)
    }

    /// A worker takes the key out of the queue. Returns what it is for.
    pub fn take(&mut self) -> Mark {
        assert!(self.queued && !self.processing, "a queued key is nobody's");
        self.queued = false;
        self.ready
    }

    /// The worker that has taken it works on it.
    pub fn begin(&mut self) {
        self.processing = true;
    }

    /// The worker is done. After an error: how long until the next attempt.
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

    /// Was the key due again meanwhile, it goes to the end of the queue. Returns the newest of what it is for.
    pub fn again(&mut self) -> Option<Mark> {
        let again = std::mem::take(&mut self.dirty) && !std::mem::replace(&mut self.queued, true);
        again.then_some(self.ready)
    }

    /// A new object of the name.
    pub fn forget_errors(&mut self) {
        self.errors = 0;
    }
}
