//! The training job of one replication. It uses the arithmetic of the engine, and only the reduced model interrupts it.

use sim_api::spec::{LossSpec, TrainingJob};
use sim_base::random::{DrawSequence, StreamKey};
use sim_base::{JobSetId, SimTime};
use sim_reliability::ledger::LedgerCategory;
use sim_reliability::training::{RunningSegment, SegmentEnd, SpentTime, Trainer, TrainingOutcome};

/// Time per category of the ledger, in nanoseconds.
pub type TrainerTimes = [u64; LedgerCategory::COUNT];

/// Training job of one replication.
pub struct ReducedTrainer<'a> {
    spec: &'a TrainingJob,
    key: StreamKey,
    pub job: Trainer<()>,
    /// The current segment, and the time at which the work is complete without further interruptions.
    now: Option<(RunningSegment, Option<SimTime>)>,
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
            job: Trainer::new(spec),
            now: None,
            times: [0; LedgerCategory::COUNT],
            error_bound: 0,
        }
    }

    pub fn runs(&self) -> bool {
        self.now.is_some()
    }

    /// Returns the time at which the work is complete without further interruptions; `None` if it has no end.
    pub fn completion_time(&self) -> Option<SimTime> {
        self.now.as_ref()?.1
    }

    /// Starts a segment when all pods are ready. `loss` describes which hosts lost their data.
    pub fn begin(&mut self, now: SimTime, loss: LossSpec, draws: &mut DrawSequence) {
        for ((), ns) in self.job.saved_progress.apply_host_loss(loss, self.spec) {
            self.take_back(ns);
        }
        let start = self.job.next_start();
        let segment = self.job.begin(now, self.spec, &start, (self.key, draws));
        let ends = segment.ends_at();
        self.now = Some((segment, ends));
    }

    /// Handles the notice of a maintenance of one of its nodes: the job saves a checkpoint after the current step,
    /// if the scenario says so.
    pub fn notice(&mut self, now: SimTime) {
        let spec = self.spec;
        if let Some((segment, ends)) = self.now.as_mut().filter(|_| spec.save_at_notice) {
            segment.save_after_step(now, spec);
            *ends = segment.ends_at();
        }
    }

    fn take_back(&mut self, ns: u64) {
        self.job.ledger.mark_lost(ns);
        self.times[LedgerCategory::Productive as usize] -= ns;
        self.times[LedgerCategory::Lost as usize] += ns;
    }

    /// Ends the current segment. With `loses`, unsaved progress is discarded. Returns the progress of the segment's
    /// end.
    pub fn end_segment(&mut self, now: SimTime, loses: bool) -> Option<u64> {
        let (segment, _) = self.now.take()?;
        let ended = self.job.end(now, &segment, &SegmentEnd::of_all_slices(loses));
        for (category, ns) in ended.booked.other_categories {
            self.times[category as usize] += ns;
        }
        let productive = ended.booked.productive;
        self.times[LedgerCategory::Productive as usize] += productive;
        self.job.saved_progress.add(segment.start_progress, &ended.saved, (productive, ()));
        Some(ended.reached)
    }

    /// Interrupts the job. With `deviation`, adds to the error bound the change of productive time if the segment
    /// were that much longer or shorter.
    pub fn interrupt(&mut self, now: SimTime, deviation: Option<u64>) {
        if let Some(((segment, _), deviation)) = self.now.as_ref().zip(deviation) {
            let ran = segment.elapsed(now);
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
        self.job.ledger.mark_done();
    }

    /// Ends the job at the end of the run and returns its outcome.
    pub fn close_outcome(&mut self, now: SimTime, jobset: JobSetId) -> TrainingOutcome {
        let reached = self.end_segment(now, false);
        self.job.outcome(now, self.spec, (jobset, reached))
    }
}
