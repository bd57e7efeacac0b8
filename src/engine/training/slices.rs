//! Elastic jobs: the slices that take part, the conditions to start with fewer slices, and the return of slices.
//! Follows MaxText on Pathways (src/maxtext/utils/elastic_utils.py: the loss of a slice interrupts the job, which
//! resumes from a checkpoint with the remaining slices; new slices are added after a checkpoint is complete;
//! train.py: or resharded from memory) and TorchElastic (a rendezvous completes with the minimum number of nodes
//! after a last call).

use super::{TrainingSegment, TrainingState};
use crate::accounting::{AvailableSlices, TimeAccounting};
use crate::record::{Body, TicketSubject, TicketWait};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, store::flag};
use sim_api::spec::{ElasticTraining, RegrowPolicy};
use sim_base::{Duration, JobId, JobSetId, PodId};
use sim_reliability::training::{ElasticShare, UNIT_FACTOR};
use std::collections::BTreeMap;

/// State of the child Jobs of an elastic job.
#[derive(Clone, Default)]
pub struct TrainingSlices {
    rows: BTreeMap<JobId, SliceRow>,
    /// The current last call, and the number of last calls.
    last_call: Option<u32>,
    last_call_count: u32,
}

#[derive(Clone, Default)]
pub struct SliceRow {
    /// Number of pods whose processes have ended, and of pods whose processes hang.
    pub down: u32,
    pub hung: u32,
    /// True if one of its processes has started since it last took part.
    pub fresh: bool,
}

impl TrainingSlices {
    pub fn row(&mut self, job: JobId) -> &mut SliceRow {
        self.rows.entry(job).or_default()
    }
}

/// The slices that take part in a segment of an elastic job; not used for other jobs.
#[derive(Clone)]
pub struct SliceGroup {
    /// Jobs in the order of their ids, including those that are not slices.
    pub members: Vec<JobId>,
    share: ElasticShare,
    /// Step time in billionths of the normal one.
    pub factor: u64,
    /// Processes have continued from an earlier segment.
    pub reinitializes: bool,
    /// Slices were added without an interruption.
    regrown: bool,
    /// The segment ends in order to add slices; contains the previously planned work.
    work_before_regrow: Option<Option<u64>>,
    /// Its processes then resume from memory.
    pub resumes_from_memory: bool,
}

impl Default for SliceGroup {
    fn default() -> SliceGroup {
        SliceGroup {
            members: Vec::new(),
            share: ElasticShare::default(),
            factor: UNIT_FACTOR,
            reinitializes: false,
            regrown: false,
            work_before_regrow: None,
            resumes_from_memory: false,
        }
    }
}

impl SliceGroup {
    fn new(spec: &ElasticTraining, hand: AvailableSlices, regrown: bool) -> SliceGroup {
        let share = share_of(&hand);
        SliceGroup { members: hand.jobs, share, factor: share.factor(spec), regrown, ..SliceGroup::default() }
    }

    /// The fraction of the additional step time that is caused by underused slices and not by missing ones.
    pub fn unused_fraction(&self) -> (u64, u64) {
        self.share.unused_fraction(self.factor)
    }
}

fn share_of(hand: &AvailableSlices) -> ElasticShare {
    ElasticShare { slices: hand.slices, total: hand.total }
}

/// Returns true if a job may start with these slices.
fn has_enough_slices(spec: &ElasticTraining, hand: &AvailableSlices) -> bool {
    hand.others_ready && share_of(hand).is_enough(spec)
}

impl TrainingState {
    fn available_slices(
        &self, ctx: &EngineContext<'_>, at: usize, accounting: &TimeAccounting,
    ) -> Option<AvailableSlices> {
        let spec = ctx.scenario.training[at].elastic.as_ref()?;
        let job = &self.jobs[at];
        let rows = &job.slices.as_ref()?.rows;
        let up = |job| rows.get(&job).is_none_or(|row| row.down == 0);
        Some(accounting.available_slices(ctx, (job.jobset, spec.slice_job), up))
    }

    /// Returns true if a pod takes part in the current steps. One that is deleted does not, even if its node is lost.
    pub(super) fn participates(&self, ctx: &EngineContext<'_>, at: usize, pod: PodId) -> bool {
        let job = &self.jobs[at];
        let own = ctx.store.jobset_of(pod) == job.jobset;
        let member = |current: &TrainingSegment| {
            let of = ctx.store.pods.job[pod.ix()];
            current.slice_group.members.binary_search(&of).is_ok()
        };
        let is_deleted = ctx.store.pods.has(pod, flag::DELETING);
        own && !is_deleted && (job.slices.is_none() || job.segment.as_ref().is_some_and(member))
    }

    /// Returns true if a participating process hangs.
    pub(super) fn has_hung_participant(&self, at: usize) -> bool {
        let job = &self.jobs[at];
        match (&job.slices, &job.segment) {
            (Some(slices), Some(current)) => {
                let mut members = current.slice_group.members.iter();
                members.any(|job| slices.rows.get(job).is_some_and(|row| row.hung > 0))
            }
            _ => job.hung > 0,
        }
    }

    /// Determines whether an elastic job can make steps, and with which slices, after a change.
    pub(super) fn update_elastic_job(
        &mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting,
    ) {
        let Some(hand) = self.available_slices(ctx, at, accounting) else {
            return;
        };
        let job = &self.jobs[at];
        if job.completed_at.is_some() {
            // A pod that is ready later finds nothing to do.
            if !hand.jobs.is_empty() {
                apiserver::note_work_done(ctx, job.jobset);
            }
            return;
        }
        if let Some(current) = &job.segment {
            let members = &current.slice_group.members;
            let here = |job: &JobId| hand.jobs.binary_search(job).is_ok();
            let all_here = hand.others_ready && members.iter().all(here);
            if all_here && accounting.pod_group_in(members) == current.participants {
                if hand.slices > current.slice_group.share.slices {
                    self.plan_regrow(ctx, at, accounting)
                } else {
                    self.cancel_regrow(ctx, at)
                }
                return;
            }
            self.interrupt(ctx, at, accounting);
        }
        self.begin_or_wait(ctx, at, hand, accounting);
    }

    /// Starts immediately with all slices, with fewer after a last call.
    fn begin_or_wait(
        &mut self, ctx: &mut EngineContext<'_>, at: usize, hand: AvailableSlices, accounting: &mut TimeAccounting,
    ) {
        let Some(spec) = &ctx.scenario.training[at].elastic else {
            return;
        };
        let job = &mut self.jobs[at];
        let Some(slices) = &mut job.slices else {
            return;
        };
        let waits = spec.last_call > Duration::ZERO && hand.slices < hand.total;
        if !has_enough_slices(spec, &hand) || !waits {
            slices.last_call = None;
        }
        if !has_enough_slices(spec, &hand) {
            return;
        }
        if !waits {
            return self.begin_with_slices(ctx, at, SliceGroup::new(spec, hand, false), accounting);
        }
        if slices.last_call.is_none() {
            slices.last_call_count += 1;
            slices.last_call = Some(slices.last_call_count);
            let (jobset, nth) = (job.jobset, slices.last_call_count);
            let over = SimulationEvent::LastCallExpired { jobset, nth };
            ctx.schedule_after(spec.last_call, TicketWait::LastCall, TicketSubject::JobSet(jobset), over);
        }
    }

    pub(super) fn is_current_last_call(&self, jobset: JobSetId, nth: u32) -> bool {
        let slices = self.job_index(jobset).and_then(|at| self.jobs[at].slices.as_ref());
        slices.is_some_and(|slices| slices.last_call == Some(nth))
    }

    pub(super) fn last_call_expired(
        &mut self, ctx: &mut EngineContext<'_>, (jobset, nth): (JobSetId, u32), accounting: &mut TimeAccounting,
    ) {
        let called = self.job_index(jobset).filter(|_| self.is_current_last_call(jobset, nth));
        let Some(at) = called else { return };
        let Some(slices) = &mut self.jobs[at].slices else {
            return;
        };
        slices.last_call = None;
        self.begin_if_enough(ctx, at, false, accounting);
    }

    fn begin_if_enough(
        &mut self, ctx: &mut EngineContext<'_>, at: usize, regrown: bool, accounting: &mut TimeAccounting,
    ) -> bool {
        let Some(spec) = &ctx.scenario.training[at].elastic else {
            return false;
        };
        let hand = self.available_slices(ctx, at, accounting);
        let Some(hand) = hand.filter(|hand| has_enough_slices(spec, hand)) else {
            return false;
        };
        self.begin_with_slices(ctx, at, SliceGroup::new(spec, hand, regrown), accounting);
        true
    }

    fn begin_with_slices(
        &mut self, ctx: &mut EngineContext<'_>, at: usize, mut team: SliceGroup, accounting: &mut TimeAccounting,
    ) {
        let job = &mut self.jobs[at];
        let again = &ctx.scenario.training[at].elastic;
        let again = again.as_ref().and_then(|e| e.reinitialization.as_ref());
        if let Some(slices) = &mut job.slices {
            let mut ran_on = false;
            for member in &team.members {
                ran_on |= !std::mem::take(&mut slices.row(*member).fresh);
            }
            team.reinitializes = ran_on && job.trainer.starts() > 0 && again.is_some();
        }
        let pods = accounting.pod_group_in(&team.members);
        self.begin_segment(ctx, at, (pods, team), accounting);
    }

    /// More slices are available than take part.
    fn plan_regrow(&mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting) {
        let spec = &ctx.scenario.training[at];
        let Some(regrow) = spec.elastic.as_ref().map(|elastic| elastic.regrow) else {
            return;
        };
        let Some(current) = &mut self.jobs[at].segment else {
            return;
        };
        if current.slice_group.work_before_regrow.is_some() || current.run.hang_start.is_some() {
            return;
        }
        let (elapsed, complete) = (current.run.elapsed(ctx.now), current.run.plan.work);
        let in_steps = |work| spec.round_up_to_steps(Duration(work)).0;
        match regrow {
            RegrowPolicy::Never => return,
            RegrowPolicy::NextCheckpoint => current.run.plan.end_at_next_checkpoint(elapsed, in_steps),
            RegrowPolicy::AtOnce => {
                let spent = current.run.plan.state_at(elapsed);
                if spent.stepping + spent.saving == 0 {
                    current.slice_group.resumes_from_memory = true;
                    return self.restore_size(ctx, at, accounting);
                }
                current.run.plan.end_after(in_steps(spent.done));
                current.slice_group.resumes_from_memory = current.run.plan.skip_final_checkpoint;
            }
        }
        if current.run.plan.work != complete {
            current.slice_group.work_before_regrow = Some(complete);
            self.reschedule_end(ctx, at);
        }
    }

    /// The additional slices are no longer available.
    fn cancel_regrow(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        let Some(current) = &mut self.jobs[at].segment else {
            return;
        };
        let done = current.run.done(ctx.now);
        if current.run.plan.work == Some(done) {
            return;
        }
        if let Some(complete) = current.slice_group.work_before_regrow.take() {
            (current.run.plan.work, current.run.plan.skip_final_checkpoint) = (complete, false);
            current.slice_group.resumes_from_memory = false;
            self.reschedule_end(ctx, at);
        }
    }

    /// The work of a segment is complete, or the part of it that precedes the addition of slices.
    pub(super) fn finish_segment(&mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting) {
        let job = &self.jobs[at];
        let regrows = (job.segment.as_ref()).is_some_and(|current| current.slice_group.work_before_regrow.is_some());
        if regrows { self.restore_size(ctx, at, accounting) } else { self.finish(ctx, at, accounting) }
    }

    fn restore_size(&mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting) {
        let reached = self.end_segment(ctx, at, false, accounting);
        if !self.begin_if_enough(ctx, at, true, accounting) {
            let lost = self.jobs[at].trainer.saved_progress.discard_live();
            self.undo_work(ctx, at, lost, accounting);
            self.emit_interrupted(ctx, at, reached.unwrap_or_default());
        }
    }

    /// Sets whether the accelerators of a segment are productive.
    pub(super) fn set_productive(
        &self, ctx: &EngineContext<'_>, at: usize, (members, runs): (&[JobId], bool), accounting: &mut TimeAccounting,
    ) {
        let job = &self.jobs[at];
        if job.slices.is_some() {
            accounting.set_productive_jobs(ctx, job.jobset, members, runs)
        } else {
            accounting.set_productive(ctx, job.jobset, runs)
        }
    }

    pub(super) fn emit_started(&self, ctx: &mut EngineContext<'_>, at: usize, from: Duration) {
        let job = &self.jobs[at];
        let jobset = job.jobset;
        let team = job.segment.as_ref().map(|current| &current.slice_group);
        if !team.is_some_and(|team| team.regrown) {
            ctx.emit(Body::TrainingStarted { jobset, from });
        }
        if let Some(team) = team.filter(|_| job.slices.is_some()) {
            let ElasticShare { slices, total: of } = team.share;
            ctx.emit(Body::TrainingSlices { jobset, slices, of });
        }
    }
}
