//! The words that records use: kinds of conditions, deleters, states of nodes, ends.
//!
//! Plain enums with Kubernetes' spelling; must never hold a fact about a run.

#![deny(missing_docs)]

use sim_base::*;

/// Whom a Kubernetes Event is about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ObjectRef {
    /// A JobSet.
    JobSet(JobSetId),
    /// A Job.
    Job(JobId),
    /// A pod.
    Pod(PodId),
}

/// Types of a JobSet's conditions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum JobSetConditionType {
    /// Its success policy is fulfilled.
    Completed,
    /// Its failure policy gave up.
    Failed,
    /// It is suspended.
    Suspended,
    /// It is being restarted (shown by newer managers).
    RestartingJobSet,
    /// Its replicatedJobs start one after the other.
    StartupPolicyInProgress,
    /// All of them have started.
    StartupPolicyCompleted,
}

impl JobSetConditionType {
    /// All of them.
    pub const ALL: [JobSetConditionType; 6] = [
        Self::Completed,
        Self::Failed,
        Self::Suspended,
        Self::RestartingJobSet,
        Self::StartupPolicyInProgress,
        Self::StartupPolicyCompleted,
    ];

    /// Kubernetes' word.
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
    /// It is to fail; its pods are being stopped.
    FailureTarget,
    /// It is to complete; its pods are being stopped.
    SuccessCriteriaMet,
    /// It has failed.
    Failed,
    /// It is complete.
    Complete,
    /// It is suspended.
    Suspended,
}

impl JobConditionType {
    /// Kubernetes' word.
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

/// Who asked for a pod's deletion.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Deleter {
    /// The Job controller.
    JobController,
    /// The garbage collector.
    GarbageCollector,
    /// The taint manager, from a node with a NoExecute taint.
    TaintEviction,
    /// The pod garbage collector, from a node that is gone.
    PodGarbageCollector,
    /// The API's eviction, as in a drain.
    Eviction,
    /// A user.
    User,
    /// The kubelet.
    Kubelet,
    /// The JobSet manager's pod reconciler: a follower outside its leader's domain.
    JobSetManager,
}

impl Deleter {
    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JobController => "job-controller",
            Self::GarbageCollector => "generic-garbage-collector",
            Self::TaintEviction => "taint-eviction-controller",
            Self::PodGarbageCollector => "pod-garbage-collector",
            Self::Eviction => "eviction",
            Self::User => "user",
            Self::Kubelet => "kubelet",
            Self::JobSetManager => "jobset",
        }
    }
}

/// What a Node's condition Ready says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeReady {
    /// Ready.
    True,
    /// Its kubelet says that it is not.
    False,
    /// Its kubelet says nothing.
    Unknown,
}

impl NodeReady {
    /// Kubernetes' word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// A condition's status by its bool.
pub const STATUS: [&str; 2] = ["False", "True"];

/// Taint effects in the order of `spec::TaintEffect`.
pub const TAINT_EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Why a run ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EndReason {
    /// Every JobSet is Completed or Failed.
    AllJobSetsFinished,
    /// Nothing is under way, and nothing more is scripted.
    Settled,
    /// No event is left, or only ones that change nothing, and something can never go on.
    Stuck,
    /// The scenario's time is over.
    TimeLimit,
    /// Whoever took the records wanted no more; no record tells of it.
    Stopped,
}

impl EndReason {
    /// The word in files.
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
