//! Watch events of the store: which object changed, and how.
//!
//! Must never contain an old value; a component that needs it keeps it.

use crate::progress::EventSubject;
use sim_api::spec::ObjectKind;
use sim_base::{JobId, JobSetId, NodeId, PodId, TextId};

/// A change, with the record and the ticket that cause what follows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StoreChange {
    pub kind: ChangeKind,
    pub cause: u32,
    pub ticket: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    JobSet(JobSetId, JobSetChange),
    Job(JobId, JobChange),
    Pod(PodId, PodChange),
    Node(NodeId, NodeChange),
    /// A Service that this JobSet owns or that has the name it needs.
    Service(JobSetId),
    /// A Service or claim owned by this JobSet was created.
    OwnedCreated(JobSetId, ObjectKind),
    /// A Service or claim owned by this JobSet was removed.
    OwnedGone(JobSetId),
    /// A PersistentVolumeClaim changed: pods that wait for it may become schedulable.
    Claim {
        namespace: TextId,
        name: TextId,
    },
    /// A PodGroup was created or changed: its pods may enter the scheduling queue.
    PodGroup,
    /// A Namespace was created or changed: its labels select queues of Kueue.
    Namespace,
    /// A PersistentVolume or StorageClass changed: pods that wait for claims may become schedulable.
    Storage,
    /// The Workload of this JobSet was created, changed or removed.
    Workload(JobSetId),
    /// Not an API change: the containers of a pod started or stopped on its machine. Delivered to training jobs and
    /// to usage-based aging.
    Process {
        pod: PodId,
        up: bool,
    },
    /// Not an API change: the containers of a deleted pod have stopped. Delivered to usage-based aging.
    ContainersStopped(PodId),
    /// Not an API change: the training job of the JobSet has completed its work.
    WorkDone(JobSetId),
    /// Not an API change: the pod's process exits with this code.
    ProcessExit(PodId, i32),
    /// Not an API change: the fault with this index in the script, a silent one (`FaultAction::Silent`), affects this
    /// pod or otherwise this node.
    SilentFault {
        fault: u32,
        node: NodeId,
        pod: PodId,
    },
}

impl ChangeKind {
    pub fn subject(&self) -> Option<EventSubject> {
        Some(match *self {
            ChangeKind::Pod(pod, _) | ChangeKind::Process { pod, .. } => EventSubject::Pod(pod),
            ChangeKind::ContainersStopped(pod) | ChangeKind::ProcessExit(pod, _) => EventSubject::Pod(pod),
            ChangeKind::Job(job, _) => EventSubject::Job(job),
            ChangeKind::JobSet(jobset, _) | ChangeKind::OwnedCreated(jobset, _) => EventSubject::JobSet(jobset),
            ChangeKind::OwnedGone(jobset) | ChangeKind::Workload(jobset) => EventSubject::JobSet(jobset),
            ChangeKind::Service(jobset) | ChangeKind::WorkDone(jobset) => EventSubject::JobSet(jobset),
            ChangeKind::Node(node, _) => EventSubject::Node(node),
            ChangeKind::SilentFault { fault, .. } => EventSubject::Fault(fault),
            ChangeKind::Namespace => return None,
            ChangeKind::Claim { .. } | ChangeKind::Storage | ChangeKind::PodGroup => return None,
        })
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum JobSetChange {
    Created,
    Spec,
    /// The status was written, by the manager or by a user.
    Status,
    /// IPR-7, IPR-9: an in-place restart attempt changed.
    Attempts,
    Deleting,
    Gone,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum JobChange {
    Created,
    /// The generation increased: suspend, parallelism, completions or template.
    Spec,
    Status,
    /// Labels or finalizers changed.
    Metadata,
    /// deletionTimestamp was set with the foregroundDeletion finalizer.
    Deleting,
    Gone,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PodChange {
    Created,
    Bound,
    Running,
    Ready,
    NotReady,
    /// The pod's restartCount increased.
    Restarted,
    /// Labels, annotations, conditions or finalizers changed.
    Metadata,
    /// The tracking finalizer was removed.
    Untracked,
    /// The phase became Succeeded or Failed.
    Finished,
    Deleting,
    /// The object was removed; its row keeps the last state while watchers are notified.
    Gone,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NodeChange {
    Created,
    /// Labels, features or allocatable changed.
    Spec,
    Taints,
    /// spec.unschedulable is false again; the taint remains until the node lifecycle controller removes it.
    Uncordoned,
    Condition,
    Gone,
    /// The kubelet resumed or stopped renewing its Lease.
    Lease,
    /// Not an API change: the machine failed or recovered; only the ledger observes this immediately.
    Machine {
        dead: bool,
    },
}
