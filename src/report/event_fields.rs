//! The fields of each kind of record in `events.ndjson`, after the seven that every line has.

use super::events::Objects;
use super::json::Members;
use crate::record::{Body, NodeReady, ObjectRef};

pub fn node_ready(ready: NodeReady) -> &'static str {
    match ready {
        NodeReady::True => "True",
        NodeReady::False => "False",
        NodeReady::Unknown => "Unknown",
    }
}

/// Taint effects in the order of `spec::TaintEffect`.
pub fn taint_effect(effect: u8) -> &'static str {
    match effect {
        0 => "NoSchedule",
        1 => "PreferNoSchedule",
        _ => "NoExecute",
    }
}

pub fn write(m: &mut Members<'_>, body: &Body, objects: &Objects) {
    use Body::*;
    match *body {
        PodCreated { .. }
        | PodCreateRejected { .. }
        | PodBound { .. }
        | PodRunning { .. }
        | PodReady { .. }
        | PodNotReady { .. }
        | ContainerExited { .. }
        | ContainersRestarting { .. }
        | AttemptWritten { .. }
        | BarrierLifted { .. }
        | PodFinished { .. }
        | PodDeleting { .. }
        | PodGone { .. } => of_pod(m, body, objects),
        RestartCounted {
            restarts,
            counted,
            failed_job,
            ..
        } => {
            m.u("restarts", restarts)
                .u("restartsCountTowardsMax", counted)
                .raw("failedJob", objects.job(failed_job));
        }
        JobRestartCounted { job, restarts, .. } => {
            m.raw("job", objects.job(job)).u("restarts", restarts);
        }
        PreviousAttempt { attempt, .. } => {
            m.u("previousInPlaceRestartAttempt", attempt);
        }
        CurrentAttempt { attempt, .. } => {
            m.u("currentInPlaceRestartAttempt", attempt);
        }
        JobSetCondition { kind, status, .. } => {
            m.raw("type", kind.as_str().as_bytes())
                .raw("status", if status { b"True" } else { b"False" });
        }
        AllReady { ready, .. } => {
            m.b("ready", ready);
        }
        ReplicatedJobsStatus {
            ready,
            succeeded,
            failed,
            active,
            suspended,
            ..
        } => {
            m.u("ready", ready)
                .u("succeeded", succeeded)
                .u("failed", failed)
                .u("active", active)
                .u("suspended", suspended);
        }
        JobCreated { attempt, .. } => {
            m.u("restartAttempt", attempt);
        }
        JobCondition { kind, status, .. } => {
            m.raw("type", kind.as_str().as_bytes())
                .raw("status", if status { b"True" } else { b"False" });
        }
        NodeState { ready, .. } => {
            m.raw("ready", node_ready(ready).as_bytes());
        }
        NodeTaint { effect, added, .. } => {
            m.raw("effect", taint_effect(effect).as_bytes())
                .b("added", added);
        }
        Fault { index, node, .. } => {
            m.u("fault", index);
            if node.is_some() {
                m.raw("node", objects.node(node));
            }
        }
        Answered { index, .. } => {
            m.u("fault", index);
        }
        KubeEvent {
            object, warning, ..
        } => {
            let kind: &[u8] = match object {
                ObjectRef::JobSet(_) => b"JobSet",
                ObjectRef::Job(_) => b"Job",
                ObjectRef::Pod(_) => b"Pod",
            };
            m.raw("type", if warning { b"Warning" } else { b"Normal" })
                .raw("involvedObject", kind);
        }
        End { reason } => {
            m.raw("endReason", reason.as_str().as_bytes());
        }
        JobSetCreated { .. }
        | JobSetDeleted { .. }
        | JobDeleting { .. }
        | JobGone { .. }
        | PodUnschedulable { .. }
        | NodeGone { .. } => {}
    }
}

fn of_pod(m: &mut Members<'_>, body: &Body, objects: &Objects) {
    use Body::*;
    match *body {
        PodCreated {
            incarnation,
            index,
            attempt,
            ..
        } => {
            m.u("incarnation", incarnation)
                .u("index", index)
                .u("restartAttempt", attempt);
        }
        PodCreateRejected { index, .. } => {
            m.u("index", index);
        }
        PodBound {
            incarnation, node, ..
        } => {
            m.u("incarnation", incarnation)
                .raw("node", objects.node(node));
        }
        ContainerExited {
            incarnation,
            exit_code,
            ..
        } => {
            m.u("incarnation", incarnation).i("exitCode", exit_code);
        }
        ContainersRestarting {
            incarnation,
            restarts,
            ..
        } => {
            m.u("incarnation", incarnation).u("restartCount", restarts);
        }
        AttemptWritten {
            incarnation,
            attempt,
            ..
        }
        | BarrierLifted {
            incarnation,
            attempt,
            ..
        } => {
            m.u("incarnation", incarnation)
                .u("inPlaceRestartAttempt", attempt);
        }
        PodFinished {
            incarnation,
            succeeded,
            exit_code,
            ..
        } => {
            let phase: &[u8] = if succeeded { b"Succeeded" } else { b"Failed" };
            m.u("incarnation", incarnation)
                .raw("phase", phase)
                .i("exitCode", exit_code);
        }
        PodDeleting {
            incarnation, by, ..
        } => {
            m.u("incarnation", incarnation)
                .raw("by", by.as_str().as_bytes());
        }
        PodRunning { incarnation, .. }
        | PodReady { incarnation, .. }
        | PodNotReady { incarnation, .. }
        | PodGone { incarnation, .. } => {
            m.u("incarnation", incarnation);
        }
        _ => {}
    }
}
