//! Workloads that exist when the run starts, of jobs that are not in the inputs.
//!
//! Such a job is known by its Workload only. It starts when it is admitted, is ready at once, runs for its run time,
//! and stops at once when Kueue evicts it. Its pods are what the cluster says that they hold on nodes; when it starts
//! again, it has none. Kueue's requests about its Workload take no time.

use super::KueueController;
use super::nodes::placed_requests;
use super::workloads::{differs_in_pending_text, ticket_wait};
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::SimulationEvent;
use crate::record::{Body, TicketSubject, TicketWait};
use sim_api::spec::kueue::KueueObjects;
use sim_api::spec::{JobSet, ScenarioSpec};
use sim_base::random::{StreamKey, StreamPurpose, UniformDraw};
use sim_base::{Duration, JobSetId, SimTime, TextId};
use sim_kueue::control::{JobView, Patch, PatchKind, WorkloadTimer, reconcile_job};
use sim_kueue::workload::{Condition, ConditionType, Workload, WorkloadKey};
use sim_policy::topology::HeldOnNode;
use std::sync::Arc;

/// Key of the first existing Workload. Smaller keys are ids of JobSets.
const FIRST_KEY: WorkloadKey = 1 << 31;
/// Maximum number of changes of one pass.
const CHANGES_MAX: usize = 100;
/// Message of the condition Finished (`pkg/controller/jobs/job`).
const FINISHED: &str = "Job finished successfully";

#[derive(Clone, Default)]
pub(super) struct ExistingWorkloads {
    rows: Vec<ExistingRow>,
    /// Time on the clock of the Workloads at which the run starts: one second after the newest of them.
    pub start: Duration,
}

#[derive(Clone)]
struct ExistingRow {
    /// Position in the inputs.
    stored: usize,
    /// Namespace and name.
    name: String,
    workload: Arc<Workload>,
    view: JobView,
    /// Whether its JobSet is in the inputs. The Workload then holds its place until the JobSet takes it over.
    is_reserved: bool,
    is_gone: bool,
    /// Number of times that the job has started.
    starts: u32,
    /// End of the job, if it runs and ends.
    ends: Option<SimTime>,
    /// Time of the pending pass.
    due: Option<SimTime>,
    /// What its pods hold on nodes, until the job stops for the first time.
    held: Vec<HeldOnNode>,
}

/// Returns the index of an existing Workload.
pub(super) fn index_of(key: WorkloadKey) -> Option<usize> {
    key.checked_sub(FIRST_KEY)
}

/// Returns the Workloads that influence a run, each with its position in the inputs, and the start of the run on their
/// clock.
fn read(scenario: &ScenarioSpec, objects: &KueueObjects) -> ExistingWorkloads {
    let all: Vec<Workload> = objects.workloads.iter().map(Workload::from).collect();
    let Some(newest) = all.iter().map(Workload::newest_time).max() else { return ExistingWorkloads::default() };
    let row = |(stored, workload): (usize, Workload)| {
        let is_running = workload.is_admitted() && !workload.is_evicted();
        ExistingRow {
            stored,
            name: format!("{}/{}", workload.namespace, workload.name),
            view: JobView {
                is_suspended: !is_running,
                is_active: is_running,
                is_ready: is_running,
                reclaimable: workload.status.reclaimable.clone(),
                ..JobView::default()
            },
            is_reserved: objects.workloads[stored].is_of_any(&scenario.jobsets),
            workload: Arc::new(workload),
            is_gone: false,
            starts: 0,
            ends: None,
            due: None,
            held: Vec::new(),
        }
    };
    let mut rows: Vec<ExistingRow> = all.into_iter().enumerate().filter(|(_, w)| !w.is_finished()).map(row).collect();
    rows.sort_by(|a, b| {
        (a.workload.created, &a.workload.uid, &a.name).cmp(&(b.workload.created, &b.workload.uid, &b.name))
    });
    ExistingWorkloads { rows, start: (newest + Duration::from_secs(1)).since(SimTime::ZERO) }
}

/// Returns what the pods of a topology assignment hold, on nodes of which at least this is occupied.
fn held_by_topology(ctx: &EngineContext<'_>, workload: &Workload) -> Vec<HeldOnNode> {
    let mut held = Vec::new();
    for (name, amounts) in placed_requests(workload, &ctx.store.nodes.cluster) {
        let Some(node) = ctx.store.nodes.find_by_name(&name) else { continue };
        let occupied = ctx.store.nodes.cluster.occupied(node);
        let is_there = |(resource, milli): (&String, &i64)| occupied.get(resource).is_some_and(|all| all >= milli);
        if amounts.iter().all(is_there) {
            held.push((node, amounts));
        }
    }
    held
}

impl KueueController {
    /// Fills the queues and the cache.
    pub(super) fn add_existing(&mut self, scenario: &ScenarioSpec, objects: &KueueObjects) {
        self.existing = read(scenario, objects);
        let now = SimTime::ZERO + self.existing.start;
        for index in 0..self.existing.rows.len() {
            let workload = self.existing.rows[index].workload.clone();
            self.manager().workload_changed(FIRST_KEY + index, workload, now);
        }
        if !self.existing.rows.is_empty() {
            self.manager().take_wakes();
        }
    }

    /// Starts with what the Workloads hold.
    pub fn begin(&mut self, ctx: &mut EngineContext<'_>) {
        if self.existing.rows.is_empty() {
            return;
        }
        let mut held = ctx.store.nodes.cluster.held_by_workloads();
        for index in 0..self.existing.rows.len() {
            let workload = self.existing.rows[index].workload.clone();
            let listed = held.remove(&self.existing.rows[index].name);
            self.existing.rows[index].held = listed.unwrap_or_else(|| held_by_topology(ctx, &workload));
            if self.existing.rows[index].is_reserved {
                // The JobSet starts from the beginning.
                self.remove_existing_pods(ctx, index);
            }
            self.record_existing_quota(ctx, index, (None, Some(&workload)));
            if !self.existing.rows[index].view.is_suspended {
                let since = workload.condition(ConditionType::QuotaReserved).map(|c| c.since);
                let elapsed = since.map_or(Duration::ZERO, |since| Duration(self.time(ctx).0.saturating_sub(since.0)));
                self.schedule_existing_end(ctx, index, elapsed);
            }
            self.reconcile_existing(ctx, index);
        }
        self.queues_changed(ctx);
    }

    /// Returns the present time on the clock of the Workloads.
    pub(super) fn time(&self, ctx: &EngineContext<'_>) -> SimTime {
        ctx.now + self.existing.start
    }

    /// Returns the existing Workloads, in order of creation, and the time on their clock.
    pub fn existing_workloads(&self, now: SimTime) -> (Vec<Arc<Workload>>, SimTime) {
        let rows = self.existing.rows.iter().filter(|row| !row.is_gone);
        (rows.map(|row| row.workload.clone()).collect(), now + self.existing.start)
    }

    /// Returns the existing Workload of a JobSet in the inputs.
    pub(super) fn reserved_workload(&self, objects: &KueueObjects, jobset: &JobSet) -> Option<&Workload> {
        let mut rows = self.existing.rows.iter().filter(|row| row.is_reserved && !row.is_gone);
        let row = rows.find(|row| objects.workloads[row.stored].is_of(jobset))?;
        Some(&row.workload)
    }

    /// The JobSet has its own Workload now.
    pub(super) fn release_reserved(&mut self, objects: &KueueObjects, jobset: &JobSet, now: SimTime) {
        for index in 0..self.existing.rows.len() {
            let row = &mut self.existing.rows[index];
            let is_own = row.is_reserved && objects.workloads[row.stored].is_of(jobset);
            if is_own && !std::mem::replace(&mut row.is_gone, true) {
                self.manager().workload_deleted(FIRST_KEY + index, now);
            }
        }
    }

    /// Ends the prebuilt Workload of a JobSet that differs from it, which returns its quota.
    pub(super) fn finish_out_of_sync(&mut self, ctx: &mut EngineContext<'_>, objects: &KueueObjects, jobset: &JobSet) {
        let is_own = |row: &ExistingRow| row.is_reserved && !row.is_gone && objects.workloads[row.stored].is_of(jobset);
        let Some(index) = self.existing.rows.iter().position(is_own) else { return };
        let mut ended = (*self.existing.rows[index].workload).clone();
        if ended.is_finished() {
            return;
        }
        ended.finish_out_of_sync(self.time(ctx));
        self.existing.rows[index].due = None;
        self.store_existing(ctx, index, ended);
        self.queues_changed(ctx);
    }

    /// Applies a change that a scheduling cycle requests. Returns whether the Workload changed.
    pub(super) fn change_existing(&mut self, ctx: &mut EngineContext<'_>, index: usize, patch: &Patch) -> bool {
        let old = self.existing.rows[index].workload.clone();
        let Some(new) = patch.apply(&old, self.time(ctx)) else { return false };
        self.store_existing(ctx, index, new);
        if let PatchKind::Preempt { preemptor, .. } = patch.kind
            && index_of(preemptor).is_none()
        {
            let workload = self.existing_name(ctx, index);
            ctx.emit(Body::ExistingPreempted { workload, preemptor: JobSetId(preemptor as u32) });
        }
        self.reconcile_existing(ctx, index);
        true
    }

    pub(super) fn existing_name(&self, ctx: &mut EngineContext<'_>, index: usize) -> TextId {
        ctx.intern(&self.existing.rows[index].name)
    }

    /// Runs passes of the reconcilers of the job and of the Workload until nothing changes.
    pub(super) fn reconcile_existing(&mut self, ctx: &mut EngineContext<'_>, index: usize) {
        let now = self.time(ctx);
        let tracks_readiness = self.manager().configuration.wait_for_pods_ready.is_some();
        for _ in 0..CHANGES_MAX {
            let row = &self.existing.rows[index];
            if row.is_gone || row.workload.is_finished() {
                return;
            }
            let workload = row.workload.clone();
            let plan = if row.is_reserved {
                sim_kueue::control::JobPlan::default()
            } else {
                reconcile_job(&workload, &row.view, tracks_readiness, now)
            };
            if let Some(suspend) = plan.suspend {
                self.set_existing_suspended(ctx, index, suspend);
            }
            let manager = self.manager();
            let view = manager.view(FIRST_KEY + index, &workload);
            let result = sim_kueue::control::reconcile_workload(&workload, &view, &manager.configuration, now);
            let is_restarted = plan.suspend.is_some();
            match plan.workload.or(result.workload.filter(|new| !is_restarted && *new != *workload)) {
                Some(new) => self.store_existing(ctx, index, new),
                None if is_restarted => {}
                None => return self.set_existing_timer(ctx, index, result.after),
            }
        }
    }

    fn set_existing_timer(
        &mut self, ctx: &mut EngineContext<'_>, index: usize, after: Option<(Duration, WorkloadTimer)>,
    ) {
        let due = after.map(|(after, _)| ctx.now + after);
        let row = &mut self.existing.rows[index];
        if std::mem::replace(&mut row.due, due) != due
            && let Some((after, timer)) = after
        {
            let event = SimulationEvent::KueueExistingDue(index as u32);
            ctx.schedule_after(after, ticket_wait(timer), TicketSubject::Nothing, event);
        }
    }

    fn set_existing_suspended(&mut self, ctx: &mut EngineContext<'_>, index: usize, suspend: bool) {
        let row = &mut self.existing.rows[index];
        (row.view.is_suspended, row.view.is_active, row.view.is_ready) = (suspend, !suspend, !suspend);
        row.ends = None;
        if suspend {
            self.remove_existing_pods(ctx, index);
        } else {
            self.schedule_existing_end(ctx, index, Duration::ZERO);
        }
    }

    /// Frees what the pods hold on nodes since the start.
    fn remove_existing_pods(&mut self, ctx: &mut EngineContext<'_>, index: usize) {
        let row = &mut self.existing.rows[index];
        let held = std::mem::take(&mut row.held);
        self.nodes.held.remove(&row.name);
        for (node, amounts) in held {
            if ctx.store.nodes.exists(node) {
                apiserver::remove_outside_pods(ctx, node, &amounts);
            }
        }
    }

    /// Draws the run time of a job that has run for `elapsed`, like the estimate of `admit`.
    fn schedule_existing_end(&mut self, ctx: &mut EngineContext<'_>, index: usize, elapsed: Duration) {
        let row = &mut self.existing.rows[index];
        let nth = row.starts;
        row.starts += 1;
        let objects = ctx.scenario.kueue.as_ref();
        let run_time = objects.and_then(|objects| objects.workloads[row.stored].run_time.as_ref());
        let Some(run_time) = run_time.filter(|_| !row.is_reserved) else { return };
        let (purpose, entity) = (StreamPurpose::WorkloadRunTime, StreamKey::from_text(&row.name));
        let u = ctx.draws.uniform_once(UniformDraw { purpose, entity, occurrence: nth, substream: 0 });
        let left = Duration(run_time.quantile_above(elapsed, u).0.saturating_sub(elapsed.0));
        row.ends = Some(ctx.now + left);
        let event = SimulationEvent::KueueExistingEnd(index as u32);
        ctx.schedule_after(left, TicketWait::Running, TicketSubject::Nothing, event);
    }

    pub(super) fn existing_ended(&mut self, ctx: &mut EngineContext<'_>, index: usize) {
        let row = &mut self.existing.rows[index];
        row.ends = None;
        row.view.finished = Some((true, FINISHED.to_owned()));
        self.remove_existing_pods(ctx, index);
        self.reconcile_existing(ctx, index);
        self.queues_changed(ctx);
    }

    pub(super) fn existing_due(&mut self, ctx: &mut EngineContext<'_>, index: usize) {
        self.existing.rows[index].due = None;
        self.reconcile_existing(ctx, index);
        self.queues_changed(ctx);
    }

    /// Returns true if the job was stopped, or the pass was replaced by another one.
    pub fn is_existing_stale(&self, at: SimTime, event: SimulationEvent) -> bool {
        match event {
            SimulationEvent::KueueExistingEnd(index) => self.existing.rows[index as usize].ends != Some(at),
            SimulationEvent::KueueExistingDue(index) => self.existing.rows[index as usize].due != Some(at),
            _ => false,
        }
    }

    /// Returns namespace and name of the Workload.
    pub(super) fn existing_text(&self, index: usize) -> &str {
        &self.existing.rows[index].name
    }

    /// Stores a new state, records what changed, and updates the queues.
    fn store_existing(&mut self, ctx: &mut EngineContext<'_>, index: usize, new: Workload) {
        let (new, now) = (Arc::new(new), self.time(ctx));
        let old = std::mem::replace(&mut self.existing.rows[index].workload, new.clone());
        let workload = self.existing_name(ctx, index);
        let known = |c: &&Condition| !old.status.conditions.contains(c);
        for condition in new.status.conditions.iter().filter(known) {
            let (kind, status) = (condition.kind, condition.status);
            let (reason, message) = (ctx.intern(&condition.reason), ctx.intern(&condition.message));
            ctx.emit(Body::ExistingCondition { workload, kind, status, reason, message });
        }
        self.record_existing_quota(ctx, index, (Some(&old), Some(&new)));
        self.cycles.workload_changed(differs_in_pending_text(&old, &new));
        self.manager().workload_changed(FIRST_KEY + index, new, now);
    }

    fn record_existing_quota(
        &self, ctx: &mut EngineContext<'_>, index: usize, (old, new): (Option<&Workload>, Option<&Workload>),
    ) {
        if self.existing.rows[index].is_reserved {
            return;
        }
        let workload = self.existing_name(ctx, index);
        for change in apiserver::quota_changes(ctx, old, new) {
            let apiserver::QuotaChange { queue, flavor, resource, amount } = change;
            ctx.emit(Body::ExistingQuota { workload, queue, flavor, resource, amount });
        }
    }
}
