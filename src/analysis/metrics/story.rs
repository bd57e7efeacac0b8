//! The few records that tell what happened to the JobSets; the rest is counted.

use sim_engine::record::{Body, JobSetConditionType, Names, Record, Sink};

/// More than this is not read by anybody; the run directory has everything.
const KEPT: usize = 400;

#[derive(Default)]
pub struct StoryFold {
    pub kept: Vec<Record>,
    pub left_out: u64,
}

impl Sink for StoryFold {
    fn record(&mut self, record: &Record, names: &Names) {
        let told = match record.body {
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
            | Body::NodeState { .. }
            | Body::NodeGone { .. }
            | Body::Fault { .. } => true,
            Body::Answered { answer, .. } => !names.text(answer).is_empty(),
            Body::JobSetCondition { kind, status, .. } => {
                // Its false is the end of the restart, told by AllReady.
                kind != JobSetConditionType::RestartingJobSet || status
            }
            _ => false,
        };
        if told && self.kept.len() < KEPT {
            self.kept.push(*record);
        } else if told {
            self.left_out += 1;
        }
    }
}
