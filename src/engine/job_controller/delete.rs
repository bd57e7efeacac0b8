//! Pod deletion in a sync of the Job controller: the choice of pods and the requests.
//!
//! The number of pods is decided by `policy::job`.

use super::judge::Sight;
use super::worker::Stage;
use super::{JobController, Step};
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::Event;
use crate::record::{About, Call, Deleter};
use crate::requests::Req;
use crate::store::{Phase, flag};
use sim_base::random::Key;
use sim_base::*;
use std::cmp::Reverse;

impl JobController {
    /// Sends DELETE for all chosen pods at the same time; the token bucket spaces them (kubernetes.md 1.3 step 5).
    /// Pods that must not be counted first lose their finalizer (deleteJobPods).
    pub(super) fn delete_active_pods(
        &mut self,
        ctx: &mut Ctx<'_>,
        worker: usize,
        job: JobId,
        count: u32,
    ) {
        let untracked = self.workers[worker].plan.untracked;
        let mut victims = std::mem::take(&mut self.workers[worker].victims);
        self.sight(ctx, job).pods_to_delete(count, &mut victims);
        let step = self.step_key(ctx, job, Step::Deletes);
        let step = Some(step).filter(|_| victims.len() > 1);
        for &pod in &victims {
            if untracked {
                self.ask_to_untrack(ctx, worker, pod, step);
            } else {
                self.ask_to_delete(ctx, worker, pod, step);
            }
        }
        let w = &mut self.workers[worker];
        w.stage = Stage::Deleting;
        w.outstanding = victims.len() as u32;
        w.victims = victims;
        if w.outstanding == 0 {
            self.begin_status(ctx, worker);
        }
    }

    fn ask_to_delete(&mut self, ctx: &mut Ctx<'_>, worker: usize, pod: PodId, step: Option<Key>) {
        let mark = self.pods.of(ctx.store, pod);
        let mut req = Req::new(Call::JobPodDelete, About::Pod(pod), mark.deletes);
        mark.deletes += 1;
        req.step = step;
        let event = Event::PodDeleteAnswered {
            worker: worker as u16,
            pod,
            incarnation: ctx.store.pods.incarnation[pod.ix()],
        };
        ctx.request(req, event);
    }

    /// PATCH that removes the tracking finalizer.
    pub(super) fn ask_to_untrack(
        &mut self,
        ctx: &mut Ctx<'_>,
        worker: usize,
        pod: PodId,
        step: Option<Key>,
    ) {
        let mark = self.pods.of(ctx.store, pod);
        let mut req = Req::new(Call::JobPodPatch, About::Pod(pod), mark.patches);
        mark.patches += 1;
        req.step = step;
        let event = Event::FinalizerAnswered {
            worker: worker as u16,
            pod,
            incarnation: ctx.store.pods.incarnation[pod.ix()],
        };
        ctx.request(req, event);
    }

    pub(super) fn pod_delete_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        worker: usize,
        pod: PodId,
        incarnation: u32,
    ) {
        let was_ready = ctx.store.pods.has(pod, flag::READY);
        let (job, index) = (ctx.store.pods.job[pod.ix()], ctx.store.pods.index[pod.ix()]);
        let (call, by) = (Call::JobPodDelete, Deleter::JobController);
        if apiserver::delete_pod(ctx, call, pod, incarnation, by).is_success() {
            self.event_of_deleted_pod(ctx, job, (pod, incarnation, index));
            self.workers[worker].counted.deleted(was_ready);
        }
        if self.workers[worker].one_less() {
            self.begin_status(ctx, worker);
        }
    }

    /// The finalizer was removed: sends the DELETE.
    pub(super) fn untracked(&mut self, ctx: &mut Ctx<'_>, worker: usize, pod: PodId, there: bool) {
        if there {
            self.ask_to_delete(ctx, worker, pod, None);
        } else if self.workers[worker].one_less() {
            self.begin_status(ctx, worker);
        }
    }
}

impl Sight<'_> {
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
                p.phase[i] != Phase::Pending,
                p.has(*pod, flag::READY),
                Reverse(p.restarts[i]),
                Reverse(p.index[i]),
            )
        });
        active.truncate(count as usize);
    }
}
