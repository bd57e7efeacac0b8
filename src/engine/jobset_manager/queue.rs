//! The work queue of passes (REC-1, REC-2): one key per JobSet, one worker, back-off after errors.
//!
//! Must never make decisions; these are made by the pass.

use super::JobSetManager;
use crate::record::{LedgerResource, TicketSubject, TicketWait};
use crate::{ctx::EngineContext, event::SimulationEvent};
use sim_base::{Duration, JobSetId, SimTime};

/// Error back-off: 5 ms · 2^n, at most 1000 s (REC-13).
const ERROR_BACKOFF: Duration = Duration::from_millis(5);
const ERROR_BACKOFF_MAX: Duration = Duration::from_secs(1000);

/// `errors` is the number of consecutive errors before this one.
pub(super) fn error_delay(errors: u32) -> Duration {
    let delay = ERROR_BACKOFF.saturating_mul(1 << errors.min(20));
    delay.min(ERROR_BACKOFF_MAX)
}

impl JobSetManager {
    /// REC-2: all events during a pass lead to a single following pass.
    pub(super) fn enqueue(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let row = self.row(jobset);
        if !row.cached.managed {
            return;
        }
        row.mark = ctx.mark();
        if self.pass.jobset == Some(jobset) {
            self.pass.dirty = true;
            return;
        }
        self.append(jobset);
        self.next_pass(ctx);
    }

    fn append(&mut self, jobset: JobSetId) {
        if !std::mem::replace(&mut self.row(jobset).queued, true) {
            self.queue.push_back(jobset);
            self.longest_queue = self.longest_queue.max(self.queue.len() as u32);
        }
    }

    fn enqueue_after(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, delay: Duration, why: TicketWait) {
        let (mut mark, at) = (ctx.mark(), ctx.now + delay);
        if self.row(jobset).timer.set(at, mark, why) {
            // The ticket of the wait is created at its end, because it belongs to the latest trigger.
            mark.at = at;
            ctx.schedule(mark, SimulationEvent::JobSetDue(jobset));
        }
    }

    /// Returns true if a timer is stale: its pass ran earlier, or the JobSet was removed or is managed by another
    /// controller, and the worker is free to drop the key at once.
    pub fn is_stale(&self, at: SimTime, jobset: JobSetId) -> bool {
        let row = &self.rows[jobset.ix()];
        let dropped = || !row.cached.exists && self.pass.jobset.is_none() && self.queue.is_empty();
        !row.timer.is_due(at) || !row.cached.managed || dropped()
    }

    /// Removes the fired timer.
    pub fn clear_timer(&mut self, at: SimTime, jobset: JobSetId) {
        self.row(jobset).timer.fire(at);
    }

    pub(super) fn timer_due(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        if let Some((mark, waited)) = self.row(jobset).timer.fire(ctx.now) {
            ctx.resume(mark, waited, TicketSubject::JobSet(jobset));
            self.enqueue(ctx, jobset);
        }
    }

    fn next_pass(&mut self, ctx: &mut EngineContext<'_>) {
        if self.pass.jobset.is_some() || self.downtime.is_some() {
            return;
        }
        let Some(jobset) = self.queue.pop_front() else {
            return;
        };
        let row = self.row(jobset);
        row.queued = false;
        row.passes += 1;
        let mark = row.mark;
        let before = ctx.take_cause(mark);
        self.passes += 1;
        self.begin_pass(ctx, jobset);
        ctx.restore_mark(before);
    }

    /// REC-13, REC-15: requeues the key after an error, or for the end of its TTL.
    pub(super) fn end_pass(&mut self, ctx: &mut EngineContext<'_>, failed: bool) {
        let jobset = self.pass.jobset.take();
        let jobset = jobset.expect("only a pass that has begun ends");
        self.busy.add(self.pass.start, ctx.now);
        if failed || self.pass.plan.error.is_some() {
            let row = self.row(jobset);
            let delay = error_delay(row.errors);
            row.errors += 1;
            self.enqueue_after(ctx, jobset, delay, TicketWait::ErrorBackoff);
        } else {
            let row = self.row(jobset);
            (row.errors, row.failure) = (0, String::new());
            if let Some(after) = self.pass.plan.requeue_after {
                self.enqueue_after(ctx, jobset, after, TicketWait::Ttl);
            }
        }
        if self.pass.dirty {
            self.append(jobset);
            // Alone in the queue, it waited for no other key: its cause is what arrived meanwhile.
            if self.queue.front() == Some(&jobset) {
                let mark = self.row(jobset).mark;
                let waited = TicketWait::Queue(LedgerResource::JobSetReconciler);
                ctx.resume(mark, waited, TicketSubject::JobSet(jobset));
            }
        }
        self.next_pass(ctx);
    }
}
