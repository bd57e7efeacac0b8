//! The states of pod slots, Jobs and JobSets.

use super::crowd::Crowd;
use super::outcome::{CountedRestart, Recovery, RecoveryEnd};
use super::slice_row::SliceRow;
use super::trainer::{FaultyProcess, NodesTrainer};
use sim_base::{DomainId, NodeId, SimTime};
use sim_policy::job::backoff::BackoffRecord;
use sim_policy::{CrashBackOff, FinishedView, JobSetStatus};
use std::borrow::Cow;

/// A pod slot of a Job. Its fields count if it is apart: a pod in the crowd of its Job is bound and runs; a pod of a
/// Job without a crowd waits with all others for a node, or does not exist.
#[derive(Copy, Clone, Debug)]
pub(super) struct PodRow {
    pub is_apart: bool,
    pub exists: bool,
    /// `NodeId::NONE` while it waits for a node.
    pub node: NodeId,
    /// The node on which it ended, until it has a replacement.
    pub last_node: NodeId,
    /// Its machine has failed, or its Node is gone: it ends when the machine or garbage collection ends it.
    pub is_lost: bool,
    /// It was bound while its machine did not reach the control plane, so that it has not started.
    pub starts_late: bool,
    pub is_deleting: bool,
    pub bound_at: SimTime,
    pub evicted_at: SimTime,
    /// Time at which its condition Ready became false, or it was deleted; `NEVER` otherwise.
    pub not_ready_at: SimTime,
    /// Domain in its node selector: that of its leader when it was created, with exclusive placement.
    pub domain: DomainId,
    /// Its agent wrote the next attempt of an in-place restart before its machine was lost.
    pub has_new_attempt: bool,
    /// Its container has exited, and the kubelet restarts it.
    pub is_restarting: bool,
    /// Number of restarts of its container, and their back-off.
    pub restarts: u32,
    pub crash: CrashBackOff,
    /// The fault because of which its processes hang.
    pub hang: Option<(u32, SimTime)>,
    pub epoch: u32,
}

impl PodRow {
    /// A pod that does not exist.
    pub fn new() -> PodRow {
        PodRow {
            is_apart: false,
            exists: false,
            node: NodeId::NONE,
            last_node: NodeId::NONE,
            is_lost: false,
            starts_late: false,
            is_deleting: false,
            bound_at: SimTime::ZERO,
            evicted_at: SimTime::NEVER,
            not_ready_at: SimTime::NEVER,
            domain: DomainId::NONE,
            has_new_attempt: false,
            is_restarting: false,
            restarts: 0,
            crash: CrashBackOff::NONE,
            hang: None,
            epoch: 0,
        }
    }

    /// Returns whether a process of the pod still exists.
    pub fn has(&self, process: FaultyProcess) -> bool {
        self.exists && self.epoch == process.epoch
    }

    /// The pod does not exist any more; whatever was scheduled for it is void.
    pub fn end(&mut self) {
        let (is_apart, bound_at, last_node) = (self.is_apart, self.bound_at, self.node);
        *self = PodRow { is_apart, bound_at, last_node, epoch: self.epoch + 1, ..PodRow::new() };
    }
}

#[derive(Clone)]
pub(super) struct JobRow {
    pub crowd: Crowd,
    /// The pods that are apart.
    pub apart: Vec<usize>,
    pub exists: bool,
    pub attempt: u32,
    pub restarts: u32,
    pub epoch: u32,
    pub is_deleting: bool,
    /// Reason and message, while the Job fails.
    pub failure: Option<(Cow<'static, str>, String)>,
    pub siblings_ended: bool,
    pub finished: Option<FinishedView>,
    /// Failed pods that count towards backoffLimit.
    pub failed_pods: u32,
    pub backoff: BackoffRecord,
    /// When its back-off is over, and it replaces its failed pods.
    pub replaces_at: SimTime,
    /// Pods without a node.
    pub unplaced: u32,
    /// Pods on lost machines.
    pub lost: u32,
    /// Pods on lost machines that have a replacement.
    pub replaced: u32,
    /// Time at which its last pod is bound.
    pub bound_at: SimTime,
    /// The time after which the deleted Job is gone has passed.
    pub gone_due: bool,
    /// A new Job will be created.
    pub is_awaited: bool,
    /// It will be created when the Jobs before it in the startup order are ready.
    pub is_deferred: bool,
    /// Searches for nodes in this attempt.
    pub searches: u32,
    /// Index of the measured delays if it is restarted alone.
    pub single: Option<usize>,
    /// Since when some of its pods wait for nodes; orders the waiting Jobs.
    pub waits_since: Option<u64>,
    /// State that matters only to elastic jobs.
    pub slice: SliceRow,
}

impl JobRow {
    /// A Job that does not exist.
    pub fn new() -> JobRow {
        JobRow {
            crowd: Crowd::empty(),
            apart: Vec::new(),
            exists: false,
            attempt: 0,
            restarts: 0,
            epoch: 0,
            is_deleting: false,
            failure: None,
            siblings_ended: false,
            finished: None,
            failed_pods: 0,
            backoff: BackoffRecord::default(),
            replaces_at: SimTime::NEVER,
            unplaced: 0,
            lost: 0,
            replaced: 0,
            bound_at: SimTime::ZERO,
            gone_due: false,
            is_awaited: false,
            is_deferred: false,
            searches: 0,
            single: None,
            waits_since: None,
            slice: SliceRow::default(),
        }
    }
}

/// An interruption of a training job that is not over.
#[derive(Copy, Clone, Debug)]
pub(super) struct Interruption {
    pub cause: u32,
    pub fault_at: SimTime,
    pub stopped: SimTime,
    /// Whether a pod ended or is being deleted, or a container restarts.
    pub has_losses: bool,
    /// Whether the manager has counted a restart.
    pub is_ordered: bool,
}

impl Interruption {
    /// The recovery that ends with the readiness of all pods, or with the end of the JobSet or run.
    pub fn recovery(&self, end: SimTime, ending: RecoveryEnd) -> Recovery {
        Recovery { cause: self.cause, fault_at: self.fault_at, stopped: self.stopped, end, ending }
    }
}

pub(super) struct JobSetRow<'m> {
    pub status: JobSetStatus,
    pub submitted: bool,
    pub ended: Option<(SimTime, &'static str)>,
    /// Identifies the valid event `Ready` or `WorkDone`.
    pub epoch: u32,
    /// Index of the current measured restart or start, and how many were chosen.
    pub delays: usize,
    /// Per Job, the position of the measured Job whose delays it has in this restart or start.
    pub order: Vec<u32>,
    pub chosen: u32,
    /// Index of the measured delays of the current restart of a single Job, after the last restart of the JobSet.
    pub single: Option<usize>,
    pub has_started: bool,
    /// Whether all pods of an elastic job are ready.
    pub is_ready: bool,
    /// Since when all pods have been ready, or were ready the last time.
    pub ready_since: SimTime,
    /// Number of Jobs that do not exist or are being deleted, and of the latter.
    pub absent: u32,
    pub deleting: u32,
    /// Number of in-place restarts.
    pub attempts: u32,
    /// Since when the workers wait at the barrier of an in-place restart, if one is not over.
    pub barrier_from: Option<SimTime>,
    pub counted: Vec<CountedRestart>,
    pub trainer: NodesTrainer<'m>,
    pub interruption: Option<Interruption>,
    pub recoveries: Vec<Recovery>,
    /// Whether its work is done, and a pod on a lost machine does not end.
    pub waits_to_complete: bool,
}
