//! One key of the Job controller's work queue: its due time, and whether it is queued or processed by a worker
//! (kubernetes.md 1.1). Refers to a key, not to an object: it outlives the Job. Must never set a timer itself.

use crate::{ctx::ContextMark, record::TicketWait};
use sim_base::{Duration, SimTime};

/// Rate limiter of the work queue for failed syncs: 1 s · 2^k, at most 60 s.
const ERROR_BACKOFF_CAP_S: u64 = 60;

/// A key and its syncs that are due, queued or in progress.
#[derive(Clone)]
pub(super) struct JobQueueEntry {
    /// The sync that is due at once, whose event has not been handled yet.
    immediate: Option<QueuedSync>,
    /// Due time of the delayed sync; `NEVER` if there is none.
    due: SimTime,
    delayed: QueuedSync,
    queued: bool,
    processing: bool,
    /// The key was added again while a worker processed it.
    dirty: bool,
    /// The latest trigger of the queued (or requeued) key.
    trigger: ContextMark,
    /// Number of consecutive errors: the exponent of the rate limiter.
    errors: u32,
}

/// The latest trigger of a requested sync, and the kind of its wait.
pub(super) type QueuedSync = (ContextMark, TicketWait);

impl Default for JobQueueEntry {
    fn default() -> JobQueueEntry {
        JobQueueEntry {
            immediate: None,
            due: SimTime::NEVER,
            delayed: (ContextMark::default(), TicketWait::JobBatch),
            queued: false,
            processing: false,
            dirty: false,
            trigger: ContextMark::default(),
            errors: 0,
        }
    }
}

impl JobQueueEntry {
    /// Requests a sync at once. Returns true if an event has to be scheduled. A delayed sync stays due: client-go's
    /// `AddAfter` with no delay bypasses the entries that wait.
    pub fn request_sync_now(&mut self, mark: ContextMark, waited: TicketWait) -> bool {
        self.immediate.replace((mark, waited)).is_none()
    }

    /// Requests a sync at the later time `at`, unless an earlier delayed one is due. Returns true if a timer has to
    /// be set.
    pub fn request_sync(&mut self, at: SimTime, mark: ContextMark, waited: TicketWait) -> bool {
        let earlier = at < self.due;
        if earlier {
            self.due = at;
        }
        // A change is covered by the sync that is due; a later retry is not.
        if earlier || waited == TicketWait::JobBatch {
            self.delayed = (mark, waited);
        }
        earlier
    }

    /// Handles a timer; `None` if its sync was moved to an earlier time.
    pub fn fire_timer(&mut self, now: SimTime) -> Option<QueuedSync> {
        if let Some(immediate) = self.immediate.take() {
            return Some(immediate);
        }
        if self.due != now {
            return None;
        }
        self.due = SimTime::NEVER;
        Some(self.delayed)
    }

    /// Returns true if a sync is due at `at`.
    pub fn is_due(&self, at: SimTime) -> bool {
        self.immediate.is_some() || self.due == at
    }

    /// Returns true if the key is queued or being processed.
    pub fn is_busy(&self) -> bool {
        self.queued || self.processing
    }

    /// Marks a sync as due. Returns true if the key has to be appended to the queue.
    pub fn mark_due(&mut self, mark: ContextMark) -> bool {
        self.trigger = mark;
        if self.processing {
            self.dirty = true;
            return false;
        }
        !std::mem::replace(&mut self.queued, true)
    }

    /// A worker removes the key from the queue. Returns the trigger.
    pub fn dequeue(&mut self) -> ContextMark {
        assert!(self.queued && !self.processing, "a queued key is not being processed");
        self.queued = false;
        self.trigger
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
    pub fn take_requeue(&mut self) -> Option<ContextMark> {
        let again = std::mem::take(&mut self.dirty) && !std::mem::replace(&mut self.queued, true);
        again.then_some(self.trigger)
    }

    /// Resets the error count for a new object with the name.
    pub fn forget_errors(&mut self) {
        self.errors = 0;
    }
}
