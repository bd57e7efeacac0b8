//! The closed set of things that can happen: one table with every kind, its fields and what they are called on paper.

use super::digest::of_text;
use super::fields::{Role, Value, records, role, value};
use super::kinds::*;
use crate::base::*;

/// One thing that happened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub seq: u32,
    /// `seq` of the record that brought this about; `NO_CAUSE` for the first ones.
    pub cause: u32,
    /// The ticket that was current when it was written; `NO_TICKET` unless the sink wants tickets. Not in the digest
    /// and in no file: asking for tickets must not change a run.
    pub ticket: u32,
    pub at: Time,
    pub body: Body,
}

pub const NO_CAUSE: u32 = u32::MAX;

// `name: Type = role`: `object` is whom the line is about, `reason` and `message` are Kubernetes' texts, a string is
// the key of a member of the line in `events.ndjson` (`as` gives the words for a number), `unwritten` is only in the
// digest.
records! {
    // --- JobSets
    JobSetCreated {
        jobset: JobSetId = object,
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
    ReplicatedJobsStatus {
        jobset: JobSetId = object,
        ready: u32 = "ready",
        succeeded: u32 = "succeeded",
        failed: u32 = "failed",
        active: u32 = "active",
        suspended: u32 = "suspended",
    }
    JobSetDeleted {
        jobset: JobSetId = object,
    }
    // --- Jobs
    JobCreated {
        job: JobId = object,
        attempt: u32 = "restartAttempt",
    }
    JobCondition {
        job: JobId = object,
        kind: JobConditionType = "type",
        /// False only of Suspended.
        status: bool = "status" as STATUS,
        reason: TextId = reason,
        message: TextId = message,
    }
    JobDeleting {
        job: JobId = object,
    }
    JobGone {
        job: JobId = object,
    }
    // --- Pods; `pod` is a row that is used again, `incarnation` the nth object in it
    PodCreated {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        job: JobId = unwritten,
        index: u32 = "index",
        attempt: u32 = "restartAttempt",
    }
    PodCreateRejected {
        job: JobId = object,
        index: u32 = "index",
        reason: TextId = reason,
    }
    PodUnschedulable {
        pod: PodId = object,
        reason: TextId = reason,
    }
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
    PodReady {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
    }
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
    PodDeleting {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
        by: Deleter = "by",
    }
    PodGone {
        pod: PodId = object,
        incarnation: u32 = "incarnation",
    }
    // --- Nodes
    NodeState {
        node: NodeId = object,
        ready: NodeReady = "ready",
    }
    NodeTaint {
        node: NodeId = object,
        key: TextId = reason,
        effect: u8 = "effect" as TAINT_EFFECTS,
        added: bool = "added",
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::About;

    #[test]
    fn a_record_is_about_the_first_that_it_names() {
        let fault = |pod, node| {
            let index = 0;
            Body::Fault { index, pod, node }.head().about
        };
        let (pod, node) = (PodId(3), NodeId(4));
        assert_eq!(fault(pod, node), About::Pod(pod));
        assert_eq!(fault(PodId::NONE, node), About::Node(node));
        assert_eq!(fault(PodId::NONE, NodeId::NONE), About::Nothing);
        let event = Body::KubeEvent {
            warning: true,
            object: ObjectRef::Job(JobId(7)),
            reason: TextId(1),
            message: TextId(2),
        };
        let head = event.head();
        assert_eq!(head.about, About::Job(JobId(7)));
        assert_eq!((head.reason, head.message), (TextId(1), TextId(2)));
    }

    #[test]
    fn the_manual_lists_every_kind_with_its_members() {
        let manual = include_str!("../../docs/run-directory.md");
        for (kind, roles) in Body::KINDS {
            let named = format!("`{kind}`");
            let row = manual
                .lines()
                .find(|l| l.split('|').nth(1).is_some_and(|c| c.contains(&named)));
            let row = row.unwrap_or_else(|| panic!("{kind} is not in docs/run-directory.md"));
            for member in roles.iter().filter_map(|r| r.member()) {
                assert!(row.contains(&format!("`{member}`")), "{kind}: {member}");
            }
        }
    }
}
