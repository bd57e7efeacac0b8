//! Containers that restart in their pod: back-off, restart counts, RestartAllContainers (kubernetes.md 3.4, 3.6).

use super::exits::AfterExit;
use super::{AGENT_EXIT, ALL_ENDED, BARRIER_LIFTED, ENDING, EXITED, KubeletState, PROBING, UP};
use crate::event::{SimulationEvent, StatusWrite};
use crate::record::{Body, TicketSubject, TicketWait};
use crate::store::{ObjectStore, flag};
use crate::{apiserver, ctx::EngineContext};
use sim_api::spec::{KubeletTiming, RealKubelet};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, PodId, SimTime};
use sim_policy::CrashBackOff;

impl KubeletState {
    /// Restarts all containers of a pod in place, or this number of them; the pod becomes not ready.
    /// RestartAllContainers removes the ended containers and counts immediately; otherwise restartCount increases
    /// when its container has started again.
    pub(super) fn restart_containers(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, containers: Option<u32>) {
        self.start_new_lifetime(ctx, pod, containers);
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
        let back = SimulationEvent::ContainersRestarted { pod, epoch };
        ctx.schedule_after(delay, TicketWait::ContainerRestart, TicketSubject::Pod(pod), back);
    }

    /// Starts a new lifetime of the pod's processes.
    fn start_new_lifetime(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, containers: Option<u32>) {
        let spec = ctx.store.pod_spec(pod);
        let every = (spec.containers.len() + spec.init_containers.len()).max(1) as u32;
        let row = &mut self.pods[pod.ix()];
        row.to_restart = containers.unwrap_or(every);
        let ran = row.has(UP);
        row.flags &= !(UP | EXITED | BARRIER_LIFTED | AGENT_EXIT | ALL_ENDED | ENDING | PROBING);
        if containers.is_none() {
            row.init_done = 0;
        }
        row.begin_lifetime();
        let so_far = row.restarts;
        let alone = containers.and_then(|_| self.exited_init(ctx.store, pod));
        let restarts = alone.map_or(so_far, |init| self.init_restarts(pod, init)) + 1;
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        if ran {
            apiserver::note_process_change(ctx, pod, false);
        }
        ctx.emit(Body::ContainersRestarting { pod, incarnation, restarts });
        if containers.is_none() {
            self.forget_sidecars(pod);
            let row = &mut self.pods[pod.ix()];
            row.all_restarts += 1;
            row.restarts += 1;
            row.restart_sum += std::mem::take(&mut row.to_restart);
        }
    }

    /// Increases restartCount of the containers that were to be restarted.
    pub(super) fn count_restart(&mut self, store: &ObjectStore, pod: PodId) {
        if let Some(init) = self.restarting_init(store, pod) {
            self.pods[pod.ix()].to_restart = 0;
            return self.count_init_restart(pod, init);
        }
        let row = &mut self.pods[pod.ix()];
        let more = std::mem::take(&mut row.to_restart);
        row.restarts += u32::from(more > 0);
        row.restart_sum += more;
    }

    /// Remaining back-off of a container that restarts. A pod worker that finds it unfinished returns up to half of the
    /// remaining time late (kubernetes.md 3.1).
    pub(super) fn remaining_back_off(
        &self, ctx: &mut EngineContext<'_>, pod: PodId, crash: &mut CrashBackOff,
    ) -> Duration {
        crash.restart(ctx.now, |sleep, look| self.next_look(ctx, pod, sleep, look))
    }

    /// Time at which a pod worker looks at the pod again that waits for `left` from `now`: up to half of it later.
    pub(super) fn next_look(
        &self, ctx: &mut EngineContext<'_>, pod: PodId, (now, left): (SimTime, Duration), look: usize,
    ) -> SimTime {
        let (about, nth) = (TicketSubject::Pod(pod), self.occurrence(pod, look));
        let late = ctx.draw_phase(StreamPurpose::WorkerJitter, about, nth, Duration(left.0 / 2));
        now + left + late
    }

    /// Delay of an ordinary restart, including the crash back-off.
    fn restart_delay(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> Duration {
        let scenario = ctx.scenario;
        let k = match &scenario.timing.kubelet {
            KubeletTiming::Scripted { restart, .. } => return *restart,
            KubeletTiming::Real(k) => k,
        };
        let ended_at = self.pods[pod.ix()].ended_at;
        let init = self.exited_init(ctx.store, pod);
        let back_off = match init {
            Some(init) => self.init_back_off(ctx, pod, init, ended_at),
            None => {
                let mut crash = self.pods[pod.ix()].crash;
                crash.ended_at = ended_at;
                let back_off = self.remaining_back_off(ctx, pod, &mut crash);
                self.pods[pod.ix()].crash = crash;
                back_off
            }
        };
        let (about, nth) = (TicketSubject::Pod(pod), self.occurrence(pod, 0));
        let status = ctx.draw(StreamPurpose::ContainerRestart, about, nth, &k.status_write);
        if let Some(init) = init {
            return status + back_off + self.start_from(ctx, pod, (status + back_off, init));
        }
        if self.begins_with_failed_pull(ctx, pod, ctx.now + status + back_off) {
            return status + back_off;
        }
        let start = ctx.draw(StreamPurpose::ContainerStart, about, nth, &k.container_start);
        status + back_off + start + self.agent_boot(ctx, pod, k)
    }

    /// Delay of RestartAllContainers, which stops, removes and starts the containers one after another. The runtime
    /// keeps no state for the back-off (kubernetes.md 3.6).
    fn restart_all_delay(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> Duration {
        let scenario = ctx.scenario;
        let k = match &scenario.timing.kubelet {
            KubeletTiming::Scripted { restart, .. } => return *restart,
            KubeletTiming::Real(k) => k,
        };
        let (about, nth) = (TicketSubject::Pod(pod), self.occurrence(pod, 0));
        let mut delay = ctx.draw(StreamPurpose::ContainerRestart, about, nth, &k.status_write);
        delay = delay + self.stop_sequentially(ctx, pod, k);
        delay = delay + ctx.draw(StreamPurpose::ContainerRemove, about, nth, &k.container_remove);
        delay + self.start_sequentially(ctx, pod, k, (delay, 0))
    }

    fn stop_sequentially(&self, ctx: &mut EngineContext<'_>, pod: PodId, k: &RealKubelet) -> Duration {
        let spec = ctx.store.pod_spec(pod);
        let every = spec.containers.len() + spec.init_containers.len();
        let mut delay = Duration::ZERO;
        for position in 0..every {
            let (about, nth) = (TicketSubject::Pod(pod), self.occurrence(pod, position));
            let stop = ctx.draw(StreamPurpose::ContainerStop, about, nth, &k.container_stop);
            delay = delay + stop.min(k.minimum_grace);
        }
        delay
    }

    pub(super) fn containers_restarted(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        if !self.is_current_lifetime(ctx.store, pod, epoch) || ctx.store.pods.has(pod, flag::DELETING) {
            return;
        }
        if self.has(pod, EXITED) {
            self.scripted_restart(ctx, pod);
        } else {
            self.containers_started(ctx, pod, epoch);
        }
    }

    /// Restarts all containers together, as in a replayed recording.
    fn scripted_restart(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if let AfterExit::Restart(containers) = self.action_after_exit(ctx.store, pod) {
            self.start_new_lifetime(ctx, pod, Some(containers));
            self.count_restart(ctx.store, pod);
        }
        self.set(pod, UP);
        apiserver::note_process_change(ctx, pod, true);
        if self.is_node_responsive(ctx, pod) {
            self.report_restarts(ctx, pod);
        }
        self.arm_exit(ctx, pod);
    }
}
