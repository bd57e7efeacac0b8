//! The Job controller's work queue: delays, batching, de-duplication, and the workers that process it (kubernetes.md
//! 1.1). The processing of a key is in `sync`.

use super::JobController;
use super::worker::Stage;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Resource, Waited};
use crate::store::Store;
use sim_base::*;

impl JobController {
    /// Enqueues a sync after `delay`, unless an earlier one is due.
    pub(super) fn enqueue(
        &mut self,
        ctx: &mut Ctx<'_>,
        job: JobId,
        delay: Duration,
        waited: Waited,
    ) {
        if !ctx.store.jobs[job.ix()].exists {
            return;
        }
        let mut mark = ctx.mark();
        let at = ctx.now + delay;
        if self.rows[job.ix()].entry.ask(at, mark, waited) {
            // The ticket of the wait is created at its end, because it belongs to the latest change covered by the
            // sync.
            mark.at = at;
            ctx.push(mark, Event::JobDue(job));
        }
    }

    /// Returns true if a timer is stale: its sync ran earlier, or its Job was removed and a worker is free to drop
    /// the key at once. If no worker is free, the key may belong to the next Job with the name by then.
    pub fn is_void(&self, store: &Store, at: Time, job: JobId) -> bool {
        let entry = &self.rows[job.ix()].entry;
        let dropped = || !entry.is_busy() && self.workers.iter().any(|w| !w.active);
        !entry.is_due(at) || !store.jobs[job.ix()].exists && dropped()
    }

    /// Removes the fired timer.
    pub fn forget(&mut self, at: Time, job: JobId) {
        self.rows[job.ix()].entry.ring(at);
    }

    pub(super) fn job_due(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        let entry = &mut self.rows[job.ix()].entry;
        let Some((mark, waited)) = entry.ring(ctx.now) else {
            return;
        };
        ctx.resume(mark, waited, About::Job(job));
        if entry.ready(ctx.mark()) {
            self.queue.push_back(job);
            self.longest_queue = self.longest_queue.max(self.queue.len() as u32);
        }
        self.run_workers(ctx);
    }

    /// Runs queued syncs. A sync without requests ends immediately and starts the next one in this loop, not
    /// recursively.
    fn run_workers(&mut self, ctx: &mut Ctx<'_>) {
        if !self.dispatching {
            self.dispatching = true;
            self.start_syncs(ctx);
            self.dispatching = false;
        }
    }

    fn start_syncs(&mut self, ctx: &mut Ctx<'_>) {
        while !self.queue.is_empty() {
            let Some(worker) = self.workers.iter().position(|w| !w.active) else {
                return;
            };
            let Some(job) = self.queue.pop_front() else {
                return;
            };
            let mark = self.rows[job.ix()].entry.take();
            if !ctx.store.jobs[job.ix()].exists {
                continue;
            }
            let before = ctx.take(mark);
            self.begin_sync(ctx, worker, job);
            ctx.back_to(before);
        }
    }

    fn begin_sync(&mut self, ctx: &mut Ctx<'_>, worker: usize, job: JobId) {
        self.syncs += 1;
        let j = &ctx.store.jobs[job.ix()];
        self.workers[worker].begin(job, (j.incarnation, j.version));
        if self.workers.iter().all(|w| w.active) {
            self.busy_since = ctx.now;
        }
        let row = &mut self.rows[job.ix()];
        row.syncs += 1;
        row.entry.begin();
        self.start_sync(ctx, worker, job);
    }

    pub(super) fn end_sync(&mut self, ctx: &mut Ctx<'_>, worker: usize) {
        if self.workers.iter().all(|w| w.active) {
            self.busy.add(self.busy_since, ctx.now);
        }
        let w = &mut self.workers[worker];
        w.active = false;
        w.stage = Stage::Idle;
        let job = w.job;
        let failed = w.failed && ctx.store.jobs[job.ix()].exists;
        if let Some(delay) = self.rows[job.ix()].entry.end(failed) {
            self.enqueue(ctx, job, delay, Waited::ErrorBackoff);
        }
        if let Some(mark) = self.rows[job.ix()].entry.again() {
            self.queue.push_back(job);
            // Alone in the queue, it waited for no other key: its cause is what arrived meanwhile.
            if self.queue.front() == Some(&job) {
                let waited = Waited::Queue(Resource::JobControllerWorkers);
                ctx.resume(mark, waited, About::Job(job));
            }
        }
        self.run_workers(ctx);
    }
}
