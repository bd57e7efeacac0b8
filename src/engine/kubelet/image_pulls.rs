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
        let row = &mut self.pods[pod.ix()];
        let from = usize::from(row.pull_failed) - 1;
        row.pull_level = row.pull_level.saturating_add(1);
        row.unpulled = row.pull_failed;
        let over = ctx.now + crash_back_off(row.pull_level);
        // A worker whose sync failed looks again after its own period, then when the back-off is over.
        let mut looks = self.next_look(ctx, pod, (ctx.now, WORKER_BACK_OFF), 0);
        for look in 1.. {
            let left = over.since(looks).min(WORKER_RESYNC);
            if left == Duration::ZERO {
                break;
            }
            looks = self.next_look(ctx, pod, (looks, left), look);
        }
        // Each attempt has its own random numbers.
        self.pods[pod.ix()].begin_lifetime();
        let back_off = looks.since(ctx.now);
        let start = self.start_from(ctx, pod, (back_off, from));
        let epoch = self.pods[pod.ix()].epoch;
        let (up, about) = (SimulationEvent::ContainersStarted { pod, epoch }, TicketSubject::Pod(pod));
        let fails_again = self.pods[pod.ix()].pull_failed > 0;
        let (pull, start) = if fails_again { (back_off + start, Duration::ZERO) } else { (back_off, start) };
        let pulled = ctx.add_wait(ctx.mark(), pull, TicketWait::ImagePull, about);
        let started = ctx.add_wait(pulled, start, TicketWait::ContainerStart, about);
        ctx.schedule(started, up);
    }
}
