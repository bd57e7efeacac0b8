//! The training job of a JobSet at level `nodes`, with the arithmetic of the engine.

use super::accounts::HeldAccelerators;
use sim_api::spec::{LossSpec, TrainingJob};
use sim_base::random::{DrawSequence, StreamKey};
use sim_base::{JobId, JobSetId, NodeId, SimTime};
use sim_reliability::training::{
    BookedSegment, PaceReason, RunningSegment, SegmentEnd, Trainer, TrainingHosts, TrainingOutcome, UNIT_FACTOR,
};

/// A training job, and its current segment.
pub struct NodesTrainer<'m> {
    spec: &'m TrainingJob,
    key: StreamKey,
    pub job: Trainer<HeldAccelerators>,
    /// Only for jobs with checkpoints that are lost with a host.
    hosts: Option<TrainingHosts>,
    segment: Option<(RunningSegment, HeldAccelerators)>,
    /// Slowdown factor of the slowest machine in the current segment.
    slowdown: u64,
}

/// Productive time that becomes lost, and who did the work.
pub type UndoneWork = Vec<(HeldAccelerators, u64)>;

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
            slowdown: UNIT_FACTOR,
        }
    }

    /// Whether it matters on which nodes its pods run.
    pub fn needs_hosts(&self) -> bool {
        self.hosts.is_some()
    }

    pub fn is_running(&self) -> bool {
        self.segment.is_some()
    }

    /// Time at which the work is complete; `None` if it has no end, or nothing runs.
    pub fn ends_at(&self) -> Option<SimTime> {
        self.segment.as_ref()?.0.ends_at()
    }

    /// The machine of a host failed, or its Node was replaced.
    pub fn lose_host(&mut self, node: NodeId) {
        if let Some(hosts) = &mut self.hosts {
            hosts.lose(node);
        }
    }

    /// All pods are ready on these nodes, each with its Job; they count if it needs hosts. Returns work that is lost
    /// with hosts.
    pub fn begin(
        &mut self, now: SimTime, held: HeldAccelerators, nodes: impl Iterator<Item = (NodeId, JobId)>,
        draws: &mut DrawSequence,
    ) -> UndoneWork {
        let mut undone = Vec::new();
        if let Some(hosts) = &mut self.hosts {
            let loss = hosts.move_to(nodes);
            undone = self.job.saved_progress.apply_host_loss(loss, self.spec);
            undone.iter().for_each(|(_, ns)| self.job.ledger.mark_lost(*ns));
        }
        let start = self.job.next_start();
        let segment = self.job.begin(now, self.spec, &start, (self.key, draws));
        (self.segment, self.slowdown) = (Some((segment, held)), UNIT_FACTOR);
        undone
    }

    /// A maintenance of one of its nodes was announced: the job saves after the current step, if the scenario says so.
    pub fn notice(&mut self, now: SimTime) {
        if let Some((segment, _)) = self.segment.as_mut().filter(|_| self.spec.save_at_notice) {
            segment.save_after_step(now, self.spec);
        }
    }

    /// Its slowest machine has this slowdown factor from now on. Returns whether that changes the pace of the work.
    pub fn slow_down(&mut self, now: SimTime, factor: u64) -> bool {
        let Some((segment, _)) = self.segment.as_mut().filter(|_| self.slowdown != factor) else { return false };
        let done = segment.done(now);
        segment.plan.pace.set_factor(done, PaceReason::Slow, factor);
        self.slowdown = factor;
        true
    }

    /// Its processes hang from now on.
    pub fn hang(&mut self, now: SimTime) {
        if let Some((segment, _)) = &mut self.segment {
            segment.hang_start.get_or_insert(now);
        }
    }

    /// Ends the current segment; with `loses`, unsaved progress is undone.
    fn end(&mut self, now: SimTime, loses: bool) -> Option<(u64, SegmentOver)> {
        let (segment, held) = self.segment.take()?;
        let ended = self.job.end(now, &segment, &SegmentEnd::of_all_slices(loses));
        let piece = (ended.booked.productive, held);
        self.job.saved_progress.add(segment.start_progress, &ended.saved, piece);
        let undone = if loses { self.job.saved_progress.discard_live() } else { Vec::new() };
        undone.iter().for_each(|(_, ns)| self.job.ledger.mark_lost(*ns));
        Some((ended.reached, SegmentOver { booked: ended.booked, held, undone }))
    }

    /// Interrupts the job.
    pub fn interrupt(&mut self, now: SimTime) -> Option<SegmentOver> {
        self.end(now, true).map(|(_, over)| over)
    }

    /// Its work is complete.
    pub fn finish(&mut self, now: SimTime) -> Option<SegmentOver> {
        let over = self.end(now, false).map(|(_, over)| over);
        self.job.ledger.mark_done();
        over
    }

    /// Ends the job at the end of the replication.
    pub fn close(&mut self, now: SimTime, jobset: usize) -> (TrainingOutcome, Option<SegmentOver>) {
        let last = self.end(now, false);
        let reached = last.as_ref().map(|(reached, _)| *reached);
        let outcome = self.job.outcome(now, self.spec, (JobSetId(jobset as u32), reached));
        (outcome, last.map(|(_, over)| over))
    }
}
