//! The JobSet manager: one reconciler for all JobSets that reads its informer cache, writes through its own client,
//! and sends up to 50 Job requests in parallel (docs/rules/reconcile.md).
//!
//! The decisions of a pass are made by `policy::reconcile`; this module executes them. Must never read a stored
//! object except when a watch event about it arrives, and never list pods without the cost of the list.

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
    /// One row per JobSet.
    rows: Vec<Row>,
    queue: VecDeque<JobSetId>,
    /// The current pass.
    pass: Pass,
    /// End of the manager's downtime and its feature gates from then on; during the downtime no pass starts and its
    /// webhooks do not respond.
    stopped: Option<(Time, FeatureGates)>,
    /// Changes made by the manager itself that it has already processed; their watch events are still pending.
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

    /// Panics if incremental data differs from data recomputed from the caches (`--paranoid`).
    pub fn check(&self) {
        for row in &self.rows {
            row.jobs.check(&row.cached);
        }
    }

    /// Number of consecutive passes of the JobSet that ended with an error.
    pub fn errors(&self, jobset: JobSetId) -> u32 {
        self.rows.get(jobset.ix()).map_or(0, |row| row.errors)
    }

    /// Stops the process after its current pass; until it restarts, its webhooks do not respond.
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

    /// Restarts the process with the new feature gates, unless its downtime was extended; then it reconciles
    /// everything (REC-1).
    fn come_back(&mut self, ctx: &mut Ctx<'_>) {
        let Some((_, gates)) = self.stopped.take_if(|(until, _)| *until <= ctx.now) else {
            return;
        };
        ctx.gates = gates;
        // Clients whose requests the webhooks rejected get no event when the webhooks respond again.
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
