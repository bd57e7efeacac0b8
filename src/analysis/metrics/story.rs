//! Main records of what happened to the JobSets, for console and report; further ones are only counted.

use sim_base::{Duration, JobSetId};
use sim_engine::record::{Body, JobSetConditionType, RecordNames, RecordSink, SimulationRecord, WorkloadConditionType};
use std::collections::BTreeMap;

/// Maximum number of records in the story; a run directory contains all of them.
const KEPT: usize = 400;

/// Returns true for the conditions that explain why a JobSet waits, runs or stops. PodsReady repeats `AllReady`.
fn is_main_condition(kind: WorkloadConditionType, reason: &str) -> bool {
    match kind {
        WorkloadConditionType::QuotaReserved => reason != "PendingEvaluation",
        WorkloadConditionType::Evicted => reason != "QuotaReserved",
        WorkloadConditionType::DeactivationTarget => true,
        _ => false,
    }
}

#[derive(Default)]
pub struct StoryFold {
    pub kept: Vec<SimulationRecord>,
    pub left_out: u64,
    /// Latest step time of each training job; the first one is not a change.
    steps: BTreeMap<JobSetId, Duration>,
}

impl RecordSink for StoryFold {
    #[inline]
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        let is_main_event = match record.body {
            Body::JobSetCreated { .. }
            | Body::JobSetRefused { .. }
            | Body::RestartCounted { .. }
            | Body::JobRestartCounted { .. }
            | Body::PreviousAttempt { .. }
            | Body::CurrentAttempt { .. }
            | Body::AllReady { .. }
            | Body::TrainingStarted { .. }
            | Body::TrainingSlices { .. }
            | Body::TrainingInterrupted { .. }
            | Body::TrainingDone { .. }
            | Body::JobSetDeleted { .. }
            | Body::EvictionRefused { .. }
            | Body::PodGroupCondition { .. }
            | Body::SliceForming { .. }
            | Body::SliceFormed { .. }
            | Body::ExistingPreempted { .. }
            | Body::NodeState { .. }
            | Body::NodeGone { .. }
            | Body::Fault { .. } => true,
            Body::TrainingStepTime { jobset, step, .. } => {
                self.steps.insert(jobset, step).is_some_and(|before| before != step)
            }
            Body::Answered { answer, .. } => !names.text(answer).is_empty(),
            Body::JobSetCondition { kind, status, .. } => {
                // The end of a restart (status False) is already reported by AllReady.
                kind != JobSetConditionType::RestartingJobSet || status
            }
            Body::WorkloadCondition { kind, reason, .. } => is_main_condition(kind, names.text(reason)),
            _ => false,
        };
        if is_main_event && self.kept.len() < KEPT {
            self.kept.push(*record);
        } else if is_main_event {
            self.left_out += 1;
        }
    }
}
