//! The garbage collector's dependency graph: watch events update it and enqueue items.

use super::{CollectorItem, GarbageCollector, GraphNode, OwnerMarks, owned_objects};
use crate::ctx::{EngineContext, StoreWatcher};
use crate::event::SimulationEvent;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{JobChange, JobSetChange, flag};
use sim_base::random::StreamPurpose;
use sim_base::{JobId, JobSetId, PodId};

impl GarbageCollector {
    pub(super) fn jobset_changed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, change: JobSetChange) {
        let row = &ctx.store.jobsets[jobset.ix()];
        match change {
            JobSetChange::Deleting if row.foreground => self.notify_jobset(ctx, jobset, true),
            JobSetChange::Gone if has_dependents(ctx, jobset) => self.notify_jobset(ctx, jobset, true),
            _ => {}
        }
    }

    pub(super) fn job_changed(&mut self, ctx: &mut EngineContext<'_>, job: JobId, change: JobChange) {
        let j = &ctx.store.jobs[job.ix()];
        let jobset = j.jobset;
        match change {
            JobChange::Created => {
                *self.job_node(job) = GraphNode::default();
                if j.owner_missing || owned_objects::is_created_after_deletion(ctx, jobset) {
                    let incarnation = ctx.store.jobs[job.ix()].incarnation;
                    self.enqueue(ctx, CollectorItem::Job(job, incarnation));
                    self.run_workers(ctx);
                }
            }
            // In the background, the Job keeps its pods until it is removed, whichever finalizers hold it.
            JobChange::Deleting if j.dependents_deleted => {}
            JobChange::Deleting => self.notify_job(ctx, job, true),
            JobChange::Gone => {
                if !j.pods.is_empty() && !j.pods_orphaned {
                    self.notify_job(ctx, job, true);
                }
                self.dependent_removed(ctx, jobset);
            }
            _ => {}
        }
    }

    pub(super) fn pod_created(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        *self.pod_marks(pod) = OwnerMarks { since: ctx.mark(), ..OwnerMarks::default() };
        let job = ctx.store.pods.job[pod.ix()];
        if ctx.store.jobs[job.ix()].owner_missing && ctx.store.names.is_standalone_pod(job) {
            let incarnation = ctx.store.pods.incarnation[pod.ix()];
            self.enqueue(ctx, CollectorItem::Pod(pod, incarnation));
            self.run_workers(ctx);
        }
    }

    pub(super) fn pod_removed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let job = ctx.store.pods.job[pod.ix()];
        let removed = &mut self.job_node(job).removed;
        *removed = (removed.0 + 1, ctx.now);
        if ctx.store.jobs[job.ix()].is_deleting() {
            self.notify_job(ctx, job, false);
        }
    }

    /// A Job, Service or claim was removed: its JobSet may have waited for it.
    pub(super) fn dependent_removed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let owner = ctx.store.jobsets.get(jobset.ix());
        if owner.is_some_and(|row| row.exists() && row.foreground) {
            self.notify_jobset(ctx, jobset, false);
        }
    }

    fn notify_job(&mut self, ctx: &mut EngineContext<'_>, job: JobId, deleted: bool) {
        let node = self.job_node(job);
        node.notifications += 1;
        let about = TicketSubject::Job(job);
        let lag = ctx.watch_lag(StoreWatcher::GarbageCollector, about, node.notifications);
        let sees = SimulationEvent::GarbageCollectorObserved {
            job,
            incarnation: ctx.store.jobs[job.ix()].incarnation,
            deleted,
        };
        ctx.schedule_after(lag, TicketWait::Watch, about, sees);
    }

    fn notify_jobset(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, deleted: bool) {
        let node = self.jobset_node(jobset);
        node.notifications += 1;
        let about = TicketSubject::JobSet(jobset);
        let lag = ctx.watch_lag(StoreWatcher::GarbageCollector, about, node.notifications);
        let sees = SimulationEvent::GarbageCollectorObservedJobSet { jobset, deleted };
        ctx.schedule_after(lag, TicketWait::Watch, about, sees);
    }

    /// The graph observes a Job under deletion or its removal (`deleted`), or that one of its pods was removed.
    pub(super) fn observe(&mut self, ctx: &mut EngineContext<'_>, job: JobId, incarnation: u32, deleted: bool) {
        let j = &ctx.store.jobs[job.ix()];
        if j.incarnation != incarnation {
            return;
        }
        if !j.exists {
            // Background deletion: the owner was removed, its pods follow.
            if !j.pods_orphaned {
                self.job_node(job).absent = true;
                self.queue_pods(ctx, job);
                self.run_workers(ctx);
            }
            return;
        }
        if deleted {
            self.job_node(job).deleting_dependents = true;
            self.queue_pods(ctx, job);
        } else if !self.job_node(job).deleting_dependents {
            return;
        }
        self.enqueue(ctx, CollectorItem::Job(job, incarnation));
        self.run_workers(ctx);
    }

    /// The graph observes a JobSet under foreground deletion or its removal (`deleted`), or that one of its
    /// dependents was removed.
    pub(super) fn observe_jobset(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId, deleted: bool) {
        let there = ctx.store.jobsets[jobset.ix()].exists();
        let node = self.jobset_node(jobset);
        node.deleting_dependents |= deleted && there;
        node.absent |= !there;
        if deleted {
            self.queue_jobs(ctx, jobset);
            self.collect_owned(ctx, jobset);
        }
        if self.jobset_node(jobset).deleting_dependents {
            self.enqueue(ctx, CollectorItem::JobSet(jobset));
        }
        self.run_workers(ctx);
    }

    /// Enqueues the pods. Go iterates over a map in any order; here the order is drawn once per Job object.
    pub(super) fn queue_pods(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let (j, pods) = (&ctx.store.jobs[job.ix()], &ctx.store.pods);
        order.extend(j.pods.iter().filter(|p| !pods.has(*p, flag::DELETING)));
        let (key, incarnation) = (j.key, j.incarnation);
        ctx.draws.shuffle(StreamPurpose::GarbageCollectorOrder, key, incarnation, &mut order);
        for &pod in &order {
            let incarnation = ctx.store.pods.incarnation[pod.ix()];
            self.enqueue(ctx, CollectorItem::Pod(pod, incarnation));
        }
        self.order = order;
    }

    /// Enqueues the Jobs of a JobSet that are not being deleted, in an order drawn once per JobSet.
    pub(super) fn queue_jobs(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let jobs = ctx.store.jobs_of(jobset);
        let mut order: Vec<JobId> = jobs.filter(|job| !ctx.store.jobs[job.ix()].is_deleting()).collect();
        let key = ctx.store.jobsets[jobset.ix()].key;
        ctx.draws.shuffle(StreamPurpose::GarbageCollectorOrder, key, 0, &mut order);
        for job in order {
            let incarnation = ctx.store.jobs[job.ix()].incarnation;
            self.enqueue(ctx, CollectorItem::Job(job, incarnation));
        }
    }

    /// Returns true if the graph knows a pod of the Job: it has observed the creation of a pod that exists, or not yet
    /// the removal of the last one.
    pub(super) fn knows_pods(&mut self, ctx: &mut EngineContext<'_>, job: JobId) -> bool {
        if ctx.store.jobs[job.ix()].pods_orphaned {
            return false;
        }
        let (count, at) = self.job_node(job).removed;
        let watcher = StoreWatcher::GarbageCollectorPods;
        if count > 0 && at + ctx.watch_lag(watcher, TicketSubject::Job(job), count) > ctx.now {
            return true;
        }
        let pods: Vec<PodId> = ctx.store.jobs[job.ix()].pods.iter().collect();
        let mut all = pods.into_iter();
        all.any(|pod| self.pod_marks(pod).since.at + ctx.watch_lag(watcher, TicketSubject::Pod(pod), 0) <= ctx.now)
    }
}

/// Returns true if the JobSet owns an object, which blocks its foreground deletion (`ctrl.SetControllerReference`).
pub(super) fn has_dependents(ctx: &EngineContext<'_>, jobset: JobSetId) -> bool {
    let mut jobs = ctx.store.jobs_of(jobset).map(|job| &ctx.store.jobs[job.ix()]);
    jobs.any(|j| j.exists && !j.orphaned) || ctx.store.others.owned(jobset).next().is_some()
}
