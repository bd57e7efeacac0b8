//! Pods and Jobs as they are stored, and the Job controller's own books about a Job: its caches, its expectations, the
//! sync it is in.
//!
//! Must never change by itself: `after.rs`, `sync.rs`, `track.rs` and `status.rs` write here.

/// Completion indexes, a bit each.
pub type Indexes = u8;
/// UIDs of pods, a bit each.
pub type Uids = u16;

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Phase {
    /// Created and not ready yet.
    Waiting,
    Ready,
    Succeeded,
    Failed,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pod {
    /// The smallest number that nobody uses for a pod of this Job any more.
    pub uid: u8,
    pub index: u8,
    pub phase: Phase,
    pub deleting: bool,
    pub finalizer: bool,
    /// Condition DisruptionTarget.
    pub disrupted: bool,
    pub exit_code: u8,
    /// Ended just now: back-off still waits for it.
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

/// `status` of a Job.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Status {
    pub started: bool,
    pub active: u8,
    pub ready: u8,
    pub terminating: u8,
    pub failed: u8,
    /// `uncountedTerminatedPods.failed`.
    pub uncounted: Uids,
    /// `completedIndexes`.
    pub succeeded: Indexes,
    pub failed_indexes: Indexes,
    /// Conditions: their reasons, as far as they are True.
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

    /// Failures that are counted, on their way into the counter included.
    pub fn failures(&self) -> u32 {
        u32::from(self.failed) + self.uncounted.count_ones()
    }
}

/// A Job without its labels, as it is stored.
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

/// Failures since the last success and whether the last of them was just now (`BackoffRecord`).
pub type Backoff = (u8, Option<bool>);

/// A sync that has decided and now stores what it found.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sync {
    pub step: Step,
    /// The Job has been written since it was read: a PUT will meet a conflict.
    pub behind: bool,
    pub status: Status,
    pub flush: bool,
    /// Whose finalizer goes.
    pub finalize: Uids,
    /// Who has one.
    pub tracked: Uids,
    /// Failed (true) or Complete, and why.
    pub end: Option<(bool, &'static str)>,
    pub backoff: Backoff,
}

/// What the Job controller knows of a Job.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Desk {
    /// Its caches, as far as they lag behind.
    pub object: Option<Object>,
    pub pods: Option<Vec<Pod>>,
    /// Creations or deletions that its cache has not shown yet (expectations).
    pub expects: bool,
    /// Finalizers taken off that its cache still shows.
    pub off: Uids,
    /// Its own writes of the Job and of pods that its caches do not show yet.
    pub wrote: (bool, bool),
    pub backoff: Backoff,
    /// Something changed, or a requeue is due: the key is in the queue.
    pub queued: bool,
    /// A requeue after some time was asked for.
    pub timer: bool,
    pub sync: Option<Sync>,
}
