//! Pod objects: one column per fact that the API server stores, one row per object; a row is used again when its object
//! is gone, under a higher incarnation.
//!
//! What a kubelet, the scheduler or a controller knows of a pod beyond this is in columns of its own.

use crate::record::Deleter;
use sim_base::*;
use std::collections::BTreeMap;

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
    pub const READY: u8 = 1 << 0;
    /// deletionTimestamp is set.
    pub const DELETING: u8 = 1 << 1;
    /// Finalizer batch.kubernetes.io/job-tracking.
    pub const FINALIZER: u8 = 1 << 2;
    /// Nothing but finalizers keeps a deleting object: grace 0, or the kubelet confirmed.
    pub const CONFIRMED: u8 = 1 << 3;
    pub const DISRUPTION_TARGET: u8 = 1 << 4;
    /// spec.nodeName is stored.
    pub const BOUND: u8 = 1 << 5;
    /// A finalizer of somebody else keeps the object.
    pub const HELD: u8 = 1 << 6;
    /// spec.schedulingGates is not empty.
    pub const GATED: u8 = 1 << 7;
}

pub const NO_ATTEMPT: u32 = u32::MAX;
/// An annotation that is no non-negative integer (IPR-3).
pub const BAD_ATTEMPT: u32 = u32::MAX - 1;

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $empty:expr;)*) => {
        /// Columns, indexed by `PodId`.
        #[derive(Clone, Default)]
        pub struct Pods {
            $($(#[$doc])* pub $name: Vec<$type>,)*
            /// Finalizers of somebody else that are not those of the template.
            pub finalizers: BTreeMap<PodId, Vec<String>>,
            /// Who wrote the condition DisruptionTarget.
            pub disrupted_by: BTreeMap<PodId, Deleter>,
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
                self.free.clear();
            }
        }
    };
}

columns! {
    phase: Phase = Phase::Absent;
    flags: u8 = 0;
    job: JobId = JobId::NONE;
    index: u32 = 0;
    /// Place in the Job's list.
    at: u32 = 0;
    template: TemplateId = TemplateId::NONE;
    /// spec.nodeName.
    node: NodeId = NodeId::NONE;
    /// The domain that the webhook wrote into the node selector of a follower (EXC-8).
    domain: DomainId = DomainId::NONE;
    /// nth object in this row, from 1.
    incarnation: u32 = 0;
    resource_version: u32 = 0;
    /// Attempt annotation of the in-place agent; `NO_ATTEMPT` if absent.
    attempt: u32 = NO_ATTEMPT;
    /// Largest restartCount of a container, as the status has it.
    restarts: u32 = 0;
    /// Sum of the restart counts of all containers.
    restart_sum: u32 = 0;
    /// nth pod of its index within the Job object.
    job_try: u16 = 0;
    exit_code: u8 = 0;
    /// Which container `exit_code` is of, from 1; the others ended with 0. 0: all of them ended with it. `NO_STATUS`:
    /// no container has a terminated state. `SUCCEEDING`: ready until all ended with 0, and the phase is to come.
    /// `RESTARTING_ALL`: RestartAllContainers has removed them. As the last status says it that a kubelet has written.
    exit_container: u8 = NO_STATUS;
    /// Annotation job-index-failure-count: failures of its index before this pod (backoffLimitPerIndex).
    index_failures: u16 = 0;
    /// The same of failures that the podFailurePolicy ignored.
    ignored_failures: u16 = 0;
    /// When the containers ended or readiness was lost: the finish time of pod-failure back-off.
    ended_at: Time = Time::NEVER;
    /// When deletionTimestamp was set, in whole seconds, as the API writes it; it says when the grace period ends.
    deletion_s: u32 = 0;
}

/// No kubelet has written how the containers ended: they have not, or pod garbage collection failed the pod.
pub const NO_STATUS: u8 = u8::MAX;
/// See `exit_container`.
pub const SUCCEEDING: u8 = u8::MAX - 1;
pub const RESTARTING_ALL: u8 = u8::MAX - 2;
/// The last container that `exit_container` can say, from 1.
pub const LAST_CONTAINER: u8 = u8::MAX - 3;

impl Pods {
    /// A row for a new object.
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

    /// The object is gone: the row is free.
    pub fn release(&mut self, pod: PodId) {
        self.phase[pod.ix()] = Phase::Absent;
        self.free.push(pod);
    }

    /// Rows, in use or not.
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
        self.phase
            .get(pod.ix())
            .is_some_and(|p| *p != Phase::Absent)
    }

    /// Whether an event of this object is still about the object in the row.
    pub fn is(&self, pod: PodId, incarnation: u32) -> bool {
        self.exists(pod) && self.incarnation[pod.ix()] == incarnation
    }

    pub fn is_terminal(&self, pod: PodId) -> bool {
        self.phase[pod.ix()].is_terminal()
    }

    /// It was ready until its containers ended with 0, and its phase does not say so yet.
    pub fn is_succeeding(&self, pod: PodId) -> bool {
        !self.is_terminal(pod) && self.exit_container[pod.ix()] == SUCCEEDING
    }

    /// Not terminal and no deletionTimestamp (controller.FilterActivePods).
    pub fn is_active(&self, pod: PodId) -> bool {
        !self.phase[pod.ix()].is_terminal() && !self.has(pod, flag::DELETING)
    }
}
