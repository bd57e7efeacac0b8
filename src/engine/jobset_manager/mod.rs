//! The JobSet manager: one reconciler for all JobSets that reads its informer cache, writes through its own client,
//! and sends up to 50 Job requests in parallel (docs/rules/reconcile.md).
//!
//! The decisions of a pass are made by `policy::reconcile`; this module executes them. Must never read a stored
//! object except when a watch event about it arrives, and never list pods without the cost of the list.

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
mod responses;
mod rows;
mod send;
#[cfg(test)]
#[path = "../../../tests/inside/engine/jobset_manager.rs"]
mod tests;
mod trace;
mod watch;

use super::ctx::EngineContext;
use super::event::SimulationEvent;
use super::token_bucket::BusyTimes;
use crate::record::{TicketSubject, TicketWait};
use crate::store::ChangeKind;
use leaders::LeaderJobs;
use pass::ReconcilePass;
use rows::JobSetSyncRow;
use sim_api::spec::{FaultAction, FeatureGates};
use sim_base::{JobSetId, SimTime};
use std::collections::VecDeque;

#[derive(Clone, Default)]
pub struct JobSetManager {
    rows: Vec<JobSetSyncRow>,
    queue: VecDeque<JobSetId>,
    pass: ReconcilePass,
    /// End of the manager's downtime and its feature gates from then on; during the downtime no pass starts and its
    /// webhooks do not respond.
    downtime: Option<(SimTime, FeatureGates)>,
    /// Changes made by the manager itself that it has already processed; their watch events are still pending.
    own_changes: Vec<ChangeKind>,
    leaders: LeaderJobs,
    pub busy: BusyTimes,
    pub passes: u64,
    pub longest_queue: u32,
}

impl JobSetManager {
    pub fn reset(&mut self, _: &mut EngineContext<'_>) {
        self.rows.clear();
        self.queue.clear();
        self.pass.reset();
        self.downtime = None;
        self.own_changes.clear();
        self.leaders.reset();
        self.busy.clear();
        self.passes = 0;
        self.longest_queue = 0;
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::ManagerStopped(index) => self.stop_process(ctx, index),
            SimulationEvent::ManagerRestarted => self.restart_process(ctx),
            SimulationEvent::JobSetObserved(jobset) => self.jobset_observed(ctx, jobset),
            SimulationEvent::JobObserved(job) => self.job_observed(ctx, job),
            SimulationEvent::JobSetPodsObserved(jobset) => self.pods_observed(ctx, jobset),
            SimulationEvent::JobSetDue(jobset) => self.timer_due(ctx, jobset),
            SimulationEvent::JobSetComputed(jobset) => self.pass_computed(ctx, jobset),
            SimulationEvent::LeaderObserved { pod, incarnation } => self.leader_observed(ctx, (pod, incarnation)),
            SimulationEvent::LeaderDue { pod, incarnation } => self.leader_due(ctx, (pod, incarnation)),
            SimulationEvent::FollowerAnswered { at, call } => self.follower_answered(ctx, at, call),
            SimulationEvent::JobSetAnswered { jobset, call, job } => self.handle_response(ctx, jobset, call, job),
            other => unreachable!("not an event of the JobSet manager: {other:?}"),
        }
    }

    /// Panics if incremental data differs from data recomputed from the caches (`--paranoid`).
    pub fn check(&self) {
        for row in &self.rows {
            row.jobs.check(&row.cached);
        }
    }

    /// Returns the last failed creation of a JobSet whose passes end with an error; empty if there was none.
    pub fn failure(&self, jobset: JobSetId) -> &str {
        self.rows.get(jobset.ix()).map_or("", |row| row.failure.as_str())
    }

    /// Number of consecutive passes of the JobSet that ended with an error.
    pub fn errors(&self, jobset: JobSetId) -> u32 {
        self.rows.get(jobset.ix()).map_or(0, |row| row.errors)
    }

    /// Stops the process after its current pass; until it restarts, its webhooks do not respond.
    fn stop_process(&mut self, ctx: &mut EngineContext<'_>, action: u32) {
        let FaultAction::StopManager(stop) = ctx.scenario.faults[action as usize].action else {
            unreachable!("only a stop of the manager stops it");
        };
        let (until, gates) = self.downtime.unwrap_or((ctx.now, ctx.gates));
        let until = until.max(ctx.now + stop.down_for);
        self.downtime = Some((until, gates.with_changes(stop.gates)));
        ctx.manager_downtimes.push((ctx.now, until));
        let back = SimulationEvent::ManagerRestarted;
        ctx.schedule_after(stop.down_for, TicketWait::Restart, TicketSubject::Nothing, back);
    }

    /// Restarts the process with the new feature gates, unless its downtime was extended; then it reconciles
    /// everything (REC-1).
    fn restart_process(&mut self, ctx: &mut EngineContext<'_>) {
        let Some((_, gates)) = self.downtime.take_if(|(until, _)| *until <= ctx.now) else {
            return;
        };
        ctx.gates = gates;
        // Clients whose requests the webhooks rejected get no event when the webhooks respond again.
        ctx.progress.caches_updated = ctx.progress.caches_updated.max(ctx.now);
        for i in 0..ctx.store.jobsets.len() {
            let jobset = JobSetId(i as u32);
            self.row(jobset).errors = 0;
            if ctx.store.jobsets[i].exists() {
                self.enqueue(ctx, jobset);
            }
        }
        self.observe_all_leaders(ctx);
    }

    fn row(&mut self, jobset: JobSetId) -> &mut JobSetSyncRow {
        if self.rows.len() <= jobset.ix() {
            self.rows.resize_with(jobset.ix() + 1, JobSetSyncRow::default);
        }
        &mut self.rows[jobset.ix()]
    }
}
