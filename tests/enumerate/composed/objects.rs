//! Stored Pods and Jobs, and the Job controller's internal state for a Job: its caches, its expectations, the
//! current sync.
//!
//! Plain data: `after.rs`, `sync.rs`, `track.rs` and `status.rs` change it.

/// A set of completion indexes, one bit each.
pub type Indexes = u8;
/// A set of pod UIDs, one bit each.
pub type Uids = u16;

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Phase {
    /// The pod is created, but not ready yet.
    Waiting,
    Ready,
    Succeeded,
    Failed,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pod {
    /// The smallest number that no other pod of this Job uses.
    pub uid: u8,
    pub index: u8,
    pub phase: Phase,
    pub deleting: bool,
    pub finalizer: bool,
    /// Whether the pod has the condition DisruptionTarget.
    pub disrupted: bool,
    pub exit_code: u8,
    /// Whether the pod has just terminated, so that its back-off delay is not over.
    pub recent: bool,
    pub restarts: u8,
    /// Annotations of backoffLimitPerIndex: counted and ignored failures of the index before this pod.
    pub failures: (u8, u8),
}

impl Pod {
    pub fn terminal(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    pub fn active(&self) -> bool {
        !self.terminal() && !self.deleting
    }
}

/// The `status` of a Job.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Status {
    pub started: bool,
    pub active: u8,
    pub ready: u8,
    pub terminating: u8,
    pub failed: u8,
    /// The field `uncountedTerminatedPods.failed`.
    pub uncounted: Uids,
    /// The field `completedIndexes`.
    pub succeeded: Indexes,
    pub failed_indexes: Indexes,
    /// Status of the condition Suspended, if present. The next fields are the reasons of conditions that are True.
    pub suspended: Option<bool>,
    pub failure_target: Option<&'static str>,
    pub success_criteria_met: Option<&'static str>,
    pub failed_for: Option<&'static str>,
    pub complete_for: Option<&'static str>,
}

impl Status {
    pub fn finished(&self) -> bool {
        self.failed_for.is_some() || self.complete_for.is_some()
    }

    /// Returns the number of counted failures, including those that are not yet in `failed`.
    pub fn failures(&self) -> u32 {
        u32::from(self.failed) + self.uncounted.count_ones()
    }
}

/// A stored Job without its labels.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Object {
    pub deleting: bool,
    pub suspended: bool,
    pub status: Status,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    FirstStatus,
    Finalizers,
    LastStatus,
}

/// Number of failures since the last success, and whether the last of them was recent (`BackoffRecord`).
pub type Backoff = (u8, Option<bool>);

/// A sync that has made its decisions and now stores the results.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sync {
    pub step: Step,
    /// Whether the Job was written after the sync read it, so that a PUT fails with a conflict.
    pub behind: bool,
    pub status: Status,
    pub flush: bool,
    /// Pods whose finalizer the sync removes.
    pub finalize: Uids,
    /// Pods with a tracking finalizer at the start of the sync.
    pub tracked: Uids,
    /// The decided end: failed (`true`) or complete, with the reason.
    pub end: Option<(bool, &'static str)>,
    pub backoff: Backoff,
}

/// The Job controller's knowledge of a Job.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Desk {
    /// Cached Job, if it is out of date. `pods` are the cached pods, if they are out of date.
    pub object: Option<Object>,
    pub pods: Option<Vec<Pod>>,
    /// Whether its cache does not show all of its creations or deletions yet (expectations).
    pub expects: bool,
    /// Pods whose finalizer is removed, although the cache still shows it.
    pub off: Uids,
    /// Whether its caches do not show all of its own writes of the Job and of pods yet.
    pub wrote: (bool, bool),
    pub backoff: Backoff,
    /// Whether the key is in the work queue.
    pub queued: bool,
    /// Whether a delayed requeue is pending.
    pub timer: bool,
    pub sync: Option<Sync>,
}
