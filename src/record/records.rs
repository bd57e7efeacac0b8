//! The closed set of things that can happen, and the sinks that take them.

use super::decision::Decision;
use crate::base::*;

/// One thing that happened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub seq: u32,
    /// `seq` of the record that brought this about; `NO_CAUSE` for the first ones.
    pub cause: u32,
    pub at: Time,
    pub body: Body,
}

pub const NO_CAUSE: u32 = u32::MAX;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Body {
    // --- JobSets
    JobSetCreated {
        jobset: JobSetId,
    },
    /// `restarts` grew (FP-9, FP-10). `failed_job` made it grow.
    RestartCounted {
        jobset: JobSetId,
        restarts: u32,
        counted: u32,
        failed_job: JobId,
    },
    /// A restart of one Job was counted (FP-11, FP-12).
    JobRestartCounted {
        jobset: JobSetId,
        job: JobId,
        restarts: u32,
    },
    /// IPR-9.
    PreviousAttempt {
        jobset: JobSetId,
        attempt: u32,
    },
    /// IPR-7.
    CurrentAttempt {
        jobset: JobSetId,
        attempt: u32,
    },
    JobSetCondition {
        jobset: JobSetId,
        kind: JobSetConditionType,
        status: bool,
        reason: TextId,
        message: TextId,
    },
    /// Every Job's pods are ready, for the first time or again. `false`: no longer.
    AllReady {
        jobset: JobSetId,
        ready: bool,
    },
    ReplicatedJobsStatus {
        jobset: JobSetId,
        ready: u32,
        succeeded: u32,
        failed: u32,
        active: u32,
        suspended: u32,
    },
    JobSetDeleted {
        jobset: JobSetId,
    },
    // --- Jobs
    JobCreated {
        job: JobId,
        attempt: u32,
    },
    JobCondition {
        job: JobId,
        kind: JobConditionType,
        /// False only of Suspended.
        status: bool,
        reason: TextId,
        message: TextId,
    },
    JobDeleting {
        job: JobId,
    },
    JobGone {
        job: JobId,
    },
    // --- Pods; `pod` is a place, `incarnation` the nth object in it
    PodCreated {
        pod: PodId,
        incarnation: u32,
        job: JobId,
        index: u32,
        attempt: u32,
    },
    PodCreateRejected {
        job: JobId,
        index: u32,
        reason: TextId,
    },
    PodUnschedulable {
        pod: PodId,
        reason: TextId,
    },
    PodBound {
        pod: PodId,
        incarnation: u32,
        node: NodeId,
    },
    /// Containers run (not necessarily ready).
    PodRunning {
        pod: PodId,
        incarnation: u32,
    },
    PodReady {
        pod: PodId,
        incarnation: u32,
    },
    PodNotReady {
        pod: PodId,
        incarnation: u32,
    },
    /// A container ended by itself (on the node; nobody else knows yet).
    ContainerExited {
        pod: PodId,
        incarnation: u32,
        exit_code: i32,
    },
    /// RestartAllContainers or a container restart began.
    ContainersRestarting {
        pod: PodId,
        incarnation: u32,
        restarts: u32,
    },
    /// The agent wrote its attempt annotation (AG-2).
    AttemptWritten {
        pod: PodId,
        incarnation: u32,
        attempt: u32,
    },
    /// The agent opened its barrier (AG-5).
    BarrierLifted {
        pod: PodId,
        incarnation: u32,
        attempt: u32,
    },
    /// Phase Failed or Succeeded visible at the API server.
    PodFinished {
        pod: PodId,
        incarnation: u32,
        succeeded: bool,
        exit_code: i32,
    },
    PodDeleting {
        pod: PodId,
        incarnation: u32,
        by: Deleter,
    },
    PodGone {
        pod: PodId,
        incarnation: u32,
    },
    // --- Nodes
    NodeState {
        node: NodeId,
        ready: NodeReady,
    },
    NodeTaint {
        node: NodeId,
        key: TextId,
        effect: u8,
        added: bool,
    },
    NodeGone {
        node: NodeId,
    },
    // --- everything else
    /// A scripted fault or user action fired.
    Fault {
        index: u32,
        node: NodeId,
        pod: PodId,
    },
    /// What the API server answered to a user's request; empty if it accepted it.
    Answered {
        index: u32,
        answer: TextId,
    },
    /// A Kubernetes Event: Warning or Normal.
    KubeEvent {
        object: ObjectRef,
        warning: bool,
        reason: TextId,
        message: TextId,
    },
    /// The run ended.
    End {
        reason: EndReason,
    },
}

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

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EndReason {
    AllJobSetsFinished,
    Settled,
    /// No event is left, or only ones that change nothing, and a restart can never finish.
    Stuck,
    TimeLimit,
}

impl EndReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllJobSetsFinished => "AllJobSetsFinished",
            Self::Settled => "Settled",
            Self::Stuck => "Stuck",
            Self::TimeLimit => "TimeLimit",
        }
    }
}

/// Strings made during a run; the engine keeps them so that records stay small.
#[derive(Default)]
pub struct Texts(pub Vec<String>);

impl Texts {
    pub fn get(&self, id: TextId) -> &str {
        self.0.get(id.ix()).map_or("", String::as_str)
    }

    /// The id of `text`, old or new. Few distinct texts exist in a run, so the search is linear from the end.
    pub fn intern(&mut self, text: &str) -> TextId {
        if let Some(i) = self.0.iter().rposition(|t| t == text) {
            return TextId(i as u32);
        }
        self.0.push(text.to_owned());
        TextId(self.0.len() as u32 - 1)
    }
}

/// Takes records as they are made.
pub trait Sink {
    fn record(&mut self, record: &Record, texts: &Texts);

    /// Whether `decision` is to be called; explaining a pass costs more than the pass.
    fn wants_decisions(&self) -> bool {
        false
    }

    /// Takes a decision when it is made, before anything of it is carried out.
    fn decision(&mut self, _: Decision) {}
}

/// Keeps nothing.
pub struct Discard;

impl Sink for Discard {
    fn record(&mut self, _: &Record, _: &Texts) {}
}

/// Keeps everything.
#[derive(Default)]
pub struct Keep(pub Vec<Record>);

impl Sink for Keep {
    fn record(&mut self, record: &Record, _: &Texts) {
        self.0.push(*record);
    }
}

impl<A: Sink, B: Sink> Sink for (A, B) {
    fn record(&mut self, record: &Record, texts: &Texts) {
        self.0.record(record, texts);
        self.1.record(record, texts);
    }

    fn wants_decisions(&self) -> bool {
        self.0.wants_decisions() || self.1.wants_decisions()
    }

    fn decision(&mut self, decision: Decision) {
        self.0.decision(decision.clone());
        self.1.decision(decision);
    }
}
