//! The Job controller's work queue: delays, batching, de-duplication, and the workers that process it (kubernetes.md
//! 1.1). The processing of a key is in `sync`.

use super::JobController;
use super::worker::SyncStage;
use crate::record::{LedgerResource, TicketSubject, TicketWait};
use crate::{ctx::EngineContext, event::SimulationEvent, store::ObjectStore};
use sim_base::{Duration, JobId, SimTime};

impl JobController {
    /// Enqueues a sync after `delay`, unless an earlier delayed one is due. Without a delay, the key is added at once
    /// and a delayed sync remains due.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, ctx: &mut EngineContext<'_>, job: JobId, delay: Duration, waited: TicketWait) {
        if !ctx.store.jobs[job.ix()].exists {
            return;
        }
        let mut mark = ctx.mark();
        let at = ctx.now + delay;
        let entry = &mut self.rows[job.ix()].entry;
        let sets_timer = match delay {
            Duration::ZERO => entry.request_sync_now(mark, waited),
            _ => entry.request_sync(at, mark, waited),
        };
        if sets_timer {
            // The ticket of the wait is created at its end, because it belongs to the latest change covered by the
            // sync.
            mark.at = at;
            ctx.schedule(mark, SimulationEvent::JobDue(job));
        }
    }

    /// Returns true if a timer is stale: its sync ran earlier, or its Job was removed and a worker is free to drop
    /// the key at once. If no worker is free, the key may belong to the next Job with the name by then.
    pub fn is_stale(&self, store: &ObjectStore, at: SimTime, job: JobId) -> bool {
        let entry = &self.rows[job.ix()].entry;
        let dropped = || !entry.is_busy() && self.workers.iter().any(|w| !w.active);
        !entry.is_due(at) || !store.jobs[job.ix()].exists && dropped()
    }

    /// Removes the fired timer.
    pub fn clear_timer(&mut self, at: SimTime, job: JobId) {
        self.rows[job.ix()].entry.fire_timer(at);
    }

    pub(super) fn job_due(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        let entry = &mut self.rows[job.ix()].entry;
        let Some((mark, waited)) = entry.fire_timer(ctx.now) else {
            return;
        };
        ctx.resume(mark, waited, TicketSubject::Job(job));
        if entry.mark_due(ctx.mark()) {
            self.queue.push_back(job);
            self.longest_queue = self.longest_queue.max(self.queue.len() as u32);
        }
        self.run_workers(ctx);
    }

    /// Runs queued syncs. A sync without requests ends immediately and starts the next one in this loop, not
    /// recursively.
    fn run_workers(&mut self, ctx: &mut EngineContext<'_>) {
        if !self.dispatching {
            self.dispatching = true;
            self.start_syncs(ctx);
            self.dispatching = false;
        }
    }

    fn start_syncs(&mut self, ctx: &mut EngineContext<'_>) {
        while !self.queue.is_empty() {
            let Some(worker) = self.workers.iter().position(|w| !w.active) else {
                return;
            };
            let Some(job) = self.queue.pop_front() else {
                return;
            };
            let mark = self.rows[job.ix()].entry.dequeue();
            if !ctx.store.jobs[job.ix()].exists {
                continue;
            }
            let before = ctx.take_cause(mark);
            self.begin_sync(ctx, worker, job);
            ctx.restore_mark(before);
        }
    }

    fn begin_sync(&mut self, ctx: &mut EngineContext<'_>, worker: usize, job: JobId) {
        self.syncs += 1;
        let j = &ctx.store.jobs[job.ix()];
        self.workers[worker].begin(job, (j.incarnation, j.version));
        if self.workers.iter().all(|w| w.active) {
            self.busy_since = ctx.now;
        }
        self.rows[job.ix()].entry.begin();
        self.start_sync(ctx, worker, job);
    }

    pub(super) fn end_sync(&mut self, ctx: &mut EngineContext<'_>, worker: usize) {
        if self.workers.iter().all(|w| w.active) {
            self.busy.add(self.busy_since, ctx.now);
        }
        let w = &mut self.workers[worker];
        w.active = false;
        w.stage = SyncStage::Idle;
        let job = w.job;
        let failed = w.failed && ctx.store.jobs[job.ix()].exists;
        if let Some(delay) = self.rows[job.ix()].entry.end(failed) {
            self.enqueue(ctx, job, delay, TicketWait::ErrorBackoff);
        }
        if let Some(mark) = self.rows[job.ix()].entry.take_requeue() {
            self.queue.push_back(job);
            // Alone in the queue, it waited for no other key: its cause is what arrived meanwhile.
            if self.queue.front() == Some(&job) {
                let waited = TicketWait::Queue(LedgerResource::JobControllerWorkers);
                ctx.resume(mark, waited, TicketSubject::Job(job));
            }
        }
        self.run_workers(ctx);
    }
}
