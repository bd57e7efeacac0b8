//! All pending events: one closed enum, and the order of its variants at equal times.
//!
//! Events about a pod carry the pod's incarnation (object) or epoch (process lifetime). Events are never canceled:
//! they are dropped if the pod has moved on.

mod details;

use crate::{progress::EventSubject, record::Call};
pub use details::{ContainerTimer, FollowerCall, JobSetCall, StatusWrite};
use sim_base::{JobId, JobSetId, NodeId, PodId, ZoneId};

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SimulationEvent {
    // class 0: the script
    Submit(JobSetId),
    Fault(u32),
    ManagerStopped(u32),
    ManagerRestarted,
    /// An aging clock reaches the age of the node's next fault, or resumes after a fault, unless it was paused since.
    AgingClockDue {
        clock: u32,
        nth: u32,
    },
    /// A drain asks again for the eviction of a pod that a PodDisruptionBudget protected.
    EvictionRetry {
        pod: PodId,
        incarnation: u32,
    },
    // class 1: nodes
    /// The containers of a newly bound pod start running.
    ContainersStarted {
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
    ContainersRestarted {
        pod: PodId,
        epoch: u32,
    },
    /// The containers of a deleted pod have stopped.
    ContainersStopped {
        pod: PodId,
        incarnation: u32,
    },
    /// A JobSet update reaches the pod's in-place restart agent.
    AgentNotified {
        pod: PodId,
        epoch: u32,
    },
    /// A training job reaches the end of its work, unless it was interrupted since.
    WorkDone {
        jobset: JobSetId,
        generation: u32,
    },
    /// A detector reports that the `nth` process of a pod hangs.
    HangDetected {
        pod: PodId,
        nth: u32,
        exit_code: u8,
    },
    /// A silent error in a training job's results is detected for the `nth` time.
    CorruptionDetected {
        jobset: JobSetId,
        nth: u32,
    },
    /// The `nth` process of a pod times out waiting for the processes of the other pods.
    RendezvousTimedOut {
        pod: PodId,
        nth: u32,
    },
    /// A training job stops waiting for more slices, for the `nth` time.
    LastCallExpired {
        jobset: JobSetId,
        nth: u32,
    },
    /// The in-place restart barrier is lifted and the worker container runs.
    WorkerStarted {
        pod: PodId,
        epoch: u32,
    },
    /// A probe of a main container succeeds, or the state of a sidecar changes.
    ContainerTimerDue {
        pod: PodId,
        epoch: u32,
        timer: ContainerTimer,
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
    GarbageCollectorAnswered {
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
    /// The scheduler finds the volumes of a pod bound.
    VolumesBound {
        pod: PodId,
        incarnation: u32,
    },
    /// The scheduler has deleted a victim of preemption.
    VictimDeleted {
        pod: PodId,
        incarnation: u32,
    },
    // class 3: controllers observe and act
    JobDue(JobId),
    /// `ttlSecondsAfterFinished` of a Job expires.
    JobTtlExpired {
        job: JobId,
        incarnation: u32,
    },
    JobTtlDeletion {
        job: JobId,
        incarnation: u32,
    },
    /// The JobSet manager's cache receives an update of a Job.
    JobObserved(JobId),
    /// The JobSet manager's cache receives an update of the JobSet.
    JobSetObserved(JobSetId),
    JobSetDue(JobSetId),
    /// The JobSet manager's cache receives an update of one of the JobSet's pods.
    JobSetPodsObserved(JobSetId),
    /// The JobSet manager's cache receives an update of an exclusive-placement leader pod.
    LeaderObserved {
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
    GarbageCollectorObserved {
        job: JobId,
        incarnation: u32,
        deleted: bool,
    },
    /// The garbage collector's graph observes a JobSet under foreground deletion or its removal (`deleted`), or that
    /// one of its dependents is gone.
    GarbageCollectorObservedJobSet {
        jobset: JobSetId,
        deleted: bool,
    },
    /// The garbage collector deletes the Service, or a claim, of a JobSet under foreground deletion.
    GarbageCollectorDeletedOwned {
        jobset: JobSetId,
        call: Call,
    },
    MonitorTick,
    /// The limiter of a zone lets the next node be tainted.
    TaintDue(ZoneId),
    /// The node lifecycle controller observes that spec.unschedulable is false.
    UncordonObserved(NodeId),
    TolerationExpired {
        pod: PodId,
        incarnation: u32,
    },
    PodGcTick,
    // class 4: the scheduler
    CycleDone {
        pod: PodId,
        incarnation: u32,
    },
    BackoffExpired {
        pod: PodId,
        incarnation: u32,
    },
    /// The scheduler retries the pods that have waited for 5 minutes without an event that may help.
    FlushDue,
    /// The response to a patch of the condition PodScheduled.
    ConditionPatched {
        pod: PodId,
        incarnation: u32,
    },
    // Kueue: class 2
    /// A reconciler of Kueue receives the response to its request about a JobSet or its Workload.
    KueueAnswered {
        jobset: JobSetId,
        reconciler: KueueReconciler,
    },
    /// Kueue's scheduler receives the response to the `nth` change of a Workload.
    KueuePatched {
        nth: u32,
    },
    // class 3
    /// Kueue's cache receives an update of a JobSet.
    KueueObservedJobSet(JobSetId),
    /// Kueue's cache receives an update of the Workload of a JobSet.
    KueueObservedWorkload(JobSetId),
    /// A timer of the Workload of a JobSet expires: a back-off, or the time to become ready.
    KueueWorkloadDue(JobSetId),
    /// The controller of an admission check (its position among all) reports the state for a Workload.
    KueueCheckDue {
        jobset: JobSetId,
        check: u32,
    },
    /// Workloads without quota below a root of the quota tree are tried again.
    KueueRetry {
        root: u32,
    },
    // class 4
    /// Kueue's scheduler takes the heads of its queues.
    KueueCycle,
    // class 2
    /// Kueue's topology ungater receives the response to its change of a pod.
    KueueUngated {
        pod: PodId,
        incarnation: u32,
    },
    /// Kueue's node controller receives the response to the `nth` change of a Workload.
    KueueNodePatched {
        nth: u32,
    },
    /// Kueue's node controller receives the response to its change of a pod's phase to Failed.
    KueuePodFailed {
        pod: PodId,
        incarnation: u32,
    },
    // class 3
    /// Kueue's cache receives an update of a pod.
    KueueObservedPod {
        pod: PodId,
        incarnation: u32,
    },
    /// Kueue's cache receives an update of a Node.
    KueueObservedNode(NodeId),
    /// Kueue's topology ungater examines the pods of a JobSet.
    KueueUngateDue(JobSetId),
    /// Kueue's node controller examines a Node.
    KueueNodeDue(NodeId),
    /// Kueue's reconciler of flavors has noticed changes of Nodes.
    KueueNodesChanged,
    /// Kueue observes the labels of the Namespaces.
    KueueObservedNamespaces,
    /// Kueue has noticed that pods that are not placed by topology have released resources of Nodes.
    KueueCapacityReleased,
    /// Kueue's scheduler takes up the Workload of a JobSet again, which has lost a Node.
    KueueSecondPass(JobSetId),
    /// The job of a Workload that existed at the start ends.
    KueueExistingEnd(u32),
    /// Kueue looks at a Workload that existed at the start again.
    KueueExistingDue(u32),
    /// Kueue samples the usage of LocalQueues, by which admission fair sharing orders the pending Workloads.
    KueueUsageSample {
        /// Whether this sample or a later one will change the order of LocalQueues with Workloads.
        reorders: bool,
    },
    /// A TPU slice (its position in the topology) is formed again.
    SliceFormed(u32),
}

/// A reconciler of Kueue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KueueReconciler {
    JobSets,
    Workloads,
}

/// The component that handles an event; each has its own folder.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EventOwner {
    Script,
    Kubelet,
    JobController,
    TtlController,
    JobSetManager,
    GarbageCollector,
    Scheduler,
    NodeLifecycle,
    PodGc,
    Training,
    UsageAging,
    Kueue,
    SliceController,
}

impl SimulationEvent {
    /// Returns the component that handles the event.
    pub fn owner(&self) -> EventOwner {
        use SimulationEvent::*;
        match self {
            Submit(_) | Fault(_) | EvictionRetry { .. } => EventOwner::Script,
            AgingClockDue { .. } => EventOwner::UsageAging,
            ContainersStarted { .. } | ContainerExit { .. } | ExitNoticed { .. } => EventOwner::Kubelet,
            ContainersRestarted { .. } | ContainersStopped { .. } | AgentNotified { .. } => EventOwner::Kubelet,
            WorkerStarted { .. } | StatusWritten { .. } | KubeletDeleted { .. } => EventOwner::Kubelet,
            AttemptWritten { .. } | ContainerTimerDue { .. } => EventOwner::Kubelet,
            PodCreateAnswered { .. } | PodDeleteAnswered { .. } => EventOwner::JobController,
            FinalizerAnswered { .. } | JobStatusAnswered { .. } => EventOwner::JobController,
            JobEventSent | OrphanReleased { .. } | JobDue(_) => EventOwner::JobController,
            JobTtlExpired { .. } | JobTtlDeletion { .. } => EventOwner::TtlController,
            ManagerStopped(_) | ManagerRestarted | JobSetAnswered { .. } | JobObserved(_) => EventOwner::JobSetManager,
            JobSetObserved(_) | JobSetDue(_) | JobSetPodsObserved(_) => EventOwner::JobSetManager,
            JobSetComputed(_) | FollowerAnswered { .. } => EventOwner::JobSetManager,
            LeaderObserved { .. } | LeaderDue { .. } => EventOwner::JobSetManager,
            GarbageCollectorAnswered { .. } | GarbageCollectorObserved { .. } => EventOwner::GarbageCollector,
            GarbageCollectorObservedJobSet { .. } | GarbageCollectorDeletedOwned { .. } => EventOwner::GarbageCollector,
            BindAnswered { .. } | VictimDeleted { .. } | VolumesBound { .. } => EventOwner::Scheduler,
            CycleDone { .. } | BackoffExpired { .. } | FlushDue | ConditionPatched { .. } => EventOwner::Scheduler,
            EvictionAnswered { .. } | MonitorTick | TaintDue(_) => EventOwner::NodeLifecycle,
            TolerationExpired { .. } | UncordonObserved(_) => EventOwner::NodeLifecycle,
            PodGcTick => EventOwner::PodGc,
            WorkDone { .. } | RendezvousTimedOut { .. } => EventOwner::Training,
            HangDetected { .. } | CorruptionDetected { .. } | LastCallExpired { .. } => EventOwner::Training,
            KueueAnswered { .. } | KueuePatched { .. } | KueueObservedJobSet(_) => EventOwner::Kueue,
            KueueObservedWorkload(_) | KueueWorkloadDue(_) | KueueCheckDue { .. } => EventOwner::Kueue,
            KueueRetry { .. } | KueueCycle => EventOwner::Kueue,
            KueueUngated { .. } | KueueNodePatched { .. } | KueuePodFailed { .. } => EventOwner::Kueue,
            KueueObservedPod { .. } | KueueObservedNode(_) | KueueUngateDue(_) => EventOwner::Kueue,
            KueueNodeDue(_) | KueueNodesChanged | KueueSecondPass(_) | KueueCapacityReleased => EventOwner::Kueue,
            KueueObservedNamespaces => EventOwner::Kueue,
            KueueUsageSample { .. } | KueueExistingEnd(_) | KueueExistingDue(_) => EventOwner::Kueue,
            SliceFormed(_) => EventOwner::SliceController,
        }
    }

    /// Returns true if the event may still change state, however long it takes. False for clocks, retries and events
    /// that follow a change within a moment. The script decides itself whether it is finished.
    pub fn is_awaited(&self) -> bool {
        use SimulationEvent::*;
        match self {
            Submit(_)
            | ManagerStopped(_)
            | ManagerRestarted
            | JobTtlExpired { .. }
            | TolerationExpired { .. }
            | EvictionRetry { .. }
            | CycleDone { .. } => true,
            JobObserved(_) | JobSetObserved(_) | JobSetPodsObserved(_) | JobSetComputed(_) => true,
            GarbageCollectorObserved { .. } | GarbageCollectorObservedJobSet { .. } | LeaderObserved { .. } => true,
            KueueObservedJobSet(_) | KueueObservedWorkload(_) | KueueWorkloadDue(_) => true,
            KueueCheckDue { .. } | KueueRetry { .. } | KueueCycle => true,
            KueueUngateDue(_) | KueueSecondPass(_) | SliceFormed(_) => true,
            KueueExistingEnd(_) | KueueExistingDue(_) | KueueCapacityReleased | KueueObservedNamespaces => true,
            KueueUsageSample { reorders } => *reorders,
            // The training component decides which of these still count.
            WorkDone { .. } => false,
            _ => matches!(self.class(), 1 | 2),
        }
    }

    /// Returns the object that the event is about. A livelock repeats events about the same objects.
    /// Responses to workers are about the object they change.
    pub fn subject(&self) -> Option<EventSubject> {
        use SimulationEvent::*;
        Some(match *self {
            ContainersStarted { pod, .. } | ContainerExit { pod, .. } | ExitNoticed { pod, .. } => {
                EventSubject::Pod(pod)
            }
            ContainersRestarted { pod, .. } | ContainersStopped { pod, .. } | AgentNotified { pod, .. } => {
                EventSubject::Pod(pod)
            }
            HangDetected { pod, .. } | RendezvousTimedOut { pod, .. } | WorkerStarted { pod, .. } => {
                EventSubject::Pod(pod)
            }
            ContainerTimerDue { pod, .. } => EventSubject::Pod(pod),
            StatusWritten { pod, .. } | KubeletDeleted { pod, .. } => EventSubject::Pod(pod),
            AttemptWritten { pod, .. } | PodDeleteAnswered { pod, .. } => EventSubject::Pod(pod),
            FinalizerAnswered { pod, .. } | OrphanReleased { pod, .. } => EventSubject::Pod(pod),
            BindAnswered { pod, .. } | EvictionAnswered { pod, .. } => EventSubject::Pod(pod),
            VictimDeleted { pod, .. } | EvictionRetry { pod, .. } | VolumesBound { pod, .. } => EventSubject::Pod(pod),
            LeaderObserved { pod, .. } | LeaderDue { pod, .. } => EventSubject::Pod(pod),
            TolerationExpired { pod, .. } | CycleDone { pod, .. } => EventSubject::Pod(pod),
            BackoffExpired { pod, .. } | ConditionPatched { pod, .. } => EventSubject::Pod(pod),
            JobDue(job) | JobObserved(job) => EventSubject::Job(job),
            JobTtlExpired { job, .. } | JobTtlDeletion { job, .. } => EventSubject::Job(job),
            GarbageCollectorObserved { job, .. } => EventSubject::Job(job),
            GarbageCollectorObservedJobSet { jobset, .. } => EventSubject::JobSet(jobset),
            JobSetAnswered { job, .. } if job.is_some() => EventSubject::Job(job),
            JobSetAnswered { jobset, .. } | GarbageCollectorDeletedOwned { jobset, .. } => EventSubject::JobSet(jobset),
            WorkDone { jobset, .. } | CorruptionDetected { jobset, .. } => EventSubject::JobSet(jobset),
            LastCallExpired { jobset, .. } => EventSubject::JobSet(jobset),
            Submit(jobset) | JobSetObserved(jobset) | JobSetDue(jobset) => EventSubject::JobSet(jobset),
            JobSetPodsObserved(jobset) | JobSetComputed(jobset) => EventSubject::JobSet(jobset),
            KueueAnswered { jobset, .. } | KueueObservedJobSet(jobset) => EventSubject::JobSet(jobset),
            KueueObservedWorkload(jobset) | KueueWorkloadDue(jobset) => EventSubject::JobSet(jobset),
            KueueCheckDue { jobset, .. } => EventSubject::JobSet(jobset),
            UncordonObserved(node) => EventSubject::Node(node),
            KueueUngated { pod, .. } | KueuePodFailed { pod, .. } | KueueObservedPod { pod, .. } => {
                EventSubject::Pod(pod)
            }
            KueueObservedNode(node) | KueueNodeDue(node) => EventSubject::Node(node),
            KueueUngateDue(jobset) | KueueSecondPass(jobset) => EventSubject::JobSet(jobset),
            Fault(n) | ManagerStopped(n) => EventSubject::Fault(n),
            AgingClockDue { clock, .. } => EventSubject::AgingClock(clock),
            FollowerAnswered { at, .. } => EventSubject::Follower(at),
            PodCreateAnswered { nth, .. } => EventSubject::PodCreation(nth),
            ManagerRestarted | JobStatusAnswered { .. } | JobEventSent => return None,
            GarbageCollectorAnswered { .. } | MonitorTick | TaintDue(_) | PodGcTick | FlushDue => return None,
            KueuePatched { .. } | KueueRetry { .. } | KueueCycle => return None,
            KueueNodePatched { .. } | KueueNodesChanged | KueueUsageSample { .. } | SliceFormed(_) => return None,
            KueueExistingEnd(_) | KueueExistingDue(_) | KueueCapacityReleased => return None,
            KueueObservedNamespaces => return None,
        })
    }

    /// Order of events at the same instant: faults, nodes, API server, controllers, scheduler.
    pub fn class(&self) -> u8 {
        use SimulationEvent::*;
        match self {
            Submit(_) | Fault(_) | ManagerStopped(_) | ManagerRestarted | AgingClockDue { .. } => 0,
            EvictionRetry { .. } => 0,
            ContainersStarted { .. } | ContainerExit { .. } | ExitNoticed { .. } | ContainersRestarted { .. } => 1,
            ContainersStopped { .. } | AgentNotified { .. } | WorkerStarted { .. } => 1,
            WorkDone { .. } | RendezvousTimedOut { .. } | ContainerTimerDue { .. } => 1,
            HangDetected { .. } | CorruptionDetected { .. } | LastCallExpired { .. } => 1,
            StatusWritten { .. } | KubeletDeleted { .. } | AttemptWritten { .. } => 2,
            PodCreateAnswered { .. } | PodDeleteAnswered { .. } | FinalizerAnswered { .. } => 2,
            JobStatusAnswered { .. }
            | JobEventSent
            | OrphanReleased { .. }
            | GarbageCollectorAnswered { .. }
            | GarbageCollectorDeletedOwned { .. }
            | JobTtlDeletion { .. }
            | JobSetAnswered { .. } => 2,
            KueueAnswered { .. } | KueuePatched { .. } => 2,
            KueueUngated { .. } | KueueNodePatched { .. } | KueuePodFailed { .. } => 2,
            BindAnswered { .. } | EvictionAnswered { .. } | FollowerAnswered { .. } | VictimDeleted { .. } => 2,
            VolumesBound { .. } | ConditionPatched { .. } => 2,
            JobDue(_)
            | JobObserved(_)
            | JobSetObserved(_)
            | JobSetDue(_)
            | JobSetPodsObserved(_)
            | JobSetComputed(_) => 3,
            LeaderObserved { .. } | LeaderDue { .. } => 3,
            JobTtlExpired { .. } | GarbageCollectorObserved { .. } | MonitorTick | TaintDue(_) => 3,
            GarbageCollectorObservedJobSet { .. } => 3,
            TolerationExpired { .. } | PodGcTick | UncordonObserved(_) => 3,
            KueueObservedJobSet(_) | KueueObservedWorkload(_) | KueueWorkloadDue(_) | KueueRetry { .. } => 3,
            KueueCheckDue { .. } => 3,
            KueueObservedPod { .. } | KueueObservedNode(_) | KueueUngateDue(_) | KueueNodeDue(_) => 3,
            KueueNodesChanged | KueueSecondPass(_) | KueueUsageSample { .. } | SliceFormed(_) => 3,
            KueueExistingEnd(_) | KueueExistingDue(_) | KueueCapacityReleased | KueueObservedNamespaces => 3,
            CycleDone { .. } | BackoffExpired { .. } | FlushDue | KueueCycle => 4,
        }
    }
}
