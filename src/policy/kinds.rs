//! Enumerations used in records: condition types, deleters, node states, end reasons.
//!
//! Plain enums with Kubernetes' spelling. Must never contain data of a run.

#![deny(missing_docs)]

use sim_base::{JobId, JobSetId, PodId};

/// The object of a Kubernetes Event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ObjectRef {
    /// The object is a JobSet.
    JobSet(JobSetId),
    /// The object is a Job.
    Job(JobId),
    /// The object is a pod.
    Pod(PodId),
}

/// Types of a JobSet's conditions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum JobSetConditionType {
    /// The success policy is fulfilled.
    Completed,
    /// The failure policy ended the JobSet.
    Failed,
    /// The JobSet is suspended.
    Suspended,
    /// The JobSet is being restarted (set by newer managers).
    RestartingJobSet,
    /// The replicatedJobs are being started in order.
    StartupPolicyInProgress,
    /// All replicatedJobs have started.
    StartupPolicyCompleted,
}

impl JobSetConditionType {
    /// All condition types.
    pub const ALL: [JobSetConditionType; 6] = [
        Self::Completed,
        Self::Failed,
        Self::Suspended,
        Self::RestartingJobSet,
        Self::StartupPolicyInProgress,
        Self::StartupPolicyCompleted,
    ];

    /// Returns the name in Kubernetes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "Completed",
            Self::Failed => "Failed",
            Self::Suspended => "Suspended",
            Self::RestartingJobSet => "RestartingJobSet",
            Self::StartupPolicyInProgress => "StartupPolicyInProgress",
            Self::StartupPolicyCompleted => "StartupPolicyCompleted",
        }
    }
}

/// Types of a Job's conditions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum JobConditionType {
    /// The Job will fail; its pods are being stopped.
    FailureTarget,
    /// The Job will complete; its pods are being stopped.
    SuccessCriteriaMet,
    /// The Job has failed.
    Failed,
    /// The Job is complete.
    Complete,
    /// The Job is suspended.
    Suspended,
}

impl JobConditionType {
    /// Returns the name in Kubernetes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FailureTarget => "FailureTarget",
            Self::SuccessCriteriaMet => "SuccessCriteriaMet",
            Self::Failed => "Failed",
            Self::Complete => "Complete",
            Self::Suspended => "Suspended",
        }
    }
}

/// The component that requested the deletion of a pod.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DeletionActor {
    /// The Job controller.
    JobController,
    /// The garbage collector.
    GarbageCollector,
    /// The taint manager, because the node has a NoExecute taint.
    TaintEviction,
    /// The pod garbage collector, because the node was removed.
    PodGarbageCollector,
    /// The eviction API, as used by a drain.
    Eviction,
    /// A user of the API.
    User,
    /// The kubelet of the pod's node.
    Kubelet,
    /// The JobSet manager's pod reconciler, for a follower outside its leader's domain.
    JobSetManager,
    /// kube-scheduler, which preempted the pod.
    Preemption,
}

impl DeletionActor {
    /// Returns the name used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JobController => "job-controller",
            Self::GarbageCollector => "generic-garbage-collector",
            Self::TaintEviction => "taint-eviction-controller",
            Self::PodGarbageCollector => "pod-garbage-collector",
            Self::Eviction => "eviction",
            Self::Preemption => "kube-scheduler",
            Self::User => "user",
            Self::Kubelet => "kubelet",
            Self::JobSetManager => "jobset",
        }
    }
}

/// Status of a Node's condition Ready.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeReady {
    /// The node is ready.
    True,
    /// The kubelet reports that the node is not ready.
    False,
    /// The kubelet does not report.
    Unknown,
}

impl NodeReady {
    /// Returns the name in Kubernetes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// The status of a condition, indexed by a Boolean.
pub const STATUS: [&str; 2] = ["False", "True"];

/// Taint effects, in the order of `spec::TaintEffect`.
pub const TAINT_EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// The reason why a run ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EndReason {
    /// Every JobSet is Completed or Failed.
    AllJobSetsFinished,
    /// No events are pending and no actions are scripted.
    Settled,
    /// No events are pending, or only events without effect, and a JobSet is permanently blocked.
    Stuck,
    /// The time limit of the scenario is reached.
    TimeLimit,
    /// The sink stopped the run; no record is written for it.
    Stopped,
}

impl EndReason {
    /// Returns the word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllJobSetsFinished => "AllJobSetsFinished",
            Self::Settled => "Settled",
            Self::Stuck => "Stuck",
            Self::TimeLimit => "TimeLimit",
            Self::Stopped => "Stopped",
        }
    }
}
