//! The pods that a sync of the Job controller deletes and creates: which ones, and the requests for them.
//!
//! How many they are is `policy::job`'s decision.

use super::api::{Answer, Call};
use super::controller_job::Step;
use super::event::Event;
use super::pods::{Phase, flag};
use super::run::Run;
use crate::base::*;
use crate::policy::backoff;
use crate::record::Deleter;
use crate::spec::{CompletionMode, PodReplacementPolicy};
use std::cmp::Reverse;

impl Run<'_> {
    /// DELETE for the chosen pods at once; the token bucket spreads them (kubernetes.md 1.3 step 5). Pods that must
    /// not be counted lose their finalizer first (deleteJobPods).
    pub(super) fn delete_active_pods(&mut self, worker: usize, job: JobId, count: u32) {
        let untracked = self.w.job_controller.sync_result(worker).0.untracked;
        let mut victims = std::mem::take(&mut self.w.job_controller.workers[worker].victims);
        self.pods_to_delete(job, count, &mut victims);
        let call = if untracked {
            Call::JobPodPatch
        } else {
            Call::JobPodDelete
        };
        for &pod in &victims {
            self.ask_for_pod(worker, pod, call);
        }
        let w = &mut self.w.job_controller.workers[worker];
        w.step = Step::Deleting;
        w.outstanding = victims.len() as u32;
        w.victims = victims;
        if w.outstanding == 0 {
            self.begin_status(worker);
        }
    }

    fn ask_for_pod(&mut self, worker: usize, pod: PodId, call: Call) {
        let incarnation = self.w.pods.incarnation[pod.ix()];
        let worker = worker as u16;
        let answered = self.w.api.send(call, self.w.now);
        let event = if call == Call::JobPodPatch {
            Event::FinalizerAnswered {
                worker,
                pod,
                incarnation,
            }
        } else {
            Event::PodDeleteAnswered {
                worker,
                pod,
                incarnation,
            }
        };
        self.at(answered, event);
    }

    /// activePodsForRemoval: indexes that do not exist, then pods that have come the least far.
    fn pods_to_delete(&self, job: JobId, count: u32, active: &mut Vec<PodId>) {
        let p = &self.w.pods;
        let all = (0..self.pods_of(job)).map(|k| self.pod_of(job, k));
        active.clear();
        active.extend(
            all.filter(|pod| p.exists(*pod) && p.job[pod.ix()] == job && p.is_active(*pod)),
        );
        if count as usize >= active.len() {
            return;
        }
        let indexed = self.job_spec(job).completion_mode == CompletionMode::Indexed;
        let completions = self.job_spec(job).completions();
        let limit = completions.filter(|_| indexed).unwrap_or(u32::MAX);
        // Of equals, the newest and then the highest index goes; the real order is a sort that is not stable.
        active.sort_by_key(|pod| {
            let i = pod.ix();
            (
                p.index[i] < limit,
                p.has(*pod, flag::BOUND),
                p.phase[i] != Phase::Pending,
                p.has(*pod, flag::READY),
                Reverse(p.restarts[i]),
                Reverse(p.index[i]),
            )
        });
        active.truncate(count as usize);
    }

    /// Active pods whose index an elastic JobSet has taken away.
    pub(super) fn misplaced_pods(&self, job: JobId) -> u32 {
        let slots = self.m.jobs[job.ix()].slots;
        let indexed = self.job_spec(job).completion_mode == CompletionMode::Indexed;
        let Some(limit) = self
            .job_spec(job)
            .completions()
            .filter(|c| indexed && *c < slots)
        else {
            return 0;
        };
        let p = &self.w.pods;
        let misplaced = |pod: &PodId| {
            let i = pod.ix();
            p.exists(*pod) && p.job[i] == job && p.is_active(*pod) && p.index[i] >= limit
        };
        let all = (0..self.pods_of(job)).map(|k| self.pod_of(job, k));
        all.filter(misplaced).count() as u32
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

    /// The finalizer is off: now the DELETE itself.
    pub(super) fn untracked(&mut self, worker: u16, pod: PodId, there: bool) {
        if there {
            self.ask_for_pod(usize::from(worker), pod, Call::JobPodDelete);
        } else if self.one_less(worker) {
            self.begin_status(usize::from(worker));
        }
    }

    /// Lowest missing indexes first; 1, 2, 4 … at a time, each batch after the last one's answers.
    pub(super) fn begin_creating(&mut self, worker: usize, job: JobId, count: u32) {
        let mut create = std::mem::take(&mut self.w.job_controller.workers[worker].create);
        create.clear();
        self.missing_indexes(worker, job, count, &mut create);
        self.keep_indexes_due_now(worker, job, &mut create);
        self.w.jobs[job.ix()].sync.expected = create.len() as u32;
        let w = &mut self.w.job_controller.workers[worker];
        w.create = create;
        w.asked = 0;
        w.batch = 1;
        w.step = Step::Creating;
        w.batch_failed = false;
        self.next_batch(worker);
    }

    /// backoffLimitPerIndex: every index waits for itself; only if none may come now the key comes again.
    fn keep_indexes_due_now(&mut self, worker: usize, job: JobId, create: &mut Vec<u32>) {
        let c = self.w.job_controller.sync_result(worker).1;
        if c.delayed.is_empty() {
            return;
        }
        let left = |index: u32| {
            let pod = c.replaced(index);
            let replaced = pod.map(|p| (self.failures_of(p) + 1, self.w.pods.ended_at[p.ix()]));
            backoff::until_index(replaced, self.w.now)
        };
        let soonest = create.iter().map(|i| left(*i)).min();
        let soonest = soonest.filter(|left| *left > Duration::ZERO);
        create.retain(|i| left(*i) == Duration::ZERO);
        if let Some(left) = soonest {
            self.enqueue_job(job, left.max(crate::policy::job::SYNC_JOB_BATCH_PERIOD));
        }
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
        let at = usize::from(worker);
        let same =
            self.w.jobs[job.ix()].incarnation == self.w.job_controller.workers[at].incarnation;
        let sync = &mut self.w.jobs[job.ix()].sync;
        sync.expected = sync.expected.saturating_sub(1);
        let refused = self.follower_refused(job, index);
        if let Some(reason) = refused {
            self.w
                .api
                .answered(Call::JobPodCreate, Answer::Forbidden, self.w.now);
            self.pod_create_refused(job, index, &reason);
            self.w.job_controller.workers[at].batch_failed = true;
        } else if same && self.w.jobs[job.ix()].exists {
            self.w
                .api
                .answered(Call::JobPodCreate, Answer::Success, self.w.now);
            let failures = self.inherited_failures(at, job, index);
            let pod = self.create_pod(job, index);
            let p = &mut self.w.pods;
            (p.index_failures[pod.ix()], p.ignored_failures[pod.ix()]) = failures;
            self.w.job_controller.workers[at].deferred.created();
            self.job_event_pod_created(job, pod);
            self.enqueue_job_batched(job);
            self.schedule_pod(pod);
        }
        if self.one_less(worker) {
            self.next_batch(at);
        }
    }

    /// Annotations job-index-failure-count and job-index-ignored-failure-count of a new pod: those of the failed pod
    /// it replaces, and that pod's own end.
    fn inherited_failures(&self, worker: usize, job: JobId, index: u32) -> (u16, u16) {
        let c = self.w.job_controller.sync_result(worker).1;
        let Some(old) = c.replaced(index) else {
            return (0, 0);
        };
        let p = &self.w.pods;
        let (counted, ignored) = (p.index_failures[old.ix()], p.ignored_failures[old.ix()]);
        if self.verdict(job, old).counts {
            (counted.saturating_add(1), ignored)
        } else {
            (counted, ignored.saturating_add(1))
        }
    }

    /// firstPendingIndexes: neither active, succeeded nor failed (nor, with replacement Failed, terminating).
    fn missing_indexes(&self, worker: usize, job: JobId, count: u32, into: &mut Vec<u32>) {
        let m = &self.m.jobs[job.ix()];
        let only_failed =
            self.job_spec(job).pod_replacement_policy() == PodReplacementPolicy::Failed;
        let p = &self.w.pods;
        let taken = |pod: PodId| {
            let i = pod.ix();
            p.job[i] == job
                && match p.phase[i] {
                    Phase::Absent | Phase::Failed => false,
                    // One that ended well without finalizer was deleted before (suspend): its end is nobody's success.
                    Phase::Succeeded => p.has(pod, flag::FINALIZER),
                    _ => only_failed || !p.has(pod, flag::DELETING),
                }
        };
        let j = &self.w.jobs[job.ix()];
        let mut extra_taken: Vec<u32> = j
            .extra_pods
            .iter()
            .filter(|e| taken(**e))
            .map(|e| p.index[e.ix()])
            .collect();
        extra_taken.sort_unstable();
        let failed = &self.w.job_controller.sync_result(worker).1.failed_indexes;
        let limit = self
            .job_spec(job)
            .completions()
            .map_or(m.slots, |c| c.min(m.slots));
        for index in 0..limit {
            if into.len() as u32 == count {
                break;
            }
            let gone = taken(PodId(m.first_pod + index))
                || extra_taken.binary_search(&index).is_ok()
                || j.succeeded_indexes.binary_search(&index).is_ok()
                || failed.binary_search(&index).is_ok();
            if !gone {
                into.push(index);
            }
        }
    }
}
