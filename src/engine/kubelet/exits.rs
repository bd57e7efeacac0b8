//! Containers that exit on their own: when the exit is noticed, and whether the pod ends or the containers restart
//! (kubernetes.md 3.1, 3.4, 3.6). Must never stop the containers of a deleted pod; this is the task of `stop`.

use super::{AGENT_EXIT, BARRIER_LIFTED, ENDING, EXITED, KubeletState, UP, real_kubelet};
use crate::record::{Body, TicketSubject, TicketWait};
use crate::store::{ContainersState, ExitedContainers, ObjectStore, flag};
use crate::{apiserver, ctx::EngineContext, event::SimulationEvent};
use sim_api::spec::{AgentMode, ContainerRestartAction, ContainerSpec, KubeletTiming, PodSpec, RestartPolicy};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, JobId, JobSetId, PodId};

/// The kubelet's action after an exit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum AfterExit {
    PodEnds,
    /// This many of the pod's containers are restarted.
    Restart(u32),
    RestartAll,
}

impl KubeletState {
    /// A container's process exits with the code of its rule.
    pub(super) fn container_exit(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        if !self.is_current_lifetime(ctx.store, pod, epoch) || !self.has(pod, UP) {
            return;
        }
        let rule = self.rule_for(ctx, pod);
        let code = rule.map_or(1, |r| r.exit_code);
        let containers = &ctx.store.pod_spec(pod).containers;
        let named = rule.and_then(|r| r.container.as_ref());
        let only = named.and_then(|n| containers.iter().position(|c| c.name == *n));
        self.end_container(ctx, pod, code, only.map_or(ExitedContainers::All, ExitedContainers::One));
    }

    /// The container exits at the barrier (`atBarrierFor`), unless the barrier was lifted before.
    pub(super) fn barrier_exit(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        let waits = self.is_current_lifetime(ctx.store, pod, epoch) && self.has(pod, UP);
        if waits && !self.has(pod, BARRIER_LIFTED) {
            self.restart_containers(ctx, pod, None);
        }
    }

    /// The containers' processes exit with this code; returns false if none was running.
    pub fn end_process(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, exit_code: i32) -> bool {
        let runs = self.is_up(pod);
        if runs {
            self.end_container(ctx, pod, exit_code, ExitedContainers::All);
        }
        runs
    }

    fn end_container(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, exit_code: i32, exited: ExitedContainers) {
        self.clear(pod, UP);
        apiserver::note_process_change(ctx, pod, false);
        self.book_exit(ctx, pod, exit_code, exited);
    }

    /// Stores the exit of containers with this code. The kubelet notices it at its next relist.
    pub(super) fn book_exit(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, exit_code: i32, exited: ExitedContainers,
    ) {
        let row = &mut self.pods[pod.ix()];
        row.flags |= EXITED;
        row.ended_at = ctx.now;
        row.exit_code = exit_code.clamp(0, 255) as u8;
        row.exited = ContainersState::Exited(exited).into();
        row.begin_lifetime();
        let epoch = row.epoch;
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        ctx.emit(Body::ContainerExited { pod, incarnation, exit_code });
        self.mark_restart(ctx, pod);
        let wait = self.time_to_relist(ctx, pod, 0);
        let noticed = SimulationEvent::ExitNoticed { pod, epoch };
        ctx.schedule_after(wait, TicketWait::Pleg, TicketSubject::Pod(pod), noticed);
    }

    /// The training job of the JobSet has completed its work: its processes exit with code 0.
    pub(super) fn work_done(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let store = &**ctx.store;
        let pods = store.jobs_of(jobset);
        let pods = pods.flat_map(|job| store.jobs[job.ix()].pods.iter());
        let pods: Vec<PodId> = pods.filter(|pod| self.is_up(*pod)).collect();
        for pod in pods {
            self.end_process(ctx, pod, 0);
        }
    }

    /// Marks the start of the restart: the first exit in a JobSet that was ready.
    fn mark_restart(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if !self.restarted && was_ready(ctx.store, ctx.store.jobset_of(pod)) {
            self.restarted = true;
            ctx.mark_restart();
        }
    }

    /// Time to the next PLEG relist, uniform in (0, period): each kubelet has its own phase (kubernetes.md 3.1).
    pub(super) fn time_to_relist(&self, ctx: &mut EngineContext<'_>, pod: PodId, position: usize) -> Duration {
        match real_kubelet(ctx) {
            None => Duration::ZERO,
            Some(k) => {
                let (about, nth) = (TicketSubject::Pod(pod), self.occurrence(pod, position));
                ctx.draw_phase(StreamPurpose::PlegPhase, about, nth, k.pleg_period)
            }
        }
    }

    /// The kubelet notices the exit; later also called for the last sync of an ending pod's worker.
    pub(super) fn exit_noticed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32) {
        if !self.is_current_lifetime(ctx.store, pod, epoch) {
            return;
        }
        if !self.is_node_responsive(ctx, pod) || ctx.store.pods.has(pod, flag::DELETING) {
            return;
        }
        if self.has(pod, ENDING) {
            return self.finish_pod(ctx, pod);
        }
        let ends = self.rule_for(ctx, pod).is_some_and(|r| r.pod_fails);
        let after = if ends { AfterExit::PodEnds } else { self.action_after_exit(ctx.store, pod) };
        match after {
            AfterExit::PodEnds => self.end_pod(ctx, pod),
            AfterExit::Restart(containers) => match ctx.scenario.timing.kubelet {
                // A replayed recording reports a container only once it runs again: the pod stays ready meanwhile. An
                // agent in the main container starts at its barrier (AG-2) with either kind of kubelet.
                KubeletTiming::Scripted { restart, .. }
                    if ctx.store.template(pod).agent == AgentMode::Absent
                        || ctx.store.pod_spec(pod).agent_mode() != AgentMode::MainContainer =>
                {
                    let back = SimulationEvent::ContainersRestarted { pod, epoch };
                    ctx.schedule_after(restart, TicketWait::ContainerRestart, TicketSubject::Pod(pod), back);
                }
                _ => self.restart_containers(ctx, pod, Some(containers)),
            },
            AfterExit::RestartAll => self.restart_containers(ctx, pod, None),
        }
    }

    pub(super) fn action_after_exit(&self, store: &ObjectStore, pod: PodId) -> AfterExit {
        let (row, template) = (&self.pods[pod.ix()], store.template(pod));
        let spec = &template.pod.spec;
        if row.has(AGENT_EXIT) {
            return restart_action_of_agent(spec, template.agent, i32::from(row.exit_code));
        }
        if let Some(init) = self.exited_init(store, pod).and_then(|at| spec.init_containers.get(at)) {
            let code = i32::from(row.exit_code);
            return match init.matching_rule(code) {
                Some(ContainerRestartAction::RestartAllContainers) => AfterExit::RestartAll,
                None if !restarts_after(spec, init, code) => AfterExit::PodEnds,
                _ => AfterExit::Restart(1),
            };
        }
        restart_action(
            spec,
            |container| {
                if row.exited.exited().includes(container) { i32::from(row.exit_code) } else { 0 }
            },
        )
    }
}

/// Applies each container's restart rules by exit code, then its restart policy, then the pod's (KEP-5307, KEP-5532).
fn restart_action(spec: &PodSpec, code_of: impl Fn(usize) -> i32) -> AfterExit {
    let mut again = 0;
    for (at, container) in spec.containers.iter().enumerate() {
        let code = code_of(at);
        match container.matching_rule(code) {
            Some(ContainerRestartAction::RestartAllContainers) => return AfterExit::RestartAll,
            Some(ContainerRestartAction::Restart) => again += 1,
            None => again += u32::from(restarts_after(spec, container, code)),
        }
    }
    match again {
        0 => AfterExit::PodEnds,
        n => AfterExit::Restart(n),
    }
}

fn restarts_after(spec: &PodSpec, container: &ContainerSpec, exit_code: i32) -> bool {
    match container.restart_policy.unwrap_or(spec.restart_policy) {
        RestartPolicy::Always => true,
        RestartPolicy::OnFailure => exit_code != 0,
        RestartPolicy::Never => false,
    }
}

/// Action after the agent's own exit (AG-3): its restart rules, otherwise its policy or the pod's. The policy of a
/// sidecar is Always: without a rule, only the agent is restarted.
pub(super) fn restart_action_of_agent(spec: &PodSpec, mode: AgentMode, exit_code: i32) -> AfterExit {
    let Some(agent) = super::agents::agent_container(spec, mode) else {
        return AfterExit::Restart(1);
    };
    match agent.matching_rule(exit_code) {
        Some(ContainerRestartAction::RestartAllContainers) => AfterExit::RestartAll,
        Some(ContainerRestartAction::Restart) => AfterExit::Restart(1),
        None if restarts_after(spec, agent, exit_code) => AfterExit::Restart(1),
        None => AfterExit::PodEnds,
    }
}

/// Returns true if every Job of the JobSet exists and is complete or has all pods ready.
fn was_ready(store: &ObjectStore, jobset: JobSetId) -> bool {
    let Some(row) = store.jobsets.get(jobset.ix()) else {
        return false;
    };
    let rjs = row.spec.spec.replicated_jobs.iter();
    let wanted: u32 = rjs.map(|rj| rj.replicas).sum();
    let ready = |job: &JobId| {
        let j = &store.jobs[job.ix()];
        let done = j.status.is_finished() || j.live.ready + j.status.succeeded >= j.spec.pods();
        j.exists && done
    };
    let jobs = store.jobs_of(jobset).filter(ready).count();
    wanted > 0 && jobs >= wanted as usize
}
