//! A worker of the Job controller: one goroutine, and the sync it is in.

use super::count::Computed;
use super::finished::Entered;
use crate::base::*;
use crate::policy::JobPlan;
use std::collections::VecDeque;

/// What the pod webhook said: the domain, or why not.
pub(super) type Verdict = Result<DomainId, String>;

#[derive(Default)]
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
    /// Indexes to create, and how many of them have been asked for.
    pub create: Vec<u32>,
    pub asked: usize,
    /// Size of the next batch, and how many there were before it.
    pub batch: usize,
    pub batches: u32,
    pub batch_failed: bool,
    /// What the pod webhook said of followers under way, by their index; answers come in much the same order.
    judged: VecDeque<(u32, Verdict)>,
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
        self.judged.clear();
        self.stage = Stage::Idle;
    }

    pub fn judge(&mut self, index: u32, verdict: Verdict) {
        self.judged.push_back((index, verdict));
    }

    /// What was said of the follower with that index, once.
    pub fn judged(&mut self, index: u32) -> Option<Verdict> {
        let at = self.judged.iter().position(|(i, _)| *i == index)?;
        self.judged.remove(at).map(|(_, verdict)| verdict)
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
