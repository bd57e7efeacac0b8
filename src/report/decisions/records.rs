//! Short descriptions of records in the decision log.
//!
//! Records that repeat a decision, such as its Kubernetes Events, are omitted.

use super::DecisionLog;
use sim_base::{JobId, JobSetId, NodeId, PodId};
use sim_engine::record::{Body, DeletionActor, ObjectRef, RecordNames};

impl DecisionLog {
    /// Returns a short description of the record, or `None` for kinds that are only in `events.ndjson`.
    pub(crate) fn describe_record(&self, body: &Body, names: &RecordNames) -> Option<String> {
        use Body::*;
        let jobset = |id: JobSetId| format!("JobSet {}", names.jobset(id));
        let job = |id: JobId| format!("Job {}", names.job(id));
        let pod = |id: PodId| format!("pod {}", self.pod_place(id, names));
        let node = |id: NodeId| format!("node {}", names.node(id));
        Some(match *body {
            JobSetCreated { jobset: id } => format!("{}: created", jobset(id)),
            JobSetRefused { jobset: id, answer } => {
                format!("{}: refused: {}", jobset(id), names.text(answer))
            }
            JobSetDeleted { jobset: id } => format!("{}: deleted", jobset(id)),
            RestartCounted { jobset: id, restarts, counted, .. } => {
                format!("{}: restarts {restarts}, restartsCountTowardsMax {counted}", jobset(id))
            }
            JobRestartCounted { jobset: id, job, restarts, counted } => {
                format!("{}: jobRestarts of Job {} {restarts}, {counted} of them counted", jobset(id), names.job(job))
            }
            PreviousAttempt { jobset: id, attempt } => {
                format!("{}: previousInPlaceRestartAttempt {attempt}", jobset(id))
            }
            CurrentAttempt { jobset: id, attempt } => {
                format!("{}: currentInPlaceRestartAttempt {attempt}", jobset(id))
            }
            JobSetCondition { jobset: id, kind, status, reason, .. } => {
                let status = if status { "True" } else { "False" };
                let reason = names.text(reason);
                format!("{}: condition {}={status} {reason}", jobset(id), kind.as_str())
            }
            WorkloadCondition { jobset: id, kind, status, reason, .. } => {
                let status = if status { "True" } else { "False" };
                let reason = names.text(reason);
                format!("{}: Workload condition {}={status} {reason}", jobset(id), kind.as_str())
            }
            PodGroupCondition { group, scheduled, reason, .. } => {
                let (group, reason) = (names.text(group), names.text(reason));
                let status = if scheduled { "True" } else { "False" };
                format!("PodGroup {group}: condition PodGroupScheduled={status} {reason}")
            }
            AllReady { jobset: id, ready: true } => format!("{}: every pod is ready", jobset(id)),
            AllReady { jobset: id, .. } => format!("{}: no longer all ready", jobset(id)),
            TrainingStarted { jobset: id, from } => {
                format!("{}: training steps from {from} of work", jobset(id))
            }
            TrainingSlices { jobset: id, slices, of } => {
                format!("{}: training has {slices} of {of} slices", jobset(id))
            }
            TrainingInterrupted { jobset: id, reached, kept } => {
                format!("{}: training interrupted at {reached}, saved progress {kept}", jobset(id))
            }
            TrainingStepTime { jobset: id, step, exposed } => {
                format!("{}: steps take {step}, of which {exposed} is communication", jobset(id))
            }
            TrainingDone { jobset: id, .. } => format!("{}: training is done", jobset(id)),
            JobCreated { job: id, attempt } => format!("{}: created, attempt {attempt}", job(id)),
            JobDeleting { job: id } => format!("{}: deletionTimestamp", job(id)),
            JobGone { job: id } => format!("{}: gone, its name is free", job(id)),
            JobCondition { job: id, kind, reason, .. } => {
                format!("{}: condition {}=True {}", job(id), kind.as_str(), names.text(reason))
            }
            ContainerExited { pod: id, exit_code, .. } if exit_code != 0 && !self.is_deleting(id) => {
                format!("{}: a container exits with code {exit_code}", pod(id))
            }
            ContainersRestarting { pod: id, restarts, .. } => {
                format!("{}: containers start again, restartCount {restarts}", pod(id))
            }
            PodFinished { pod: id, succeeded: false, exit_code, .. } if !self.is_deleting(id) => {
                let code = exit_code.map_or(String::new(), |code| format!(", exit code {code}"));
                format!("{}: phase Failed{code}", pod(id))
            }
            PodDeleting { pod: id, by, .. }
                if !matches!(by, DeletionActor::JobController | DeletionActor::GarbageCollector) =>
            {
                format!("{}: deletionTimestamp, by {}", pod(id), by.as_str())
            }
            NodeState { node: id, ready } => {
                format!("{}: Ready={}", node(id), ready.as_str())
            }
            NodeGone { node: id } => format!("{}: gone", node(id)),
            Fault { index, .. } => {
                let text = self.faults.get(index as usize);
                format!("script: {}", text.map_or("", String::as_str))
            }
            KubeEvent { object: ObjectRef::JobSet(id), reason, message, warning: true }
                if names.text(reason).ends_with("CreationFailed") =>
            {
                format!("{}: {}: {}", jobset(id), names.text(reason), names.text(message))
            }
            End { reason } => format!("end of the run: {}", reason.as_str()),
            _ => return None,
        })
    }
}
