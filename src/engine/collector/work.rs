//! The garbage collector's work queue and workers: their requests, and the handling of the responses.

use super::{Collector, Item, Step, Worker};
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Call, Deleter};
use crate::requests::{Answer, Req};
use crate::store::flag;
use sim_base::*;

impl Item {
    fn about(self) -> About {
        match self {
            Item::Pod(pod, _) => About::Pod(pod),
            Item::Job(job, _) => About::Job(job),
        }
    }
}

impl Collector {
    fn marks(&mut self, item: Item) -> &mut super::Marks {
        match item {
            Item::Pod(pod, _) => self.pod_marks(pod),
            Item::Job(job, _) => &mut self.job_marks(job).marks,
        }
    }

    /// Enqueues an item unless it is queued; an item being processed is queued again afterwards.
    pub(super) fn collect(&mut self, ctx: &Ctx<'_>, item: Item) {
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

    pub(super) fn run(&mut self, ctx: &mut Ctx<'_>) {
        let before = ctx.mark();
        while !self.queue.is_empty() {
            let free = self.workers.iter().position(|w| w.item.is_none());
            let Some(worker) = free else { break };
            let Some(item) = self.queue.pop_front() else {
                break;
            };
            if !self.take(ctx, item) {
                continue;
            }
            self.processed += 1;
            if self.workers.iter().all(|w| w.item.is_none()) {
                self.busy_since = ctx.now;
            }
            self.workers[worker] = Worker {
                item: Some(item),
                step: Step::GetItem,
                seen_version: 0,
            };
            let since = self.marks(item).since;
            ctx.take(since);
            self.send(ctx, worker);
        }
        ctx.back_to(before);
    }

    /// Removes an item from the queue. Returns false if no request is needed, because it was removed or is already
    /// being deleted.
    fn take(&mut self, ctx: &Ctx<'_>, item: Item) -> bool {
        let there = match item {
            Item::Pod(pod, incarnation) => ctx.store.pods.is(pod, incarnation),
            Item::Job(job, incarnation) => {
                let j = &ctx.store.jobs[job.ix()];
                j.exists && j.incarnation == incarnation
            }
        };
        if !there {
            return false;
        }
        self.marks(item).queued = false;
        if let Item::Pod(pod, _) = item
            && ctx.store.pods.has(pod, flag::DELETING)
        {
            return false;
        }
        self.marks(item).busy = true;
        true
    }

    fn send(&mut self, ctx: &mut Ctx<'_>, worker: usize) {
        let w = self.workers[worker];
        let Some(item) = w.item else { return };
        let marks = self.marks(item);
        let nth = marks.asked;
        marks.asked += 1;
        let answered = Event::CollectorAnswered {
            worker: worker as u16,
        };
        ctx.request(Req::new(call_of(w), item.about(), nth), answered);
    }

    pub(super) fn answered(&mut self, ctx: &mut Ctx<'_>, worker: u16) {
        let at = usize::from(worker);
        let w = self.workers[at];
        match w.item {
            Some(Item::Pod(pod, incarnation)) => self.pod_answered(ctx, at, (pod, incarnation)),
            Some(Item::Job(job, incarnation)) => self.job_answered(ctx, at, (job, incarnation)),
            None => unreachable!("an answer for a worker without an item"),
        }
    }

    fn pod_answered(&mut self, ctx: &mut Ctx<'_>, at: usize, (pod, incarnation): (PodId, u32)) {
        let w = self.workers[at];
        let call = call_of(w);
        if !ctx.store.pods.is(pod, incarnation) {
            let answer = Answer::found(w.step == Step::GetOwner);
            ctx.answered(call, answer);
            return self.done(ctx, at);
        }
        let version = ctx.store.pods.resource_version[pod.ix()];
        let conflict = w.step == Step::Delete && version != w.seen_version;
        if w.step == Step::Delete && !conflict {
            apiserver::delete_pod(ctx, call, pod, incarnation, Deleter::GarbageCollector);
            return self.done(ctx, at);
        }
        let answer = if conflict {
            Answer::Conflict
        } else {
            Answer::Success
        };
        ctx.answered(call, answer);
        let w = &mut self.workers[at];
        if matches!(w.step, Step::GetItem | Step::GetAgain) {
            w.seen_version = version;
        }
        w.step = match w.step {
            Step::GetItem => Step::GetOwner,
            Step::GetOwner | Step::GetAgain => Step::Delete,
            Step::Delete => Step::GetAgain,
            step => unreachable!("a pod has no step {step:?}"),
        };
        self.send(ctx, at);
    }

    fn job_answered(&mut self, ctx: &mut Ctx<'_>, at: usize, (job, incarnation): (JobId, u32)) {
        let w = self.workers[at];
        let j = &ctx.store.jobs[job.ix()];
        let there = j.exists && j.incarnation == incarnation;
        let has_pods = !j.pods.is_empty();
        ctx.answered(call_of(w), Answer::found(there));
        if !there {
            return self.done(ctx, at);
        }
        self.workers[at].step = match w.step {
            // The Job is kept if a sync created a pod before the PATCH.
            Step::GetItem | Step::Patch if has_pods => {
                self.queue_dependents(ctx, job);
                return self.done(ctx, at);
            }
            Step::GetItem => Step::GetForPatch,
            Step::GetForPatch => Step::Patch,
            _ => {
                apiserver::release_job(ctx, job);
                return self.done(ctx, at);
            }
        };
        self.send(ctx, at);
    }

    fn done(&mut self, ctx: &mut Ctx<'_>, at: usize) {
        let item = self.workers[at].item.take();
        if self.workers.iter().all(|w| w.item.is_none()) {
            self.busy.add(self.busy_since, ctx.now);
        }
        // The row of a removed pod may have been reused.
        let there = |item: &Item| match *item {
            Item::Pod(pod, incarnation) => ctx.store.pods.is(pod, incarnation),
            Item::Job(..) => true,
        };
        if let Some(item) = item.filter(there) {
            let marks = self.marks(item);
            marks.busy = false;
            if std::mem::take(&mut marks.dirty) {
                let since = self.marks(item).since;
                self.collect(ctx, item);
                self.marks(item).since = since;
            }
        }
        self.run(ctx);
    }
}

fn call_of(w: Worker) -> Call {
    match (w.step, w.item) {
        (Step::GetItem | Step::GetAgain, Some(Item::Pod(..))) => Call::CollectorPodGet,
        (Step::Delete, _) => Call::CollectorPodDelete,
        (Step::Patch, _) => Call::CollectorJobPatch,
        _ => Call::CollectorJobGet,
    }
}
