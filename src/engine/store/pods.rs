//! Pod objects: one column per fact that the API server stores, one row per object. A row is reused after its object
//! was removed, with a higher incarnation.
//!
//! Kubelets, the scheduler and controllers keep additional facts about pods in columns of their components.

use super::{ContainersState, StoredContainersState};
use crate::record::DeletionActor;
use sim_base::{DomainId, JobId, NodeId, PodId, SimTime, TemplateId, TextId};
use std::collections::BTreeMap;

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum PodPhase {
    /// No object exists.
    #[default]
    Absent,
    Pending,
    Running,
    Succeeded,
    Failed,
}

impl PodPhase {
    pub fn is_terminal(self) -> bool {
        matches!(self, PodPhase::Succeeded | PodPhase::Failed)
    }
}

/// Boolean facts of a pod object, as bit flags.
pub mod flag {
    pub const READY: u8 = 1 << 0;
    /// deletionTimestamp is set.
    pub const DELETING: u8 = 1 << 1;
    /// The finalizer batch.kubernetes.io/job-tracking is set.
    pub const FINALIZER: u8 = 1 << 2;
    /// Only finalizers hold the terminating object: grace period 0, or confirmed by the kubelet.
    pub const CONFIRMED: u8 = 1 << 3;
    pub const DISRUPTION_TARGET: u8 = 1 << 4;
    /// spec.nodeName is stored.
    pub const BOUND: u8 = 1 << 5;
    /// A finalizer of another component holds the object.
    pub const HELD: u8 = 1 << 6;
    /// spec.schedulingGates is not empty.
    pub const GATED: u8 = 1 << 7;
}

pub const NO_ATTEMPT: u32 = u32::MAX;
/// Marks an annotation that is not a non-negative integer (IPR-3).
pub const BAD_ATTEMPT: u32 = u32::MAX - 1;

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $empty:expr;)*) => {
        /// Columns of pod facts, indexed by `PodId`.
        #[derive(Clone, Default)]
        pub struct Pods {
            $($(#[$doc])* pub $name: Vec<$type>,)*
            /// Finalizers of other components, if they differ from those of the template.
            pub finalizers: BTreeMap<PodId, Vec<String>>,
            /// The writer of the condition DisruptionTarget.
            pub disrupted_by: BTreeMap<PodId, DeletionActor>,
            /// Message of the condition PodScheduled of pods that found no node.
            pub unschedulable: BTreeMap<PodId, TextId>,
            free: Vec<PodId>,
        }

        impl Pods {
            fn push_row(&mut self) {
                $(self.$name.push($empty);)*
            }

            fn empty_row(&mut self, row: usize) {
                let incarnation = self.incarnation[row];
                $(self.$name[row] = $empty;)*
                self.incarnation[row] = incarnation;
            }

            pub fn reset(&mut self) {
                $(self.$name.clear();)*
                self.finalizers.clear();
                self.disrupted_by.clear();
                self.unschedulable.clear();
                self.free.clear();
            }
        }
    };
}

columns! {
    phase: PodPhase = PodPhase::Absent;
    flags: u8 = 0;
    job: JobId = JobId::NONE;
    index: u32 = 0;
    /// Position in the Job's list.
    at: u32 = 0;
    template: TemplateId = TemplateId::NONE;
    /// spec.nodeName; `NONE` if the pod is not bound.
    node: NodeId = NodeId::NONE;
    /// The domain in the node selector that the webhook added to a follower (EXC-8).
    domain: DomainId = DomainId::NONE;
    /// Number of the object in this row, from 1.
    incarnation: u32 = 0;
    resource_version: u32 = 0;
    /// Attempt annotation of the in-place restart agent; `NO_ATTEMPT` if absent.
    attempt: u32 = NO_ATTEMPT;
    /// Largest restartCount of a container, according to the status.
    restarts: u32 = 0;
    /// Total restart count of all containers.
    restart_sum: u32 = 0;
    /// Number of the pod for its index within the Job object.
    job_try: u16 = 0;
    exit_code: u8 = 0;
    containers: StoredContainersState = StoredContainersState::NO_STATUS;
    /// Annotation job-index-failure-count: failures of the index before this pod (backoffLimitPerIndex).
    index_failures: u16 = 0;
    /// Annotation job-index-ignored-failure-count: failures that the podFailurePolicy ignored.
    ignored_failures: u16 = 0;
    /// Time at which the containers ended or readiness was lost: the finish time for pod-failure back-off.
    ended_at: SimTime = SimTime::NEVER;
    /// deletionTimestamp in whole seconds, as the API writes it; determines the end of the grace period.
    deletion_s: u32 = 0;
}

impl Pods {
    /// Allocates a row for a new object.
    pub fn allocate(&mut self) -> PodId {
        let pod = match self.free.pop() {
            Some(pod) => pod,
            None => {
                self.push_row();
                PodId(self.phase.len() as u32 - 1)
            }
        };
        let row = pod.ix();
        self.empty_row(row);
        self.incarnation[row] += 1;
        pod
    }

    /// Frees the row of a removed object.
    pub fn release(&mut self, pod: PodId) {
        self.phase[pod.ix()] = PodPhase::Absent;
        self.free.push(pod);
    }

    /// Number of rows, in use or free.
    pub fn len(&self) -> usize {
        self.phase.len()
    }

    pub fn is_empty(&self) -> bool {
        self.phase.is_empty()
    }

    pub fn has(&self, pod: PodId, flags: u8) -> bool {
        self.flags[pod.ix()] & flags != 0
    }

    pub fn set(&mut self, pod: PodId, flags: u8) {
        self.flags[pod.ix()] |= flags;
    }

    pub fn clear(&mut self, pod: PodId, flags: u8) {
        self.flags[pod.ix()] &= !flags;
    }

    pub fn exists(&self, pod: PodId) -> bool {
        self.phase.get(pod.ix()).is_some_and(|p| *p != PodPhase::Absent)
    }

    /// Returns true if an event about this incarnation still refers to the object in the row.
    pub fn is_current(&self, pod: PodId, incarnation: u32) -> bool {
        self.exists(pod) && self.incarnation[pod.ix()] == incarnation
    }

    pub fn is_terminal(&self, pod: PodId) -> bool {
        self.phase[pod.ix()].is_terminal()
    }

    /// Returns true if the pod was ready until its containers exited with 0 and its phase is not yet updated.
    pub fn is_succeeding(&self, pod: PodId) -> bool {
        !self.is_terminal(pod) && self.containers[pod.ix()].get() == ContainersState::Succeeding
    }

    /// Returns true if the pod is not terminal and has no deletionTimestamp (controller.FilterActivePods).
    pub fn is_active(&self, pod: PodId) -> bool {
        !self.phase[pod.ix()].is_terminal() && !self.has(pod, flag::DELETING)
    }
}
