//! The garbage collector's work queue and workers: their requests, and the handling of the responses.

use super::{CollectorItem, CollectorStep, CollectorWorker, GarbageCollector, graph};
use crate::record::{Call, DeletionActor, TicketSubject};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, store::flag};

impl CollectorItem {
    fn subject(self) -> TicketSubject {
        match self {
            CollectorItem::Pod(pod, _) => TicketSubject::Pod(pod),
            CollectorItem::Job(job, _) => TicketSubject::Job(job),
            CollectorItem::JobSet(jobset) => TicketSubject::JobSet(jobset),
        }
    }

    fn exists(self, ctx: &EngineContext<'_>) -> bool {
        match self {
            CollectorItem::Pod(pod, incarnation) => ctx.store.pods.is_current(pod, incarnation),
            CollectorItem::Job(job, incarnation) => {
                let j = &ctx.store.jobs[job.ix()];
                j.exists && j.incarnation == incarnation
            }
            CollectorItem::JobSet(jobset) => ctx.store.jobsets[jobset.ix()].exists(),
        }
    }

    fn resource_version(self, ctx: &EngineContext<'_>) -> u32 {
        match self {
            CollectorItem::Pod(pod, _) => ctx.store.pods.resource_version[pod.ix()],
            CollectorItem::Job(job, _) => ctx.store.jobs[job.ix()].version,
            CollectorItem::JobSet(jobset) => ctx.store.jobsets[jobset.ix()].resource_version,
        }
    }

    /// The state of the owner, according to the API server.
    fn owner(self, ctx: &EngineContext<'_>) -> OwnerState {
        let (there, foreground, orphaned) = match self {
            CollectorItem::Pod(pod, _) => {
                let j = &ctx.store.jobs[ctx.store.pods.job[pod.ix()].ix()];
                (j.exists, j.waits_for_pods(), j.pods_orphaned)
            }
            CollectorItem::Job(job, _) => {
                let j = &ctx.store.jobs[job.ix()];
                let owner = ctx.store.jobsets.get(j.jobset.ix());
                let there = owner.is_some_and(|row| row.exists());
                (there, owner.is_some_and(|row| row.foreground), j.orphaned)
            }
            CollectorItem::JobSet(_) => return OwnerState::Solid,
        };
        match (there, foreground) {
            _ if orphaned => OwnerState::Solid,
            (false, _) => OwnerState::Absent,
            (true, true) => OwnerState::Waiting,
            (true, false) => OwnerState::Solid,
        }
    }
}

/// The owner of an object (`garbagecollector.go`, classifyReferences).
#[derive(Copy, Clone, PartialEq, Eq)]
enum OwnerState {
    /// It exists, or the object has no owner: the object stays.
    Solid,
    Absent,
    /// It waits for the deletion of its dependents.
    Waiting,
}

impl GarbageCollector {
    fn marks(&mut self, item: CollectorItem) -> &mut super::OwnerMarks {
        match item {
            CollectorItem::Pod(pod, _) => self.pod_marks(pod),
            CollectorItem::Job(job, _) => &mut self.job_node(job).marks,
            CollectorItem::JobSet(jobset) => &mut self.jobset_node(jobset).marks,
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
            self.workers[worker] = CollectorWorker { item: Some(item), ..CollectorWorker::default() };
            let since = self.marks(item).since;
            ctx.take_cause(since);
            self.send_request(ctx, worker);
        }
        ctx.restore_mark(before);
    }

    /// Removes an item from the queue. Returns false if no request is needed, because it was removed or is already
    /// being deleted.
    fn begin_item(&mut self, ctx: &EngineContext<'_>, item: CollectorItem) -> bool {
        if !item.exists(ctx) {
            return false;
        }
        self.marks(item).queued = false;
        let is_being_deleted = match item {
            CollectorItem::Pod(pod, _) => ctx.store.pods.has(pod, flag::DELETING),
            CollectorItem::Job(job, _) => {
                let j = &ctx.store.jobs[job.ix()];
                j.is_deleting() && !j.waits_for_pods()
            }
            CollectorItem::JobSet(jobset) => !ctx.store.jobsets[jobset.ix()].foreground,
        };
        if is_being_deleted {
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
        let Some(item) = w.item else { unreachable!("an answer for a worker without an item") };
        let waits = match item {
            CollectorItem::Pod(..) => false,
            CollectorItem::Job(job, _) => self.job_node(job).deleting_dependents,
            CollectorItem::JobSet(_) => true,
        };
        match w.step {
            CollectorStep::GetForPatch | CollectorStep::Patch => self.handle_owner_response(ctx, at, item),
            CollectorStep::GetItem if waits => self.handle_owner_response(ctx, at, item),
            _ => self.handle_dependent_response(ctx, at, item),
        }
    }

    /// An object whose owner is being deleted or was removed (attemptToDeleteItem).
    fn handle_dependent_response(&mut self, ctx: &mut EngineContext<'_>, at: usize, item: CollectorItem) {
        let w = self.workers[at];
        let call = next_call(w);
        if !item.exists(ctx) {
            let answer = RequestAnswer::from_existence(w.step == CollectorStep::GetOwner);
            ctx.record_response(call, answer);
            return self.finish_item(ctx, at);
        }
        let version = item.resource_version(ctx);
        let conflict = w.step == CollectorStep::Delete && version != w.seen_version;
        if w.step == CollectorStep::Delete && !conflict {
            self.delete_dependent(ctx, item, w.foreground);
            return self.finish_item(ctx, at);
        }
        let owner = item.owner(ctx);
        let answer = match w.step {
            _ if conflict => RequestAnswer::Conflict,
            CollectorStep::GetOwner => RequestAnswer::from_existence(owner != OwnerState::Absent),
            _ => RequestAnswer::Success,
        };
        ctx.record_response(call, answer);
        if w.step == CollectorStep::GetOwner && owner == OwnerState::Solid {
            return self.finish_item(ctx, at);
        }
        if matches!(w.step, CollectorStep::GetItem | CollectorStep::GetAgain) {
            self.workers[at].seen_version = version;
        }
        self.workers[at].step = match w.step {
            CollectorStep::GetItem if !self.is_owner_absent(ctx, item) => CollectorStep::GetOwner,
            CollectorStep::GetItem | CollectorStep::GetOwner => {
                self.workers[at].foreground = self.deletes_in_foreground(ctx, item, owner);
                CollectorStep::Delete
            }
            CollectorStep::GetAgain => CollectorStep::Delete,
            CollectorStep::Delete => CollectorStep::GetAgain,
            step => unreachable!("a dependent has no step {step:?}"),
        };
        self.send_request(ctx, at);
    }

    /// Returns true if the graph has recorded that the owner is gone (absentOwnerCache).
    fn is_owner_absent(&mut self, ctx: &EngineContext<'_>, item: CollectorItem) -> bool {
        let owner = item.owner(ctx);
        let recorded = match item {
            CollectorItem::Pod(pod, _) => self.job_node(ctx.store.pods.job[pod.ix()]).absent,
            CollectorItem::Job(job, _) => {
                let jobset = ctx.store.jobs[job.ix()].jobset;
                jobset.is_some() && self.jobset_node(jobset).absent
            }
            CollectorItem::JobSet(_) => false,
        };
        recorded && owner == OwnerState::Absent
    }

    /// The propagation of the DELETE: foreground if the owner waits and the graph knows dependents of the object, or
    /// if the object is in foreground deletion already; otherwise background.
    fn deletes_in_foreground(&mut self, ctx: &mut EngineContext<'_>, item: CollectorItem, owner: OwnerState) -> bool {
        let CollectorItem::Job(job, _) = item else {
            return false;
        };
        ctx.store.jobs[job.ix()].waits_for_pods() || owner == OwnerState::Waiting && self.knows_pods(ctx, job)
    }

    fn delete_dependent(&mut self, ctx: &mut EngineContext<'_>, item: CollectorItem, foreground: bool) {
        match item {
            CollectorItem::Pod(pod, incarnation) => {
                let by = DeletionActor::GarbageCollector;
                apiserver::delete_pod(ctx, Call::CollectorPodDelete, pod, incarnation, by);
            }
            CollectorItem::Job(job, _) => {
                ctx.record_response(Call::CollectorJobDelete, RequestAnswer::Success);
                if foreground {
                    apiserver::delete_job(ctx, job);
                } else {
                    apiserver::remove_job(ctx, job);
                }
            }
            CollectorItem::JobSet(_) => {}
        }
    }

    /// An object that waits for its dependents (processDeletingDependentsItem).
    fn handle_owner_response(&mut self, ctx: &mut EngineContext<'_>, at: usize, item: CollectorItem) {
        let w = self.workers[at];
        let there = item.exists(ctx);
        ctx.record_response(next_call(w), RequestAnswer::from_existence(there));
        if !there {
            return self.finish_item(ctx, at);
        }
        self.workers[at].step = match w.step {
            // The object is kept if a dependent was created before the PATCH.
            CollectorStep::GetItem | CollectorStep::Patch if has_dependents(ctx, item) => {
                match item {
                    CollectorItem::Job(job, _) => self.queue_pods(ctx, job),
                    CollectorItem::JobSet(jobset) => self.queue_jobs(ctx, jobset),
                    CollectorItem::Pod(..) => {}
                }
                return self.finish_item(ctx, at);
            }
            CollectorStep::GetItem => CollectorStep::GetForPatch,
            CollectorStep::GetForPatch => CollectorStep::Patch,
            _ => {
                match item {
                    CollectorItem::Job(job, _) => apiserver::remove_job(ctx, job),
                    CollectorItem::JobSet(jobset) => apiserver::remove_deletion_finalizer(ctx, jobset),
                    CollectorItem::Pod(..) => {}
                }
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
        let there = |item: &CollectorItem| !matches!(item, CollectorItem::Pod(..)) || item.exists(ctx);
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

fn has_dependents(ctx: &EngineContext<'_>, owner: CollectorItem) -> bool {
    match owner {
        CollectorItem::Pod(..) => false,
        CollectorItem::Job(job, _) => !ctx.store.jobs[job.ix()].pods.is_empty(),
        CollectorItem::JobSet(jobset) => graph::has_dependents(ctx, jobset),
    }
}

fn next_call(w: CollectorWorker) -> Call {
    use CollectorStep::*;
    match (w.item, w.step) {
        (Some(CollectorItem::JobSet(_)), Patch) => Call::CollectorJobSetPatch,
        (Some(CollectorItem::JobSet(_)), _) => Call::CollectorJobSetGet,
        (Some(CollectorItem::Job(..)), GetOwner) => Call::CollectorJobSetGet,
        (Some(CollectorItem::Job(..)), Delete) => Call::CollectorJobDelete,
        (Some(CollectorItem::Pod(..)), GetItem | GetAgain) => Call::CollectorPodGet,
        (_, Delete) => Call::CollectorPodDelete,
        (_, Patch) => Call::CollectorJobPatch,
        _ => Call::CollectorJobGet,
    }
}
