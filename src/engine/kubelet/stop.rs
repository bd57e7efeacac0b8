//! The end of a deleted pod: its containers are stopped within the grace period, its phase is written, and its object
//! is removed (kubernetes.md 3.5).

use super::{ALL_ENDED, EXITED, KubeletState, SIDECARS, STOPPING, UP, agents, real_kubelet};
use crate::apiserver;
use crate::ctx::{EngineContext, StoreWatcher};
use crate::event::{SimulationEvent, StatusWrite};
use crate::record::{Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use crate::store::{ContainersState, ExitedContainers, StoredContainersState, flag};
use sim_api::spec::{KubeletTiming, PodSpec};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, PodId, SimTime};

/// Exit code of a container stopped by SIGTERM.
const TERMINATED_EXIT_CODE: u8 = 128 + 15;

/// Exit code of a container that never ran in a pod that has initialized: `ContainerStatusUnknown`
/// (`pkg/kubelet/status/status_manager.go`).
const UNKNOWN_EXIT_CODE: u8 = 137;

/// The containers of a pod that run when it is stopped.
#[derive(Copy, Clone)]
pub(super) struct RunningContainers {
    /// Whether main containers run.
    mains: bool,
    /// Whether an init container runs that is not a sidecar.
    init: bool,
    /// The sidecars before this position among the init containers run.
    sidecars_before: usize,
}

impl RunningContainers {
    /// Only sidecars run.
    pub(super) const SIDECARS: RunningContainers =
        RunningContainers { mains: false, init: false, sidecars_before: usize::MAX };
    const ALL: RunningContainers = RunningContainers { mains: true, ..RunningContainers::SIDECARS };
}

impl KubeletState {
    /// The kubelet observes a deletionTimestamp and stops the containers within the grace period.
    pub(super) fn begin_stop(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let p = &ctx.store.pods;
        let ours = p.exists(pod) && p.has(pod, flag::BOUND) && !p.is_terminal(pod);
        if !ours || self.has(pod, STOPPING) {
            return;
        }
        if !self.is_node_responsive(ctx, pod) {
            // The wait usually began when the node became silent: later decisions did not delay anything.
            self.waiting_since.entry(pod).or_insert(ctx.mark());
            return;
        }
        let about = TicketSubject::Pod(pod);
        let version = ctx.store.pods.resource_version[pod.ix()];
        self.set(pod, STOPPING);
        self.pods[pod.ix()].begin_lifetime();
        let lag = ctx.watch_lag(StoreWatcher::Kubelet, about, version);
        let delay = self.stop_containers(ctx, pod);
        let seen = ctx.add_wait(ctx.mark(), lag, TicketWait::Watch, about);
        let stopped = ctx.add_wait(seen, delay, TicketWait::Grace, about);
        self.pods[pod.ix()].stops_at = stopped.at;
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        ctx.schedule(stopped, SimulationEvent::ContainersStopped { pod, incarnation });
    }

    /// Time to stop the containers; running ones exit with the code of a stopped container.
    fn stop_containers(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) -> Duration {
        let row = &mut self.pods[pod.ix()];
        if row.has(ALL_ENDED) {
            return Duration::ZERO;
        }
        if row.has(SIDECARS) {
            return row.stops_at.since(ctx.now);
        }
        let running = if row.has(EXITED) { RunningContainers::SIDECARS } else { self.end_running(ctx, pod) };
        self.stop_time(ctx, pod, running)
    }

    /// Sets the exit codes that a deletion gives the containers of a pod that has not ended, and returns which run.
    fn end_running(&mut self, ctx: &EngineContext<'_>, pod: PodId) -> RunningContainers {
        let spec = ctx.store.pod_spec(pod);
        let (inits, mains) = (spec.init_containers.len(), spec.containers.len());
        let (starting, restarting) = (self.running_init(pod, ctx.now), self.restarting_init(ctx.store, pod));
        let row = &mut self.pods[pod.ix()];
        if let KubeletTiming::Scripted { stop_exit_code, .. } = ctx.scenario.timing.kubelet {
            row.exited = StoredContainersState::ALL_EXITED;
            row.exit_code = stop_exit_code.clamp(0, 255) as u8;
            return RunningContainers::ALL;
        }
        let only_sidecars = |sidecars_before| RunningContainers { sidecars_before, ..RunningContainers::SIDECARS };
        let is_up = row.has(UP);
        let unpulled = usize::from(row.unpulled).checked_sub(1).filter(|_| !is_up);
        if let Some(init) = starting.filter(|_| !is_up) {
            row.exited = ContainersState::Exited(ExitedContainers::One(mains + init)).into();
            row.exit_code = TERMINATED_EXIT_CODE;
            return RunningContainers { init: true, ..only_sidecars(init) };
        }
        // A container in its back-off ended with the code of its last run, and the kubelet does not restart it.
        if let Some(init) = restarting {
            row.flags |= EXITED;
            return only_sidecars(init);
        }
        let every_main = row.exited == StoredContainersState::ALL_EXITED || mains == 1;
        if row.to_restart > 0 && every_main {
            row.flags |= EXITED;
            return RunningContainers::SIDECARS;
        }
        match unpulled {
            Some(init) if init < inits => {
                row.exited = StoredContainersState::NO_STATUS;
                row.exit_code = 0;
                only_sidecars(init)
            }
            Some(_) if mains == 1 => {
                row.exited = StoredContainersState::ALL_EXITED;
                row.exit_code = UNKNOWN_EXIT_CODE;
                RunningContainers::SIDECARS
            }
            _ => {
                row.exited = StoredContainersState::ALL_EXITED;
                row.exit_code = TERMINATED_EXIT_CODE;
                RunningContainers::ALL
            }
        }
    }

    /// Time to stop the containers: first the main ones or the init container that runs, then the sidecars. Rules set
    /// the time per container.
    pub(super) fn stop_time(&self, ctx: &mut EngineContext<'_>, pod: PodId, running: RunningContainers) -> Duration {
        let template = ctx.store.template(pod);
        let spec = &template.pod.spec;
        let grace = Duration::from_secs(u64::from(spec.termination_grace_period_s));
        let mut sidecars = sidecars(spec, template.agent);
        sidecars.retain(|position| *position < running.sidecars_before);
        let others_run = running.mains || running.init;
        let hooks_of_mains = spec.containers.iter().map(|c| c.pre_stop).filter(|_| running.mains);
        let main_hook = hooks_of_mains.max().unwrap_or(Duration::ZERO);
        let hooks: Vec<Duration> = sidecars.iter().map(|at| spec.init_containers[*at].pre_stop).collect();
        let ruled = self.rule_for(ctx, pod).and_then(|r| r.stop_after);
        let Some(k) = real_kubelet(ctx) else {
            let KubeletTiming::Scripted { stop, .. } = ctx.scenario.timing.kubelet else {
                unreachable!("not a real kubelet, so the player");
            };
            let stop = (main_hook + ruled.unwrap_or(stop)).min(grace);
            return if others_run { stop } else { Duration::ZERO };
        };
        if !others_run && sidecars.is_empty() {
            return Duration::ZERO;
        }
        let mut takes = |position: usize| {
            if let Some(stop) = ruled {
                return stop;
            }
            let nth = self.occurrence(pod, position);
            ctx.draw(StreamPurpose::ContainerStop, TicketSubject::Pod(pod), nth, &k.container_stop)
        };
        let main = others_run.then(|| (main_hook, takes(0)));
        let turns = sidecars.iter().zip(hooks).map(|(position, hook)| (hook, takes(1 + position)));
        stop_in_order((grace, k.minimum_grace), main, turns)
    }

    /// Returns true if the containers being stopped end at that time.
    pub(super) fn stops_at(&self, pod: PodId, at: SimTime) -> bool {
        let row = &self.pods[pod.ix()];
        row.has(STOPPING) && row.stops_at == at
    }

    /// The containers have ended: writes the terminal phase, then removes the object.
    pub(super) fn containers_stopped(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        if !self.stops_at(pod, ctx.now) || !ctx.store.pods.is_current(pod, incarnation) {
            return;
        }
        let row = &mut self.pods[pod.ix()];
        if !row.has(EXITED) {
            // Until now, the deletion was the finish time (kubernetes.md 1.5).
            row.ended_at = ctx.now;
        }
        row.flags = row.flags & !(UP | SIDECARS) | EXITED | ALL_ENDED;
        apiserver::note_containers_stopped(ctx, pod);
        if !self.is_node_responsive(ctx, pod) {
            return;
        }
        self.write_status(ctx, pod, StatusWrite::Finished);
        self.confirm_deletion(ctx, pod);
    }

    /// Clean-up, then the kubelet's DELETE with grace period 0.
    pub(super) fn confirm_deletion(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let about = TicketSubject::Pod(pod);
        let nth = self.pods[pod.ix()].deletes;
        self.pods[pod.ix()].deletes += 1;
        let cleanup = match real_kubelet(ctx) {
            None => Duration::ZERO,
            Some(k) => ctx.draw(StreamPurpose::Cleanup, about, nth, &k.cleanup),
        };
        let answered = ctx.request_at_mark(ctx.mark(), RequestEntry::new(Call::KubeletDelete, about, nth));
        let deleted = ctx.add_wait(answered, cleanup, TicketWait::Cleanup, about);
        let incarnation = ctx.store.pods.incarnation[pod.ix()];
        ctx.schedule(deleted, SimulationEvent::KubeletDeleted { pod, incarnation });
    }

    pub(super) fn kubelet_deleted(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, incarnation: u32) {
        let there = ctx.store.pods.is_current(pod, incarnation);
        ctx.record_response(Call::KubeletDelete, RequestAnswer::from_existence(there));
        if !there || !self.is_node_responsive(ctx, pod) {
            return;
        }
        if !ctx.store.pods.is_terminal(pod) {
            self.report_end(ctx, pod);
        }
        apiserver::confirm_deletion(ctx, pod);
    }
}

/// Positions of the restartable init containers other than the in-place restart agent, which ends immediately; the
/// last one is stopped first.
fn sidecars(spec: &PodSpec, mode: sim_api::spec::AgentMode) -> Vec<usize> {
    let agent = agents::agent_container(spec, mode);
    let own = |c: &sim_api::spec::ContainerSpec| agent.is_some_and(|a| std::ptr::eq(a, c));
    let all = spec.init_containers.iter().enumerate().rev();
    let others = all.filter(|(_, c)| c.is_sidecar() && !own(c));
    others.map(|(position, _)| position).collect()
}

/// Stops the main containers together, then the sidecars one after another (`killContainer`). Each is given by the
/// duration of its preStop hook and its time from SIGTERM to the end. All hooks begin at once. All share one grace
/// period, after which no container waits for another one; each gets at least the minimum after SIGTERM.
pub(super) fn stop_in_order(
    (grace, floor): (Duration, Duration), main: Option<(Duration, Duration)>,
    sidecars: impl Iterator<Item = (Duration, Duration)>,
) -> Duration {
    let mut ended = Duration::ZERO;
    for (hook, stop) in main.into_iter().chain(sidecars) {
        let signalled = hook.max(ended).min(grace);
        let left = Duration(grace.0 - signalled.0);
        ended = ended.max(signalled + stop.min(left.max(floor)));
    }
    ended
}
