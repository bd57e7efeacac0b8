//! Startup and readiness probes of main containers (`pkg/kubelet/prober/worker.go`).
//!
//! A worker probes at the ticks of its own ticker, but not before the initial delay. Without an initial delay, the
//! kubelet triggers the first probe when the container runs. A readiness probe begins when the startup probe has
//! succeeded.

use super::{KubeletState, PROBING, UP, real_kubelet};
use crate::ctx::EngineContext;
use crate::event::{ContainerTimer, SimulationEvent, StatusWrite};
use crate::record::{TicketSubject, TicketWait};
use sim_api::spec::ProbeTiming;
use sim_base::random::StreamPurpose;
use sim_base::{Duration, PodId};

impl KubeletState {
    /// Writes the status of a pod whose main containers have started: ready, unless a probe has to succeed first.
    pub(super) fn write_started(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let delay = self.probe_delay(ctx, pod);
        if delay == Duration::ZERO {
            self.clear(pod, PROBING);
            return self.write_status(ctx, pod, StatusWrite::Ready);
        }
        self.set(pod, PROBING);
        self.write_status(ctx, pod, StatusWrite::Running);
        let (epoch, timer) = (self.pods[pod.ix()].epoch, ContainerTimer::ProbeSucceeded);
        let due = SimulationEvent::ContainerTimerDue { pod, epoch, timer };
        ctx.schedule_after(delay, TicketWait::Readiness, TicketSubject::Pod(pod), due);
    }

    pub(super) fn probe_succeeded(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        if !self.is_current_lifetime(ctx.store, pod, epoch) || !self.has(pod, UP) {
            return;
        }
        self.clear(pod, PROBING);
        if self.is_node_responsive(ctx, pod) {
            self.write_status(ctx, pod, StatusWrite::Ready);
        }
    }

    /// Time from the start of the main containers until all of their probes have succeeded.
    fn probe_delay(&self, ctx: &mut EngineContext<'_>, pod: PodId) -> Duration {
        let rule = self.rule_for(ctx, pod);
        if real_kubelet(ctx).is_none() || rule.is_some_and(|r| r.start_after.is_some()) {
            return Duration::ZERO;
        }
        let after = rule.and_then(|r| r.ready_after).unwrap_or_default();
        let inits = ctx.store.pod_spec(pod).init_containers.len();
        let mut delay = Duration::ZERO;
        for at in 0..ctx.store.pod_spec(pod).containers.len() {
            let container = &ctx.store.pod_spec(pod).containers[at];
            let (startup, readiness) = (container.startup_probe, container.readiness_probe);
            let position = 2 * (inits + at);
            let started = startup.map(|p| self.first_success(ctx, pod, p, after, position));
            let started = started.unwrap_or_default();
            let ready = readiness.map(|p| {
                if p.initial_delay.max(after) > started {
                    self.first_success(ctx, pod, p, after, position + 1)
                } else {
                    // The kubelet triggers the probe of a container that has just started.
                    started + p.successes()
                }
            });
            delay = delay.max(ready.unwrap_or(started));
        }
        delay
    }

    /// Time from the start of a container until its probe has succeeded often enough; a probe before `after` fails.
    pub(super) fn first_success(
        &self, ctx: &mut EngineContext<'_>, pod: PodId, probe: ProbeTiming, after: Duration, position: usize,
    ) -> Duration {
        let earliest = probe.initial_delay.max(after);
        if earliest == Duration::ZERO {
            return probe.successes();
        }
        // Position 0 is that of an agent's probe.
        let nth = self.occurrence(pod, position + 1);
        let phase = ctx.draw_phase(StreamPurpose::ProbePhase, TicketSubject::Pod(pod), nth, probe.period);
        let ticks = earliest.0.saturating_sub(phase.0).div_ceil(probe.period.0.max(1));
        phase + Duration(ticks * probe.period.0) + probe.successes()
    }
}
