//! One sync of a Job in stages: decide, delete or create, first status, finalizers, last status (kubernetes.md 1.3).
//! The decisions are made by `sim_policy::job`.

use super::status::needs_write;
use super::worker::SyncStage;
use super::{JobController, batch_period};
use crate::record::{Call, PolicyOutcome, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent};
use sim_base::{Duration, JobId, PodId};
use sim_policy::JobSyncView;
use sim_policy::job::SYNC_JOB_BATCH_PERIOD;

impl JobController {
    pub(super) fn start_sync(&mut self, ctx: &mut EngineContext<'_>, worker: usize, job: JobId) {
        let version = ctx.scenario.control_plane.kubernetes;
        let j = &ctx.store.jobs[job.ix()];
        if sim_policy::job::managed_by_other(&j.spec, version) || j.status.is_finished() {
            return self.end_sync(ctx, worker);
        }
        let ended = std::mem::take(&mut self.workers[worker].counted.ended);
        let sight = self.sync_input(ctx, job);
        let counted = sight.count(ctx.now, ended);
        let view = sight.sync_view(ctx.now, version, &counted);
        let plan = sim_policy::job::sync(&view);
        let trace = ctx.receives_decisions().then(|| sight.trace_sync(&counted, &view, &plan, ctx.now));
        let again = plan.requeue_after.map(|after| (after, wait_kind(&view, after)));
        if let Some(sync) = trace.flatten() {
            ctx.emit_decision(PolicyOutcome::Job(Box::new(sync)));
        }
        if let Some((after, waited)) = again {
            self.enqueue(ctx, job, after, waited);
        }
        let (delete, create) = (plan.delete_active, plan.create);
        let w = &mut self.workers[worker];
        w.counted = counted;
        w.plan = plan;
        if delete > 0 {
            self.delete_active_pods(ctx, worker, job, delete);
        } else if create > 0 {
            self.begin_creating(ctx, worker, job, create);
        } else {
            self.begin_status(ctx, worker);
        }
    }

    /// Returns true if the object with which the sync began is still stored.
    fn is_current(&self, ctx: &EngineContext<'_>, worker: usize) -> bool {
        let w = &self.workers[worker];
        let j = &ctx.store.jobs[w.job.ix()];
        j.exists && j.incarnation == w.incarnation
    }

    /// Compares the counters, collects finished pods, and writes the first status if needed.
    pub(super) fn begin_status(&mut self, ctx: &mut EngineContext<'_>, worker: usize) {
        if !self.is_current(ctx, worker) {
            return self.end_sync(ctx, worker);
        }
        let w = &mut self.workers[worker];
        let job = w.job;
        let (mut counted, plan) = (std::mem::take(&mut w.counted), std::mem::take(&mut w.plan));
        let mut finalize = std::mem::take(&mut w.to_finalize);
        let j = &ctx.store.jobs[job.ix()];
        let unflushed = self.rows[job.ix()].unflushed;
        let flush = needs_write(j, &counted, &plan) || unflushed;
        let collected = self.collect_finished(ctx.store, job, &plan, &mut counted, &mut finalize);
        let flush = flush || collected.counted;
        let finishing = plan.ends_job();
        let w = &mut self.workers[worker];
        w.counted = counted;
        w.plan = plan;
        w.to_finalize = finalize;
        w.reached_max_uncounted = collected.reached_max;
        w.uncounted_changes = collected.entered;
        if flush && (!w.to_finalize.is_empty() || collected.counted || finishing) {
            w.needs_flush = unflushed;
            self.put_status(ctx, worker, SyncStage::FirstStatus);
        } else {
            w.needs_flush = flush;
            self.begin_finalizers(ctx, worker);
        }
    }

    fn put_status(&mut self, ctx: &mut EngineContext<'_>, worker: usize, stage: SyncStage) {
        let w = &mut self.workers[worker];
        w.stage = stage;
        let job = w.job;
        let row = &mut self.rows[job.ix()];
        let req = RequestEntry::new(Call::JobStatusUpdate, TicketSubject::Job(job), row.status_writes);
        row.status_writes += 1;
        let worker = worker as u16;
        ctx.request(req, SimulationEvent::JobStatusAnswered { worker });
    }

    pub(super) fn job_status_answered(&mut self, ctx: &mut EngineContext<'_>, worker: usize) {
        let (stage, job) = (self.workers[worker].stage, self.workers[worker].job);
        let there = self.is_current(ctx, worker);
        let version = ctx.store.jobs[job.ix()].version;
        if there && version != self.workers[worker].version {
            return self.status_conflict(ctx, worker, stage);
        }
        if there && stage == SyncStage::LastStatus && self.finishes_without_start(ctx, worker) {
            return self.finish_rejected(ctx, worker, job);
        }
        ctx.record_response(Call::JobStatusUpdate, RequestAnswer::from_existence(there));
        if there {
            self.rows[job.ix()].unflushed = false;
            self.store_status(ctx, worker, stage == SyncStage::LastStatus);
            self.workers[worker].version = ctx.store.jobs[job.ix()].version;
        }
        match stage {
            SyncStage::FirstStatus => self.begin_finalizers(ctx, worker),
            SyncStage::LastStatus => self.end_sync(ctx, worker),
            other => unreachable!("a status is written first or last, not at {other:?}"),
        }
    }

    /// The API server rejects a terminal condition of a Job without startTime (`RejectFinishedJobWithoutStartTime`,
    /// batch validation): a suspended Job does not finish. The next syncs store the counters and are rejected again.
    fn finish_rejected(&mut self, ctx: &mut EngineContext<'_>, worker: usize, job: JobId) {
        ctx.record_response(Call::JobStatusUpdate, RequestAnswer::Invalid);
        let row = &mut self.rows[job.ix()];
        row.unflushed = row.rejected_failed != Some(row.counted_failed);
        row.rejected_failed = Some(row.counted_failed);
        self.workers[worker].failed = true;
        self.end_sync(ctx, worker);
    }

    /// The Job changed since the sync began: nothing is stored, and the sync is repeated without an error with the
    /// next batch (kubernetes.md 1.3). Events that precede the write are still emitted.
    fn status_conflict(&mut self, ctx: &mut EngineContext<'_>, worker: usize, stage: SyncStage) {
        ctx.record_response(Call::JobStatusUpdate, RequestAnswer::Conflict);
        let w = &mut self.workers[worker];
        let (job, entered) = (w.job, std::mem::take(&mut w.uncounted_changes));
        self.emit_suspended(ctx, worker);
        if stage == SyncStage::FirstStatus {
            self.revert_uncounted(ctx.store, job, entered);
        } else {
            self.rows[job.ix()].unflushed = true;
        }
        self.enqueue(ctx, job, batch_period(ctx), TicketWait::JobBatch);
        self.end_sync(ctx, worker);
    }

    /// Sends all PATCHes that remove tracking finalizers, in parallel (kubernetes.md 1.3 step 7).
    fn begin_finalizers(&mut self, ctx: &mut EngineContext<'_>, worker: usize) {
        let finalize = std::mem::take(&mut self.workers[worker].to_finalize);
        for &pod in &finalize {
            self.send_untrack(ctx, worker, pod);
        }
        let w = &mut self.workers[worker];
        w.outstanding = finalize.len() as u32;
        w.to_finalize = finalize;
        w.stage = SyncStage::Finalizers;
        if w.outstanding == 0 {
            self.last_status(ctx, worker);
        }
    }

    pub(super) fn finalizer_answered(
        &mut self, ctx: &mut EngineContext<'_>, worker: usize, pod: PodId, incarnation: u32,
    ) {
        let there = apiserver::untrack_pod(ctx, pod, incarnation).is_success();
        if self.workers[worker].stage == SyncStage::Deleting {
            return self.finalizer_removed(ctx, worker, pod, there);
        }
        if self.workers[worker].count_response() {
            self.last_status(ctx, worker);
        }
    }

    /// Moves uncounted pods to the counters; sets the terminal condition if no pod is terminating.
    fn last_status(&mut self, ctx: &mut EngineContext<'_>, worker: usize) {
        let w = &self.workers[worker];
        let removed_some = !w.to_finalize.is_empty() && w.counted.counted_any;
        let finishes = !w.reached_max_uncounted && self.may_finish(ctx, worker);
        let w = &mut self.workers[worker];
        w.counted.finish_now = finishes;
        if w.needs_flush || removed_some || finishes {
            self.put_status(ctx, worker, SyncStage::LastStatus);
        } else {
            self.end_sync(ctx, worker);
        }
    }
}

/// The kind of wait before the next sync, planned after `after`.
fn wait_kind(view: &JobSyncView<'_>, after: Duration) -> TicketWait {
    let left = view.backoff.remaining(view.now);
    if left > Duration::ZERO && left.max(SYNC_JOB_BATCH_PERIOD) == after {
        TicketWait::PodFailureBackoff
    } else {
        TicketWait::ActiveDeadline
    }
}
