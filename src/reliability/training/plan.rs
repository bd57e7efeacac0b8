//! The plan of a training job from one of its starts, with the random numbers of that start.

use super::pace::{PaceReason, TrainingPace, UNIT_FACTOR};
use super::segment::{CheckpointSave, SegmentKind, SegmentPlan};
use sim_api::spec::{CheckpointSchedule, TrainingJob};
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw, normal_quantile};

/// Time to restore a checkpoint of that kind; zero if no work is done yet.
pub fn restore_time(spec: &TrainingJob, (from, kind): (u64, usize)) -> &Distribution {
    let restores = spec.checkpoints().get(kind).filter(|_| from > 0);
    restores.map_or(&Distribution::ZERO, |kind| &kind.restore)
}

/// One start of a training job.
pub struct PlanStart {
    /// Number of the start, from 0.
    pub nth: u32,
    /// The largest saved progress, and the kind of checkpoint that saved it.
    pub newest: (u64, usize),
    /// Progress saved by each kind of checkpoint.
    pub saved: Vec<u64>,
    /// Progress from which it resumes: saved, or in the memory of its processes.
    pub start_progress: u64,
    /// Processes have continued, and a separate initialization time applies.
    pub reinitializes: bool,
    /// Step time in billionths of the normal one, because of missing slices.
    pub factor: u64,
}

/// The plan from one of the job's starts, with the random numbers of `jobset`.
pub fn plan_from_start(
    spec: &TrainingJob, start: &PlanStart, (jobset, draws): (StreamKey, &mut DrawSequence),
) -> SegmentPlan {
    let nth = start.nth;
    let named = |purpose, occurrence| UniformDraw { purpose, entity: jobset, occurrence, substream: 0 };
    let mut takes = |purpose, nth, dist: &Distribution| draws.sample(named(purpose, nth), dist).0;
    let again = spec.elastic.as_ref().and_then(|e| e.reinitialization.as_ref());
    let (initialization, compile) = match again.filter(|_| start.reinitializes) {
        Some(again) => (takes(StreamPurpose::TrainingReinitialization, nth, again), 0),
        None => (
            takes(StreamPurpose::TrainingInitialization, nth, &spec.initialization),
            takes(StreamPurpose::TrainingCompile, nth, &spec.compile),
        ),
    };
    let restore = if start.start_progress == start.newest.0 {
        takes(StreamPurpose::TrainingRestore, nth, restore_time(spec, start.newest))
    } else {
        0
    };
    let before = [initialization, compile, restore];
    let saving = match &spec.checkpoint_schedule {
        CheckpointSchedule::Always => CheckpointSave::Always,
        CheckpointSchedule::Never => CheckpointSave::Never,
        CheckpointSchedule::Checkpoints(kinds) => CheckpointSave::Checkpoints(
            (kinds.iter().zip(&start.saved).zip(nth * kinds.len() as u32..))
                .map(|((kind, saved), nth)| SegmentKind {
                    interval: spec.round_up_to_steps(kind.every).0,
                    carry_over: start.start_progress - saved,
                    blocking: kind.blocking.0,
                    commit: takes(StreamPurpose::TrainingCommit, nth, &kind.commit_delay),
                })
                .collect(),
        ),
    };
    let mut pace = TrainingPace::default();
    if let Some(step) = spec.step.filter(|_| spec.step_sd_s > 0.0) {
        let z = normal_quantile(draws.uniform(named(StreamPurpose::TrainingSteps, nth)));
        pace.set_deviation(z, step.seconds(), spec.step_sd_s);
    }
    if let Some(warm_up) = spec.warm_up {
        pace.set_factor(0, PaceReason::WarmUp, warm_up.factor);
        let one = u128::from(UNIT_FACTOR);
        let slow = u128::from(warm_up.duration.0) * one / u128::from(warm_up.factor);
        let slow = (slow * one / u128::from(start.factor)) as u64;
        pace.set_factor(slow, PaceReason::WarmUp, UNIT_FACTOR);
    }
    if start.factor > UNIT_FACTOR {
        pace.set_factor(0, PaceReason::Degraded, start.factor);
    }
    SegmentPlan {
        startup_phases: before,
        work: spec.work.map(|work| spec.round_up_to_steps(work).0 - start.start_progress),
        pace,
        saving,
        ..SegmentPlan::default()
    }
}
