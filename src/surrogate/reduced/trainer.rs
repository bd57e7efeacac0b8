//! The training job of one replication. It uses the arithmetic of the engine, and only the reduced model interrupts it.

use sim_api::spec::{LossSpec, TrainingJob};
use sim_base::random::{DrawSequence, StreamKey};
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{LedgerCategory, TrainingOutcome};
use sim_reliability::training::{SavedProgress, SegmentEnd, SegmentPlan, SpentTime, WorkLedger, plan_from_start};

/// Time per category of the ledger, in nanoseconds.
pub type TrainerTimes = [u64; LedgerCategory::COUNT];

/// Current segment of the training job.
struct TrainerSegment {
    plan: SegmentPlan,
    since: SimTime,
    from: u64,
    /// Time at which the work is complete without further interruptions; `None` if the work has no end.
    ends: Option<SimTime>,
}

/// Training job of one replication.
pub struct ReducedTrainer<'a> {
    spec: &'a TrainingJob,
    key: StreamKey,
    saved: SavedProgress<()>,
    pub books: WorkLedger,
    reached: u64,
    starts: u32,
    now: Option<TrainerSegment>,
    /// Time outside of restarts per category, in nanoseconds.
    pub times: TrainerTimes,
    /// Error bound of the productive time in nanoseconds, caused by the spread of restart times.
    pub error_bound: u64,
}

impl<'a> ReducedTrainer<'a> {
    pub fn new(spec: &'a TrainingJob, key: StreamKey) -> ReducedTrainer<'a> {
        ReducedTrainer {
            spec,
            key,
            saved: SavedProgress::new(spec),
            books: WorkLedger::default(),
            reached: 0,
            starts: 0,
            now: None,
            times: [0; LedgerCategory::COUNT],
            error_bound: 0,
        }
    }

    pub fn runs(&self) -> bool {
        self.now.is_some()
    }

    /// Returns the time at which the work is complete without further interruptions.
    pub fn completion_time(&self) -> Option<SimTime> {
        self.now.as_ref()?.ends
    }

    /// Starts a segment when all pods are ready. `loss` describes which hosts lost their data.
    pub fn begin(&mut self, now: SimTime, loss: LossSpec, draws: &mut DrawSequence) {
        for ((), ns) in self.saved.apply_host_loss(loss, self.spec) {
            self.take_back(ns);
        }
        let start = self.saved.plan_start(self.starts);
        let plan = plan_from_start(self.spec, &start, (self.key, draws));
        self.starts += 1;
        self.books.begin_segment(now);
        let ends = plan.duration().and_then(|takes| now.0.checked_add(takes));
        self.now = Some(TrainerSegment { plan, since: now, from: start.start_progress, ends: ends.map(SimTime) });
    }

    /// Handles the notice of a maintenance of one of its nodes: the job saves a checkpoint after the current step,
    /// if the scenario says so.
    pub fn notice(&mut self, now: SimTime) {
        let spec = self.spec;
        let Some(segment) = self.now.as_mut().filter(|_| spec.save_at_notice) else {
            return;
        };
        let done = segment.plan.state_at(now.since(segment.since).0).done;
        segment.plan.force_checkpoint_after(spec.round_up_to_steps(Duration(done)).0);
        let takes = segment.plan.duration();
        segment.ends = takes.and_then(|takes| segment.since.0.checked_add(takes)).map(SimTime);
    }

    fn take_back(&mut self, ns: u64) {
        self.books.mark_lost(ns);
        self.times[LedgerCategory::Productive as usize] -= ns;
        self.times[LedgerCategory::Lost as usize] += ns;
    }

    /// Ends the current segment. With `loses`, unsaved progress is discarded. Returns the progress of the segment's
    /// end.
    pub fn end_segment(&mut self, now: SimTime, loses: bool) -> Option<u64> {
        let segment = self.now.take()?;
        let spent = segment.plan.state_at(now.since(segment.since).0);
        let again = self.reached.saturating_sub(segment.from).min(spent.done);
        let again = segment.plan.stepping_time(again).min(spent.stepping);
        let reached = segment.from + spent.done;
        self.reached = self.reached.max(reached);
        let end =
            SegmentEnd { interrupted: loses, repeated: again, hang: 0, reinitialized: false, unused_fraction: (0, 1) };
        let booked = self.books.end_segment(now, &spent, &end);
        for (category, ns) in booked.other_categories {
            self.times[category as usize] += ns;
        }
        self.times[LedgerCategory::Productive as usize] += booked.productive;
        self.saved.add(segment.from, &spent.saved, (booked.productive, ()));
        Some(reached)
    }

    /// Interrupts the job. With `deviation`, adds to the error bound the change of productive time if the segment
    /// were that much longer or shorter.
    pub fn interrupt(&mut self, now: SimTime, deviation: Option<u64>) {
        if let Some((segment, deviation)) = self.now.as_ref().zip(deviation) {
            let ran = now.since(segment.since).0;
            let counts = |spent: SpentTime| spent.saved_stepping - spent.saved_excess.iter().sum::<u64>();
            let here = counts(segment.plan.state_at(ran));
            let more = counts(segment.plan.state_at(ran.saturating_add(deviation)));
            let less = counts(segment.plan.state_at(ran.saturating_sub(deviation)));
            self.error_bound += (more - here).max(here - less);
        }
        self.end_segment(now, true);
    }

    /// Ends the job because its work is complete.
    pub fn finish(&mut self, now: SimTime) {
        self.end_segment(now, false);
        self.books.mark_done();
    }

    /// Ends the job at the end of the run and returns its outcome.
    pub fn close_outcome(&mut self, now: SimTime, jobset: JobSetId) -> TrainingOutcome {
        let reached = self.end_segment(now, false);
        let kept = Duration(self.saved.durable());
        let reached = Duration(reached.unwrap_or(self.saved.newest().0));
        self.books.outcome(now, self.spec, (jobset, reached, kept))
    }
}
