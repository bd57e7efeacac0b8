//! A worker of the Job controller: one goroutine, and the sync it is in.

use super::count::Computed;
use super::finished::Entered;
use sim_base::*;
use sim_policy::JobPlan;

#[derive(Clone, Default)]
pub(super) struct Worker {
    pub job: JobId,
    /// Of the Job when the sync began.
    pub incarnation: u32,
    /// The Job's version that the next status write is based on.
    pub version: u32,
    pub active: bool,
    pub stage: Stage,
    /// Answers that the worker waits for.
    pub outstanding: u32,
    pub failed: bool,
    pub plan: JobPlan,
    /// What the sync counted at its start.
    pub counted: Computed,
    /// Pods to delete, a buffer.
    pub victims: Vec<PodId>,
    /// Indexes to create, and when the API server is asked for each: that far it has come.
    pub create: Vec<u32>,
    pub asked: Vec<Time>,
    /// Size of the next batch, and how many there were before it.
    pub batch: usize,
    pub batches: u32,
    pub batch_failed: bool,
    /// Pods whose finalizer goes in this sync.
    pub finalize: Vec<PodId>,
    /// What entered the uncounted list with the status that is being written.
    pub entered: Entered,
    pub reached_max_uncounted: bool,
    pub needs_flush: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub(super) enum Stage {
    #[default]
    Idle,
    Deleting,
    Creating,
    FirstStatus,
    Finalizers,
    LastStatus,
}

impl Worker {
    pub fn reset(&mut self) {
        self.active = false;
        self.stage = Stage::Idle;
    }

    pub fn begin(&mut self, job: JobId, (incarnation, version): (u32, u32)) {
        assert!(!self.active, "a worker does one sync at a time");
        self.active = true;
        self.job = job;
        self.incarnation = incarnation;
        self.version = version;
        self.failed = false;
    }

    /// One request of the parallel set is answered; true if it was the last.
    pub fn one_less(&mut self) -> bool {
        assert!(self.outstanding > 0, "an answer nobody waits for");
        self.outstanding -= 1;
        self.outstanding == 0
    }
}
