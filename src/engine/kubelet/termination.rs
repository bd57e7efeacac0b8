//! The end of a pod whose main containers have all ended permanently, in syncs of its pod worker (kubernetes.md 3.5).
//! A worker starts a sync only after a runtime relist since its previous one (`podWorkerLoop`), so each sync costs a
//! relist. Must never process a deleted pod; this is the task of `stop`.

use super::stop::RunningContainers;
use super::{ALL_ENDED, ENDING, KubeletState, SIDECARS, real_kubelet};
use crate::ctx::EngineContext;
use crate::event::{SimulationEvent, StatusWrite};
use crate::record::{TicketSubject, TicketWait};
use sim_api::spec::{KubeVersion, RealKubelet};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, PodId};

impl KubeletState {
    /// Called when the kubelet has noticed that no main container will run again. Sidecars do not keep a pod alive:
    /// they are stopped, and the phase becomes terminal after they have ended.
    pub(super) fn end_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let sidecars = if self.has(pod, ALL_ENDED) {
            Duration::ZERO
        } else {
            self.stop_time(ctx, pod, RunningContainers::SIDECARS)
        };
        let turns = match real_kubelet(ctx) {
            Some(k) => self.final_sync_delay(ctx, pod, k, sidecars > Duration::ZERO),
            None => Duration::ZERO,
        };
        if (sidecars, turns) == (Duration::ZERO, Duration::ZERO) {
            return self.write_status(ctx, pod, StatusWrite::Finished);
        }
        let stopping = if sidecars > Duration::ZERO { SIDECARS } else { ALL_ENDED };
        self.set(pod, ENDING | stopping);
        self.pods[pod.ix()].stops_at = ctx.now + sidecars;
        let so_far = match self.pods[pod.ix()].exit_code {
            0 => StatusWrite::Succeeding,
            _ => StatusWrite::NotReady,
        };
        self.write_status(ctx, pod, so_far);
        let (about, epoch) = (TicketSubject::Pod(pod), self.pods[pod.ix()].epoch);
        let mut mark = ctx.mark();
        if sidecars > Duration::ZERO {
            mark = ctx.add_wait(mark, sidecars, TicketWait::Grace, about);
        }
        if turns > Duration::ZERO {
            mark = ctx.add_wait(mark, turns, TicketWait::PodWorker, about);
        }
        ctx.schedule(mark, SimulationEvent::ExitNoticed { pod, epoch });
    }

    /// The last sync of the worker: the phase becomes terminal.
    pub(super) fn finish_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        self.clear(pod, ENDING | SIDECARS);
        self.set(pod, ALL_ENDED);
        self.write_status(ctx, pod, StatusWrite::Finished);
    }

    /// Time from the end of the last container, or from the relist that noticed it, to the sync that writes the phase.
    fn final_sync_delay(
        &self, ctx: &mut EngineContext<'_>, pod: PodId, k: &RealKubelet, stopped_sidecars: bool,
    ) -> Duration {
        if !stopped_sidecars {
            // SyncTerminatingPod stops the sandbox, which changes the status (PodReadyToStartContainers): the phase
            // is written with it.
            return k.pleg_period;
        }
        // The intervals between relists drift by their own duration, so after a minute the phase of the next one is
        // random.
        let (about, nth) = (TicketSubject::Pod(pod), self.occurrence(pod, 1));
        let to_relist = ctx.draw_phase(StreamPurpose::PlegPhase, about, nth, k.pleg_period);
        to_relist + delay_after_sidecars(k, ctx.scenario.control_plane.kubernetes)
    }
}

/// Time from the first relist after the end of the sidecars to the phase. The sandbox was removed with them, so the
/// visible status does not change until SyncTerminatedPod has seen the volumes unmounted and forces a status write.
pub(super) fn delay_after_sidecars(k: &RealKubelet, version: KubeVersion) -> Duration {
    let terminating_and_terminated = k.pleg_period + k.unmount_poll;
    if version.relists_on_demand() { terminating_and_terminated } else { k.pleg_period + terminating_and_terminated }
}
