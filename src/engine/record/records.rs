//! The closed set of record kinds: one table with every kind, its fields and their names in files.

#![deny(missing_docs)]

use super::fields::{FieldRole, FieldValue, about_field, records, role, value};
use super::hash::of_text;
use sim_base::{Duration, JobId, JobSetId, NodeId, PodId, SimTime, TextId};
use sim_kueue::workload::ConditionType as WorkloadConditionType;
use sim_policy::kinds::{
    DeletionActor, EndReason, JobConditionType, JobSetConditionType, NodeReady, ObjectRef, STATUS, TAINT_EFFECTS,
};

/// One event of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SimulationRecord {
    /// Sequence number in the run, from 0.
    pub seq: u32,
    /// `seq` of the record that caused this one; `NO_CAUSE` if nothing in the run caused it.
    pub cause: u32,
    /// The current ticket when the record was written; `NO_TICKET` unless the sink collects tickets. Not part of the
    /// digest or of any file, because collecting tickets must not change a run.
    pub ticket: u32,
    /// Virtual time of the record.
    pub at: SimTime,
    /// The event that is recorded.
    pub body: Body,
}

/// The cause of records that nothing in the run caused.
pub const NO_CAUSE: u32 = u32::MAX;

// `name: Type = role`: `object` marks the object of the line, `reason` and `message` are Kubernetes' texts, a string
// is the key of a member of the line in `events.ndjson` (`as` lists the words for a number), and `unwritten` is
// included in the digest only.
records! {
    // --- JobSets
    /// A JobSet was stored.
    JobSetCreated { jobset: JobSetId = object }
    /// The API server refused a JobSet when the scenario submitted it.
    JobSetRefused { jobset: JobSetId = object, answer: TextId = message }
    /// `restarts` increased (FP-9, FP-10); `failed_job` caused it.
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
    /// The previous in-place restart attempt was written (IPR-9).
    PreviousAttempt { jobset: JobSetId = object, attempt: u32 = "previousInPlaceRestartAttempt" }
    /// The current in-place restart attempt was written (IPR-7).
    CurrentAttempt { jobset: JobSetId = object, attempt: u32 = "currentInPlaceRestartAttempt" }
    /// A condition of a JobSet was written.
    JobSetCondition {
        jobset: JobSetId = object,
        kind: JobSetConditionType = "type",
        status: bool = "status" as STATUS,
        reason: TextId = reason,
        message: TextId = message,
    }
    /// The pods of every Job are ready, for the first time or again. `false`: no longer.
    AllReady { jobset: JobSetId = object, ready: bool = "ready" }
    /// Every pod of a training job is ready: it starts, or resumes from its saved progress.
    TrainingStarted { jobset: JobSetId = object, from: Duration = "from_ns" }
    /// A training job continues with a different number of slices.
    TrainingSlices { jobset: JobSetId = object, slices: u32 = "slices", of: u32 = "of" }
    /// A training job was interrupted: it loses the progress that was not saved.
    TrainingInterrupted { jobset: JobSetId = object, reached: Duration = "reached_ns", kept: Duration = "kept_ns" }
    /// A training job has completed and saved its work: its containers exit.
    TrainingDone { jobset: JobSetId = object, work: Duration = "work_ns" }
    /// `status.replicatedJobsStatus` changed: totals over its entries.
    ReplicatedJobsStatus {
        jobset: JobSetId = object,
        ready: u32 = "ready",
        succeeded: u32 = "succeeded",
        failed: u32 = "failed",
        active: u32 = "active",
        suspended: u32 = "suspended",
    }
    /// A JobSet was removed.
    JobSetDeleted { jobset: JobSetId = object }
    // --- Jobs
    /// A Job was stored.
    JobCreated { job: JobId = object, attempt: u32 = "restartAttempt" }
    /// A condition of a Job was written.
    JobCondition {
        job: JobId = object,
        kind: JobConditionType = "type",
        /// False for the condition Suspended only.
        status: bool = "status" as STATUS,
        reason: TextId = reason,
        message: TextId = message,
    }
    /// A Job was marked for deletion.
    JobDeleting { job: JobId = object }
    /// A Job was removed.
    JobGone { job: JobId = object }
    // --- Pods; `pod` is a reusable row, `incarnation` the number of the object in it
    /// A pod was stored.
    PodCreated {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        job: JobId = unwritten,
        index: u32 = "index",
        attempt: u32 = "restartAttempt",
    }
    /// The API server, or a webhook, refused a pod.
    PodCreateRejected { job: JobId = object, index: u32 = "index", reason: TextId = reason }
    /// The scheduler found no node for a pod.
    PodUnschedulable { pod: PodId = object, reason: TextId = reason }
    /// The eviction API refused to evict a pod.
    EvictionRefused { pod: PodId = object, answer: TextId = message }
    /// A pod was bound to a node.
    PodBound { pod: PodId = object, incarnation: u32 = "incarnation", node: NodeId = "node" }
    /// The containers of a pod run (not necessarily ready).
    PodRunning { pod: PodId = object, incarnation: u32 = "incarnation" }
    /// The pod's condition Ready is True at the API server.
    PodReady { pod: PodId = object, incarnation: u32 = "incarnation" }
    /// The pod's condition Ready is no longer True.
    PodNotReady { pod: PodId = object, incarnation: u32 = "incarnation" }
    /// A container exited on the node; no other component has noticed it yet.
    ContainerExited { pod: PodId = object, incarnation: u32 = "incarnation", exit_code: i32 = "exitCode" }
    /// RestartAllContainers or the restart of a container began.
    ContainersRestarting { pod: PodId = object, incarnation: u32 = "incarnation", restarts: u32 = "restartCount" }
    /// The in-place restart agent wrote its attempt annotation (AG-2).
    AttemptWritten { pod: PodId = object, incarnation: u32 = "incarnation", attempt: u32 = "inPlaceRestartAttempt" }
    /// The in-place restart agent lifted its barrier (AG-5).
    BarrierLifted { pod: PodId = object, incarnation: u32 = "incarnation", attempt: u32 = "inPlaceRestartAttempt" }
    /// The phase Failed or Succeeded is visible at the API server.
    PodFinished {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        succeeded: bool = "phase" as ["Failed", "Succeeded"],
        /// `None` if no kubelet reported the containers: it refused the pod, or another component wrote the phase.
        exit_code: Option<i32> = "exitCode",
    }
    /// A pod was marked for deletion.
    PodDeleting { pod: PodId = object, incarnation: u32 = "incarnation", by: DeletionActor = "by" }
    /// A pod was removed.
    PodGone { pod: PodId = object, incarnation: u32 = "incarnation" }
    // --- Nodes
    /// A Node's condition Ready was written.
    NodeState { node: NodeId = object, ready: NodeReady = "ready" }
    /// A taint was added to a Node or removed from it.
    NodeTaint {
        node: NodeId = object,
        key: TextId = reason,
        effect: u8 = "effect" as TAINT_EFFECTS,
        added: bool = "added",
    }
    /// A Node was removed.
    NodeGone { node: NodeId = object }
    /// A Node was created during the run: a new one, or one with the name of a removed Node.
    NodeCreated { node: NodeId = object }
    // --- everything else
    /// A scripted fault or user action fired.
    Fault { index: u32 = "fault", pod: PodId = object, node: NodeId = (object, "node") }
    /// The API server's response to a user's request; empty if it was accepted.
    Answered { index: u32 = "fault", answer: TextId = message }
    /// A Kubernetes Event: Warning or Normal.
    KubeEvent {
        warning: bool = "type" as ["Normal", "Warning"],
        object: ObjectRef = (object, kind = "involvedObject"),
        reason: TextId = reason,
        message: TextId = message,
    }
    /// The run ended.
    End { reason: EndReason = "endReason" }
    /// The step time of a training job that communicates has changed, with its placement or the rates of links.
    TrainingStepTime { jobset: JobSetId = object, step: Duration = "step_ns", exposed: Duration = "exposed_ns" }
    /// A condition of the Workload of a JobSet was written (Kueue).
    WorkloadCondition {
        jobset: JobSetId = object,
        kind: WorkloadConditionType = "type",
        status: bool = "status" as STATUS,
        reason: TextId = reason,
        message: TextId = message,
    }
    /// The condition PodGroupScheduled of a PodGroup was written.
    PodGroupCondition {
        group: TextId = "podGroup",
        scheduled: bool = "status" as STATUS,
        reason: TextId = reason,
        message: TextId = message,
    }
    /// The quota that the Workload of a JobSet holds has changed, to zero if it was released (Kueue).
    WorkloadQuota {
        jobset: JobSetId = object,
        queue: TextId = "clusterQueue",
        flavor: TextId = "flavor",
        resource: TextId = "resource",
        amount: TextId = "amount",
    }
    /// The Workload of a JobSet was evicted to make room for another one (Kueue).
    WorkloadPreempted { jobset: JobSetId = object, preemptor: JobSetId = "preemptor" }
    /// A TPU slice that lost cubes was deleted. It is formed again with free cubes in their places.
    SliceForming { slice: TextId = "slice", replaced: u32 = "replacedCubes" }
    /// A TPU slice is formed again: the nodes of its cubes have its label.
    SliceFormed { slice: TextId = "slice" }
    /// A condition of a Workload that existed at the start was written (Kueue).
    ExistingCondition {
        workload: TextId = "workload",
        kind: WorkloadConditionType = "type",
        status: bool = "status" as STATUS,
        reason: TextId = reason,
        message: TextId = message,
    }
    /// The quota that a Workload from the start holds: at the start, and whenever it changes (Kueue).
    ExistingQuota {
        workload: TextId = "workload",
        queue: TextId = "clusterQueue",
        flavor: TextId = "flavor",
        resource: TextId = "resource",
        amount: TextId = "amount",
    }
    /// A Workload that existed at the start was evicted to make room for the one of a JobSet (Kueue).
    ExistingPreempted { workload: TextId = "workload", preemptor: JobSetId = object }
    /// The Workload of a JobSet was evicted to make room for one that existed at the start (Kueue).
    PreemptedByExisting { jobset: JobSetId = object, preemptor: TextId = "preemptor" }
    /// The Workload of a JobSet is in another LocalQueue (Kueue).
    WorkloadQueue { jobset: JobSetId = object, queue: TextId = "localQueue" }
}

impl Body {
    /// Returns true for records of unsuccessful attempts: a run with only such records makes no progress.
    pub fn is_retry(&self) -> bool {
        use Body::*;
        matches!(self, PodCreateRejected { .. } | KubeEvent { .. } | PodUnschedulable { .. } | EvictionRefused { .. })
    }
}
