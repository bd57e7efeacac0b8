//! A worker of the Job controller: one goroutine and its current sync.

use super::count::ComputedStatus;
use super::finished::FinishedEntry;
use sim_base::{JobId, PodId, SimTime};
use sim_policy::JobPlan;

#[derive(Clone, Default)]
pub(super) struct JobWorker {
    pub job: JobId,
    /// Incarnation of the Job when the sync began.
    pub incarnation: u32,
    /// Version of the Job on which the next status write is based.
    pub version: u32,
    pub active: bool,
    pub stage: SyncStage,
    /// Number of responses that the worker waits for.
    pub outstanding: u32,
    pub failed: bool,
    pub plan: JobPlan,
    /// Counts made at the start of the sync.
    pub counted: ComputedStatus,
    /// Pods to delete (reusable buffer).
    pub to_delete: Vec<PodId>,
    /// Indexes to create, and the progress: the time of the API request for each index so far.
    pub to_create: Vec<u32>,
    pub request_times: Vec<SimTime>,
    /// Size of the next batch.
    pub batch: usize,
    pub batch_failed: bool,
    /// Pods whose finalizer is removed in this sync.
    pub to_finalize: Vec<PodId>,
    /// Changes to the uncounted list in the status being written.
    pub uncounted_changes: FinishedEntry,
    pub reached_max_uncounted: bool,
    pub needs_flush: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub(super) enum SyncStage {
    #[default]
    Idle,
    Deleting,
    Creating,
    FirstStatus,
    Finalizers,
    LastStatus,
}

impl JobWorker {
    pub fn reset(&mut self) {
        self.active = false;
        self.stage = SyncStage::Idle;
    }

    pub fn begin(&mut self, job: JobId, (incarnation, version): (u32, u32)) {
        assert!(!self.active, "a worker does one sync at a time");
        self.active = true;
        self.job = job;
        self.incarnation = incarnation;
        self.version = version;
        self.failed = false;
    }

    /// Counts the response to one of the parallel requests. Returns true for the last one.
    pub fn count_response(&mut self) -> bool {
        assert!(self.outstanding > 0, "a response without an outstanding request");
        self.outstanding -= 1;
        self.outstanding == 0
    }
}
