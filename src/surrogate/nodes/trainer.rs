//! The training job of a JobSet at level `nodes`, with the arithmetic of the engine.

use super::accounts::{HeldAccelerators, UndoneWork};
use sim_api::spec::{LossSpec, TrainingJob};
use sim_base::random::{DrawSequence, StreamKey};
use sim_base::{JobId, JobSetId, NodeId, SimTime};
use sim_reliability::training::{
    BookedSegment, CompletedWork, LastCall, NewStepTime, PaceReason, PlacedJob, RunningSegment, SilentCorruption,
    SliceGroup, SliceRegrowth, StepOutcome, Trainer, TrainingHosts, TrainingOutcome, UNIT_FACTOR,
};

/// A process that computes wrong results, which may have ended since.
#[derive(Copy, Clone, Debug)]
pub struct FaultyProcess {
    pub pod: usize,
    /// Epoch of its pod.
    pub epoch: u32,
    /// The fault process, and the time of the fault.
    pub cause: (u32, SimTime),
}

/// A training job, and its current segment.
pub struct NodesTrainer<'m> {
    spec: &'m TrainingJob,
    key: StreamKey,
    pub job: Trainer<CompletedWork<HeldAccelerators>>,
    /// Only for jobs with checkpoints that are lost with a host.
    hosts: Option<TrainingHosts>,
    segment: Option<NodesSegment>,
    /// Its placement in the current segment, and the changes of its step time; only if it communicates.
    pub placed: PlacedJob,
    steps: Vec<StepOutcome>,
    /// Slowdown factor of the slowest machine in the current segment.
    slowdown: u64,
    /// The corrupt state of the job, if any, and the number of corruptions so far.
    corruption: Option<SilentCorruption<FaultyProcess>>,
    corruptions: u32,
    /// Its work is complete.
    pub is_done: bool,
    /// Only for an elastic job.
    pub last_call: LastCall,
}

/// A segment that has not ended.
struct NodesSegment {
    run: RunningSegment,
    held: HeldAccelerators,
    /// Only for an elastic job.
    group: SliceGroup,
}

/// What takes part in a segment.
pub struct SegmentStart {
    pub held: HeldAccelerators,
    /// Only for an elastic job.
    pub group: SliceGroup,
    /// The nodes of all ready pods, each with its Job; used if the job needs hosts.
    pub nodes: Vec<(NodeId, JobId)>,
}

/// The end of a segment.
pub struct SegmentOver {
    pub booked: BookedSegment,
    pub held: HeldAccelerators,
    pub undone: UndoneWork,
}

impl<'m> NodesTrainer<'m> {
    pub fn new(spec: &'m TrainingJob, key: StreamKey) -> NodesTrainer<'m> {
        let is_lost_with_hosts = spec.checkpoints().iter().any(|kind| kind.survives < LossSpec::All);
        NodesTrainer {
            spec,
            key,
            job: Trainer::new(spec),
            hosts: is_lost_with_hosts.then(TrainingHosts::default),
            segment: None,
            placed: PlacedJob::default(),
            steps: Vec::new(),
            slowdown: UNIT_FACTOR,
            corruption: None,
            corruptions: 0,
            is_done: false,
            last_call: LastCall::default(),
        }
    }

    /// Whether it matters on which nodes its pods run.
    pub fn needs_hosts(&self) -> bool {
        self.hosts.is_some()
    }

    pub fn is_running(&self) -> bool {
        self.segment.is_some()
    }

    /// Whether a segment runs whose processes do not hang.
    pub fn makes_progress(&self) -> bool {
        self.segment.as_ref().is_some_and(|segment| segment.run.hang_start.is_none())
    }

    /// Time at which the work is complete; `None` if it has no end, or nothing runs.
    pub fn ends_at(&self) -> Option<SimTime> {
        self.segment.as_ref()?.run.ends_at()
    }

    /// The machine of a host failed, or its Node was replaced.
    pub fn lose_host(&mut self, node: NodeId) {
        if let Some(hosts) = &mut self.hosts {
            hosts.lose(node);
        }
    }

    /// The slices of the current segment; `None` if nothing runs.
    pub fn group(&self) -> Option<&SliceGroup> {
        self.segment.as_ref().map(|segment| &segment.group)
    }

    /// More slices are available than take part in the current segment.
    pub fn plan_regrow(&mut self, now: SimTime) -> SliceRegrowth {
        let segment = self.segment.as_mut();
        segment.map_or(SliceRegrowth::Unchanged, |own| own.group.plan_regrow(now, self.spec, &mut own.run))
    }

    /// The additional slices are no longer available. Returns whether the end of the current segment changes.
    pub fn cancel_regrow(&mut self, now: SimTime) -> bool {
        self.segment.as_mut().is_some_and(|own| own.group.cancel_regrow(now, &mut own.run))
    }

    /// All pods that take part are ready. `at_work` returns whether a process still exists. Returns work that is lost
    /// with hosts.
    pub fn begin(
        &mut self, now: SimTime, start: SegmentStart, at_work: impl Fn(FaultyProcess) -> bool, draws: &mut DrawSequence,
    ) -> UndoneWork {
        let SegmentStart { held, group, nodes } = start;
        let mut undone = Vec::new();
        if let Some(hosts) = &mut self.hosts {
            let loss = hosts.move_to(nodes.into_iter());
            undone = self.job.saved_progress.apply_host_loss(loss, self.spec);
            undone.iter().for_each(|(_, ns)| self.job.ledger.mark_lost(*ns));
        }
        // A job that resumes from earlier progress is correct again, unless the faulty process still computes.
        let saved = &self.job.saved_progress;
        self.corruption = self.corruption.take().filter(|wrong| !wrong.is_undone(saved) || at_work(wrong.process));
        let start = group.plan_start(self.job.next_start());
        let run = self.job.begin(now, self.spec, &start, (self.key, draws));
        (self.segment, self.slowdown) = (Some(NodesSegment { run, held, group }), UNIT_FACTOR);
        self.placed = PlacedJob::default();
        undone
    }

    /// A maintenance of one of its nodes was announced: the job saves after the current step, if the scenario says so.
    pub fn notice(&mut self, now: SimTime) {
        if let Some(segment) = self.segment.as_mut().filter(|_| self.spec.save_at_notice) {
            segment.run.save_after_step(now, self.spec);
        }
    }

    /// Its slowest machine has this slowdown factor from now on. Returns whether that changes the pace of the work.
    pub fn slow_down(&mut self, now: SimTime, factor: u64) -> bool {
        let Some(segment) = self.segment.as_mut().filter(|_| self.slowdown != factor) else { return false };
        let done = segment.run.done(now);
        segment.run.plan.pace.set_factor(done, PaceReason::Slow, factor);
        self.slowdown = factor;
        true
    }

    /// Time of the computation in a step, in seconds, with the slowest pod; `None` if nothing runs.
    pub fn compute_s(&self) -> Option<f64> {
        let step = self.spec.step.filter(|_| self.is_running())?;
        Some(step.seconds() * self.slowdown as f64 / UNIT_FACTOR as f64)
    }

    /// The step time has changed. Returns whether a segment runs.
    pub fn change_step_time(&mut self, now: SimTime, new: NewStepTime) -> bool {
        let Some(segment) = &mut self.segment else { return false };
        let done = segment.run.done(now);
        segment.run.plan.pace.set_factor(done, PaceReason::Communication, new.factor);
        self.steps.push(new.outcome);
        true
    }

    /// Its processes hang from now on.
    pub fn hang(&mut self, now: SimTime) {
        if let Some(segment) = &mut self.segment {
            segment.run.hang_start.get_or_insert(now);
        }
    }

    /// Whether its processes compute, and none of them is known to compute wrong results.
    pub fn may_become_corrupt(&self) -> bool {
        self.is_running() && self.corruption.is_none()
    }

    /// A process computes wrong results from now on. Returns the number of the corruption, unless nothing runs.
    pub fn corrupt(&mut self, now: SimTime, process: FaultyProcess) -> Option<u32> {
        let run = &self.segment.as_ref()?.run;
        self.corruptions += 1;
        let saved = &self.job.saved_progress;
        self.corruption = Some(SilentCorruption::begin(now, self.corruptions, process, run, saved));
        Some(self.corruptions)
    }

    /// Number of the corruption that is not detected yet, if there is one.
    pub fn current_corruption(&self) -> Option<u32> {
        self.corruption.as_ref().map(|wrong| wrong.nth)
    }

    /// The corruption is detected.
    pub fn take_corruption(&mut self) -> Option<SilentCorruption<FaultyProcess>> {
        self.corruption.take()
    }

    /// Undoes the work since a corruption.
    pub fn undo_corruption(&mut self, wrong: &SilentCorruption<FaultyProcess>) -> UndoneWork {
        let undone = wrong.undo(&mut self.job.saved_progress);
        undone.iter().for_each(|(_, ns)| self.job.ledger.mark_lost(*ns));
        undone
    }

    /// Ends the current segment; with `loses`, unsaved progress is undone.
    fn end(&mut self, now: SimTime, loses: bool) -> Option<(u64, SegmentOver)> {
        let NodesSegment { run, held, group } = self.segment.take()?;
        let ended = self.job.end(now, &run, &group.segment_end(loses));
        let piece = (ended.booked.productive, CompletedWork::new(held, &ended.booked));
        let live = group.live_progress(ended.reached, loses);
        self.job.saved_progress.add_live((run.start_progress, live), &ended.saved, piece);
        let undone = if loses { self.discard_live() } else { Vec::new() };
        Some((ended.reached, SegmentOver { booked: ended.booked, held, undone }))
    }

    /// The processes that could resume from memory have ended. Returns the lost work.
    pub fn discard_live(&mut self) -> UndoneWork {
        let undone = self.job.saved_progress.discard_live();
        undone.iter().for_each(|(_, ns)| self.job.ledger.mark_lost(*ns));
        undone
    }

    /// The segment ends in order to add slices.
    pub fn end_to_grow(&mut self, now: SimTime) -> Option<SegmentOver> {
        self.end(now, false).map(|(_, over)| over)
    }

    /// Interrupts the job.
    pub fn interrupt(&mut self, now: SimTime) -> Option<SegmentOver> {
        self.end(now, true).map(|(_, over)| over)
    }

    /// Its work is complete.
    pub fn finish(&mut self, now: SimTime) -> Option<SegmentOver> {
        let over = self.end(now, false).map(|(_, over)| over);
        (self.corruption, self.is_done) = (None, true);
        self.job.ledger.mark_done();
        over
    }

    /// Ends the job at the end of the replication.
    pub fn close(&mut self, now: SimTime, jobset: usize) -> (TrainingOutcome, Option<SegmentOver>) {
        let last = self.end(now, false);
        let reached = last.as_ref().map(|(reached, _)| *reached);
        let outcome = self.job.outcome(now, self.spec, (JobSetId(jobset as u32), reached));
        let steps = std::mem::take(&mut self.steps);
        (TrainingOutcome { steps, ..outcome }, last.map(|(_, over)| over))
    }
}
