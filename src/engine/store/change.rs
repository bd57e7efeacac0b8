//! What a watch on the store tells: which object changed, and how.
//!
//! Must never carry an old value: who needs one keeps it.

use sim_api::spec::ObjectKind;
use sim_base::*;

/// A change, with the record and the ticket that go with it, for what follows from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub what: What,
    pub cause: u32,
    pub ticket: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum What {
    JobSet(JobSetId, JobSetChange),
    Job(JobId, JobChange),
    Pod(PodId, PodChange),
    Node(NodeId, NodeChange),
    /// A Service that this JobSet owns, or that has the name it wants.
    Service(JobSetId),
    /// A Service or claim was created that this JobSet owns.
    Owned(JobSetId, ObjectKind),
    /// A PersistentVolumeClaim or volume: pods that wait for claims may go on.
    Claim,
    /// Not an API change: the containers of a pod run on its machine, or no longer do. Told to what JobSets train, and
    /// to what ages.
    Process {
        pod: PodId,
        up: bool,
    },
    /// Not an API change: the containers of a deleted pod have stopped. Told to what ages.
    Stopped(PodId),
    /// Not an API change: what the containers of the JobSet train is done.
    WorkDone(JobSetId),
    /// Not an API change: what the pod trains ends its process with this code.
    GivesUp(PodId, i32),
    /// Not an API change: the nth fault of the script, one of which nobody is told (`spec::Silent`), meets this pod, or
    /// else this node.
    Silent {
        fault: u32,
        node: NodeId,
        pod: PodId,
    },
}

impl What {
    /// The object it is about, as `Event::subject` has it.
    pub fn subject(&self) -> Option<(u8, u32)> {
        Some(match *self {
            What::Pod(pod, _) | What::Process { pod, .. } => (b'P', pod.0),
            What::Stopped(pod) | What::GivesUp(pod, _) => (b'P', pod.0),
            What::Job(job, _) => (b'J', job.0),
            What::JobSet(jobset, _) | What::Owned(jobset, _) => (b'S', jobset.0),
            What::Service(jobset) | What::WorkDone(jobset) => (b'S', jobset.0),
            What::Node(node, _) => (b'N', node.0),
            What::Silent { fault, .. } => (b'F', fault),
            What::Claim => return None,
        })
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum JobSetChange {
    Created,
    Spec,
    /// The manager's own write of the status, or somebody else's.
    Status,
    /// IPR-7, IPR-9: one of the in-place attempts is another one.
    Attempts,
    Deleting,
    Gone,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum JobChange {
    Created,
    /// Generation grew: suspend, parallelism, completions, template.
    Spec,
    Status,
    /// Labels or finalizers.
    Metadata,
    /// deletionTimestamp with the foregroundDeletion finalizer.
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
    /// restartCount grew.
    Restarted,
    /// Labels, annotations, conditions, finalizers.
    Metadata,
    /// The tracking finalizer is off.
    Untracked,
    /// Phase Succeeded or Failed.
    Finished,
    Deleting,
    /// The last change of an object; its row still holds what it was while this is told.
    Gone,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NodeChange {
    Created,
    /// Labels, features or allocatable.
    Spec,
    Taints,
    /// The Ready condition.
    Condition,
    Gone,
    /// The kubelet renews its Lease again, or no longer does.
    Lease,
    /// Not an API change: the machine died or came back, which only the ledger sees at once.
    Machine {
        dead: bool,
    },
}
