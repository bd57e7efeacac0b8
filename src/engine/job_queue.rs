//! The Job controller's work queue: delays, batching, de-duplication, back-off, and workers that take from it
//! (kubernetes.md 1.1). What a worker does with a key is `controller_job`'s business.

use super::event::Event;
use super::run::Run;
use crate::base::*;

/// kubernetes.md 1.1: SyncJobBatchPeriod.
const SYNC_BATCH_PERIOD: Duration = Duration::from_secs(1);
/// Work queue limiter of failed syncs: 1 s · 2^k, at most 60 s.
const ERROR_BACKOFF_CAP_S: u64 = 60;

impl Run<'_> {
    /// A pod or the Job's status changed: sync in 1 s, unless one is due earlier.
    pub fn enqueue_job_batched(&mut self, job: JobId) {
        self.enqueue_job(job, SYNC_BATCH_PERIOD);
    }

    pub fn enqueue_job(&mut self, job: JobId, delay: Duration) {
        if !self.w.jobs[job.ix()].exists {
            return;
        }
        let at = self.w.now + delay;
        if at < self.w.jobs[job.ix()].sync.due {
            self.w.jobs[job.ix()].sync.due = at;
            self.at(at, Event::JobDue(job));
        }
    }

    pub fn job_due(&mut self, job: JobId) {
        let sync = &mut self.w.jobs[job.ix()].sync;
        if sync.due != self.w.now {
            return;
        }
        sync.due = Time::NEVER;
        if sync.processing {
            sync.dirty = true;
        } else if !sync.queued {
            sync.queued = true;
            let c = &mut self.w.job_controller;
            c.queue.push_back(job);
            c.longest_queue = c.longest_queue.max(c.queue.len() as u32);
        }
        self.run_job_workers();
    }

    /// A sync without requests ends at once and lets the next one in: by the loop, not by a call within a call.
    fn run_job_workers(&mut self) {
        if !self.w.job_controller.dispatching {
            self.w.job_controller.dispatching = true;
            self.start_syncs();
            self.w.job_controller.dispatching = false;
        }
    }

    fn start_syncs(&mut self) {
        while !self.w.job_controller.queue.is_empty() {
            let Some(worker) = self.w.job_controller.workers.iter().position(|w| !w.active) else {
                return;
            };
            let c = &mut self.w.job_controller;
            let Some(job) = c.queue.pop_front() else {
                return;
            };
            self.w.jobs[job.ix()].sync.queued = false;
            if !self.w.jobs[job.ix()].exists {
                continue;
            }
            c.syncs += 1;
            if c.workers.iter().filter(|w| w.active).count() + 1 == c.workers.len() {
                c.busy_since = self.w.now;
            }
            self.w.jobs[job.ix()].sync.processing = true;
            let w = &mut c.workers[worker];
            w.active = true;
            w.job = job;
            w.incarnation = self.w.jobs[job.ix()].incarnation;
            w.failed = false;
            self.start_sync(worker, job);
        }
    }

    pub(super) fn end_sync(&mut self, worker: usize) {
        let c = &mut self.w.job_controller;
        if c.workers.iter().all(|w| w.active) {
            c.busy.add(c.busy_since, self.w.now);
        }
        let w = &mut c.workers[worker];
        w.active = false;
        w.step = super::controller_job::Step::Idle;
        let (job, failed) = (w.job, w.failed);
        let exists = self.w.jobs[job.ix()].exists;
        let sync = &mut self.w.jobs[job.ix()].sync;
        sync.processing = false;
        if failed && exists {
            let delay = (1u64 << sync.errors.min(6)).min(ERROR_BACKOFF_CAP_S);
            sync.errors += 1;
            self.enqueue_job(job, Duration::from_secs(delay));
        } else {
            sync.errors = 0;
        }
        let sync = &mut self.w.jobs[job.ix()].sync;
        if sync.dirty {
            sync.dirty = false;
            if !sync.queued {
                sync.queued = true;
                self.w.job_controller.queue.push_back(job);
            }
        }
        self.run_job_workers();
    }
}
