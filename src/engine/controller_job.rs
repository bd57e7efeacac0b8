//! The Job controller: work queue with 1 s batching, five workers, one token bucket for everything it asks
//! (kubernetes.md 1). What a sync decides is `policy::job`; here it is carried out, request by request; its pods are in
//! `job_pods`.

use super::api::{Answer, Call};
use super::event::Event;
use super::job_count::Computed;
use super::job_events::JobEventRecorder;
use super::lane::BusyTimes;
use super::run::Run;
use crate::base::*;
use crate::policy::{self, JobPlan};
use std::collections::VecDeque;

/// kubernetes.md 1.1: MaxUncountedPods.
const MAX_UNCOUNTED_PODS: usize = 500;

#[derive(Default)]
pub struct JobController {
    pub(super) queue: VecDeque<JobId>,
    pub workers: Vec<Worker>,
    pub events: JobEventRecorder,
    /// The loop over the queue is at work.
    pub(super) dispatching: bool,
    pub busy: BusyTimes,
    pub(super) busy_since: Time,
    pub syncs: u64,
    pub longest_queue: u32,
}

/// One goroutine and the sync it is in.
#[derive(Default)]
pub struct Worker {
    pub job: JobId,
    pub incarnation: u32,
    pub active: bool,
    pub(super) step: Step,
    pub(super) outstanding: u32,
    pub(super) failed: bool,
    pub(super) plan: JobPlan,
    /// Pods to delete, a buffer.
    pub(super) victims: Vec<PodId>,
    /// Indexes to create, and how many of them have been asked for.
    pub(super) create: Vec<u32>,
    pub(super) asked: usize,
    pub(super) batch: usize,
    pub(super) batch_failed: bool,
    /// Pods whose finalizer goes in this sync.
    finalize: Vec<(PodId, u32)>,
    reached_max_uncounted: bool,
    needs_flush: bool,
    pub deferred: Computed,
}

#[derive(Copy, Clone, PartialEq, Eq, Default)]
pub(super) enum Step {
    #[default]
    Idle,
    Deleting,
    Creating,
    FirstStatus,
    Finalizers,
    LastStatus,
}

impl JobController {
    pub fn new(workers: u32) -> JobController {
        JobController {
            workers: (0..workers).map(|_| Worker::default()).collect(),
            ..JobController::default()
        }
    }

    /// The sync a worker is in: its decision and its numbers.
    pub fn sync_result(&self, worker: usize) -> (&JobPlan, &Computed) {
        let w = &self.workers[worker];
        (&w.plan, &w.deferred)
    }

    pub fn reset(&mut self) {
        self.queue.clear();
        self.dispatching = false;
        for w in &mut self.workers {
            w.active = false;
            w.step = Step::Idle;
        }
        self.events.reset();
        self.busy.clear();
        self.syncs = 0;
        self.longest_queue = 0;
    }
}

impl Run<'_> {
    pub(super) fn start_sync(&mut self, worker: usize, job: JobId) {
        let version = self.m.scenario.control_plane.kubernetes;
        let other = policy::job::managed_by_other(self.job_spec(job), version);
        if other || self.w.jobs[job.ix()].status.is_finished() {
            return self.end_sync(worker);
        }
        let ended = std::mem::take(&mut self.w.job_controller.workers[worker].deferred.ended);
        let computed = self.count_for_sync(job, ended);
        let view = self.sync_view(job, &computed);
        let plan = policy::job::sync(&view);
        let trace = self.trace_sync(job, &computed, &view, &plan);
        if let Some(decision) = trace {
            self.sink.decision(decision);
        }
        if let Some(after) = plan.requeue_after {
            self.enqueue_job(job, after);
        }
        let w = &mut self.w.job_controller.workers[worker];
        w.deferred = computed;
        let (delete, create) = (plan.delete_active, plan.create);
        w.plan = plan;
        if delete > 0 {
            self.delete_active_pods(worker, job, delete);
        } else if create > 0 {
            self.begin_creating(worker, job, create);
        } else {
            self.begin_status(worker);
        }
    }

    /// One request of the worker's parallel set is answered; true if it was the last.
    pub(super) fn one_less(&mut self, worker: u16) -> bool {
        let w = &mut self.w.job_controller.workers[usize::from(worker)];
        w.outstanding -= 1;
        w.outstanding == 0
    }

    /// Counters are compared, finished pods collected, and the first status written if something must be flushed.
    pub(super) fn begin_status(&mut self, worker: usize) {
        let job = self.w.job_controller.workers[worker].job;
        let same =
            self.w.jobs[job.ix()].incarnation == self.w.job_controller.workers[worker].incarnation;
        if !same || !self.w.jobs[job.ix()].exists {
            return self.end_sync(worker);
        }
        let mut computed = std::mem::take(&mut self.w.job_controller.workers[worker].deferred);
        let plan = std::mem::take(&mut self.w.job_controller.workers[worker].plan);
        let mut finalize = std::mem::take(&mut self.w.job_controller.workers[worker].finalize);
        finalize.clear();
        let mut flush = self.counters_differ(job, &computed);
        flush |= self.suspended_condition_changes(job, plan.suspended_condition);
        let finishing = plan.ends();
        let (counted, reached_max) =
            self.collect_finished(job, &plan, &mut computed, &mut finalize, MAX_UNCOUNTED_PODS);
        flush |= counted;
        flush |= self.interim_condition_missing(job, &plan);
        let w = &mut self.w.job_controller.workers[worker];
        w.deferred = computed;
        w.plan = plan;
        w.finalize = finalize;
        w.reached_max_uncounted = reached_max;
        w.needs_flush = flush;
        if flush && (!w.finalize.is_empty() || counted || finishing) {
            w.needs_flush = false;
            w.step = Step::FirstStatus;
            self.put_job_status(worker);
        } else {
            self.begin_finalizers(worker);
        }
    }

    fn put_job_status(&mut self, worker: usize) {
        let answered = self.w.api.send(Call::JobStatusUpdate, self.w.now);
        self.at(
            answered,
            Event::JobStatusAnswered {
                worker: worker as u16,
            },
        );
    }

    pub fn job_status_answered(&mut self, worker: u16) {
        let w = &self.w.job_controller.workers[usize::from(worker)];
        let (job, incarnation, step) = (w.job, w.incarnation, w.step);
        let there =
            self.w.jobs[job.ix()].exists && self.w.jobs[job.ix()].incarnation == incarnation;
        self.w
            .api
            .answered(Call::JobStatusUpdate, Answer::found(there), self.w.now);
        if there {
            self.store_job_status(usize::from(worker), step == Step::LastStatus);
        }
        if step == Step::FirstStatus {
            self.begin_finalizers(usize::from(worker))
        } else {
            self.end_sync(usize::from(worker))
        }
    }

    /// PATCH the tracking finalizer off, all at once (kubernetes.md 1.3 step 7).
    fn begin_finalizers(&mut self, worker: usize) {
        let finalize = std::mem::take(&mut self.w.job_controller.workers[worker].finalize);
        for &(pod, incarnation) in &finalize {
            let answered = self.w.api.send(Call::JobPodPatch, self.w.now);
            self.at(
                answered,
                Event::FinalizerAnswered {
                    worker: worker as u16,
                    pod,
                    incarnation,
                },
            );
        }
        let w = &mut self.w.job_controller.workers[worker];
        w.outstanding = finalize.len() as u32;
        w.finalize = finalize;
        w.step = Step::Finalizers;
        if w.outstanding == 0 {
            self.last_status(worker);
        }
    }

    pub fn finalizer_answered(&mut self, worker: u16, pod: PodId, incarnation: u32) {
        let there = self.w.pods.is(pod, incarnation);
        self.w
            .api
            .answered(Call::JobPodPatch, Answer::found(there), self.w.now);
        if there {
            self.drop_finalizer(pod);
        }
        if self.w.job_controller.workers[usize::from(worker)].step == Step::Deleting {
            return self.untracked(worker, pod, there);
        }
        if self.one_less(worker) {
            self.last_status(usize::from(worker));
        }
    }

    /// Uncounted pods have become counters; the terminal condition is due if nothing terminates any more.
    fn last_status(&mut self, worker: usize) {
        let w = &self.w.job_controller.workers[worker];
        let job = w.job;
        let removed_some = !w.finalize.is_empty() && w.deferred.counted_any;
        let finished = !w.reached_max_uncounted && self.may_finish(worker, job);
        let w = &mut self.w.job_controller.workers[worker];
        w.deferred.finish_now = finished;
        if w.needs_flush || removed_some || finished {
            w.step = Step::LastStatus;
            self.put_job_status(worker);
        } else {
            self.end_sync(worker);
        }
    }
}
