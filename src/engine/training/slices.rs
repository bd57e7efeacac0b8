//! Elastic jobs: the state of their slices. `sim_reliability::training` decides which slices take part, when a job
//! starts with fewer of them, and when slices are added.

use super::{TrainingSegment, TrainingState};
use crate::accounting::TimeAccounting;
use crate::record::{Body, TicketSubject, TicketWait};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, store::flag};
use sim_base::{Duration, JobId, JobSetId, PodId};
use sim_reliability::training::{AvailableSlices, ElasticShare, LastCall, SliceGroup, SliceRegrowth, SliceStart};
use std::collections::BTreeMap;

/// State of the child Jobs of an elastic job.
#[derive(Clone, Default)]
pub struct TrainingSlices {
    rows: BTreeMap<JobId, SliceRow>,
    last_call: LastCall,
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
            current.slice_group.has(of)
        };
        let is_deleted = ctx.store.pods.has(pod, flag::DELETING);
        own && !is_deleted && (job.slices.is_none() || job.segment.as_ref().is_some_and(member))
    }

    /// Returns true if a participating process hangs.
    pub(super) fn has_hung_participant(&self, at: usize) -> bool {
        let job = &self.jobs[at];
        match (&job.slices, &job.segment) {
            (Some(slices), Some(current)) => {
                let mut members = current.slice_group.members().iter();
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
            let group = &current.slice_group;
            if group.is_intact(&hand) && accounting.pod_group_in(group.members()) == current.participants {
                if group.can_grow(&hand) {
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

    /// Starts with the available slices, or begins a last call.
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
        match slices.last_call.update(spec, &hand) {
            SliceStart::Wait => {}
            SliceStart::Begin => self.begin_with_slices(ctx, at, SliceGroup::new(spec, hand, false), accounting),
            SliceStart::LastCall(nth) => {
                let jobset = job.jobset;
                let over = SimulationEvent::LastCallExpired { jobset, nth };
                ctx.schedule_after(spec.last_call, TicketWait::LastCall, TicketSubject::JobSet(jobset), over);
            }
        }
    }

    pub(super) fn is_current_last_call(&self, jobset: JobSetId, nth: u32) -> bool {
        let slices = self.job_index(jobset).and_then(|at| self.jobs[at].slices.as_ref());
        slices.is_some_and(|slices| slices.last_call.is_current(nth))
    }

    pub(super) fn last_call_expired(
        &mut self, ctx: &mut EngineContext<'_>, (jobset, nth): (JobSetId, u32), accounting: &mut TimeAccounting,
    ) {
        let called = self.job_index(jobset).filter(|_| self.is_current_last_call(jobset, nth));
        let Some(at) = called else { return };
        let Some(slices) = &mut self.jobs[at].slices else {
            return;
        };
        slices.last_call.end();
        self.begin_if_enough(ctx, at, false, accounting);
    }

    fn begin_if_enough(
        &mut self, ctx: &mut EngineContext<'_>, at: usize, regrown: bool, accounting: &mut TimeAccounting,
    ) -> bool {
        let Some(spec) = &ctx.scenario.training[at].elastic else {
            return false;
        };
        let hand = self.available_slices(ctx, at, accounting);
        let Some(hand) = hand.filter(|hand| hand.is_enough(spec)) else {
            return false;
        };
        self.begin_with_slices(ctx, at, SliceGroup::new(spec, hand, regrown), accounting);
        true
    }

    fn begin_with_slices(
        &mut self, ctx: &mut EngineContext<'_>, at: usize, mut team: SliceGroup, accounting: &mut TimeAccounting,
    ) {
        let job = &mut self.jobs[at];
        if let (Some(slices), Some(spec)) = (&mut job.slices, &ctx.scenario.training[at].elastic) {
            let mut ran_on = false;
            for member in team.members() {
                ran_on |= !std::mem::take(&mut slices.row(*member).fresh);
            }
            team.set_continued(spec, ran_on, job.trainer.starts());
        }
        let pods = accounting.pod_group_in(team.members());
        self.begin_segment(ctx, at, (pods, team), accounting);
    }

    /// More slices are available than take part.
    fn plan_regrow(&mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting) {
        let spec = &ctx.scenario.training[at];
        let Some(current) = &mut self.jobs[at].segment else {
            return;
        };
        match current.slice_group.plan_regrow(ctx.now, spec, &mut current.run) {
            SliceRegrowth::Unchanged => {}
            SliceRegrowth::Planned => self.reschedule_end(ctx, at),
            SliceRegrowth::Immediate => self.restore_size(ctx, at, accounting),
        }
    }

    /// The additional slices are no longer available.
    fn cancel_regrow(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        let Some(current) = &mut self.jobs[at].segment else {
            return;
        };
        if current.slice_group.cancel_regrow(ctx.now, &mut current.run) {
            self.reschedule_end(ctx, at);
        }
    }

    /// The work of a segment is complete, or the part of it that precedes the addition of slices.
    pub(super) fn finish_segment(&mut self, ctx: &mut EngineContext<'_>, at: usize, accounting: &mut TimeAccounting) {
        let job = &self.jobs[at];
        let regrows = (job.segment.as_ref()).is_some_and(|current| current.slice_group.ends_to_grow());
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
        if !team.is_some_and(SliceGroup::is_regrown) {
            ctx.emit(Body::TrainingStarted { jobset, from });
        }
        if let Some(team) = team.filter(|_| job.slices.is_some()) {
            let ElasticShare { slices, total: of } = team.share();
            ctx.emit(Body::TrainingSlices { jobset, slices, of });
        }
    }
}
