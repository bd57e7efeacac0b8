//! Image pulls that fail: ErrImagePull, then ImagePullBackOff until the next pull (`pkg/kubelet/images`).
//!
//! Images are on the nodes unless a fault states otherwise. Only pulls that a fault affects are modelled here.

use super::KubeletState;
use super::restarts::{WORKER_RESYNC, crash_back_off};
use crate::record::{TicketSubject, TicketWait};
use crate::{ctx::EngineContext, event::SimulationEvent};
use sim_api::spec::ImagePullFailure;
use sim_base::{Duration, PodId, SimTime};

/// Time after which a pod worker looks again at a pod whose sync has failed, `backOffPeriod`.
const WORKER_BACK_OFF: Duration = Duration::from_secs(10);
/// Maximum number of looks of a pod worker during one back-off of at most 300 s.
const LOOKS_PER_PULL: usize = 8;

impl KubeletState {
    pub fn fail_image_pulls(&mut self, now: SimTime, failure: ImagePullFailure) {
        let until = failure.lasts.map_or(SimTime::NEVER, |lasts| now + lasts);
        self.pull_failures.push((until, failure));
    }

    /// Returns true if the pull of this container's image fails at that time. The position counts init containers
    /// first.
    pub(super) fn fails_to_pull(&self, ctx: &EngineContext<'_>, pod: PodId, position: usize, at: SimTime) -> bool {
        let spec = ctx.store.pod_spec(pod);
        let Some(container) = spec.init_containers.iter().chain(&spec.containers).nth(position) else {
            return false;
        };
        self.pull_failures.iter().any(|(until, failure)| at < *until && failure.affects(container))
    }

    /// Returns the image of the pod's container that waits with ErrImagePull or ImagePullBackOff.
    pub fn unpulled_image<'c>(&self, ctx: &'c EngineContext<'_>, pod: PodId) -> Option<&'c str> {
        let position = usize::from(self.pods.get(pod.ix())?.unpulled).checked_sub(1)?;
        let spec = ctx.store.pod_spec(pod);
        spec.init_containers.iter().chain(&spec.containers).nth(position).map(|container| container.image.as_str())
    }

    /// The pull has failed: the start continues with the container after the back-off, which begins at 10 s and
    /// doubles up to 300 s.
    pub(super) fn retry_pull(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let from = usize::from(self.pods[pod.ix()].pull_failed) - 1;
        let back_off = self.pull_back_off(ctx, pod, 0);
        // Each attempt has its own random numbers.
        self.pods[pod.ix()].begin_lifetime();
        let start = self.start_from(ctx, pod, (back_off, from));
        let epoch = self.pods[pod.ix()].epoch;
        let (up, about) = (SimulationEvent::ContainersStarted { pod, epoch }, TicketSubject::Pod(pod));
        let fails_again = self.pods[pod.ix()].pull_failed > 0;
        let (pull, start) = if fails_again { (back_off + start, Duration::ZERO) } else { (back_off, start) };
        let pulled = ctx.add_wait(ctx.mark(), pull, TicketWait::ImagePull, about);
        let started = ctx.add_wait(pulled, start, TicketWait::ContainerStart, about);
        ctx.schedule(started, up);
    }

    /// The pull for a worker container that starts after the barrier has failed. The agent keeps running, so that the
    /// lifetime of the pod's processes continues.
    pub(super) fn retry_worker_pull(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let from = usize::from(self.pods[pod.ix()].pull_failed) - 1;
        let first_look = usize::from(self.pods[pod.ix()].pull_level) * LOOKS_PER_PULL;
        let back_off = self.pull_back_off(ctx, pod, first_look);
        let start = self.start_workers(ctx, pod, (back_off, from));
        let epoch = self.pods[pod.ix()].epoch;
        let (up, about) = (SimulationEvent::WorkerStarted { pod, epoch }, TicketSubject::Pod(pod));
        let pulled = ctx.add_wait(ctx.mark(), back_off, TicketWait::ImagePull, about);
        let started = ctx.add_wait(pulled, start, TicketWait::ContainerStart, about);
        ctx.schedule(started, up);
    }

    /// Notes a failed pull. Returns the time until the pod worker looks again, with random numbers from `first_look`
    /// on.
    fn pull_back_off(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, first_look: usize) -> Duration {
        let row = &mut self.pods[pod.ix()];
        row.pull_level = row.pull_level.saturating_add(1);
        row.unpulled = row.pull_failed;
        let over = ctx.now + crash_back_off(row.pull_level);
        // A worker whose sync failed looks again after its own period, then when the back-off is over.
        let mut looks = self.next_look(ctx, pod, (ctx.now, WORKER_BACK_OFF), first_look);
        for look in 1.. {
            let left = over.since(looks).min(WORKER_RESYNC);
            if left == Duration::ZERO {
                break;
            }
            looks = self.next_look(ctx, pod, (looks, left), first_look + look);
        }
        looks.since(ctx.now)
    }
}
