//! The garbage collector's work queue and workers: their requests, and the handling of the responses.

use super::{CollectorItem, CollectorStep, CollectorWorker, GarbageCollector};
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::SimulationEvent;
use crate::record::{Call, DeletionActor, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::flag;
use sim_base::{JobId, PodId};

impl CollectorItem {
    fn subject(self) -> TicketSubject {
        match self {
            CollectorItem::Pod(pod, _) => TicketSubject::Pod(pod),
            CollectorItem::Job(job, _) => TicketSubject::Job(job),
        }
    }
}

impl GarbageCollector {
    fn marks(&mut self, item: CollectorItem) -> &mut super::OwnerMarks {
        match item {
            CollectorItem::Pod(pod, _) => self.pod_marks(pod),
            CollectorItem::Job(job, _) => &mut self.job_marks(job).marks,
        }
    }

    /// Enqueues an item unless it is queued; an item being processed is queued again afterwards.
    pub(super) fn enqueue(&mut self, ctx: &EngineContext<'_>, item: CollectorItem) {
        let since = ctx.mark();
        let marks = self.marks(item);
        marks.since = since;
        if marks.busy {
            marks.dirty = true;
        } else if !std::mem::replace(&mut marks.queued, true) {
            self.queue.push_back(item);
            self.longest_queue = self.longest_queue.max(self.queue.len() as u32);
        }
    }

    pub(super) fn run_workers(&mut self, ctx: &mut EngineContext<'_>) {
        let before = ctx.mark();
        while !self.queue.is_empty() {
            let free = self.workers.iter().position(|w| w.item.is_none());
            let Some(worker) = free else { break };
            let Some(item) = self.queue.pop_front() else {
                break;
            };
            if !self.begin_item(ctx, item) {
                continue;
            }
            self.processed += 1;
            if self.workers.iter().all(|w| w.item.is_none()) {
                self.busy_since = ctx.now;
            }
            self.workers[worker] = CollectorWorker {
                item: Some(item),
                step: CollectorStep::GetItem,
                seen_version: 0,
            };
            let since = self.marks(item).since;
            ctx.take_cause(since);
            self.send_request(ctx, worker);
        }
        ctx.restore_mark(before);
    }

    /// Removes an item from the queue. Returns false if no request is needed, because it was removed or is already
    /// being deleted.
    fn begin_item(&mut self, ctx: &EngineContext<'_>, item: CollectorItem) -> bool {
        let there = match item {
            CollectorItem::Pod(pod, incarnation) => ctx.store.pods.is_current(pod, incarnation),
            CollectorItem::Job(job, incarnation) => {
                let j = &ctx.store.jobs[job.ix()];
                j.exists && j.incarnation == incarnation
            }
        };
        if !there {
            return false;
        }
        self.marks(item).queued = false;
        if let CollectorItem::Pod(pod, _) = item
            && ctx.store.pods.has(pod, flag::DELETING)
        {
            return false;
        }
        self.marks(item).busy = true;
        true
    }

    fn send_request(&mut self, ctx: &mut EngineContext<'_>, worker: usize) {
        let w = self.workers[worker];
        let Some(item) = w.item else { return };
        let marks = self.marks(item);
        let nth = marks.requests;
        marks.requests += 1;
        let answered = SimulationEvent::GarbageCollectorAnswered { worker: worker as u16 };
        ctx.request(RequestEntry::new(next_call(w), item.subject(), nth), answered);
    }

    pub(super) fn handle_response(&mut self, ctx: &mut EngineContext<'_>, worker: u16) {
        let at = usize::from(worker);
        let w = self.workers[at];
        match w.item {
            Some(CollectorItem::Pod(pod, incarnation)) => self.handle_pod_response(ctx, at, (pod, incarnation)),
            Some(CollectorItem::Job(job, incarnation)) => self.handle_job_response(ctx, at, (job, incarnation)),
            None => unreachable!("an answer for a worker without an item"),
        }
    }

    fn handle_pod_response(&mut self, ctx: &mut EngineContext<'_>, at: usize, (pod, incarnation): (PodId, u32)) {
        let w = self.workers[at];
        let call = next_call(w);
        if !ctx.store.pods.is_current(pod, incarnation) {
            let answer = RequestAnswer::from_existence(w.step == CollectorStep::GetOwner);
            ctx.record_response(call, answer);
            return self.finish_item(ctx, at);
        }
        let version = ctx.store.pods.resource_version[pod.ix()];
        let conflict = w.step == CollectorStep::Delete && version != w.seen_version;
        if w.step == CollectorStep::Delete && !conflict {
            apiserver::delete_pod(ctx, call, pod, incarnation, DeletionActor::GarbageCollector);
            return self.finish_item(ctx, at);
        }
        let answer = if conflict {
            RequestAnswer::Conflict
        } else {
            RequestAnswer::Success
        };
        ctx.record_response(call, answer);
        let w = &mut self.workers[at];
        if matches!(w.step, CollectorStep::GetItem | CollectorStep::GetAgain) {
            w.seen_version = version;
        }
        w.step = match w.step {
            CollectorStep::GetItem => CollectorStep::GetOwner,
            CollectorStep::GetOwner | CollectorStep::GetAgain => CollectorStep::Delete,
            CollectorStep::Delete => CollectorStep::GetAgain,
            step => unreachable!("a pod has no step {step:?}"),
        };
        self.send_request(ctx, at);
    }

    fn handle_job_response(&mut self, ctx: &mut EngineContext<'_>, at: usize, (job, incarnation): (JobId, u32)) {
        let w = self.workers[at];
        let j = &ctx.store.jobs[job.ix()];
        let there = j.exists && j.incarnation == incarnation;
        let has_pods = !j.pods.is_empty();
        ctx.record_response(next_call(w), RequestAnswer::from_existence(there));
        if !there {
            return self.finish_item(ctx, at);
        }
        self.workers[at].step = match w.step {
            // The Job is kept if a sync created a pod before the PATCH.
            CollectorStep::GetItem | CollectorStep::Patch if has_pods => {
                self.queue_dependents(ctx, job);
                return self.finish_item(ctx, at);
            }
            CollectorStep::GetItem => CollectorStep::GetForPatch,
            CollectorStep::GetForPatch => CollectorStep::Patch,
            _ => {
                apiserver::release_job(ctx, job);
                return self.finish_item(ctx, at);
            }
        };
        self.send_request(ctx, at);
    }

    fn finish_item(&mut self, ctx: &mut EngineContext<'_>, at: usize) {
        let item = self.workers[at].item.take();
        if self.workers.iter().all(|w| w.item.is_none()) {
            self.busy.add(self.busy_since, ctx.now);
        }
        // The row of a removed pod may have been reused.
        let there = |item: &CollectorItem| match *item {
            CollectorItem::Pod(pod, incarnation) => ctx.store.pods.is_current(pod, incarnation),
            CollectorItem::Job(..) => true,
        };
        if let Some(item) = item.filter(there) {
            let marks = self.marks(item);
            marks.busy = false;
            if std::mem::take(&mut marks.dirty) {
                let since = self.marks(item).since;
                self.enqueue(ctx, item);
                self.marks(item).since = since;
            }
        }
        self.run_workers(ctx);
    }
}

fn next_call(w: CollectorWorker) -> Call {
    match (w.step, w.item) {
        (CollectorStep::GetItem | CollectorStep::GetAgain, Some(CollectorItem::Pod(..))) => Call::CollectorPodGet,
        (CollectorStep::Delete, _) => Call::CollectorPodDelete,
        (CollectorStep::Patch, _) => Call::CollectorJobPatch,
        _ => Call::CollectorJobGet,
    }
}
