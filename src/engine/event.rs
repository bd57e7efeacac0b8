//! Everything that can be about to happen: one closed enum, and the order of its kinds at equal times.
//!
//! An event of a pod carries the pod's incarnation (object) or epoch (process life); it is dropped when the pod has
//! moved on, so nothing is ever cancelled.

use crate::record::Call;
use sim_base::*;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    // class 0: the script
    Submit(JobSetId),
    Fault(u32),
    ManagerStops(u32),
    ManagerBack,
    /// A clock of use shows the age of its next fault, or goes on after one, unless it has stood since.
    Worn {
        clock: u32,
        nth: u32,
    },
    // class 1: nodes
    /// Containers of a newly bound pod run.
    ContainersUp {
        pod: PodId,
        epoch: u32,
    },
    /// A container ends by itself.
    ContainerExit {
        pod: PodId,
        epoch: u32,
    },
    /// The kubelet has noticed the exit.
    ExitNoticed {
        pod: PodId,
        epoch: u32,
    },
    /// All containers have been stopped and removed for an in-place restart, and are up again.
    ContainersBack {
        pod: PodId,
        epoch: u32,
    },
    /// A deleted pod's containers have stopped.
    Stopped {
        pod: PodId,
        incarnation: u32,
    },
    /// A JobSet update reaches the pod's in-place agent.
    AgentSees {
        pod: PodId,
        epoch: u32,
    },
    /// A training job's work is done, unless it was interrupted since.
    WorkDone {
        jobset: JobSetId,
        generation: u32,
    },
    /// A detector finds that the nth process of a pod hangs.
    HangFound {
        pod: PodId,
        nth: u32,
        exit_code: u8,
    },
    /// What a training job computes is found to be wrong, for the nth time.
    WrongFound {
        jobset: JobSetId,
        nth: u32,
    },
    /// The nth process of a pod has waited so long for those of the other pods.
    RendezvousOver {
        pod: PodId,
        nth: u32,
    },
    /// A training job has waited long enough for more slices, for the nth time.
    LastCallOver {
        jobset: JobSetId,
        nth: u32,
    },
    /// The barrier is down and the worker container runs.
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
    /// `nth`: of the pods that the worker's sync creates.
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
    /// The tracking finalizer of a pod that no sync looks at is off.
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
    /// The manager's pod reconciler has an answer about the nth follower of the Job at hand.
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
    // class 3: controllers see and act
    JobDue(JobId),
    /// ttlSecondsAfterFinished of a Job is over.
    JobTtlOver {
        job: JobId,
        incarnation: u32,
    },
    JobTtlDeletes {
        job: JobId,
        incarnation: u32,
    },
    /// The JobSet manager's cache sees a Job.
    JobSeen(JobId),
    /// The JobSet manager's cache sees the JobSet.
    JobSetSeen(JobSetId),
    JobSetDue(JobSetId),
    /// The JobSet manager's cache sees a change of one of the JobSet's pods.
    JobSetPodNews(JobSetId),
    /// The JobSet manager's cache sees a change of an exclusive leader.
    LeaderSeen {
        pod: PodId,
        incarnation: u32,
    },
    /// The leader's back-off in the pod reconciler is over.
    LeaderDue {
        pod: PodId,
        incarnation: u32,
    },
    /// The JobSet manager has computed its pass.
    JobSetComputed(JobSetId),
    /// The garbage collector's graph sees a Job under foreground deletion, or a vanished dependent of one.
    CollectorSees {
        job: JobId,
        incarnation: u32,
        deleted: bool,
    },
    /// The collector has deleted a Job of a JobSet under foreground deletion.
    CollectorDeletesJob(JobId),
    /// The same for its Service, or for a claim.
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

/// The components, each with a folder of its own.
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
    /// Not ready either: RestartAllContainers has removed all containers.
    RestartingAll,
    /// Not ready either: all containers have ended with 0, and the phase is to come.
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
    /// SUS-5: a Job that has a startTime loses it first.
    ClearStart,
    Resume,
    Status,
    DeleteJobSet,
}

/// What the manager's pod reconciler asks about a follower (EXC-15).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FollowerCall {
    Condition,
    Delete,
}

impl Event {
    /// Whose event it is.
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

    /// Whether it may still change something, however long it takes; not so for clocks, retries and what follows a
    /// change within a moment. The script says itself whether it is over.
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
            // Training says itself which of them still counts.
            WorkDone { .. } => false,
            _ => matches!(self.class(), 1 | 2),
        }
    }

    /// The object it is about, as the kind of its id and the id: what goes round in circles is about the same ones
    /// again and again. Answers to workers are about what they change.
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

    /// What "at the same instant" means: faults, nodes, API server, controllers, scheduler.
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
