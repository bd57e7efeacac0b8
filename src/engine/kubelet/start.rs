//! From a binding to running containers (kubernetes.md 3.2), and the exits that the scenario schedules for them.

use super::{ADMITTED, BARRIER_LIFTED, KubeletState, UP, real_kubelet};
use crate::event::{ContainerTimer, SimulationEvent, StatusWrite};
use crate::record::{TicketSubject, TicketWait};
use crate::{apiserver, ctx::EngineContext};
use sim_api::spec::{AgentMode, KubeletTiming, RealKubelet};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, PodId};

impl KubeletState {
    /// The kubelet receives a pod bound to its node.
    pub(super) fn start_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if !ctx.store.pods.exists(pod) {
            return;
        }
        if !self.is_node_responsive(ctx, pod) {
            self.waiting_since.insert(pod, ctx.mark());
            return;
        }
        if let Some(refusal) = self.admission_refusal(ctx, pod) {
            return self.refuse_pod(ctx, pod, refusal);
        }
        self.set(pod, ADMITTED);
        self.begin_to_probe(ctx, pod, ctx.now);
        let delay = match self.rule_for(ctx, pod).and_then(|r| r.start_after) {
            Some(start) => start,
            None => self.start_delay(ctx, pod),
        };
        let epoch = self.pods[pod.ix()].epoch;
        let up = SimulationEvent::ContainersStarted { pod, epoch };
        ctx.schedule_after(delay, TicketWait::ContainerStart, TicketSubject::Pod(pod), up);
    }

    /// Delay from the observed binding to running containers: volumes, sandbox, all containers one after another.
    fn start_delay(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> Duration {
        let scenario = ctx.scenario;
        let k = match &scenario.timing.kubelet {
            KubeletTiming::Scripted { start, .. } => return *start,
            KubeletTiming::Real(k) => k,
        };
        let (about, nth) = (TicketSubject::Pod(pod), self.occurrence(pod, 0));
        let volumes = ctx.draw(StreamPurpose::PodVolumes, about, nth, &k.volumes);
        let sandbox = ctx.draw(StreamPurpose::PodSandbox, about, nth, &k.sandbox);
        let before = volumes + sandbox;
        self.begin_to_probe(ctx, pod, ctx.now + volumes);
        before + self.start_sequentially(ctx, pod, k, (before, 0))
    }

    /// Time to start the containers from the one at `from`, beginning after `before`; for an init container that
    /// restarts, the time until it runs.
    pub(super) fn start_from(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, (before, from): (Duration, usize),
    ) -> Duration {
        match &ctx.scenario.timing.kubelet {
            KubeletTiming::Scripted { start, .. } => *start,
            KubeletTiming::Real(k) if self.restarting_init(ctx.store, pod) == Some(from) => {
                self.pods[pod.ix()].pull_failed = 0;
                self.start_container(ctx, pod, k, (before, from))
            }
            KubeletTiming::Real(k) => self.start_sequentially(ctx, pod, k, (before, from)),
        }
    }

    /// Time to start the container at a position, or until the pull of its image fails.
    fn start_container(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, k: &RealKubelet, (before, position): (Duration, usize),
    ) -> Duration {
        let (about, nth) = (TicketSubject::Pod(pod), self.occurrence(pod, position));
        let mut delay = Duration::ZERO;
        if ctx.store.template(pod).start_order[position] {
            delay = ctx.draw(StreamPurpose::ImageCheck, about, nth, &k.image_check);
        }
        if self.fails_to_pull(ctx, pod, position, ctx.now + before + delay) {
            self.pods[pod.ix()].pull_failed = (position + 1).min(u8::MAX.into()) as u8;
            return delay;
        }
        delay + ctx.draw(StreamPurpose::ContainerStart, about, nth, &k.container_start)
    }

    /// Time to start the containers one after another, from the one at `from`, until all run, an init container fails,
    /// or an image cannot be pulled. The start begins after `before`.
    pub(super) fn start_sequentially(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, k: &RealKubelet, (before, from): (Duration, usize),
    ) -> Duration {
        self.pods[pod.ix()].pull_failed = 0;
        let mut delay = Duration::ZERO;
        for position in from..ctx.store.template(pod).start_order.len() {
            delay = delay + self.start_container(ctx, pod, k, (before + delay, position));
            if self.pods[pod.ix()].pull_failed > 0 {
                return delay;
            }
            if position < ctx.store.pod_spec(pod).init_containers.len() {
                let (run, fails) = self.init_run(ctx, pod, (before + delay, position));
                delay = delay + run;
                if fails {
                    return delay;
                }
            }
        }
        delay + self.agent_boot(ctx, pod, k)
    }

    /// An init container runs again: its restartCount is written, and the other containers start after it.
    fn init_restarted(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, (k, position): (&RealKubelet, usize)) {
        self.count_restart(ctx.store, pod);
        self.write_status(ctx, pod, StatusWrite::InitRunning);
        let (run, fails) = self.init_run(ctx, pod, (Duration::ZERO, position));
        let rest = if fails { Duration::ZERO } else { self.start_sequentially(ctx, pod, k, (run, position + 1)) };
        let epoch = self.pods[pod.ix()].epoch;
        let up = SimulationEvent::ContainersStarted { pod, epoch };
        ctx.schedule_after(run + rest, TicketWait::ContainerRestart, TicketSubject::Pod(pod), up);
    }

    pub(super) fn agent_boot(&self, ctx: &mut EngineContext<'_>, pod: PodId, k: &RealKubelet) -> Duration {
        match ctx.store.template(pod).agent {
            AgentMode::Absent => Duration::ZERO,
            _ => ctx.draw(StreamPurpose::AgentBoot, TicketSubject::Pod(pod), self.occurrence(pod, 0), &k.agent_boot),
        }
    }

    pub(super) fn containers_started(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        let starts = self.is_current_lifetime(ctx.store, pod, epoch) && !self.has(pod, UP);
        if !starts || !self.is_node_responsive(ctx, pod) {
            return;
        }
        if self.pods[pod.ix()].pull_failed > 0 {
            return self.retry_pull(ctx, pod);
        }
        self.pods[pod.ix()].unpulled = 0;
        if let (Some(init), Some(k)) = (self.restarting_init(ctx.store, pod), real_kubelet(ctx)) {
            return self.init_restarted(ctx, pod, (k, init));
        }
        self.count_restart(ctx.store, pod);
        if let Some(failure) = self.failing_init(ctx, pod) {
            return self.fail_init(ctx, pod, failure);
        }
        self.pods[pod.ix()].init_done = u8::MAX;
        self.set(pod, UP);
        self.arm_sidecars(ctx, pod);
        let agent = ctx.store.template(pod).agent;
        if agent.has_barrier() {
            self.write_status(ctx, pod, StatusWrite::Running);
            self.start_agent(ctx, pod);
            self.arm_barrier_crash(ctx, pod);
            return;
        }
        apiserver::note_process_change(ctx, pod, true);
        self.write_started(ctx, pod);
        self.arm_exit(ctx, pod);
        if agent != AgentMode::Absent {
            // No process waits for the barrier.
            self.set(pod, BARRIER_LIFTED);
            self.start_agent(ctx, pod);
        }
    }

    /// Schedules the scripted crash of a pod that waits at its barrier.
    fn arm_barrier_crash(&self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let Some(wait) = self.rule_for(ctx, pod).and_then(|r| r.at_barrier_for) else {
            return;
        };
        let (epoch, timer) = (self.pods[pod.ix()].epoch, ContainerTimer::BarrierExit);
        let exit = SimulationEvent::ContainerTimerDue { pod, epoch, timer };
        ctx.schedule_after(wait, TicketWait::Running, TicketSubject::Pod(pod), exit);
    }

    /// Schedules the exit of the container run that begins now, if a rule matches.
    pub(super) fn arm_exit(&self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let Some(after) = self.rule_for(ctx, pod).and_then(|r| r.run_for) else {
            return;
        };
        let epoch = self.pods[pod.ix()].epoch;
        let exit = SimulationEvent::ContainerExit { pod, epoch };
        ctx.schedule_after(after, TicketWait::Running, TicketSubject::Pod(pod), exit);
    }

    /// A sidecar's startup probe detects that the barrier is lifted: the remaining probe period, then the start of
    /// the worker containers.
    pub(super) fn worker_delay(&self, ctx: &mut EngineContext<'_>, pod: PodId) -> Duration {
        let template = ctx.store.template(pod);
        let (agent, spec) = (template.agent, template.pod.clone());
        let AgentMode::Sidecar { probe_period_s: Some(probe_period_s) } = agent else {
            return Duration::ZERO;
        };
        let Some(k) = real_kubelet(ctx) else {
            return Duration::ZERO;
        };
        let (about, spec) = (TicketSubject::Pod(pod), &spec.spec);
        let period = Duration::from_secs(u64::from(probe_period_s));
        let mut delay = ctx.draw_phase(StreamPurpose::ProbePhase, about, self.occurrence(pod, 0), period);
        let first = spec.init_containers.len();
        for position in first..first + spec.containers.len() {
            let nth = self.occurrence(pod, position);
            delay = delay + ctx.draw(StreamPurpose::ContainerStart, about, nth, &k.container_start);
        }
        delay
    }
}
