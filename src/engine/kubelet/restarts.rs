//! Containers that restart in their pod: back-off, restart counts, RestartAllContainers (kubernetes.md 3.4, 3.6).

use super::exits::AfterExit;
use super::{AGENT_EXIT, ALL_ENDED, ENDING, EXITED, Kubelets, LIFTED, UP};
use crate::apiserver;
use crate::ctx::Ctx;
use crate::event::{Event, StatusWrite};
use crate::record::{About, Body, Waited};
use crate::store::flag;
use sim_api::spec::{Kubelet, RealKubelet};
use sim_base::random::Purpose;
use sim_base::*;

/// A container that ran longer than this resets its crash back-off (kubernetes.md 3.4).
const CRASH_BACK_OFF_RESET: Duration = Duration::from_secs(600);
/// Maximum sleep of a pod worker, `syncFrequency` (kubernetes.md 3.1).
const WORKER_RESYNC: Duration = Duration::from_secs(60);

impl Kubelets {
    /// Restarts all containers of a pod in place, or this number of them; the pod becomes not ready.
    /// RestartAllContainers removes the ended containers and counts immediately; otherwise restartCount increases
    /// when its container has started again.
    pub(super) fn restart_containers(
        &mut self,
        ctx: &mut Ctx<'_>,
        pod: PodId,
        containers: Option<u32>,
    ) {
        self.end_life(ctx, pod, containers);
        let so_far = match containers {
            None => StatusWrite::RestartingAll,
            Some(_) => StatusWrite::NotReady,
        };
        self.write_status(ctx, pod, so_far);
        let delay = match containers {
            None => self.restart_all_delay(ctx, pod),
            Some(_) => self.restart_delay(ctx, pod),
        };
        let epoch = self.pods[pod.ix()].epoch;
        let back = Event::ContainersBack { pod, epoch };
        ctx.after(delay, Waited::ContainerRestart, About::Pod(pod), back);
    }

    /// Starts a new lifetime of the pod's processes.
    fn end_life(&mut self, ctx: &mut Ctx<'_>, pod: PodId, containers: Option<u32>) {
        let spec = ctx.store.pod_spec(pod);
        let every = (spec.containers.len() + spec.init_containers.len()).max(1) as u32;
        let row = &mut self.pods[pod.ix()];
        row.to_restart = containers.unwrap_or(every);
        let ran = row.has(UP);
        row.flags &= !(UP | EXITED | LIFTED | AGENT_EXIT | ALL_ENDED | ENDING);
        row.begin_anew();
        let (incarnation, restarts) = (ctx.store.pods.incarnation[pod.ix()], row.restarts + 1);
        if ran {
            apiserver::note_process(ctx, pod, false);
        }
        ctx.emit(Body::ContainersRestarting {
            pod,
            incarnation,
            restarts,
        });
        if containers.is_none() {
            self.count_restart(pod);
        }
    }

    /// Increases restartCount of the containers that were to be restarted.
    pub(super) fn count_restart(&mut self, pod: PodId) {
        let row = &mut self.pods[pod.ix()];
        let more = std::mem::take(&mut row.to_restart);
        row.restarts += u32::from(more > 0);
        row.restart_sum += more;
    }

    /// kubernetes.md 3.4: the back-off entry is created at the second start; a container that ran for more than ten
    /// minutes since its last start begins again at the initial delay.
    fn next_back_off(&mut self, pod: PodId) -> Duration {
        let row = &mut self.pods[pod.ix()];
        let ran = row.ended_at.since(row.restarted_at);
        if row.crash_level > 0 && ran > CRASH_BACK_OFF_RESET {
            row.crash_level = 0;
        }
        let back_off = crash_back_off(row.crash_level);
        row.crash_level = row.crash_level.saturating_add(1);
        back_off
    }

    /// Remaining back-off, counted from the end of the container. A pod worker that finds it unfinished returns after
    /// the remaining time, at most one minute, extended by up to half of it (kubernetes.md 3.1).
    fn crash_wait(&mut self, ctx: &mut Ctx<'_>, pod: PodId) -> Duration {
        let over = self.pods[pod.ix()].ended_at.min(ctx.now) + self.next_back_off(pod);
        let mut looks = ctx.now;
        for look in 0.. {
            let left = over.since(looks).min(WORKER_RESYNC);
            if left == Duration::ZERO {
                break;
            }
            let (about, nth) = (About::Pod(pod), self.nth(pod, look));
            let late = ctx.draw_phase(Purpose::WorkerJitter, about, nth, Duration(left.0 / 2));
            looks = looks + left + late;
        }
        self.pods[pod.ix()].restarted_at = looks;
        looks.since(ctx.now)
    }

    /// Delay of an ordinary restart, including the crash back-off.
    fn restart_delay(&mut self, ctx: &mut Ctx<'_>, pod: PodId) -> Duration {
        let scenario = ctx.scenario;
        let k = match &scenario.timing.kubelet {
            Kubelet::Scripted { restart, .. } => return *restart,
            Kubelet::Real(k) => k,
        };
        let back_off = self.crash_wait(ctx, pod);
        let (about, nth) = (About::Pod(pod), self.nth(pod, 0));
        let status = ctx.draw(Purpose::ContainerRestart, about, nth, &k.status_write);
        let start = ctx.draw(Purpose::ContainerStart, about, nth, &k.container_start);
        status + back_off + start + self.agent_boot(ctx, pod, k)
    }

    /// Delay of RestartAllContainers, which stops, removes and starts the containers one after another. The runtime
    /// keeps no state for the back-off (kubernetes.md 3.6).
    fn restart_all_delay(&mut self, ctx: &mut Ctx<'_>, pod: PodId) -> Duration {
        let scenario = ctx.scenario;
        let k = match &scenario.timing.kubelet {
            Kubelet::Scripted { restart, .. } => return *restart,
            Kubelet::Real(k) => k,
        };
        let (about, nth) = (About::Pod(pod), self.nth(pod, 0));
        let mut delay = ctx.draw(Purpose::ContainerRestart, about, nth, &k.status_write);
        delay = delay + self.stop_in_turn(ctx, pod, k);
        delay = delay + ctx.draw(Purpose::ContainerRemove, about, nth, &k.container_remove);
        delay + self.start_in_turn(ctx, pod, k)
    }

    fn stop_in_turn(&self, ctx: &mut Ctx<'_>, pod: PodId, k: &RealKubelet) -> Duration {
        let spec = ctx.store.pod_spec(pod);
        let every = spec.containers.len() + spec.init_containers.len();
        let mut delay = Duration::ZERO;
        for position in 0..every {
            let (about, nth) = (About::Pod(pod), self.nth(pod, position));
            let stop = ctx.draw(Purpose::ContainerStop, about, nth, &k.container_stop);
            delay = delay + stop.min(k.minimum_grace);
        }
        delay
    }

    pub(super) fn containers_back(&mut self, ctx: &mut Ctx<'_>, pod: PodId, epoch: u32) {
        if !self.lives(ctx.store, pod, epoch) || ctx.store.pods.has(pod, flag::DELETING) {
            return;
        }
        if self.has(pod, EXITED) {
            self.scripted_restart(ctx, pod);
        } else {
            self.containers_up(ctx, pod, epoch);
        }
    }

    /// Restarts all containers together, as in a replayed recording.
    fn scripted_restart(&mut self, ctx: &mut Ctx<'_>, pod: PodId) {
        if let AfterExit::Restart(containers) = self.after_exit(ctx.store, pod) {
            self.end_life(ctx, pod, Some(containers));
            self.count_restart(pod);
        }
        self.set(pod, UP);
        apiserver::note_process(ctx, pod, true);
        if self.pod_answers(ctx, pod) {
            self.report_restarts(ctx, pod);
        }
        self.arm_exit(ctx, pod);
    }
}

/// Delay before a restart, by the number of earlier ones: 0, 10, 20, 40 … 300 s (kubernetes.md 3.4).
pub(super) fn crash_back_off(level: u8) -> Duration {
    if level == 0 {
        return Duration::ZERO;
    }
    Duration::from_secs((10u64 << (level - 1).min(5)).min(300))
}
