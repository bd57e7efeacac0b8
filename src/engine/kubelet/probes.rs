//! Startup and readiness probes (`pkg/kubelet/prober/worker.go`).
//!
//! A worker probes at the ticks of its own ticker, but not before the initial delay. The ticker of a startup probe
//! begins before the containers start (`AddPod`), and its first tick finds none. The ticker of a readiness probe begins
//! again with a probe when the container has started, which is when its startup probe has succeeded.

use super::{KubeletState, PROBING, UP, agents, real_kubelet};
use crate::ctx::EngineContext;
use crate::event::{ContainerTimer, SimulationEvent, StatusWrite};
use crate::record::{TicketSubject, TicketWait};
use sim_api::spec::{ContainerSpec, ProbeTiming};
use sim_base::{Duration, PodId, SimTime};

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

    /// The tickers of the pod's startup probes count from this time.
    pub(super) fn begin_to_probe(&mut self, ctx: &EngineContext<'_>, pod: PodId, since: SimTime) {
        let template = ctx.store.template(pod);
        let spec = &template.pod.spec;
        let agent = agents::agent_container(spec, template.agent);
        let is_probed = |container: &ContainerSpec| {
            container.startup_probe.is_some() && agent.is_none_or(|agent| agent.name != container.name)
        };
        if spec.init_containers.iter().chain(&spec.containers).any(is_probed) {
            self.probed_since.insert(pod, since);
        }
    }

    /// Time from the start of the main containers until all probes of the pod have succeeded.
    fn probe_delay(&self, ctx: &mut EngineContext<'_>, pod: PodId) -> Duration {
        let rule = self.rule_for(ctx, pod);
        if real_kubelet(ctx).is_none() || rule.is_some_and(|r| r.start_after.is_some()) {
            return Duration::ZERO;
        }
        let after = rule.and_then(|r| r.ready_after).unwrap_or_default();
        let inits = ctx.store.pod_spec(pod).init_containers.len();
        let mut delay = Duration::ZERO;
        for container in &ctx.store.pod_spec(pod).containers {
            let started = container.startup_probe.map(|p| self.startup_delay(pod, p, (ctx.now, after)));
            let started = started.unwrap_or_default();
            let ready = container.readiness_probe.map(|p| p.ready_after(started, after));
            delay = delay.max(ready.unwrap_or(started));
        }
        (0..inits).fold(delay, |delay, position| delay.max(self.sidecar_readiness(ctx, pod, position)))
    }

    /// Time from the start of a container, at `from`, until its startup probe succeeds; a probe before `after` fails.
    pub(super) fn startup_delay(&self, pod: PodId, probe: ProbeTiming, (from, after): (SimTime, Duration)) -> Duration {
        let since = self.probed_since.get(&pod).copied().unwrap_or(from);
        let earliest = (from + probe.initial_delay.max(after)).since(since);
        let ticks = earliest.0.div_ceil(probe.period.0.max(1)).max(1);
        (since + Duration(ticks * probe.period.0)).since(from) + probe.successes()
    }
}
