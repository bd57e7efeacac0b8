//! The queue of the manager's pod reconciler, whose keys are leader pods of exclusive placement (EXC-12): what
//! enqueues them, and their retries after errors.
//!
//! Must never process followers; this is the task of `repair`.

use super::JobSetManager;
use super::queue::error_delay;
use super::repair::FollowerRepair;
use super::rows::{PodObjectRow, RowTimer};
use crate::ctx::{ContextMark, EngineContext, StoreWatcher};
use crate::event::SimulationEvent;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ObjectStore, flag};
use sim_api::spec::PlacementRepair;
use sim_base::PodId;
use std::collections::{BTreeMap, VecDeque};

/// The queue: one worker, one key per leader.
#[derive(Clone, Default)]
pub(super) struct LeaderJobs {
    /// By row of pods, because few pods are leaders.
    rows: BTreeMap<PodId, LeaderJob>,
    queue: VecDeque<PodObjectRow>,
    pub repair: FollowerRepair,
}

#[derive(Clone, Default)]
struct LeaderJob {
    incarnation: u32,
    queued: bool,
    mark: ContextMark,
    /// Number of consecutive errors.
    errors: u32,
    timer: RowTimer,
}

impl LeaderJobs {
    pub fn reset(&mut self) {
        self.rows.clear();
        self.queue.clear();
        self.repair.reset();
    }

    /// Returns the row for exactly this object.
    fn row(&mut self, (pod, incarnation): PodObjectRow) -> &mut LeaderJob {
        let row = self.rows.entry(pod).or_default();
        if row.incarnation != incarnation {
            *row = LeaderJob { incarnation, ..LeaderJob::default() };
        }
        row
    }
}

/// EXC-12: bound, not deleted, with any strategy (EXC-16c).
#[inline(always)]
fn is_watched(store: &ObjectStore, pod: PodId) -> bool {
    // Checked first, because few pods are leaders.
    store.is_leader(pod)
        && store.pods.exists(pod)
        && store.pods.has(pod, flag::BOUND)
        && !store.pods.has(pod, flag::DELETING)
        && store.template(pod).annotated_key.is_some()
}

impl JobSetManager {
    /// Handles a pod change; ignores pods that are not leaders.
    #[inline(always)]
    pub(super) fn leader_changed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if !is_watched(ctx.store, pod) {
            return;
        }
        let p = &ctx.store.pods;
        let (incarnation, version) = (p.incarnation[pod.ix()], p.resource_version[pod.ix()]);
        let lag = ctx.watch_lag(StoreWatcher::Manager, TicketSubject::Pod(pod), version);
        let seen = SimulationEvent::LeaderObserved { pod, incarnation };
        ctx.schedule_after(lag, TicketWait::Watch, TicketSubject::Pod(pod), seen);
    }

    pub(super) fn leader_observed(&mut self, ctx: &mut EngineContext<'_>, leader: PodObjectRow) {
        // Upstream does not find the pod and stops.
        if !ctx.store.pods.is_current(leader.0, leader.1) {
            return;
        }
        if self.leaders.repair.leader == Some(leader) {
            self.leaders.repair.dirty = true;
        } else {
            self.enqueue_leader(ctx, leader);
            self.next_leader(ctx);
        }
    }

    /// The process restarted: its informer lists every pod.
    pub(super) fn observe_all_leaders(&mut self, ctx: &mut EngineContext<'_>) {
        for pod in (0..ctx.store.pods.len() as u32).map(PodId) {
            if is_watched(ctx.store, pod) {
                let leader = (pod, ctx.store.pods.incarnation[pod.ix()]);
                self.leaders.row(leader).errors = 0;
                self.leader_observed(ctx, leader);
            }
        }
        self.next_leader(ctx);
    }

    fn enqueue_leader(&mut self, ctx: &EngineContext<'_>, leader: PodObjectRow) {
        let row = self.leaders.row(leader);
        row.mark = ctx.mark();
        if !std::mem::replace(&mut row.queued, true) {
            self.leaders.queue.push_back(leader);
        }
    }

    fn next_leader(&mut self, ctx: &mut EngineContext<'_>) {
        while self.downtime.is_none() && self.leaders.repair.leader.is_none() {
            let Some(leader) = self.leaders.queue.pop_front() else {
                return;
            };
            if !ctx.store.pods.is_current(leader.0, leader.1) {
                continue;
            }
            let row = self.leaders.row(leader);
            row.queued = false;
            let before = ctx.take_cause(row.mark);
            self.check_followers(ctx, leader);
            ctx.restore_mark(before);
        }
    }

    /// Ends the processing of a leader; after an error the key is retried with the same rate limiter as JobSets
    /// (REC-13).
    pub(super) fn leader_done(&mut self, ctx: &mut EngineContext<'_>, leader: PodObjectRow, failed: bool) {
        let now = ctx.now;
        if !ctx.store.pods.is_current(leader.0, leader.1) {
            return;
        }
        let row = self.leaders.row(leader);
        let delay = error_delay(row.errors);
        row.errors = if failed { row.errors + 1 } else { 0 };
        let (mut mark, at) = (ctx.mark(), now + delay);
        if failed && row.timer.set(at, mark, TicketWait::ErrorBackoff) {
            let (pod, incarnation) = leader;
            mark.at = at;
            ctx.progress.idle_events += usize::from(is_retry_futile(ctx));
            ctx.schedule(mark, SimulationEvent::LeaderDue { pod, incarnation });
        }
    }

    /// Returns true if a retry would find that its leader was removed, so that it is stale.
    pub fn end_retry(&self, ctx: &mut EngineContext<'_>) {
        ctx.progress.idle_events -= usize::from(is_retry_futile(ctx));
    }

    pub(super) fn leader_due(&mut self, ctx: &mut EngineContext<'_>, leader: PodObjectRow) {
        self.end_retry(ctx);
        if !ctx.store.pods.is_current(leader.0, leader.1) {
            return;
        }
        if let Some((mark, waited)) = self.leaders.row(leader).timer.fire(ctx.now) {
            ctx.resume(mark, waited, TicketSubject::Pod(leader.0));
            self.leader_observed(ctx, leader);
        }
    }

    /// Frees the worker.
    pub(super) fn end_repair(&mut self, ctx: &mut EngineContext<'_>, leader: PodObjectRow, failed: bool) {
        let dirty = std::mem::take(&mut self.leaders.repair.dirty);
        self.leaders.repair.leader = None;
        self.leader_done(ctx, leader, failed);
        if dirty && ctx.store.pods.is_current(leader.0, leader.1) {
            self.enqueue_leader(ctx, leader);
        }
        self.next_leader(ctx);
    }
}

/// Returns true if no retry can succeed: the role is missing, or this version always fails.
fn is_retry_futile(ctx: &EngineContext<'_>) -> bool {
    ctx.scenario.control_plane.placement_repair != PlacementRepair::Succeeds
}
