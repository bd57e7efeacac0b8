//! The pod table: one column per fact, one place per (Job, index), extra places while an older object still exists.
//!
//! Only the engine writes it; counters of the owning Job are kept in step by the functions of `run`.

use crate::base::*;
use crate::record::LedgerCategory;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Phase {
    /// No object.
    #[default]
    Absent,
    Pending,
    Running,
    Succeeded,
    Failed,
}

impl Phase {
    pub fn is_terminal(self) -> bool {
        matches!(self, Phase::Succeeded | Phase::Failed)
    }
}

/// Yes-or-no facts of a pod object.
pub mod flag {
    pub const READY: u32 = 1 << 0;
    /// deletionTimestamp is set.
    pub const DELETING: u32 = 1 << 1;
    /// Finalizer batch.kubernetes.io/job-tracking.
    pub const FINALIZER: u32 = 1 << 2;
    /// Nothing but finalizers keeps a deleting object: grace 0, or the kubelet confirmed.
    pub const CONFIRMED: u32 = 1 << 3;
    pub const DISRUPTION_TARGET: u32 = 1 << 4;
    /// Containers run on the node.
    pub const UP: u32 = 1 << 5;
    /// Containers have ended and the API server does not know yet.
    pub const EXITED: u32 = 1 << 6;
    /// The kubelet is stopping the containers.
    pub const STOPPING: u32 = 1 << 7;
    /// In the scheduler's books: holds resources of its node.
    pub const HOLDS: u32 = 1 << 8;
    pub const COLLECTOR_QUEUED: u32 = 1 << 9;
    pub const COLLECTOR_BUSY: u32 = 1 << 10;
    pub const COLLECTOR_DIRTY: u32 = 1 << 11;
    /// The barrier is down for this process life of the agent.
    pub const LIFTED: u32 = 1 << 12;
    /// Waits in the scheduler's unschedulable set or back-off queue.
    pub const PARKED: u32 = 1 << 13;
    /// Its failure was ignored by the Job's podFailurePolicy.
    pub const IGNORED: u32 = 1 << 14;
    /// Counted by the Job controller (uncounted list or counters).
    pub const COUNTED: u32 = 1 << 15;
    /// The exit at hand is the in-place agent's own.
    pub const AGENT_EXIT: u32 = 1 << 16;
    /// spec.nodeName is stored.
    pub const BOUND: u32 = 1 << 17;
    /// A user's finalizer keeps the object.
    pub const HELD: u32 = 1 << 18;
    /// Ended well while the Job tracked it: the JobSet waits for one ready pod less.
    pub const SUCCESS: u32 = 1 << 19;
}

pub const NO_ATTEMPT: u32 = u32::MAX;
/// An annotation that is no non-negative integer (IPR-3).
pub const BAD_ATTEMPT: u32 = u32::MAX - 1;

/// Columns, indexed by `PodId`.
#[derive(Default)]
pub struct Pods {
    pub phase: Vec<Phase>,
    pub flags: Vec<u32>,
    pub job: Vec<JobId>,
    pub index: Vec<u32>,
    pub node: Vec<NodeId>,
    /// nth object in this place, from 1.
    pub incarnation: Vec<u32>,
    /// nth life of the containers in this place; grows with every object and every restart.
    pub epoch: Vec<u32>,
    pub resource_version: Vec<u32>,
    /// Attempt annotation of the in-place agent; `NO_ATTEMPT` if absent.
    pub attempt: Vec<u32>,
    /// Attempt of the agent's present process; `NO_ATTEMPT` before its first write.
    pub agent_attempt: Vec<u32>,
    /// Container restarts; also the nth run of the main container.
    pub restarts: Vec<u16>,
    /// nth pod of its index within the Job object.
    pub job_try: Vec<u16>,
    pub exit_code: Vec<u8>,
    /// Which container `exit_code` is of, from 1; the others ended with 0. 0: all of them ended with it.
    pub exit_container: Vec<u8>,
    /// Sum of the restart counts of all containers.
    pub restart_sum: Vec<u32>,
    /// Entry of the kubelet's crash back-off: doublings, and when the containers were last started again.
    pub crash_level: Vec<u8>,
    pub restarted_at: Vec<Time>,
    /// Annotation job-index-failure-count: failures of its index before this pod (backoffLimitPerIndex).
    pub index_failures: Vec<u16>,
    /// The same of failures that the podFailurePolicy ignored.
    pub ignored_failures: Vec<u16>,
    /// Tries of the scheduler that found no node.
    pub unschedulable: Vec<u8>,
    pub category: Vec<LedgerCategory>,
    /// When the containers ended or readiness was lost: the finish time of pod-failure back-off.
    pub ended_at: Vec<Time>,
    /// When taint eviction deletes the pod; `NEVER` if no taint is against it.
    pub evict_at: Vec<Time>,
    /// When the newest status PATCH is answered; a later one is not answered earlier.
    pub status_until: Vec<Time>,
    /// Place of the newest object of each primary (Job, index).
    pub latest: Vec<PodId>,
    /// Per primary place: pods of this index that the present Job object has had.
    pub next_try: Vec<u16>,
    /// Extra places not in use.
    pub spare: Vec<PodId>,
}

impl Pods {
    pub fn reset(&mut self, slots: u32) {
        let n = slots as usize;
        self.phase.clear();
        self.phase.resize(n, Phase::Absent);
        macro_rules! refill {
            ($($column:ident = $value:expr),* $(,)?) => {$(
                self.$column.clear();
                self.$column.resize(n, $value);
            )*};
        }
        refill!(
            flags = 0,
            job = JobId::NONE,
            index = 0,
            node = NodeId::NONE,
            incarnation = 0,
            epoch = 0,
            resource_version = 0,
            attempt = NO_ATTEMPT,
            agent_attempt = NO_ATTEMPT,
            restarts = 0,
            job_try = 0,
            exit_code = 0,
            exit_container = 0,
            restart_sum = 0,
            crash_level = 0,
            restarted_at = Time::ZERO,
            index_failures = 0,
            ignored_failures = 0,
            unschedulable = 0,
            category = LedgerCategory::Idle,
            ended_at = Time::NEVER,
            evict_at = Time::NEVER,
            status_until = Time::ZERO,
        );
        self.latest.clear();
        self.latest.extend((0..slots).map(PodId));
        self.next_try.clear();
        self.next_try.resize(n, 0);
        self.spare.clear();
    }

    /// A place beyond the primary ones.
    pub fn extra(&mut self) -> PodId {
        if let Some(pod) = self.spare.pop() {
            return pod;
        }
        let id = PodId(self.phase.len() as u32);
        self.phase.push(Phase::Absent);
        self.flags.push(0);
        self.job.push(JobId::NONE);
        self.index.push(0);
        self.node.push(NodeId::NONE);
        self.incarnation.push(0);
        self.epoch.push(0);
        self.resource_version.push(0);
        self.attempt.push(NO_ATTEMPT);
        self.agent_attempt.push(NO_ATTEMPT);
        self.restarts.push(0);
        self.job_try.push(0);
        self.exit_code.push(0);
        self.exit_container.push(0);
        self.restart_sum.push(0);
        self.crash_level.push(0);
        self.restarted_at.push(Time::ZERO);
        self.index_failures.push(0);
        self.ignored_failures.push(0);
        self.unschedulable.push(0);
        self.category.push(LedgerCategory::Idle);
        self.ended_at.push(Time::NEVER);
        self.evict_at.push(Time::NEVER);
        self.status_until.push(Time::ZERO);
        id
    }

    pub fn len(&self) -> usize {
        self.phase.len()
    }

    pub fn is_empty(&self) -> bool {
        self.phase.is_empty()
    }

    pub fn has(&self, pod: PodId, flags: u32) -> bool {
        self.flags[pod.ix()] & flags != 0
    }

    pub fn set(&mut self, pod: PodId, flags: u32) {
        self.flags[pod.ix()] |= flags;
    }

    pub fn clear(&mut self, pod: PodId, flags: u32) {
        self.flags[pod.ix()] &= !flags;
    }

    pub fn exists(&self, pod: PodId) -> bool {
        self.phase[pod.ix()] != Phase::Absent
    }

    /// Whether an event of this object is still about the object in the place.
    pub fn is(&self, pod: PodId, incarnation: u32) -> bool {
        self.incarnation[pod.ix()] == incarnation && self.exists(pod)
    }

    pub fn lives(&self, pod: PodId, epoch: u32) -> bool {
        self.epoch[pod.ix()] == epoch && self.exists(pod)
    }

    /// Not terminal and no deletionTimestamp (controller.FilterActivePods).
    pub fn is_active(&self, pod: PodId) -> bool {
        !self.phase[pod.ix()].is_terminal() && !self.has(pod, flag::DELETING)
    }

    /// Hot bytes per place, for the memory row of product.md 8.
    pub const BYTES_PER_POD: usize = 1 + 4 + 4 * 10 + 2 * 4 + 2 + 1 + 4 + 4 + 8 * 4;
}
