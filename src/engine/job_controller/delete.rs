//! Pod deletion in a sync of the Job controller: the choice of pods and the requests.
//!
//! The number of pods is decided by `policy::job`.

use super::JobController;
use super::sync_decision::JobSyncInput;
use super::worker::SyncStage;
use crate::record::{Call, DeletionActor, TicketSubject};
use crate::store::{PodPhase, flag};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent, requests::RequestEntry};
use sim_base::{JobId, PodId};
use std::cmp::Reverse;

impl JobController {
    /// Sends DELETE for all chosen pods at the same time; the token bucket spaces them (kubernetes.md 1.3 step 5).
    /// Pods that must not be counted first lose their finalizer (deleteJobPods).
    pub(super) fn delete_active_pods(&mut self, ctx: &mut EngineContext<'_>, worker: usize, job: JobId, count: u32) {
        let untracked = self.workers[worker].plan.untracked;
        let mut victims = std::mem::take(&mut self.workers[worker].to_delete);
        self.sync_input(ctx, job).pods_to_delete(count, &mut victims);
        for &pod in &victims {
            if untracked {
                self.send_untrack(ctx, worker, pod);
            } else {
                self.send_delete(ctx, worker, pod);
            }
        }
        let w = &mut self.workers[worker];
        w.stage = SyncStage::Deleting;
        w.outstanding = victims.len() as u32;
        w.to_delete = victims;
        if w.outstanding == 0 {
            self.begin_status(ctx, worker);
        }
    }

    fn send_delete(&mut self, ctx: &mut EngineContext<'_>, worker: usize, pod: PodId) {
        let mark = self.pods.mark_mut(ctx.store, pod);
        let req = RequestEntry::new(Call::JobPodDelete, TicketSubject::Pod(pod), mark.deletes);
        mark.deletes += 1;
        let event = SimulationEvent::PodDeleteAnswered {
            worker: worker as u16,
            pod,
            incarnation: ctx.store.pods.incarnation[pod.ix()],
        };
        ctx.request(req, event);
    }

    /// PATCH that removes the tracking finalizer.
    pub(super) fn send_untrack(&mut self, ctx: &mut EngineContext<'_>, worker: usize, pod: PodId) {
        let mark = self.pods.mark_mut(ctx.store, pod);
        let req = RequestEntry::new(Call::JobPodPatch, TicketSubject::Pod(pod), mark.patches);
        mark.patches += 1;
        let event = SimulationEvent::FinalizerAnswered {
            worker: worker as u16,
            pod,
            incarnation: ctx.store.pods.incarnation[pod.ix()],
        };
        ctx.request(req, event);
    }

    pub(super) fn pod_delete_answered(
        &mut self, ctx: &mut EngineContext<'_>, worker: usize, pod: PodId, incarnation: u32,
    ) {
        let was_ready = ctx.store.pods.has(pod, flag::READY);
        let (job, index) = (ctx.store.pods.job[pod.ix()], ctx.store.pods.index[pod.ix()]);
        let (call, by) = (Call::JobPodDelete, DeletionActor::JobController);
        if apiserver::delete_pod(ctx, call, pod, incarnation, by).is_success() {
            self.queue_deleted_event(ctx, job, (pod, incarnation, index));
            self.workers[worker].counted.record_deletion(was_ready);
        }
        if self.workers[worker].count_response() {
            self.begin_status(ctx, worker);
        }
    }

    /// The finalizer was removed: sends the DELETE.
    pub(super) fn finalizer_removed(&mut self, ctx: &mut EngineContext<'_>, worker: usize, pod: PodId, there: bool) {
        if there {
            self.send_delete(ctx, worker, pod);
        } else if self.workers[worker].count_response() {
            self.begin_status(ctx, worker);
        }
    }
}

impl JobSyncInput<'_> {
    /// activePodsForRemoval: first pods with nonexistent indexes, then the pods with the least progress.
    pub fn pods_to_delete(&self, count: u32, active: &mut Vec<PodId>) {
        active.clear();
        active.extend(self.active_pods());
        if count as usize >= active.len() {
            return;
        }
        let limit = self.index_limit();
        let p = &self.store.pods;
        // Among equal pods, the newest and then the highest index is chosen; upstream uses an unstable sort.
        active.sort_by_key(|pod| {
            let i = pod.ix();
            (
                p.index[i] < limit,
                p.has(*pod, flag::BOUND),
                p.phase[i] != PodPhase::Pending,
                p.has(*pod, flag::READY),
                Reverse(p.restarts[i]),
                Reverse(p.index[i]),
            )
        });
        active.truncate(count as usize);
    }
}
