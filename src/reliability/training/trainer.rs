//! A training job from start to start: each start plans a segment, each end of a segment changes the progress and the
//! time ledger. The caller knows when all processes run and what interrupts them.

use super::outcome::TrainingOutcome;
use super::plan::{PlanStart, plan_from_start};
use super::saved_progress::SavedProgress;
use super::segment::SegmentPlan;
use super::work_ledger::{BookedSegment, SegmentEnd, WorkLedger};
use sim_api::spec::TrainingJob;
use sim_base::random::{DrawSequence, StreamKey};
use sim_base::{Duration, JobSetId, SimTime};

/// The progress and the ledger of a training job. `G` identifies the participants of a segment.
#[derive(Clone, Debug)]
pub struct Trainer<G> {
    pub saved_progress: SavedProgress<G>,
    pub ledger: WorkLedger,
    /// The largest progress so far.
    reached: u64,
    starts: u32,
}

/// A segment that has not ended.
#[derive(Clone, Debug)]
pub struct RunningSegment {
    pub plan: SegmentPlan,
    start: SimTime,
    /// Progress at its start.
    pub start_progress: u64,
    /// Time since which the processes hang.
    pub hang_start: Option<SimTime>,
}

/// A segment that has ended.
pub struct EndedSegment {
    /// Progress at its end.
    pub reached: u64,
    /// Work saved by each kind of checkpoint.
    pub saved: Vec<u64>,
    pub booked: BookedSegment,
}

impl<G: Copy> Trainer<G> {
    pub fn new(spec: &TrainingJob) -> Trainer<G> {
        Trainer { saved_progress: SavedProgress::new(spec), ledger: WorkLedger::default(), reached: 0, starts: 0 }
    }

    /// Number of starts so far.
    pub fn starts(&self) -> u32 {
        self.starts
    }

    /// The next start, with all slices and new processes.
    pub fn next_start(&self) -> PlanStart {
        self.saved_progress.plan_start(self.starts)
    }

    /// All processes run: a segment begins, with the random numbers of this start of the JobSet with this key.
    pub fn begin(
        &mut self, now: SimTime, spec: &TrainingJob, start: &PlanStart, (jobset, draws): (StreamKey, &mut DrawSequence),
    ) -> RunningSegment {
        let plan = plan_from_start(spec, start, (jobset, draws));
        self.starts += 1;
        self.ledger.begin_segment(now);
        RunningSegment { plan, start: now, start_progress: start.start_progress, hang_start: None }
    }

    /// A segment ends. The caller adds its progress to `saved_progress`.
    pub fn end(&mut self, now: SimTime, segment: &RunningSegment, end: &SegmentEnd) -> EndedSegment {
        let spent = segment.plan.state_at(segment.elapsed(now));
        let hang = segment.hang_start.map_or(0, |since| now.since(since).0);
        let repeated = self.reached.saturating_sub(segment.start_progress).min(spent.done);
        let repeated = segment.plan.stepping_time(repeated).min(spent.stepping);
        let reached = segment.start_progress + spent.done;
        self.reached = self.reached.max(reached);
        let booked = self.ledger.end_segment(now, &spent, (repeated, hang), end);
        EndedSegment { reached, saved: spent.saved, booked }
    }

    /// The outcome at the end of the run. `reached` is the progress of the segment that the end cut off, if any.
    pub fn outcome(
        &self, now: SimTime, spec: &TrainingJob, (jobset, reached): (JobSetId, Option<u64>),
    ) -> TrainingOutcome {
        let kept = Duration(self.saved_progress.durable());
        let reached = Duration(reached.unwrap_or(self.saved_progress.newest().0));
        self.ledger.outcome(now, spec, (jobset, reached, kept))
    }
}

impl RunningSegment {
    /// Duration of the segment so far, not counting a hang.
    pub fn elapsed(&self, now: SimTime) -> u64 {
        self.hang_start.unwrap_or(now).since(self.start).0
    }

    /// Work completed so far.
    pub fn done(&self, now: SimTime) -> u64 {
        self.plan.state_at(self.elapsed(now)).done
    }

    /// Time at which its work is complete; `None` if it has no end, or the processes hang.
    pub fn ends_at(&self) -> Option<SimTime> {
        let takes = self.plan.duration().filter(|_| self.hang_start.is_none())?;
        self.start.0.checked_add(takes).map(SimTime)
    }

    /// Forces a durable checkpoint after the current step.
    pub fn save_after_step(&mut self, now: SimTime, spec: &TrainingJob) {
        let done = self.done(now);
        self.plan.force_checkpoint_after(spec.round_up_to_steps(Duration(done)).0);
    }
}
