//! The Job controller: creates and deletes the pods of Jobs and counts them in the Jobs' status (kubernetes.md 1).
//!
//! A work queue with 1 s batching, a few workers, and one token bucket for all requests. The decisions of a sync are
//! made by `policy::job`; this module executes them request by request. Must never access the JobSet of a Job.

mod count;
mod create;
mod delete;
mod events;
mod finished;
mod missing_indexes;
mod orphans;
mod queue;
mod queue_entry;
mod rows;
mod status;
mod sync;
mod sync_decision;
#[cfg(test)]
#[path = "../../../tests/inside/engine/job_controller.rs"]
mod tests;
mod trace;
mod worker;

use super::ctx::EngineContext;
use super::event::SimulationEvent;
use super::token_bucket::BusyTimes;
use super::webhook::PodWebhook;
use crate::record::TicketWait;
use crate::store::{ChangeKind, JobChange, ObjectStore, PodChange};
use events::EventRecorder;
use rows::{JobSyncRow, PodMarks};
use sim_base::{Duration, JobId, SimTime};
use std::collections::VecDeque;
use sync_decision::JobSyncInput;
use worker::JobWorker;

#[derive(Clone, Default)]
pub struct JobController {
    rows: Vec<JobSyncRow>,
    pods: PodMarks,
    queue: VecDeque<JobId>,
    workers: Vec<JobWorker>,
    recorder: EventRecorder,
    /// True while the loop over the queue runs.
    dispatching: bool,
    /// Periods in which all workers were busy.
    pub busy: BusyTimes,
    busy_since: SimTime,
    pub syncs: u64,
    pub longest_queue: u32,
}

impl JobController {
    pub fn new(workers: u32) -> JobController {
        JobController { workers: (0..workers).map(|_| JobWorker::default()).collect(), ..JobController::default() }
    }

    pub fn reset(&mut self) {
        self.rows.clear();
        self.pods.reset();
        self.queue.clear();
        self.workers.iter_mut().for_each(JobWorker::reset);
        self.recorder.reset();
        self.dispatching = false;
        self.busy.clear();
        self.syncs = 0;
        self.longest_queue = 0;
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent, webhook: &PodWebhook) {
        self.add_rows(ctx);
        match event {
            SimulationEvent::JobDue(job) => self.job_due(ctx, job),
            SimulationEvent::PodCreateAnswered { worker, nth } => {
                self.pod_create_answered(ctx, webhook, worker.into(), nth as usize)
            }
            SimulationEvent::PodDeleteAnswered { worker, pod, incarnation } => {
                self.pod_delete_answered(ctx, worker.into(), pod, incarnation)
            }
            SimulationEvent::FinalizerAnswered { worker, pod, incarnation } => {
                self.finalizer_answered(ctx, worker.into(), pod, incarnation)
            }
            SimulationEvent::JobStatusAnswered { worker } => self.job_status_answered(ctx, worker.into()),
            SimulationEvent::JobEventSent => self.event_sent(ctx),
            SimulationEvent::OrphanReleased { pod, incarnation } => {
                orphans::remove_tracking_finalizer(ctx, pod, incarnation)
            }
            other => unreachable!("not an event of the Job controller: {other:?}"),
        }
    }

    #[inline(always)]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Job(job, change) => {
                self.add_rows(ctx);
                self.job_changed(ctx, job, change);
            }
            ChangeKind::Pod(pod, change) => {
                self.add_rows(ctx);
                let job = ctx.store.pods.job[pod.ix()];
                // deletePod enqueues no sync of a finished Job.
                let removed = matches!(change, PodChange::Deleting | PodChange::Gone);
                if !(removed && ctx.store.jobs[job.ix()].status.is_finished()) {
                    self.enqueue(ctx, job, batch_period(ctx), TicketWait::JobBatch);
                }
                self.release_if_orphan(ctx, pod);
            }
            _ => {}
        }
    }

    fn job_changed(&mut self, ctx: &mut EngineContext<'_>, job: JobId, change: JobChange) {
        let delay = match change {
            JobChange::Created => {
                self.rows[job.ix()].begin_object();
                Duration::ZERO
            }
            JobChange::Gone => return self.release_all(ctx, job),
            // updateJob enqueues no sync of a finished Job.
            _ if ctx.store.jobs[job.ix()].status.is_finished() => return,
            // These changes increase metadata.generation, which bypasses batching.
            JobChange::Spec | JobChange::Deleting => Duration::ZERO,
            JobChange::Status | JobChange::Metadata => batch_period(ctx),
        };
        self.enqueue(ctx, job, delay, TicketWait::JobBatch);
    }

    /// Completion indexes (or positions) that succeeded and are counted; ascending.
    pub fn succeeded_indexes(&self, job: JobId) -> &[u32] {
        self.rows.get(job.ix()).map_or(&[], |row| &row.succeeded)
    }

    /// Permanently failed completion indexes (backoffLimitPerIndex); ascending.
    pub fn failed_indexes(&self, job: JobId) -> &[u32] {
        self.rows.get(job.ix()).map_or(&[], |row| &row.failed)
    }

    /// Extends the columns for new rows of Jobs.
    #[inline(always)]
    fn add_rows(&mut self, ctx: &EngineContext<'_>) {
        if self.rows.len() < ctx.store.jobs.len() {
            self.rows.resize_with(ctx.store.jobs.len(), JobSyncRow::default);
        }
    }

    fn sync_input<'a>(&'a self, ctx: &'a EngineContext<'_>, job: JobId) -> JobSyncInput<'a> {
        self.sync_input_for(ctx.store, job)
    }

    fn sync_input_for<'a>(&'a self, store: &'a ObjectStore, job: JobId) -> JobSyncInput<'a> {
        JobSyncInput { store, job, row: &self.rows[job.ix()], pods: &self.pods }
    }
}

/// SyncJobBatchPeriod (kubernetes.md 1.1).
fn batch_period(ctx: &EngineContext<'_>) -> Duration {
    ctx.scenario.timing.job_sync_batch_period
}
