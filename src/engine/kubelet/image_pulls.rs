//! Image pulls that fail: ErrImagePull, then ImagePullBackOff until the next pull (`pkg/kubelet/images`).
//!
//! Images are on the nodes unless a fault states otherwise. Only pulls that a fault affects are modelled here.

use super::KubeletState;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ExitedContainers, flag};
use crate::{ctx::EngineContext, event::SimulationEvent};
use sim_api::spec::{AgentMode, ImagePullFailure};
use sim_base::{Duration, PodId, SimTime};
use sim_policy::crash_back_off::{WORKER_RESYNC, crash_back_off};

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

    /// Returns true if the pull of this container's image never succeeds: the kubelet tries again, and nothing changes.
    fn never_pulls(&self, ctx: &EngineContext<'_>, pod: PodId, position: usize) -> bool {
        self.fails_to_pull(ctx, pod, position, SimTime(SimTime::NEVER.0 - 1))
    }

    /// Returns true if the pull of a main container that restarts at that time fails, and notes it: the kubelet looks
    /// for the image at every start of a container (`EnsureImageExists`).
    pub(super) fn begins_with_failed_pull(&mut self, ctx: &EngineContext<'_>, pod: PodId, at: SimTime) -> bool {
        let spec = ctx.store.pod_spec(pod);
        let (inits, mains) = (spec.init_containers.len(), spec.containers.len());
        let restarted = match self.pods[pod.ix()].exited.exited() {
            ExitedContainers::All => 0..mains,
            ExitedContainers::One(one) => one..one + 1,
        };
        let failing = restarted.map(|main| inits + main).find(|position| self.fails_to_pull(ctx, pod, *position, at));
        self.pods[pod.ix()].pull_failed = failing.map_or(0, |position| (position + 1).min(u8::MAX.into()) as u8);
        failing.is_some()
    }

    /// The pull of a worker's image fails when the barrier is open: the worker starts after the back-off.
    pub(super) fn worker_waits_for_image(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> bool {
        if !matches!(ctx.store.template(pod).agent, AgentMode::Sidecar { .. }) {
            return false;
        }
        let spec = ctx.store.pod_spec(pod);
        let first = spec.init_containers.len();
        let mut mains = first..first + spec.containers.len();
        let failing = mains.find(|position| self.fails_to_pull(ctx, pod, *position, ctx.now));
        let row = &mut self.pods[pod.ix()];
        row.unpulled = failing.map_or(0, |position| (position + 1).min(u8::MAX.into()) as u8);
        let Some(failing) = failing else { return false };
        row.pull_level = row.pull_level.saturating_add(1);
        let (level, epoch) = (row.pull_level, row.epoch);
        if self.never_pulls(ctx, pod, failing) {
            return true;
        }
        let back_off = self.next_pull(ctx, pod, level);
        let up = SimulationEvent::WorkerStarted { pod, epoch };
        ctx.schedule_after(back_off, TicketWait::ImagePull, TicketSubject::Pod(pod), up);
        true
    }

    /// Time until a pod worker pulls an image again after this number of failed pulls: the back-off begins at 10 s and
    /// doubles up to 300 s. A worker whose sync failed looks again after its own period, then when the back-off is
    /// over.
    pub(super) fn next_pull(&self, ctx: &mut EngineContext<'_>, pod: PodId, level: u8) -> Duration {
        let over = ctx.now + crash_back_off(level);
        let mut looks = self.next_look(ctx, pod, (ctx.now, WORKER_BACK_OFF), 0);
        for look in 1.. {
            let left = over.since(looks).min(WORKER_RESYNC);
            if left == Duration::ZERO {
                break;
            }
            looks = self.next_look(ctx, pod, (looks, left), look);
        }
        looks.since(ctx.now)
    }

    /// Returns true if a pod waits for an image that cannot be pulled.
    pub fn waits_for_images(&self, ctx: &EngineContext<'_>) -> bool {
        let mut waiting = (0..).map(PodId).zip(&self.pods).filter(|(_, row)| row.unpulled > 0);
        waiting.any(|(pod, _)| ctx.store.pods.has(pod, flag::BOUND) && !ctx.store.pods.is_terminal(pod))
    }

    /// Returns the image of the pod's container that waits with ErrImagePull or ImagePullBackOff.
    pub fn unpulled_image<'c>(&self, ctx: &'c EngineContext<'_>, pod: PodId) -> Option<&'c str> {
        let position = usize::from(self.pods.get(pod.ix())?.unpulled).checked_sub(1)?;
        let spec = ctx.store.pod_spec(pod);
        spec.init_containers.iter().chain(&spec.containers).nth(position).map(|container| container.image.as_str())
    }

    /// The pull has failed: the start continues with the container after the back-off.
    pub(super) fn retry_pull(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let row = &mut self.pods[pod.ix()];
        let from = usize::from(row.pull_failed) - 1;
        row.pull_level = row.pull_level.saturating_add(1);
        row.unpulled = row.pull_failed;
        let level = row.pull_level;
        if self.never_pulls(ctx, pod, from) {
            return;
        }
        let back_off = self.next_pull(ctx, pod, level);
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
}
