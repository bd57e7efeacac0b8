//! The JobSet manager: one reconciler for all JobSets, reading its informer's cache, writing through its own client,
//! up to 50 Job requests at once (docs/rules/reconcile.md).
//!
//! What a pass decides is `policy::reconcile`; here it is carried out. Must never read a stored object but when a watch
//! event about it arrives, or list a pod without paying for it.

mod answers;
mod cache;
mod children;
mod events;
mod job_view;
mod jobs;
mod leaders;
mod merge;
mod pass;
mod queue;
mod repair;
mod rows;
mod send;
#[cfg(test)]
#[path = "../../../tests/inside/engine/jobset_manager.rs"]
mod tests;
mod trace;
mod watch;

use super::ctx::Ctx;
use super::event::Event;
use super::lane::BusyTimes;
use crate::record::{About, Waited};
use crate::store::What;
pub use children::refusal;
use leaders::Leaders;
use pass::Pass;
use rows::Row;
use sim_api::spec::{FaultAction, FeatureGates};
use sim_base::*;
use std::collections::VecDeque;

#[derive(Clone, Default)]
pub struct JobSetManager {
    /// Per JobSet.
    rows: Vec<Row>,
    queue: VecDeque<JobSetId>,
    /// The one pass at hand.
    pass: Pass,
    /// Until when its process is stopped, and its gates from then on: no pass begins, its webhooks do not answer.
    stopped: Option<(Time, FeatureGates)>,
    /// Changes that it has just made itself, and has dealt with: they are still to be told.
    own: Vec<What>,
    leaders: Leaders,
    pub busy: BusyTimes,
    pub passes: u64,
    pub longest_queue: u32,
}

impl JobSetManager {
    pub fn reset(&mut self, _: &mut Ctx<'_>) {
        self.rows.clear();
        self.queue.clear();
        self.pass.reset();
        self.stopped = None;
        self.own.clear();
        self.leaders.reset();
        self.busy.clear();
        self.passes = 0;
        self.longest_queue = 0;
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match event {
            Event::ManagerStops(index) => self.stop(ctx, index),
            Event::ManagerBack => self.come_back(ctx),
            Event::JobSetSeen(jobset) => self.jobset_seen(ctx, jobset),
            Event::JobSeen(job) => self.job_seen(ctx, job),
            Event::JobSetPodNews(jobset) => self.pod_news_arrive(ctx, jobset),
            Event::JobSetDue(jobset) => self.due(ctx, jobset),
            Event::JobSetComputed(jobset) => self.computed(ctx, jobset),
            Event::LeaderSeen { pod, incarnation } => self.leader_seen(ctx, (pod, incarnation)),
            Event::LeaderDue { pod, incarnation } => self.leader_due(ctx, (pod, incarnation)),
            Event::FollowerAnswered { at, call } => self.follower_answered(ctx, at, call),
            Event::JobSetAnswered { jobset, call, job } => self.answered(ctx, jobset, call, job),
            other => unreachable!("not an event of the JobSet manager: {other:?}"),
        }
    }

    /// Panics if what is kept from event to event is not what its caches give (`--paranoid`).
    pub fn check(&self) {
        for row in &self.rows {
            row.jobs.check(&row.cached);
        }
    }

    /// Passes of the JobSet in a row that ended with an error.
    pub fn errors(&self, jobset: JobSetId) -> u32 {
        self.rows.get(jobset.ix()).map_or(0, |row| row.errors)
    }

    /// The process ends, as soon as a pass under way is finished, and nobody answers for it.
    fn stop(&mut self, ctx: &mut Ctx<'_>, action: u32) {
        let FaultAction::StopManager(stop) = ctx.scenario.faults[action as usize].action else {
            unreachable!("only a stop of the manager stops it");
        };
        let (until, gates) = self.stopped.unwrap_or((ctx.now, ctx.gates));
        let until = until.max(ctx.now + stop.down_for);
        self.stopped = Some((until, gates.with(stop.gates)));
        ctx.manager_away.push((ctx.now, until));
        let back = Event::ManagerBack;
        ctx.after(stop.down_for, Waited::Restart, About::Nothing, back);
    }

    /// It is back with its gates, unless it has been stopped for longer meanwhile; its first pass over everything
    /// follows (REC-1).
    fn come_back(&mut self, ctx: &mut Ctx<'_>) {
        let Some((_, gates)) = self.stopped.take_if(|(until, _)| *until <= ctx.now) else {
            return;
        };
        ctx.gates = gates;
        // No event tells whom its webhooks refused that they answer again.
        ctx.progress.known = ctx.progress.known.max(ctx.now);
        for i in 0..ctx.store.jobsets.len() {
            let jobset = JobSetId(i as u32);
            self.row(jobset).errors = 0;
            if ctx.store.jobsets[i].exists() {
                self.enqueue(ctx, jobset);
            }
        }
        self.see_all_leaders(ctx);
    }

    fn row(&mut self, jobset: JobSetId) -> &mut Row {
        if self.rows.len() <= jobset.ix() {
            self.rows.resize_with(jobset.ix() + 1, Row::default);
        }
        &mut self.rows[jobset.ix()]
    }
}
