//! Delivery of watch events to the manager's cache, and the reconciles that they trigger (REC-1).
//!
//! Must never inspect a change: the delivered object is the one stored at the time of delivery.

use super::JobSetManager;
use super::job_view::job_view;
use crate::ctx::{EngineContext, StoreWatcher};
use crate::event::SimulationEvent;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ChangeKind, JobChange, JobSetChange, PodChange};
use sim_base::{Duration, JobId, JobSetId, PodId};

/// Distinguishes changes of a JobSet's Service from versions of the JobSet.
const SERVICE_VERSION_BIT: u32 = 1 << 31;

impl JobSetManager {
    #[inline(always)]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Pod(_, PodChange::Created) | ChangeKind::Node(..) => {}
            ChangeKind::Claim { .. } | ChangeKind::Storage | ChangeKind::PodGroup => {}
            ChangeKind::Namespace => {}
            ChangeKind::OwnedCreated(..) | ChangeKind::OwnedGone(_) => {}
            ChangeKind::Process { .. } | ChangeKind::ContainersStopped(_) | ChangeKind::WorkDone(_) => {}
            ChangeKind::ProcessExit(..) | ChangeKind::SilentFault { .. } | ChangeKind::Workload(_) => {}
            ChangeKind::Pod(pod, _) => {
                self.pod_changed(ctx, pod);
                self.leader_changed(ctx, pod);
            }
            ChangeKind::JobSet(..) | ChangeKind::Service(_) | ChangeKind::Job(..) => self.object_changed(ctx, what),
        }
    }

    fn object_changed(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        if let Some(at) = self.own_changes.iter().position(|own| *own == what) {
            self.own_changes.swap_remove(at);
            return;
        }
        // Delivered with the status that contains it.
        if matches!(what, ChangeKind::JobSet(_, JobSetChange::Attempts)) {
            return;
        }
        if let Some((about, version, event)) = self.watch_event(ctx, what) {
            let lag = ctx.watch_lag(StoreWatcher::Manager, about, version);
            ctx.schedule_after(lag, TicketWait::Watch, about, event);
        }
    }

    /// Returns the object of a change, its version among the changes of that object, and the event that delivers it.
    fn watch_event(
        &mut self, ctx: &EngineContext<'_>, what: ChangeKind,
    ) -> Option<(TicketSubject, u32, SimulationEvent)> {
        match what {
            ChangeKind::JobSet(jobset, _) => {
                let version = ctx.store.jobsets[jobset.ix()].resource_version;
                Some((TicketSubject::JobSet(jobset), version, SimulationEvent::JobSetObserved(jobset)))
            }
            ChangeKind::Service(jobset) => {
                let row = self.row(jobset);
                row.services += 1;
                let version = SERVICE_VERSION_BIT | row.services;
                Some((TicketSubject::JobSet(jobset), version, SimulationEvent::JobSetObserved(jobset)))
            }
            ChangeKind::Job(job, _) => {
                let j = &ctx.store.jobs[job.ix()];
                let owned = j.jobset.is_some();
                owned.then_some((TicketSubject::Job(job), j.version, SimulationEvent::JobObserved(job)))
            }
            ChangeKind::Pod(..) | ChangeKind::Node(..) => None,
            ChangeKind::Claim { .. } | ChangeKind::Storage | ChangeKind::PodGroup => None,
            ChangeKind::Namespace => None,
            ChangeKind::OwnedCreated(..) | ChangeKind::OwnedGone(_) => None,
            ChangeKind::Process { .. } | ChangeKind::ContainersStopped(_) | ChangeKind::WorkDone(_) => None,
            ChangeKind::ProcessExit(..) | ChangeKind::SilentFault { .. } | ChangeKind::Workload(_) => None,
        }
    }

    /// Executes a write of the manager itself, whose watch event arrives earlier than those of other writes.
    pub(super) fn write_object<T>(
        &mut self, ctx: &mut EngineContext<'_>, send: impl FnOnce(&mut EngineContext<'_>) -> T,
    ) -> T {
        let from = ctx.store.changes.len();
        let answer = send(ctx);
        for at in from..ctx.store.changes.len() {
            let what = ctx.store.changes[at].kind;
            if races_with_response(what) {
                self.own_changes.push(what);
                self.deliver_own_write(ctx, what);
            }
        }
        answer
    }

    /// Delivers the manager's own write to its cache: the watch event and the response leave together and take
    /// equally long, so half of the time the event arrives first.
    fn deliver_own_write(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        let Some((about, version, event)) = self.watch_event(ctx, what) else {
            return;
        };
        let lag = ctx.watch_lag(StoreWatcher::Manager, about, version);
        let later = lag - ctx.watch_lag(StoreWatcher::ManagerOwnWrite, about, version);
        if later == Duration::ZERO {
            self.handle(ctx, event);
        } else {
            ctx.schedule_after(later, TicketWait::Watch, about, event);
        }
    }

    pub(super) fn jobset_observed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let has_service = ctx.store.owns_service(jobset);
        let gate = ctx.gates.in_place_restart;
        let stored = &ctx.store.jobsets[jobset.ix()];
        let row = self.row(jobset);
        if row.cached.update(stored, has_service, gate) {
            row.jobs.recount();
        }
        self.enqueue(ctx, jobset);
    }

    /// A Job of the JobSet reaches the manager's cache.
    pub(super) fn job_observed(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        let j = &ctx.store.jobs[job.ix()];
        let view = j.exists.then(|| job_view(j));
        let (jobset, slot) = (j.jobset, (j.rj, j.index));
        let row = self.row(jobset);
        row.jobs.update(&row.cached, slot, job, view);
        self.enqueue(ctx, jobset);
    }

    /// Handles a pod change; only in-place JobSets watch pods (REC-1).
    #[inline(always)]
    fn pod_changed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let jobset = ctx.store.jobset_of(pod);
        let row = self.rows.get_mut(jobset.ix());
        let Some(row) = row.filter(|row| row.cached.in_place) else {
            return;
        };
        let mut mark = ctx.mark();
        if row.pod_changes.replace(mark).is_some() {
            return;
        }
        let version = ctx.store.pods.resource_version[pod.ix()];
        // The ticket of the wait is created at its end, because it belongs to the latest change delivered with it.
        mark.at = ctx.now + ctx.watch_lag(StoreWatcher::Manager, TicketSubject::Pod(pod), version);
        ctx.schedule(mark, SimulationEvent::JobSetPodsObserved(jobset));
    }

    pub(super) fn pods_observed(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        if let Some(mark) = self.row(jobset).pod_changes.take() {
            ctx.resume(mark, TicketWait::Watch, TicketSubject::JobSet(jobset));
            self.enqueue(ctx, jobset);
        }
    }
}

/// Returns true if the response to the manager's request races with the watch event of this change; other changes
/// caused by the request are delivered like those of any client.
fn races_with_response(what: ChangeKind) -> bool {
    matches!(
        what,
        ChangeKind::JobSet(_, JobSetChange::Status)
            | ChangeKind::Service(_)
            | ChangeKind::Job(_, JobChange::Created | JobChange::Deleting)
    )
}
