//! The events of a replication.

use sim_base::{NodeId, ZoneId};

/// An event about something that may have changed since: `epoch` identifies valid ones.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum NodesEvent {
    Submitted {
        jobset: usize,
    },
    /// The node monitor notices a silent machine.
    NodeUnknown {
        node: NodeId,
        epoch: u32,
    },
    /// A run of the node monitor adapts the rates of taints.
    LimitersAdapted,
    /// The next taint of a zone that evicts pods is due.
    TaintDue {
        zone: ZoneId,
    },
    /// The node monitor removes the taints of a machine that returned.
    TaintsRemoved {
        node: NodeId,
        epoch: u32,
    },
    /// Pod garbage collection removes the pods of a deleted Node.
    OrphansRemoved {
        node: NodeId,
        epoch: u32,
    },
    /// A pod has tolerated the taint for long enough.
    TolerationExpired {
        pod: usize,
        epoch: u32,
    },
    /// All pods of a failing Job on running machines have ended.
    SiblingsEnded {
        job: usize,
        epoch: u32,
    },
    /// The Job gets the condition Failed.
    JobFailed {
        job: usize,
        epoch: u32,
    },
    /// The JobSet manager handles failed Jobs.
    Reconciled {
        jobset: usize,
    },
    /// The pods of a deleted Job on running machines have ended.
    JobReleased {
        job: usize,
        epoch: u32,
    },
    /// A deleted Job is gone, unless pods on lost machines remain.
    JobGone {
        job: usize,
        epoch: u32,
    },
    /// The first pod of a new Job is scheduled.
    JobPlaced {
        job: usize,
        epoch: u32,
    },
    /// The pods that replace failed ones of a Job are scheduled.
    ReplacementsPlaced {
        job: usize,
        epoch: u32,
    },
    /// The containers of the pods of a Job run that were bound last.
    PodsRun {
        job: usize,
        epoch: u32,
    },
    /// The containers of a deleted pod have stopped.
    PodTerminated {
        pod: usize,
        epoch: u32,
    },
    /// The last call of an elastic job is over.
    LastCallExpired {
        jobset: usize,
        nth: u32,
    },
    /// The Job of an elastic job whose work is complete gets the condition Complete.
    JobCompleted {
        job: usize,
        epoch: u32,
    },
    /// All pods of the JobSet are ready. Not used for elastic jobs.
    Ready {
        jobset: usize,
        epoch: u32,
    },
    WorkDone {
        jobset: usize,
        epoch: u32,
    },
    /// The manager notices that an in-place restart exceeds the limit.
    LimitExceeded {
        jobset: usize,
    },
    Completed {
        jobset: usize,
    },
    HangDetected {
        pod: usize,
        epoch: u32,
        exit_code: i32,
    },
    /// Wrong results of a training job are noticed.
    CorruptionDetected {
        jobset: usize,
        nth: u32,
    },
    /// The container that the kubelet restarts runs again, and the pod is ready.
    ContainerRestarted {
        pod: usize,
        epoch: u32,
    },
    /// The Job controller counts the restarts of containers.
    RestartsCounted {
        job: usize,
        epoch: u32,
    },
    /// A scripted fault occurs.
    Scripted {
        nth: usize,
    },
}
