//! All pending events: one closed enum, and the order of its variants at equal times.
//!
//! Events about a pod carry the pod's incarnation (object) or epoch (process lifetime). Events are never canceled:
//! they are dropped if the pod has moved on.

use crate::record::Call;
use sim_base::*;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    // class 0: the script
    Submit(JobSetId),
    Fault(u32),
    ManagerStops(u32),
    ManagerBack,
    /// An aging clock reaches the age of the node's next fault, or resumes after a fault, unless it was paused since.
    Worn {
        clock: u32,
        nth: u32,
    },
    // class 1: nodes
    /// The containers of a newly bound pod start running.
    ContainersUp {
        pod: PodId,
        epoch: u32,
    },
    /// A container exits on its own.
    ContainerExit {
        pod: PodId,
        epoch: u32,
    },
    /// The kubelet detects the exit.
    ExitNoticed {
        pod: PodId,
        epoch: u32,
    },
    /// All containers were stopped and removed for an in-place restart, and are running again.
    ContainersBack {
        pod: PodId,
        epoch: u32,
    },
    /// The containers of a deleted pod have stopped.
    Stopped {
        pod: PodId,
        incarnation: u32,
    },
    /// A JobSet update reaches the pod's in-place restart agent.
    AgentSees {
        pod: PodId,
        epoch: u32,
    },
    /// A training job reaches the end of its work, unless it was interrupted since.
    WorkDone {
        jobset: JobSetId,
        generation: u32,
    },
    /// A detector reports that the `nth` process of a pod hangs.
    HangFound {
        pod: PodId,
        nth: u32,
        exit_code: u8,
    },
    /// A silent error in a training job's results is detected for the `nth` time.
    WrongFound {
        jobset: JobSetId,
        nth: u32,
    },
    /// The `nth` process of a pod times out waiting for the processes of the other pods.
    RendezvousOver {
        pod: PodId,
        nth: u32,
    },
    /// A training job stops waiting for more slices, for the `nth` time.
    LastCallOver {
        jobset: JobSetId,
        nth: u32,
    },
    /// The in-place restart barrier is lifted and the worker container runs.
    WorkerUp {
        pod: PodId,
        epoch: u32,
    },
    // class 2: API requests answered
    StatusWritten {
        pod: PodId,
        epoch: u32,
        what: StatusWrite,
    },
    KubeletDeleted {
        pod: PodId,
        incarnation: u32,
    },
    AttemptWritten {
        pod: PodId,
        epoch: u32,
    },
    /// `nth` is the index among the pods that the worker's sync creates.
    PodCreateAnswered {
        worker: u16,
        nth: u32,
    },
    PodDeleteAnswered {
        worker: u16,
        pod: PodId,
        incarnation: u32,
    },
    FinalizerAnswered {
        worker: u16,
        pod: PodId,
        incarnation: u32,
    },
    JobStatusAnswered {
        worker: u16,
    },
    JobEventSent,
    /// The tracking finalizer of an orphaned pod is removed; no sync processes that pod.
    OrphanReleased {
        pod: PodId,
        incarnation: u32,
    },
    CollectorAnswered {
        worker: u16,
    },
    JobSetAnswered {
        jobset: JobSetId,
        call: JobSetCall,
        job: JobId,
    },
    /// The manager's pod reconciler receives the response for the `nth` follower of the current Job.
    FollowerAnswered {
        at: u32,
        call: FollowerCall,
    },
    BindAnswered {
        pod: PodId,
        incarnation: u32,
    },
    EvictionAnswered {
        pod: PodId,
        incarnation: u32,
    },
    // class 3: controllers observe and act
    JobDue(JobId),
    /// `ttlSecondsAfterFinished` of a Job expires.
    JobTtlOver {
        job: JobId,
        incarnation: u32,
    },
    JobTtlDeletes {
        job: JobId,
        incarnation: u32,
    },
    /// The JobSet manager's cache receives an update of a Job.
    JobSeen(JobId),
    /// The JobSet manager's cache receives an update of the JobSet.
    JobSetSeen(JobSetId),
    JobSetDue(JobSetId),
    /// The JobSet manager's cache receives an update of one of the JobSet's pods.
    JobSetPodNews(JobSetId),
    /// The JobSet manager's cache receives an update of an exclusive-placement leader pod.
    LeaderSeen {
        pod: PodId,
        incarnation: u32,
    },
    /// The back-off of the leader in the pod reconciler expires.
    LeaderDue {
        pod: PodId,
        incarnation: u32,
    },
    /// The JobSet manager finishes the computation of its reconcile pass.
    JobSetComputed(JobSetId),
    /// The garbage collector's graph observes a Job under foreground deletion, or that one of its dependents is gone.
    CollectorSees {
        job: JobId,
        incarnation: u32,
        deleted: bool,
    },
    /// The garbage collector deletes a Job of a JobSet under foreground deletion.
    CollectorDeletesJob(JobId),
    /// The garbage collector deletes the Service, or a claim, of a JobSet under foreground deletion.
    CollectorDeletesOwned {
        jobset: JobSetId,
        call: Call,
    },
    MonitorTick,
    TaintDue(NodeId),
    TolerationOver {
        pod: PodId,
        incarnation: u32,
    },
    PodGcTick,
    // class 4: the scheduler
    CycleDone {
        pod: PodId,
        incarnation: u32,
    },
    BackoffOver {
        pod: PodId,
        incarnation: u32,
    },
}

/// The component that handles an event; each has its own folder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    User,
    Kubelet,
    JobController,
    TtlController,
    JobSetManager,
    Collector,
    Scheduler,
    NodeLifecycle,
    PodGc,
    Training,
    Ageing,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StatusWrite {
    Running,
    Ready,
    NotReady,
    /// Not ready: RestartAllContainers has removed all containers.
    RestartingAll,
    /// Not ready: all containers exited with code 0, and the phase is not yet updated.
    Succeeding,
    Finished,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum JobSetCall {
    Delete,
    CreateService,
    CreateClaim,
    Patch,
    Create,
    Suspend,
    /// SUS-5: a Job with a startTime loses it first.
    ClearStart,
    Resume,
    Status,
    DeleteJobSet,
}

/// Requests of the manager's pod reconciler about a follower (EXC-15).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FollowerCall {
    Condition,
    Delete,
}

impl Event {
    /// Returns the component that handles the event.
    pub fn owner(&self) -> Owner {
        use Event::*;
        match self {
            Submit(_) | Fault(_) => Owner::User,
            Worn { .. } => Owner::Ageing,
            ContainersUp { .. } | ContainerExit { .. } | ExitNoticed { .. } => Owner::Kubelet,
            ContainersBack { .. } | Stopped { .. } | AgentSees { .. } => Owner::Kubelet,
            WorkerUp { .. } | StatusWritten { .. } | KubeletDeleted { .. } => Owner::Kubelet,
            AttemptWritten { .. } => Owner::Kubelet,
            PodCreateAnswered { .. } | PodDeleteAnswered { .. } => Owner::JobController,
            FinalizerAnswered { .. } | JobStatusAnswered { .. } => Owner::JobController,
            JobEventSent | OrphanReleased { .. } | JobDue(_) => Owner::JobController,
            JobTtlOver { .. } | JobTtlDeletes { .. } => Owner::TtlController,
            ManagerStops(_) | ManagerBack | JobSetAnswered { .. } | JobSeen(_) => {
                Owner::JobSetManager
            }
            JobSetSeen(_) | JobSetDue(_) | JobSetPodNews(_) => Owner::JobSetManager,
            JobSetComputed(_) | FollowerAnswered { .. } => Owner::JobSetManager,
            LeaderSeen { .. } | LeaderDue { .. } => Owner::JobSetManager,
            CollectorAnswered { .. } | CollectorSees { .. } => Owner::Collector,
            CollectorDeletesJob(_) | CollectorDeletesOwned { .. } => Owner::Collector,
            BindAnswered { .. } | CycleDone { .. } | BackoffOver { .. } => Owner::Scheduler,
            EvictionAnswered { .. } | MonitorTick | TaintDue(_) => Owner::NodeLifecycle,
            TolerationOver { .. } => Owner::NodeLifecycle,
            PodGcTick => Owner::PodGc,
            WorkDone { .. } | RendezvousOver { .. } => Owner::Training,
            HangFound { .. } | WrongFound { .. } | LastCallOver { .. } => Owner::Training,
        }
    }

    /// Returns true if the event may still change state, however long it takes. False for clocks, retries and events
    /// that follow a change within a moment. The script decides itself whether it is finished.
    pub fn is_awaited(&self) -> bool {
        use Event::*;
        match self {
            Submit(_)
            | ManagerStops(_)
            | ManagerBack
            | JobTtlOver { .. }
            | TolerationOver { .. }
            | CycleDone { .. } => true,
            JobSeen(_) | JobSetSeen(_) | JobSetPodNews(_) | JobSetComputed(_) => true,
            CollectorSees { .. } | LeaderSeen { .. } => true,
            // The training component decides which of these still count.
            WorkDone { .. } => false,
            _ => matches!(self.class(), 1 | 2),
        }
    }

    /// Returns the object that the event is about, as kind and id. A livelock repeats events about the same objects.
    /// Responses to workers are about the object they change.
    pub fn subject(&self) -> Option<(u8, u32)> {
        use Event::*;
        Some(match *self {
            ContainersUp { pod, .. } | ContainerExit { pod, .. } | ExitNoticed { pod, .. } => {
                (b'P', pod.0)
            }
            ContainersBack { pod, .. } | Stopped { pod, .. } | AgentSees { pod, .. } => {
                (b'P', pod.0)
            }
            HangFound { pod, .. } | RendezvousOver { pod, .. } | WorkerUp { pod, .. } => {
                (b'P', pod.0)
            }
            StatusWritten { pod, .. } | KubeletDeleted { pod, .. } => (b'P', pod.0),
            AttemptWritten { pod, .. } | PodDeleteAnswered { pod, .. } => (b'P', pod.0),
            FinalizerAnswered { pod, .. } | OrphanReleased { pod, .. } => (b'P', pod.0),
            BindAnswered { pod, .. } | EvictionAnswered { pod, .. } => (b'P', pod.0),
            LeaderSeen { pod, .. } | LeaderDue { pod, .. } => (b'P', pod.0),
            TolerationOver { pod, .. } | CycleDone { pod, .. } => (b'P', pod.0),
            BackoffOver { pod, .. } => (b'P', pod.0),
            JobDue(job) | JobSeen(job) | CollectorDeletesJob(job) => (b'J', job.0),
            JobTtlOver { job, .. } | JobTtlDeletes { job, .. } => (b'J', job.0),
            CollectorSees { job, .. } => (b'J', job.0),
            JobSetAnswered { job, .. } if job.is_some() => (b'J', job.0),
            JobSetAnswered { jobset, .. } | CollectorDeletesOwned { jobset, .. } => {
                (b'S', jobset.0)
            }
            WorkDone { jobset, .. } | WrongFound { jobset, .. } => (b'S', jobset.0),
            LastCallOver { jobset, .. } => (b'S', jobset.0),
            Submit(jobset) | JobSetSeen(jobset) | JobSetDue(jobset) => (b'S', jobset.0),
            JobSetPodNews(jobset) | JobSetComputed(jobset) => (b'S', jobset.0),
            TaintDue(node) => (b'N', node.0),
            Fault(n) | ManagerStops(n) => (b'F', n),
            Worn { clock, .. } => (b'W', clock),
            FollowerAnswered { at, .. } => (b'A', at),
            PodCreateAnswered { nth, .. } => (b'C', nth),
            ManagerBack | JobStatusAnswered { .. } | JobEventSent => return None,
            CollectorAnswered { .. } | MonitorTick | PodGcTick => return None,
        })
    }

    /// Order of events at the same instant: faults, nodes, API server, controllers, scheduler.
    pub fn class(&self) -> u8 {
        use Event::*;
        match self {
            Submit(_) | Fault(_) | ManagerStops(_) | ManagerBack | Worn { .. } => 0,
            ContainersUp { .. }
            | ContainerExit { .. }
            | ExitNoticed { .. }
            | ContainersBack { .. } => 1,
            Stopped { .. } | AgentSees { .. } | WorkerUp { .. } => 1,
            WorkDone { .. } | RendezvousOver { .. } => 1,
            HangFound { .. } | WrongFound { .. } | LastCallOver { .. } => 1,
            StatusWritten { .. } | KubeletDeleted { .. } | AttemptWritten { .. } => 2,
            PodCreateAnswered { .. } | PodDeleteAnswered { .. } | FinalizerAnswered { .. } => 2,
            JobStatusAnswered { .. }
            | JobEventSent
            | OrphanReleased { .. }
            | CollectorAnswered { .. }
            | CollectorDeletesJob(_)
            | CollectorDeletesOwned { .. }
            | JobTtlDeletes { .. }
            | JobSetAnswered { .. } => 2,
            BindAnswered { .. } | EvictionAnswered { .. } | FollowerAnswered { .. } => 2,
            JobDue(_) | JobSeen(_) | JobSetSeen(_) | JobSetDue(_) | JobSetPodNews(_)
            | JobSetComputed(_) => 3,
            LeaderSeen { .. } | LeaderDue { .. } => 3,
            JobTtlOver { .. } | CollectorSees { .. } | MonitorTick | TaintDue(_) => 3,
            TolerationOver { .. } | PodGcTick => 3,
            CycleDone { .. } | BackoffOver { .. } => 4,
        }
    }
}
