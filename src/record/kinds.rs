//! The words that records use: kinds of conditions, deleters, states of nodes, ends.
//!
//! Plain enums with Kubernetes' spelling; must never hold a fact about a run.

use crate::base::*;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ObjectRef {
    JobSet(JobSetId),
    Job(JobId),
    Pod(PodId),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum JobSetConditionType {
    Completed,
    Failed,
    Suspended,
    RestartingJobSet,
    StartupPolicyInProgress,
    StartupPolicyCompleted,
}

impl JobSetConditionType {
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

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum JobConditionType {
    FailureTarget,
    SuccessCriteriaMet,
    Failed,
    Complete,
    Suspended,
}

impl JobConditionType {
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
    JobController,
    GarbageCollector,
    TaintEviction,
    PodGarbageCollector,
    Eviction,
    User,
    Kubelet,
}

impl Deleter {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JobController => "job-controller",
            Self::GarbageCollector => "generic-garbage-collector",
            Self::TaintEviction => "taint-eviction-controller",
            Self::PodGarbageCollector => "pod-garbage-collector",
            Self::Eviction => "eviction",
            Self::User => "user",
            Self::Kubelet => "kubelet",
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeReady {
    True,
    False,
    Unknown,
}

impl NodeReady {
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

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EndReason {
    AllJobSetsFinished,
    Settled,
    /// No event is left, or only ones that change nothing, and a restart can never finish.
    Stuck,
    TimeLimit,
    /// Whoever took the records wanted no more; no record tells of it.
    Stopped,
}

impl EndReason {
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
