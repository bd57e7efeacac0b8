//! The Job controller: creates and deletes the pods of Jobs and counts them in the Jobs' status (kubernetes.md 1).
//!
//! A work queue with 1 s batching, a few workers, and one token bucket for all requests. The decisions of a sync are
//! made by `policy::job`; this module executes them request by request. Must never access the JobSet of a Job.

mod count;
mod create;
mod delete;
mod entry;
mod events;
mod finished;
mod free;
mod judge;
mod orphans;
mod queue;
mod rows;
mod status;
mod sync;
#[cfg(test)]
#[path = "../../../tests/inside/engine/job_controller.rs"]
mod tests;
mod trace;
mod worker;

use super::ctx::Ctx;
use super::event::Event;
use super::lane::BusyTimes;
use super::webhook::PodWebhook;
use crate::record::Waited;
use crate::store::{JobChange, Store, What};
use events::EventRecorder;
use judge::Sight;
use rows::{PodMarks, Row};
use sim_base::random::Key;
use sim_base::*;
use std::collections::VecDeque;
use worker::Worker;

#[derive(Clone, Default)]
pub struct JobController {
    rows: Vec<Row>,
    pods: PodMarks,
    queue: VecDeque<JobId>,
    workers: Vec<Worker>,
    recorder: EventRecorder,
    /// True while the loop over the queue runs.
    dispatching: bool,
    /// Periods in which all workers were busy.
    pub busy: BusyTimes,
    busy_since: Time,
    pub syncs: u64,
    pub longest_queue: u32,
}

/// Requests that a sync sends in parallel; requests of one kind that leave together share the server's latency.
#[derive(Copy, Clone)]
enum Step {
    Deletes,
    Finalizers,
    /// Batch number of a slow start.
    Creates(u32),
}

impl JobController {
    pub fn new(workers: u32) -> JobController {
        JobController {
            workers: (0..workers).map(|_| Worker::default()).collect(),
            ..JobController::default()
        }
    }

    pub fn reset(&mut self) {
        self.rows.clear();
        self.pods.reset();
        self.queue.clear();
        self.workers.iter_mut().for_each(Worker::reset);
        self.recorder.reset();
        self.dispatching = false;
        self.busy.clear();
        self.syncs = 0;
        self.longest_queue = 0;
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event, webhook: &PodWebhook) {
        self.grow(ctx);
        match event {
            Event::JobDue(job) => self.job_due(ctx, job),
            Event::PodCreateAnswered { worker, nth } => {
                self.pod_create_answered(ctx, webhook, worker.into(), nth as usize)
            }
            Event::PodDeleteAnswered {
                worker,
                pod,
                incarnation,
            } => self.pod_delete_answered(ctx, worker.into(), pod, incarnation),
            Event::FinalizerAnswered {
                worker,
                pod,
                incarnation,
            } => self.finalizer_answered(ctx, worker.into(), pod, incarnation),
            Event::JobStatusAnswered { worker } => self.job_status_answered(ctx, worker.into()),
            Event::JobEventSent => self.event_sent(ctx),
            Event::OrphanReleased { pod, incarnation } => orphans::released(ctx, pod, incarnation),
            other => unreachable!("not an event of the Job controller: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What) {
        match what {
            What::Job(job, change) => {
                self.grow(ctx);
                self.job_changed(ctx, job, change);
            }
            What::Pod(pod, _) => {
                self.grow(ctx);
                let job = ctx.store.pods.job[pod.ix()];
                self.enqueue(ctx, job, batch_period(ctx), Waited::JobBatch);
                self.release_if_orphan(ctx, pod);
            }
            _ => {}
        }
    }

    fn job_changed(&mut self, ctx: &mut Ctx<'_>, job: JobId, change: JobChange) {
        let row = &mut self.rows[job.ix()];
        let own_write = std::mem::take(&mut row.own_write);
        let delay = match change {
            JobChange::Created => {
                row.begin_object();
                Duration::ZERO
            }
            // These changes increase metadata.generation, which bypasses batching.
            JobChange::Spec | JobChange::Deleting => Duration::ZERO,
            JobChange::Status if own_write => batch_period(ctx),
            // Written by a user.
            JobChange::Status | JobChange::Metadata => Duration::ZERO,
            JobChange::Gone => return self.release_all(ctx, job),
        };
        self.enqueue(ctx, job, delay, Waited::JobBatch);
    }

    /// Completion indexes (or positions) that succeeded and are counted; ascending.
    pub fn succeeded(&self, job: JobId) -> &[u32] {
        self.rows.get(job.ix()).map_or(&[], |row| &row.succeeded)
    }

    /// Permanently failed completion indexes (backoffLimitPerIndex); ascending.
    pub fn failed_indexes(&self, job: JobId) -> &[u32] {
        self.rows.get(job.ix()).map_or(&[], |row| &row.failed)
    }

    /// Extends the columns for new rows of Jobs.
    fn grow(&mut self, ctx: &Ctx<'_>) {
        if self.rows.len() < ctx.store.jobs.len() {
            self.rows.resize_with(ctx.store.jobs.len(), Row::default);
        }
    }

    fn sight<'a>(&'a self, ctx: &'a Ctx<'_>, job: JobId) -> Sight<'a> {
        self.sight_of(ctx.store, job)
    }

    fn sight_of<'a>(&'a self, store: &'a Store, job: JobId) -> Sight<'a> {
        Sight {
            store,
            job,
            row: &self.rows[job.ix()],
            pods: &self.pods,
        }
    }

    fn step_key(&self, ctx: &Ctx<'_>, job: JobId, step: Step) -> Key {
        let part = match step {
            Step::Deletes => 0,
            Step::Finalizers => 1,
            Step::Creates(batch) => 2 + u64::from(batch),
        };
        let nth = self.rows[job.ix()].syncs;
        ctx.store.jobs[job.ix()].key.and(u64::from(nth)).and(part)
    }
}

/// SyncJobBatchPeriod (kubernetes.md 1.1).
fn batch_period(ctx: &Ctx<'_>) -> Duration {
    ctx.scenario.timing.job_sync_batch_period
}
