//! The in-place restart agents and their barrier (AG-1 to AG-7).

use super::{AGENT_EXIT, BARRIER_LIFTED, KubeletState, UP, real_kubelet};
use crate::ctx::{ContextMark, EngineContext, StoreWatcher};
use crate::record::{Body, Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::{apiserver, event::SimulationEvent, store::flag};
use sim_api::spec::{AgentMode, ContainerRestartAction, ContainerSpec, PodSpec};
use sim_base::random::StreamPurpose;
use sim_base::{JobSetId, PodId};

const EXIT_CODE_VARIABLE: &str = "IN_PLACE_RESTART_EXIT_CODE";
const DEFAULT_EXIT_CODE: i32 = 1;

impl KubeletState {
    /// AG-2: the process starts, lists and watches the JobSet, and writes its attempt once.
    pub(super) fn start_agent(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let (_, current) = restart_attempts(ctx, pod);
        let row = &mut self.pods[pod.ix()];
        row.agent_attempt = current.map_or(0, |c| c + 1);
        let (about, nth, epoch) = (TicketSubject::Pod(pod), row.agent_writes, row.epoch);
        row.agent_writes += 1;
        let mut last = ctx.mark();
        if real_kubelet(ctx).is_some() {
            // LIST and WATCH precede the PATCH and use the same share of the API server.
            for k in 0..2 {
                let list = RequestEntry::new(Call::AgentList, about, 2 * nth + k);
                let answered = ctx.request_at_mark(ctx.mark(), list);
                last = later_mark(last, answered);
                ctx.record_response_at(Call::AgentList, RequestAnswer::Success, last.at);
            }
        }
        let written = ctx.request_at_mark(ctx.mark(), RequestEntry::new(Call::AgentPatch, about, nth));
        let last = later_mark(last, written);
        ctx.schedule(last, SimulationEvent::AttemptWritten { pod, epoch });
    }

    pub(super) fn attempt_written(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        let there = ctx.store.pods.exists(pod);
        ctx.record_response(Call::AgentPatch, RequestAnswer::from_existence(there));
        if !self.is_current_lifetime(ctx.store, pod, epoch) || !self.is_node_responsive(ctx, pod) {
            return;
        }
        let attempt = self.pods[pod.ix()].agent_attempt;
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        ctx.emit(Body::AttemptWritten { pod, incarnation, attempt });
        apiserver::set_attempt(ctx, pod, attempt);
        self.agent_notified(ctx, pod, epoch);
    }

    /// AG-3, AG-4: the agent compares its attempt with the JobSet's status.
    pub(super) fn agent_notified(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        let runs = self.is_current_lifetime(ctx.store, pod, epoch) && self.has(pod, UP);
        if !runs || ctx.store.pods.has(pod, flag::DELETING) || !self.is_node_responsive(ctx, pod) {
            return;
        }
        let mine = self.pods[pod.ix()].agent_attempt;
        if ctx.store.pods.attempt[pod.ix()] != mine {
            return;
        }
        let (previous, current) = restart_attempts(ctx, pod);
        if previous.is_some_and(|p| mine <= p) {
            self.exit_agent(ctx, pod);
        } else if !self.has(pod, BARRIER_LIFTED) && current == Some(mine) {
            self.lift_barrier(ctx, pod, mine);
        }
    }

    fn exit_agent(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if ctx.has_scripted_kubelets() {
            return self.restart_containers(ctx, pod, None);
        }
        let template = ctx.store.template(pod);
        let code = agent_exit_code(&template.pod.spec, template.agent);
        self.set(pod, AGENT_EXIT);
        self.end_process(ctx, pod, code);
    }

    /// AG-5: with a sidecar agent, the startup probe must succeed before the kubelet starts the worker; an agent in
    /// the main container starts the worker itself.
    fn lift_barrier(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, attempt: u32) {
        self.set(pod, BARRIER_LIFTED);
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        ctx.emit(Body::BarrierLifted { pod, incarnation, attempt });
        let delay = self.worker_delay(ctx, pod);
        let epoch = self.pods[pod.ix()].epoch;
        let up = SimulationEvent::WorkerStarted { pod, epoch };
        ctx.schedule_after(delay, TicketWait::Probe, TicketSubject::Pod(pod), up);
    }

    pub(super) fn worker_started(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        if !self.is_current_lifetime(ctx.store, pod, epoch) || !self.is_node_responsive(ctx, pod) {
            return;
        }
        if self.worker_waits_for_image(ctx, pod) {
            return;
        }
        apiserver::note_process_change(ctx, pod, true);
        self.write_started(ctx, pod);
        self.arm_exit(ctx, pod);
    }

    /// Delivers a JobSet update to every agent that watches it.
    pub(super) fn notify_agents(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let store = &**ctx.store;
        let version = store.jobsets[jobset.ix()].resource_version;
        let pods = store.jobs_of(jobset);
        let pods = pods.flat_map(|job| store.jobs[job.ix()].pods.iter());
        let watches = |p: &PodId| self.is_up(*p) && store.template(*p).agent != AgentMode::Absent;
        let pods: Vec<PodId> = pods.filter(watches).collect();
        let fanout = &ctx.scenario.timing.agent_fanout;
        for pod in pods {
            let about = TicketSubject::Pod(pod);
            let lag = if ctx.has_scripted_kubelets() {
                ctx.watch_lag(StoreWatcher::Agent, about, version)
            } else {
                ctx.draw(StreamPurpose::AgentFanout, about, version, fanout)
            };
            let epoch = self.pods[pod.ix()].epoch;
            ctx.schedule_after(lag, TicketWait::FanOut, about, SimulationEvent::AgentNotified { pod, epoch });
        }
    }
}

/// Returns the later of two marks, for a chain that waits for both.
fn later_mark(a: ContextMark, b: ContextMark) -> ContextMark {
    if b.at >= a.at { b } else { a }
}

/// previousInPlaceRestartAttempt and currentInPlaceRestartAttempt of the pod's JobSet.
fn restart_attempts(ctx: &EngineContext<'_>, pod: PodId) -> (Option<u32>, Option<u32>) {
    let row = ctx.store.jobsets.get(ctx.store.jobset_of(pod).ix());
    row.map_or((None, None), |row| {
        let s = &row.status;
        (s.previous_in_place_restart_attempt, s.current_in_place_restart_attempt)
    })
}

/// The agent's container: the one recognised by `PodSpec::agent_mode`, otherwise the first possible one.
pub fn agent_container(spec: &PodSpec, mode: AgentMode) -> Option<&ContainerSpec> {
    let known = |c: &&ContainerSpec| c.env.contains_key("JOBSET_NAME") && c.env.contains_key("POD_NAME");
    let restarts_all = |c: &&ContainerSpec| {
        let mut rules = c.restart_policy_rules.iter();
        rules.any(|r| r.action == ContainerRestartAction::RestartAllContainers)
    };
    match mode {
        AgentMode::Absent => None,
        AgentMode::Sidecar { .. } => {
            let sidecars = spec.init_containers.iter().filter(|c| c.is_sidecar());
            only_or_first(sidecars, |c| known(c) || restarts_all(c))
        }
        AgentMode::MainContainer => {
            only_or_first(spec.containers.iter(), |c| known(c) || c.env.contains_key("WORKER_COMMAND"))
        }
    }
}

/// The first matching container, otherwise the first one. A single container needs no test.
fn only_or_first<'s>(
    all: impl Iterator<Item = &'s ContainerSpec> + Clone, mut matches: impl FnMut(&&ContainerSpec) -> bool,
) -> Option<&'s ContainerSpec> {
    let (mut others, mut again) = (all.clone(), all);
    let first = others.next();
    if others.next().is_none() { first } else { again.find(&mut matches).or(first) }
}

/// AG-3: exit code of an agent that has to restart.
pub(super) fn agent_exit_code(spec: &PodSpec, mode: AgentMode) -> i32 {
    let given = agent_container(spec, mode).and_then(|c| c.env.get(EXIT_CODE_VARIABLE));
    let given = given.and_then(|code| code.parse().ok());
    given.unwrap_or(DEFAULT_EXIT_CODE)
}
