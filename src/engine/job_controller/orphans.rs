//! The orphan queue: removes the tracking finalizer of pods whose Job has finished or was removed, because no sync
//! processes them.
//!
//! Must never delete a pod; this is the task of the garbage collector.

use super::JobController;
use crate::record::{Call, TicketSubject};
use crate::store::{ObjectStore, flag};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, requests::RequestEntry};
use sim_base::{JobId, PodId};

#[inline(always)]
fn is_orphan(store: &ObjectStore, pod: PodId) -> bool {
    if !store.pods.exists(pod) || !store.pods.has(pod, flag::FINALIZER) {
        return false;
    }
    let job = &store.jobs[store.pods.job[pod.ix()].ix()];
    !job.exists || (job.status.is_finished() && store.pods.has(pod, flag::DELETING))
}

impl JobController {
    /// Handles a change of a pod.
    #[inline(always)]
    pub(super) fn release_if_orphan(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if is_orphan(ctx.store, pod) {
            self.release(ctx, pod);
        }
    }

    /// Handles the removal of a Job whose pods may remain.
    pub(super) fn release_all(&mut self, ctx: &mut EngineContext<'_>, job: JobId) {
        let j = &ctx.store.jobs[job.ix()];
        let orphans: Vec<PodId> = j.pods.iter().filter(|p| is_orphan(ctx.store, *p)).collect();
        for pod in orphans {
            self.release(ctx, pod);
        }
    }

    fn release(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let mark = self.pods.mark_mut(ctx.store, pod);
        if std::mem::replace(&mut mark.releasing, true) {
            return;
        }
        let req = RequestEntry::new(Call::JobPodPatch, TicketSubject::Pod(pod), mark.patches);
        mark.patches += 1;
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        ctx.request(req, SimulationEvent::OrphanReleased { pod, incarnation });
    }
}

pub(super) fn remove_tracking_finalizer(ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
    apiserver::untrack_pod(ctx, pod, incarnation);
}
