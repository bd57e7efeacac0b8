//! The closed set of things that can happen: one table with every kind, its fields and what they are called on paper.

#![deny(missing_docs)]

use super::fields::{Role, Value, about_field, records, role, value};
use super::hash::of_text;
use sim_base::*;
use sim_policy::kinds::*;

/// One thing that happened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number in the run, from 0.
    pub seq: u32,
    /// `seq` of the record that brought this about; `NO_CAUSE` for the first ones.
    pub cause: u32,
    /// The ticket that was current when it was written; `NO_TICKET` unless the sink wants tickets. Not in the digest
    /// and in no file: asking for tickets must not change a run.
    pub ticket: u32,
    /// When it happened.
    pub at: Time,
    /// What happened.
    pub body: Body,
}

/// The cause of what nothing in the run brought about.
pub const NO_CAUSE: u32 = u32::MAX;

// `name: Type = role`: `object` is whom the line is about, `reason` and `message` are Kubernetes' texts, a string is
// the key of a member of the line in `events.ndjson` (`as` gives the words for a number), `unwritten` is only in the
// digest.
records! {
    // --- JobSets
    /// A JobSet was stored.
    JobSetCreated {
        jobset: JobSetId = object,
    }
    /// The API server refused a JobSet when the scenario submitted it.
    JobSetRefused {
        jobset: JobSetId = object,
        answer: TextId = message,
    }
    /// `restarts` grew (FP-9, FP-10). `failed_job` made it grow.
    RestartCounted {
        jobset: JobSetId = object,
        restarts: u32 = "restarts",
        counted: u32 = "restartsCountTowardsMax",
        failed_job: JobId = "failedJob",
    }
    /// A restart of one Job was counted (FP-11, FP-12).
    JobRestartCounted {
        jobset: JobSetId = object,
        job: JobId = "job",
        restarts: u32 = "restarts",
        counted: u32 = "restartsCountTowardsMax",
    }
    /// IPR-9.
    PreviousAttempt {
        jobset: JobSetId = object,
        attempt: u32 = "previousInPlaceRestartAttempt",
    }
    /// IPR-7.
    CurrentAttempt {
        jobset: JobSetId = object,
        attempt: u32 = "currentInPlaceRestartAttempt",
    }
    /// A condition of a JobSet was written.
    JobSetCondition {
        jobset: JobSetId = object,
        kind: JobSetConditionType = "type",
        status: bool = "status" as STATUS,
        reason: TextId = reason,
        message: TextId = message,
    }
    /// Every Job's pods are ready, for the first time or again. `false`: no longer.
    AllReady {
        jobset: JobSetId = object,
        ready: bool = "ready",
    }
    /// Every pod of a training job is ready: it begins, or goes on from what it has saved.
    TrainingStarted {
        jobset: JobSetId = object,
        from: Duration = "from_ns",
    }
    /// A training job steps with so many slices of those that it has; fewer or more than before.
    TrainingSlices {
        jobset: JobSetId = object,
        slices: u32 = "slices",
        of: u32 = "of",
    }
    /// A training job was interrupted: it loses what it has done beyond what is saved.
    TrainingInterrupted {
        jobset: JobSetId = object,
        reached: Duration = "reached_ns",
        kept: Duration = "kept_ns",
    }
    /// The work of a training job is done and saved: its containers end.
    TrainingDone {
        jobset: JobSetId = object,
        work: Duration = "work_ns",
    }
    /// `status.replicatedJobsStatus` changed: sums over its entries.
    ReplicatedJobsStatus {
        jobset: JobSetId = object,
        ready: u32 = "ready",
        succeeded: u32 = "succeeded",
        failed: u32 = "failed",
        active: u32 = "active",
        suspended: u32 = "suspended",
    }
    /// A JobSet is gone.
    JobSetDeleted {
        jobset: JobSetId = object,
    }
    // --- Jobs
    /// A Job was stored.
    JobCreated {
        job: JobId = object,
        attempt: u32 = "restartAttempt",
    }
    /// A condition of a Job was written.
    JobCondition {
        job: JobId = object,
        kind: JobConditionType = "type",
        /// False only of Suspended.
        status: bool = "status" as STATUS,
        reason: TextId = reason,
        message: TextId = message,
    }
    /// A Job was marked for deletion.
    JobDeleting {
        job: JobId = object,
    }
    /// A Job is gone.
    JobGone {
        job: JobId = object,
    }
    // --- Pods; `pod` is a row that is used again, `incarnation` the nth object in it
    /// A pod was stored.
    PodCreated {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        job: JobId = unwritten,
        index: u32 = "index",
        attempt: u32 = "restartAttempt",
    }
    /// The API server, or a webhook, refused a pod.
    PodCreateRejected {
        job: JobId = object,
        index: u32 = "index",
        reason: TextId = reason,
    }
    /// The scheduler found no node.
    PodUnschedulable {
        pod: PodId = object,
        reason: TextId = reason,
    }
    /// The pod has a node.
    PodBound {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        node: NodeId = "node",
    }
    /// Containers run (not necessarily ready).
    PodRunning {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
    }
    /// The pod's condition Ready is True at the API server.
    PodReady {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
    }
    /// It is no longer True.
    PodNotReady {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
    }
    /// A container ended by itself (on the node; nobody else knows yet).
    ContainerExited {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        exit_code: i32 = "exitCode",
    }
    /// RestartAllContainers or a container restart began.
    ContainersRestarting {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        restarts: u32 = "restartCount",
    }
    /// The agent wrote its attempt annotation (AG-2).
    AttemptWritten {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        attempt: u32 = "inPlaceRestartAttempt",
    }
    /// The agent opened its barrier (AG-5).
    BarrierLifted {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        attempt: u32 = "inPlaceRestartAttempt",
    }
    /// Phase Failed or Succeeded visible at the API server.
    PodFinished {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        succeeded: bool = "phase" as ["Failed", "Succeeded"],
        exit_code: i32 = "exitCode",
    }
    /// A pod was marked for deletion.
    PodDeleting {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        by: Deleter = "by",
    }
    /// A pod is gone.
    PodGone {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
    }
    // --- Nodes
    /// A Node's condition Ready was written.
    NodeState {
        node: NodeId = object,
        ready: NodeReady = "ready",
    }
    /// A taint was added to a Node, or taken off.
    NodeTaint {
        node: NodeId = object,
        key: TextId = reason,
        effect: u8 = "effect" as TAINT_EFFECTS,
        added: bool = "added",
    }
    /// A Node is gone.
    NodeGone {
        node: NodeId = object,
    }
    /// A Node appears during the run: a new one, or another one of an old name.
    NodeCreated {
        node: NodeId = object,
    }
    // --- everything else
    /// A scripted fault or user action fired.
    Fault {
        index: u32 = "fault",
        pod: PodId = object,
        node: NodeId = (object, "node"),
    }
    /// What the API server answered to a user's request; empty if it accepted it.
    Answered {
        index: u32 = "fault",
        answer: TextId = message,
    }
    /// A Kubernetes Event: Warning or Normal.
    KubeEvent {
        warning: bool = "type" as ["Normal", "Warning"],
        object: ObjectRef = (object, kind = "involvedObject"),
        reason: TextId = reason,
        message: TextId = message,
    }
    /// The run ended.
    End {
        reason: EndReason = "endReason",
    }
}

impl Body {
    /// Tells of a try that got nowhere: a run in which only such things happen goes on for nothing.
    pub fn is_retry(&self) -> bool {
        use Body::*;
        matches!(
            self,
            PodCreateRejected { .. } | KubeEvent { .. } | PodUnschedulable { .. }
        )
    }
}
