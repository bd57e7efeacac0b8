//! The garbage collector's dependency graph: watch events update it and enqueue items.

use super::{Collector, Item, JobMarks, Marks, owned};
use crate::apiserver;
use crate::ctx::{Ctx, Watcher};
use crate::event::Event;
use crate::record::{About, Call, Waited};
use crate::requests::{Answer, Req};
use crate::store::{JobChange, JobSetChange, PodChange, flag};
use sim_base::random::Purpose;
use sim_base::*;

impl Collector {
    pub(super) fn jobset_changed(
        &mut self,
        ctx: &mut Ctx<'_>,
        jobset: JobSetId,
        change: JobSetChange,
    ) {
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

    pub(super) fn job_changed(&mut self, ctx: &mut Ctx<'_>, job: JobId, change: JobChange) {
        match change {
            JobChange::Created => {
                *self.job_marks(job) = JobMarks::default();
                let jobset = ctx.store.jobs[job.ix()].jobset;
                if owned::is_late(ctx, jobset) {
                    self.collect_owned_job(ctx, job);
                }
            }
            // In the background, the Job keeps its pods until it is removed, whichever finalizers hold it.
            JobChange::Deleting if ctx.store.jobs[job.ix()].collected => {}
            JobChange::Deleting => self.tell(ctx, job, true),
            JobChange::Gone => {
                let j = &ctx.store.jobs[job.ix()];
                if !j.pods.is_empty() && !j.pods_orphaned {
                    self.tell(ctx, job, true);
                }
            }
            _ => {}
        }
    }

    pub(super) fn pod_changed(&mut self, ctx: &mut Ctx<'_>, pod: PodId, change: PodChange) {
        match change {
            PodChange::Created => *self.pod_marks(pod) = Marks::default(),
            PodChange::Gone => {
                let job = ctx.store.pods.job[pod.ix()];
                if ctx.store.jobs[job.ix()].is_deleting() {
                    self.tell(ctx, job, false);
                }
            }
            _ => {}
        }
    }

    fn tell(&mut self, ctx: &mut Ctx<'_>, job: JobId, deleted: bool) {
        let marks = self.job_marks(job);
        marks.told += 1;
        let about = About::Job(job);
        let lag = ctx.watch_lag(Watcher::Collector, about, marks.told);
        let sees = Event::CollectorSees {
            job,
            incarnation: ctx.store.jobs[job.ix()].incarnation,
            deleted,
        };
        ctx.after(lag, Waited::Watch, about, sees);
    }

    /// The graph observes a Job under deletion (`deleted`), or that one of its pods was removed.
    pub(super) fn sees(&mut self, ctx: &mut Ctx<'_>, job: JobId, incarnation: u32, deleted: bool) {
        let j = &ctx.store.jobs[job.ix()];
        if j.incarnation != incarnation {
            return;
        }
        if !j.exists {
            // Background deletion: the owner was removed, its pods follow.
            if !j.pods_orphaned {
                self.queue_dependents(ctx, job);
                self.run(ctx);
            }
            return;
        }
        if deleted {
            self.job_marks(job).deleting_dependents = true;
            self.queue_dependents(ctx, job);
        } else if !self.job_marks(job).deleting_dependents {
            return;
        }
        self.collect(ctx, Item::Job(job, incarnation));
        self.run(ctx);
    }

    /// Enqueues the dependents. Go iterates over a map in any order; here the order is drawn once per Job object.
    pub(super) fn queue_dependents(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let (j, pods) = (&ctx.store.jobs[job.ix()], &ctx.store.pods);
        order.extend(j.pods.iter().filter(|p| !pods.has(*p, flag::DELETING)));
        let (key, incarnation) = (j.key, j.incarnation);
        ctx.draws
            .shuffle(Purpose::CollectorOrder, key, incarnation, &mut order);
        for &pod in &order {
            let incarnation = ctx.store.pods.incarnation[pod.ix()];
            self.collect(ctx, Item::Pod(pod, incarnation));
        }
        self.order = order;
    }

    /// Deletes a Job whose JobSet is being deleted or was removed.
    fn collect_owned_job(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        let j = &ctx.store.jobs[job.ix()];
        if !j.exists || j.is_deleting() || j.orphaned {
            return;
        }
        let about = About::Job(job);
        let nth = ctx.store.jobs[job.ix()].incarnation;
        let mark = ctx.mark();
        let mut last = mark;
        for lane in 0..2 {
            let get = Req::new(Call::CollectorJobGet, about, nth).lane(lane);
            last = ctx.ask(mark, get);
            ctx.answered_at(Call::CollectorJobGet, Answer::Success, last.at);
        }
        assert!(last.at >= mark.at, "answers come after questions");
        let delete = Req::new(Call::CollectorJobDelete, about, nth);
        ctx.request(delete, Event::CollectorDeletesJob(job));
    }

    pub(super) fn deletes_job(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        let j = &ctx.store.jobs[job.ix()];
        let (there, owner) = (j.exists, j.jobset);
        ctx.answered(Call::CollectorJobDelete, Answer::found(there));
        if !there {
            return;
        }
        if ctx
            .store
            .jobsets
            .get(owner.ix())
            .is_some_and(|js| js.deleted)
        {
            // The owner is absent: the collector deletes in the background (D-2).
            apiserver::end_job(ctx, job);
        } else {
            apiserver::delete_job(ctx, job);
        }
    }
}
