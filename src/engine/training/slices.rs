//! Elastic jobs: the slices that take part, the conditions to start with fewer slices, and the return of slices.
//! Follows MaxText on Pathways (src/maxtext/utils/elastic_utils.py: the loss of a slice interrupts the job, which
//! resumes from a checkpoint with the remaining slices; new slices are added after a checkpoint is complete;
//! train.py: or resharded from memory) and TorchElastic (a rendezvous completes with the minimum number of nodes
//! after a last call).

use super::{Stretch, Training};
use crate::accounting::{Accounting, AtHand};
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Body, Waited};
use crate::training_model::ONE;
use sim_api::spec::{Elastic, Regrow};
use sim_base::*;
use std::collections::BTreeMap;

/// State of the child Jobs of an elastic job.
#[derive(Clone, Default)]
pub struct Slices {
    rows: BTreeMap<JobId, Row>,
    /// The current last call, and the number of last calls.
    call: Option<u32>,
    calls: u32,
}

#[derive(Clone, Default)]
pub struct Row {
    /// Number of pods whose processes have ended, and of pods whose processes hang.
    pub down: u32,
    pub hung: u32,
    /// True if one of its processes has started since it last took part.
    pub fresh: bool,
}

impl Slices {
    pub fn row(&mut self, job: JobId) -> &mut Row {
        self.rows.entry(job).or_default()
    }
}

/// The slices that take part in a segment of an elastic job; not used for other jobs.
#[derive(Clone)]
pub struct Team {
    /// Jobs in the order of their ids, including those that are not slices.
    pub members: Vec<JobId>,
    slices: u32,
    of: u32,
    /// Step time in billionths of the normal one.
    pub factor: u64,
    /// Processes have continued from an earlier segment.
    pub reinitializes: bool,
    /// Slices were added without an interruption.
    regrown: bool,
    /// The segment ends in order to add slices; contains the previously planned work.
    regrows: Option<Option<u64>>,
    /// Its processes then resume from memory.
    pub goes_on: bool,
}

impl Default for Team {
    fn default() -> Team {
        Team {
            members: Vec::new(),
            slices: 0,
            of: 0,
            factor: ONE,
            reinitializes: false,
            regrown: false,
            regrows: None,
            goes_on: false,
        }
    }
}

impl Team {
    fn of(spec: &Elastic, hand: AtHand, regrown: bool) -> Team {
        let all = hand.slices == hand.of;
        let share = ONE * u64::from(hand.of) / u64::from(hand.slices.max(1));
        let given = spec.factor.map(|factor| ONE * ONE / factor.max(1));
        Team {
            members: hand.jobs,
            slices: hand.slices,
            of: hand.of,
            factor: if all { ONE } else { given.unwrap_or(share) },
            regrown,
            ..Team::default()
        }
    }

    /// The fraction of the additional step time that is caused by underused slices and not by missing ones.
    pub fn unused(&self) -> (u64, u64) {
        let (own, all) = (u64::from(self.slices), u64::from(self.of));
        let less = (self.factor * own).saturating_sub(all * ONE);
        (less, ((self.factor - ONE) * own).max(1))
    }
}

/// Returns true if a job may start with these slices.
fn enough(spec: &Elastic, hand: &AtHand) -> bool {
    hand.others && hand.slices > 0 && hand.slices >= spec.min_slices.min(hand.of)
}

impl Training {
    fn at_hand(&self, ctx: &Ctx<'_>, at: usize, accounting: &Accounting) -> Option<AtHand> {
        let spec = ctx.scenario.training[at].elastic.as_ref()?;
        let job = &self.jobs[at];
        let rows = &job.slices.as_ref()?.rows;
        let up = |job| rows.get(&job).is_none_or(|row| row.down == 0);
        Some(accounting.at_hand(ctx, (job.jobset, spec.slices_of), up))
    }

    /// Returns true if a pod takes part in the current steps.
    pub(super) fn takes_part(&self, ctx: &Ctx<'_>, at: usize, pod: PodId) -> bool {
        let job = &self.jobs[at];
        let own = ctx.store.jobset_of(pod) == job.jobset;
        let member = |stretch: &Stretch| {
            let of = ctx.store.pods.job[pod.ix()];
            stretch.team.members.binary_search(&of).is_ok()
        };
        own && (job.slices.is_none() || job.now.as_ref().is_some_and(member))
    }

    /// Returns true if a participating process hangs.
    pub(super) fn hangs_now(&self, at: usize) -> bool {
        let job = &self.jobs[at];
        match (&job.slices, &job.now) {
            (Some(slices), Some(stretch)) => {
                let mut members = stretch.team.members.iter();
                members.any(|job| slices.rows.get(job).is_some_and(|row| row.hung > 0))
            }
            _ => job.hung > 0,
        }
    }

    /// Determines whether an elastic job can make steps, and with which slices, after a change.
    pub(super) fn look_at_slices(
        &mut self,
        ctx: &mut Ctx<'_>,
        at: usize,
        accounting: &mut Accounting,
    ) {
        let Some(hand) = self.at_hand(ctx, at, accounting) else {
            return;
        };
        let job = &self.jobs[at];
        if job.done.is_some() {
            // A pod that is ready later finds nothing to do.
            if !hand.jobs.is_empty() {
                apiserver::note_work_done(ctx, job.jobset);
            }
            return;
        }
        if let Some(stretch) = &job.now {
            let members = &stretch.team.members;
            let here = |job: &JobId| hand.jobs.binary_search(job).is_ok();
            let all_here = hand.others && members.iter().all(here);
            if all_here && accounting.gang_of(members) == stretch.gang {
                match hand.slices > stretch.team.slices {
                    true => self.will_regrow(ctx, at, accounting),
                    false => self.stays(ctx, at),
                }
                return;
            }
            self.interrupt(ctx, at, accounting);
        }
        self.may_begin(ctx, at, hand, accounting);
    }

    /// Starts immediately with all slices, with fewer after a last call.
    fn may_begin(
        &mut self,
        ctx: &mut Ctx<'_>,
        at: usize,
        hand: AtHand,
        accounting: &mut Accounting,
    ) {
        let Some(spec) = &ctx.scenario.training[at].elastic else {
            return;
        };
        let job = &mut self.jobs[at];
        let Some(slices) = &mut job.slices else {
            return;
        };
        let waits = spec.last_call > Duration::ZERO && hand.slices < hand.of;
        if !enough(spec, &hand) || !waits {
            slices.call = None;
        }
        if !enough(spec, &hand) {
            return;
        }
        if !waits {
            return self.begin_with(ctx, at, Team::of(spec, hand, false), accounting);
        }
        if slices.call.is_none() {
            slices.calls += 1;
            slices.call = Some(slices.calls);
            let (jobset, nth) = (job.jobset, slices.calls);
            let over = Event::LastCallOver { jobset, nth };
            ctx.after(
                spec.last_call,
                Waited::Deadline,
                About::JobSet(jobset),
                over,
            );
        }
    }

    /// Returns true if that last call is the current one.
    pub(super) fn calls(&self, jobset: JobSetId, nth: u32) -> bool {
        let slices = self.of(jobset).and_then(|at| self.jobs[at].slices.as_ref());
        slices.is_some_and(|slices| slices.call == Some(nth))
    }

    pub(super) fn last_call_over(
        &mut self,
        ctx: &mut Ctx<'_>,
        (jobset, nth): (JobSetId, u32),
        accounting: &mut Accounting,
    ) {
        let called = self.of(jobset).filter(|_| self.calls(jobset, nth));
        let Some(at) = called else { return };
        let Some(slices) = &mut self.jobs[at].slices else {
            return;
        };
        slices.call = None;
        self.begin_if_enough(ctx, at, false, accounting);
    }

    fn begin_if_enough(
        &mut self,
        ctx: &mut Ctx<'_>,
        at: usize,
        regrown: bool,
        accounting: &mut Accounting,
    ) -> bool {
        let Some(spec) = &ctx.scenario.training[at].elastic else {
            return false;
        };
        let hand = self.at_hand(ctx, at, accounting);
        let Some(hand) = hand.filter(|hand| enough(spec, hand)) else {
            return false;
        };
        self.begin_with(ctx, at, Team::of(spec, hand, regrown), accounting);
        true
    }

    fn begin_with(
        &mut self,
        ctx: &mut Ctx<'_>,
        at: usize,
        mut team: Team,
        accounting: &mut Accounting,
    ) {
        let job = &mut self.jobs[at];
        let again = &ctx.scenario.training[at].elastic;
        let again = again.as_ref().and_then(|e| e.reinitialization.as_ref());
        if let Some(slices) = &mut job.slices {
            let mut ran_on = false;
            for member in &team.members {
                ran_on |= !std::mem::take(&mut slices.row(*member).fresh);
            }
            team.reinitializes = ran_on && job.starts > 0 && again.is_some();
        }
        let gang = accounting.gang_of(&team.members);
        self.begin(ctx, at, (gang, team), accounting);
    }

    /// More slices are available than take part.
    fn will_regrow(&mut self, ctx: &mut Ctx<'_>, at: usize, accounting: &mut Accounting) {
        let spec = &ctx.scenario.training[at];
        let Some(regrow) = spec.elastic.as_ref().map(|elastic| elastic.regrow) else {
            return;
        };
        let Some(stretch) = &mut self.jobs[at].now else {
            return;
        };
        if stretch.team.regrows.is_some() || stretch.stopped.is_some() {
            return;
        }
        let (elapsed, whole) = (stretch.elapsed(ctx.now), stretch.plan.work);
        let in_steps = |work| spec.in_steps(Duration(work)).0;
        match regrow {
            Regrow::Never => return,
            Regrow::NextCheckpoint => stretch.plan.ends_with_checkpoint(elapsed, in_steps),
            Regrow::AtOnce => {
                let spent = stretch.plan.at(elapsed);
                if spent.stepping + spent.saving == 0 {
                    stretch.team.goes_on = true;
                    return self.regrow(ctx, at, accounting);
                }
                stretch.plan.ends_after(in_steps(spent.done));
                stretch.team.goes_on = stretch.plan.bare;
            }
        }
        if stretch.plan.work != whole {
            stretch.team.regrows = Some(whole);
            self.awaits_end(ctx, at);
        }
    }

    /// The additional slices are no longer available.
    fn stays(&mut self, ctx: &mut Ctx<'_>, at: usize) {
        let Some(stretch) = &mut self.jobs[at].now else {
            return;
        };
        let done = stretch.plan.at(stretch.elapsed(ctx.now)).done;
        if stretch.plan.work == Some(done) {
            return;
        }
        if let Some(whole) = stretch.team.regrows.take() {
            (stretch.plan.work, stretch.plan.bare) = (whole, false);
            stretch.team.goes_on = false;
            self.awaits_end(ctx, at);
        }
    }

    /// The work of a segment is complete, or the part of it that precedes the addition of slices.
    pub(super) fn stretch_over(
        &mut self,
        ctx: &mut Ctx<'_>,
        at: usize,
        accounting: &mut Accounting,
    ) {
        let job = &self.jobs[at];
        let regrows = (job.now.as_ref()).is_some_and(|stretch| stretch.team.regrows.is_some());
        match regrows {
            true => self.regrow(ctx, at, accounting),
            false => self.finish(ctx, at, accounting),
        }
    }

    fn regrow(&mut self, ctx: &mut Ctx<'_>, at: usize, accounting: &mut Accounting) {
        let reached = self.end_stretch(ctx, at, false, accounting);
        if !self.begin_if_enough(ctx, at, true, accounting) {
            let lost = self.jobs[at].kept.forget_live();
            self.take_back(ctx, at, lost, accounting);
            self.tell_interrupted(ctx, at, reached.unwrap_or_default());
        }
    }

    /// Sets whether the accelerators of a segment are productive.
    pub(super) fn set_runs(
        &self,
        ctx: &Ctx<'_>,
        at: usize,
        (members, runs): (&[JobId], bool),
        accounting: &mut Accounting,
    ) {
        let job = &self.jobs[at];
        match job.slices.is_some() {
            true => accounting.set_jobs_run(ctx, job.jobset, members, runs),
            false => accounting.set_runs(ctx, job.jobset, runs),
        }
    }

    pub(super) fn tell_started(&self, ctx: &mut Ctx<'_>, at: usize, from: Duration) {
        let job = &self.jobs[at];
        let jobset = job.jobset;
        let team = job.now.as_ref().map(|stretch| &stretch.team);
        if !team.is_some_and(|team| team.regrown) {
            ctx.emit(Body::TrainingStarted { jobset, from });
        }
        if let Some(team) = team.filter(|_| job.slices.is_some()) {
            let (slices, of) = (team.slices, team.of);
            ctx.emit(Body::TrainingSlices { jobset, slices, of });
        }
    }
}
