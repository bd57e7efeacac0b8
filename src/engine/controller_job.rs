//! The Job controller: work queue with 1 s batching, five workers, one token bucket for everything it asks
//! (kubernetes.md 1). What a sync decides is `policy::job`; here it is carried out, request by request.

use super::api::{Answer, Call};
use super::event::Event;
use super::job_events::JobEventRecorder;
use super::job_status::Computed;
use super::lane::BusyTimes;
use super::pods::{Phase, flag};
use super::run::Run;
use crate::base::*;
use crate::policy::{self, JobPlan};
use crate::record::Deleter;
use std::collections::VecDeque;

/// kubernetes.md 1.1: MaxUncountedPods.
const MAX_UNCOUNTED_PODS: usize = 500;

#[derive(Default)]
pub struct JobController {
    pub(super) queue: VecDeque<JobId>,
    pub workers: Vec<Worker>,
    pub events: JobEventRecorder,
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
    outstanding: u32,
    pub(super) failed: bool,
    plan: JobPlan,
    /// Indexes to create, and how many of them have been asked for.
    create: Vec<u32>,
    asked: usize,
    batch: usize,
    batch_failed: bool,
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
        if self.w.jobs[job.ix()].status.is_finished() {
            return self.end_sync(worker);
        }
        let computed = self.count_for_sync(job);
        let view = self.sync_view(job, &computed);
        let plan = policy::job::sync(&view);
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

    /// DELETE for every active pod at once; the token bucket spreads them (kubernetes.md 1.3 step 5).
    fn delete_active_pods(&mut self, worker: usize, job: JobId, count: u32) {
        let mut left = count;
        let all = count >= self.w.jobs[job.ix()].live.active;
        // Surplus pods leave from the highest index down.
        let n = self.pods_of(job);
        for k in 0..n {
            let pod = self.pod_of(job, if all { k } else { n - 1 - k });
            if left == 0 {
                break;
            }
            if !self.w.pods.exists(pod) || !self.w.pods.is_active(pod) {
                continue;
            }
            left -= 1;
            let incarnation = self.w.pods.incarnation[pod.ix()];
            let answered = self.w.api.send(Call::JobPodDelete, self.w.now);
            self.at(
                answered,
                Event::PodDeleteAnswered {
                    worker: worker as u16,
                    pod,
                    incarnation,
                },
            );
        }
        let w = &mut self.w.job_controller.workers[worker];
        w.step = Step::Deleting;
        w.outstanding = count - left;
        if w.outstanding == 0 {
            self.begin_status(worker);
        }
    }

    pub fn pod_delete_answered(&mut self, worker: u16, pod: PodId, incarnation: u32) {
        let there = self.w.pods.is(pod, incarnation);
        self.w
            .api
            .answered(Call::JobPodDelete, Answer::found(there), self.w.now);
        if there {
            let was_ready = self.w.pods.has(pod, flag::READY);
            let job = self.w.pods.job[pod.ix()];
            let grace_zero = self.m.pod_spec(job).termination_grace_period_s == 0;
            self.job_event_pod_deleted(job, pod, incarnation);
            self.mark_deleting(pod, Deleter::JobController, grace_zero);
            let computed = &mut self.w.job_controller.workers[usize::from(worker)].deferred;
            computed.deleted(was_ready);
        }
        if self.one_less(worker) {
            self.begin_status(usize::from(worker));
        }
    }

    /// One request of the worker's parallel set is answered; true if it was the last.
    fn one_less(&mut self, worker: u16) -> bool {
        let w = &mut self.w.job_controller.workers[usize::from(worker)];
        w.outstanding -= 1;
        w.outstanding == 0
    }

    /// Lowest missing indexes first; 1, 2, 4 … at a time, each batch after the last one's answers.
    fn begin_creating(&mut self, worker: usize, job: JobId, count: u32) {
        let mut create = std::mem::take(&mut self.w.job_controller.workers[worker].create);
        create.clear();
        self.missing_indexes(job, count, &mut create);
        self.w.jobs[job.ix()].sync.expected = create.len() as u32;
        let w = &mut self.w.job_controller.workers[worker];
        w.create = create;
        w.asked = 0;
        w.batch = 1;
        w.step = Step::Creating;
        w.batch_failed = false;
        self.next_batch(worker);
    }

    fn next_batch(&mut self, worker: usize) {
        let w = &mut self.w.job_controller.workers[worker];
        let batch = w.batch.min(w.create.len() - w.asked);
        if batch == 0 || w.batch_failed {
            let skipped = (w.create.len() - w.asked) as u32;
            let job = w.job;
            w.failed |= w.batch_failed;
            let sync = &mut self.w.jobs[job.ix()].sync;
            sync.expected -= skipped.min(sync.expected);
            return self.begin_status(worker);
        }
        let (from, job) = (w.asked, w.job);
        w.asked += batch;
        w.batch *= 2;
        w.outstanding = batch as u32;
        for k in from..from + batch {
            let index = self.w.job_controller.workers[worker].create[k];
            let answered = self.w.api.send(Call::JobPodCreate, self.w.now);
            self.at(
                answered,
                Event::PodCreateAnswered {
                    worker: worker as u16,
                    job,
                    index,
                },
            );
        }
    }

    pub fn pod_create_answered(&mut self, worker: u16, job: JobId, index: u32) {
        let same = self.w.jobs[job.ix()].incarnation
            == self.w.job_controller.workers[usize::from(worker)].incarnation;
        let sync = &mut self.w.jobs[job.ix()].sync;
        sync.expected = sync.expected.saturating_sub(1);
        let refused = self.follower_refused(job, index);
        if let Some(reason) = refused {
            self.w
                .api
                .answered(Call::JobPodCreate, Answer::Forbidden, self.w.now);
            self.pod_create_refused(job, index, &reason);
            self.w.job_controller.workers[usize::from(worker)].batch_failed = true;
        } else if same && self.w.jobs[job.ix()].exists {
            self.w
                .api
                .answered(Call::JobPodCreate, Answer::Success, self.w.now);
            let pod = self.create_pod(job, index);
            self.w.job_controller.workers[usize::from(worker)]
                .deferred
                .created();
            self.job_event_pod_created(job, pod);
            self.enqueue_job_batched(job);
            self.schedule_pod(pod);
        }
        if self.one_less(worker) {
            self.next_batch(usize::from(worker));
        }
    }

    /// Counters are compared, finished pods collected, and the first status written if something must be flushed.
    fn begin_status(&mut self, worker: usize) {
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
        let finishing = plan.fail.is_some() || plan.complete;
        let (counted, reached_max) = self.collect_finished(
            job,
            finishing,
            &mut computed,
            &mut finalize,
            MAX_UNCOUNTED_PODS,
        );
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

    /// Indexes without an active or succeeded pod (nor, with replacement Failed, a terminating one), lowest first.
    fn missing_indexes(&self, job: JobId, count: u32, into: &mut Vec<u32>) {
        let m = &self.m.jobs[job.ix()];
        let only_failed = self.job_spec(job).pod_replacement_policy()
            == crate::spec::PodReplacementPolicy::Failed;
        let p = &self.w.pods;
        let taken = |pod: PodId| {
            let i = pod.ix();
            p.job[i] == job
                && match p.phase[i] {
                    Phase::Absent | Phase::Failed => false,
                    Phase::Succeeded => true,
                    _ => only_failed || !p.has(pod, flag::DELETING),
                }
        };
        let extras = &self.w.jobs[job.ix()].extra_pods;
        let mut extra_taken: Vec<u32> = extras
            .iter()
            .filter(|e| taken(**e))
            .map(|e| p.index[e.ix()])
            .collect();
        extra_taken.sort_unstable();
        let succeeded = &self.w.jobs[job.ix()].succeeded_indexes;
        for index in 0..m.slots {
            if into.len() as u32 == count {
                break;
            }
            let gone = taken(PodId(m.first_pod + index))
                || extra_taken.binary_search(&index).is_ok()
                || succeeded.binary_search(&index).is_ok();
            if !gone {
                into.push(index);
            }
        }
    }
}
