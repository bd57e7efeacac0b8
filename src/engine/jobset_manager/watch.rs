//! Delivery of watch events to the manager's cache, and the reconciles that they trigger (REC-1).
//!
//! Must never inspect a change: the delivered object is the one stored at the time of delivery.

use super::JobSetManager;
use super::children::owns_service;
use super::job_view::view_of;
use crate::ctx::{Ctx, Watcher};
use crate::event::Event;
use crate::record::{About, Waited};
use crate::store::{JobChange, JobSetChange, PodChange, What};
use sim_base::*;

/// Distinguishes changes of a JobSet's Service from versions of the JobSet.
const SERVICE: u32 = 1 << 31;

impl JobSetManager {
    #[inline]
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What) {
        match what {
            What::Pod(_, PodChange::Created) | What::Node(..) => {}
            What::Claim | What::Owned(..) => {}
            What::Process { .. } | What::Stopped(_) | What::WorkDone(_) => {}
            What::GivesUp(..) | What::Silent { .. } => {}
            What::Pod(pod, _) => {
                self.pod_news(ctx, pod);
                self.leader_news(ctx, pod);
            }
            What::JobSet(..) | What::Service(_) | What::Job(..) => self.object_changed(ctx, what),
        }
    }

    fn object_changed(&mut self, ctx: &mut Ctx<'_>, what: What) {
        if let Some(at) = self.own.iter().position(|own| *own == what) {
            self.own.swap_remove(at);
            return;
        }
        // Delivered with the status that contains it.
        if matches!(what, What::JobSet(_, JobSetChange::Attempts)) {
            return;
        }
        if let Some((about, version, event)) = self.news(ctx, what) {
            let lag = ctx.watch_lag(Watcher::Manager, about, version);
            ctx.after(lag, Waited::Watch, about, event);
        }
    }

    /// Returns the object of a change, its version among the changes of that object, and the event that delivers it.
    fn news(&mut self, ctx: &Ctx<'_>, what: What) -> Option<(About, u32, Event)> {
        match what {
            What::JobSet(jobset, _) => {
                let version = ctx.store.jobsets[jobset.ix()].resource_version;
                Some((About::JobSet(jobset), version, Event::JobSetSeen(jobset)))
            }
            What::Service(jobset) => {
                let row = self.row(jobset);
                row.services += 1;
                let version = SERVICE | row.services;
                Some((About::JobSet(jobset), version, Event::JobSetSeen(jobset)))
            }
            What::Job(job, _) => {
                let j = &ctx.store.jobs[job.ix()];
                let owned = j.jobset.is_some();
                owned.then_some((About::Job(job), j.version, Event::JobSeen(job)))
            }
            What::Pod(..) | What::Node(..) | What::Claim | What::Owned(..) => None,
            What::Process { .. } | What::Stopped(_) | What::WorkDone(_) => None,
            What::GivesUp(..) | What::Silent { .. } => None,
        }
    }

    /// Executes a write of the manager itself, whose watch event arrives earlier than those of other writes.
    pub(super) fn write<T>(
        &mut self,
        ctx: &mut Ctx<'_>,
        send: impl FnOnce(&mut Ctx<'_>) -> T,
    ) -> T {
        let from = ctx.store.changes.len();
        let answer = send(ctx);
        for at in from..ctx.store.changes.len() {
            let what = ctx.store.changes[at].what;
            if comes_back(what) {
                self.own.push(what);
                self.written(ctx, what);
            }
        }
        answer
    }

    /// Delivers the manager's own write to its cache: the watch event and the response leave together and take
    /// equally long, so half of the time the event arrives first.
    fn written(&mut self, ctx: &mut Ctx<'_>, what: What) {
        let Some((about, version, event)) = self.news(ctx, what) else {
            return;
        };
        let lag = ctx.watch_lag(Watcher::Manager, about, version);
        let later = lag - ctx.watch_lag(Watcher::ManagerOwnWrite, about, version);
        if later == Duration::ZERO {
            self.handle(ctx, event);
        } else {
            ctx.after(later, Waited::Watch, about, event);
        }
    }

    pub(super) fn jobset_seen(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId) {
        let has_service = owns_service(ctx, jobset);
        let gate = ctx.gates.in_place_restart;
        let stored = &ctx.store.jobsets[jobset.ix()];
        let row = self.row(jobset);
        if row.cached.see(stored, has_service, gate) {
            row.jobs.recount();
        }
        self.enqueue(ctx, jobset);
    }

    /// A Job of the JobSet reaches the manager's cache.
    pub(super) fn job_seen(&mut self, ctx: &mut Ctx<'_>, job: JobId) {
        let j = &ctx.store.jobs[job.ix()];
        let view = j.exists.then(|| view_of(j));
        let (jobset, slot) = (j.jobset, (j.rj, j.index));
        let row = self.row(jobset);
        row.jobs.see(&row.cached, slot, job, view);
        self.enqueue(ctx, jobset);
    }

    /// Handles a pod change; only in-place JobSets watch pods (REC-1).
    fn pod_news(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        let jobset = ctx.store.jobset_of(pod);
        let row = self.rows.get_mut(jobset.ix());
        let Some(row) = row.filter(|row| row.cached.in_place) else {
            return;
        };
        let mut mark = ctx.mark();
        if row.pod_news.replace(mark).is_some() {
            return;
        }
        let version = ctx.store.pods.resource_version[pod.ix()];
        // The ticket of the wait is created at its end, because it belongs to the latest change delivered with it.
        mark.at = ctx.now + ctx.watch_lag(Watcher::Manager, About::Pod(pod), version);
        ctx.push(mark, Event::JobSetPodNews(jobset));
    }

    pub(super) fn pod_news_arrive(&mut self, ctx: &mut Ctx<'_>, jobset: JobSetId) {
        if let Some(mark) = self.row(jobset).pod_news.take() {
            ctx.resume(mark, Waited::Watch, About::JobSet(jobset));
            self.enqueue(ctx, jobset);
        }
    }
}

/// Returns true if the response to the manager's request races with the watch event of this change; other changes
/// caused by the request are delivered like those of any client.
fn comes_back(what: What) -> bool {
    matches!(
        what,
        What::JobSet(_, JobSetChange::Status)
            | What::Service(_)
            | What::Job(_, JobChange::Created | JobChange::Deleting)
    )
}
