//! The garbage collector's dependency graph: watch events update it and enqueue items.

use super::{CollectorItem, GarbageCollector, JobMarks, OwnerMarks, owned_objects};
use crate::apiserver;
use crate::ctx::{EngineContext, StoreWatcher};
use crate::event::SimulationEvent;
use crate::record::{Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::{JobChange, JobSetChange, PodChange, flag};
use sim_base::random::StreamPurpose;
use sim_base::{JobId, JobSetId, PodId};

impl GarbageCollector {
    pub(super) fn jobset_changed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, change: JobSetChange) {
        let foreground = ctx.store.jobsets[jobset.ix()].foreground;
        match change {
            JobSetChange::Deleting if foreground => {}
            // A JobSet deleted in the foreground has no Jobs left.
            JobSetChange::Gone => {}
            _ => return,
        }
        let jobs: Vec<JobId> = ctx.store.jobs_of(jobset).collect();
        for job in jobs {
            self.collect_owned_job(ctx, job);
        }
        self.collect_owned(ctx, jobset);
    }

    pub(super) fn job_changed(&mut self, ctx: &mut EngineContext<'_>, job: JobId, change: JobChange) {
        match change {
            JobChange::Created => {
                *self.job_marks(job) = JobMarks::default();
                let jobset = ctx.store.jobs[job.ix()].jobset;
                if owned_objects::is_created_after_deletion(ctx, jobset) {
                    self.collect_owned_job(ctx, job);
                }
            }
            // In the background, the Job keeps its pods until it is removed, whichever finalizers hold it.
            JobChange::Deleting if ctx.store.jobs[job.ix()].dependents_deleted => {}
            JobChange::Deleting => self.notify_graph(ctx, job, true),
            JobChange::Gone => {
                let j = &ctx.store.jobs[job.ix()];
                if !j.pods.is_empty() && !j.pods_orphaned {
                    self.notify_graph(ctx, job, true);
                }
            }
            _ => {}
        }
    }

    pub(super) fn pod_changed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, change: PodChange) {
        match change {
            PodChange::Created => *self.pod_marks(pod) = OwnerMarks::default(),
            PodChange::Gone => {
                let job = ctx.store.pods.job[pod.ix()];
                if ctx.store.jobs[job.ix()].is_deleting() {
                    self.notify_graph(ctx, job, false);
                }
            }
            _ => {}
        }
    }

    fn notify_graph(&mut self, ctx: &mut EngineContext<'_>, job: JobId, deleted: bool) {
        let marks = self.job_marks(job);
        marks.notifications += 1;
        let about = TicketSubject::Job(job);
        let lag = ctx.watch_lag(StoreWatcher::GarbageCollector, about, marks.notifications);
        let sees = SimulationEvent::GarbageCollectorObserved {
            job,
            incarnation: ctx.store.jobs[job.ix()].incarnation,
            deleted,
        };
        ctx.schedule_after(lag, TicketWait::Watch, about, sees);
    }

    /// The graph observes a Job under deletion (`deleted`), or that one of its pods was removed.
    pub(super) fn observe(&mut self, ctx: &mut EngineContext<'_>, job: JobId, incarnation: u32, deleted: bool) {
        let j = &ctx.store.jobs[job.ix()];
        if j.incarnation != incarnation {
            return;
        }
        if !j.exists {
            // Background deletion: the owner was removed, its pods follow.
            if !j.pods_orphaned {
                self.queue_dependents(ctx, job);
                self.run_workers(ctx);
            }
            return;
        }
        if deleted {
            self.job_marks(job).deleting_dependents = true;
            self.queue_dependents(ctx, job);
        } else if !self.job_marks(job).deleting_dependents {
            return;
        }
        self.enqueue(ctx, CollectorItem::Job(job, incarnation));
        self.run_workers(ctx);
    }

    /// Enqueues the dependents. Go iterates over a map in any order; here the order is drawn once per Job object.
    pub(super) fn queue_dependents(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let (j, pods) = (&ctx.store.jobs[job.ix()], &ctx.store.pods);
        order.extend(j.pods.iter().filter(|p| !pods.has(*p, flag::DELETING)));
        let (key, incarnation) = (j.key, j.incarnation);
        ctx.draws
            .shuffle(StreamPurpose::GarbageCollectorOrder, key, incarnation, &mut order);
        for &pod in &order {
            let incarnation = ctx.store.pods.incarnation[pod.ix()];
            self.enqueue(ctx, CollectorItem::Pod(pod, incarnation));
        }
        self.order = order;
    }

    /// Deletes a Job whose JobSet is being deleted or was removed.
    fn collect_owned_job(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        let j = &ctx.store.jobs[job.ix()];
        if !j.exists || j.is_deleting() || j.orphaned {
            return;
        }
        let about = TicketSubject::Job(job);
        let nth = ctx.store.jobs[job.ix()].incarnation;
        let mark = ctx.mark();
        let mut last = mark;
        for lane in 0..2 {
            let get = RequestEntry::new(Call::CollectorJobGet, about, nth).with_substream(lane);
            last = ctx.request_at_mark(mark, get);
            ctx.record_response_at(Call::CollectorJobGet, RequestAnswer::Success, last.at);
        }
        assert!(last.at >= mark.at, "answers come after questions");
        let delete = RequestEntry::new(Call::CollectorJobDelete, about, nth);
        ctx.request(delete, SimulationEvent::GarbageCollectorDeletedJob(job));
    }

    pub(super) fn delete_owned_job(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        let j = &ctx.store.jobs[job.ix()];
        let (there, owner) = (j.exists, j.jobset);
        ctx.record_response(Call::CollectorJobDelete, RequestAnswer::from_existence(there));
        if !there {
            return;
        }
        if ctx.store.jobsets.get(owner.ix()).is_some_and(|js| js.deleted) {
            // The owner is absent: the collector deletes in the background (D-2).
            apiserver::remove_job(ctx, job);
        } else {
            apiserver::delete_job(ctx, job);
        }
    }
}
