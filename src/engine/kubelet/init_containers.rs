//! Init containers and sidecars with rules of the scenario (kubernetes.md 3.2, KEP-753).
//!
//! An init container with a rule runs for the rule's time before the next container starts. If it fails, the pod fails
//! or the init container restarts with a back-off. A sidecar that exits is restarted and does not end the pod. An
//! init container without a rule succeeds at once.

use super::{
    ALL_ENDED, ENDING, EXITED, KubeletState, PROBING, SIDECARS, STOPPING, UP, agents, name_of_draw, real_kubelet,
};
use crate::ctx::EngineContext;
use crate::event::{ContainerTimer, SimulationEvent, StatusWrite};
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ExitedContainers, ObjectStore, flag};
use sim_api::spec::{ContainerRestartAction, ContainerRule};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, PodId, SimTime};
use sim_policy::CrashBackOff;

/// The init containers of a pod whose exits rules decide, sidecars among them.
#[derive(Clone, Default)]
pub(super) struct InitContainers {
    /// Epoch of the container lifetime in which the sidecars started; `None` if they do not run.
    epoch: Option<u32>,
    /// Number of sidecars that have exited and do not run again yet.
    down: u8,
    /// One entry per init container, up to the last one that has ended alone.
    each: Vec<InitContainer>,
    /// The runs of init containers in the current start of the pod.
    runs: Vec<InitRun>,
}

/// A run of an init container that is not a sidecar.
#[derive(Copy, Clone)]
struct InitRun {
    position: usize,
    from: SimTime,
    until: SimTime,
}

/// What the kubelet knows about one init container; the back-off is that of a container (`doBackOff`).
#[derive(Copy, Clone)]
struct InitContainer {
    /// Restarts of this container alone, without those of RestartAllContainers.
    restarts: u32,
    crash: CrashBackOff,
    /// Number of failed image pulls since the latest start.
    pull_level: u8,
}

impl InitContainer {
    const NEW: InitContainer = InitContainer { restarts: 0, crash: CrashBackOff::NONE, pull_level: 0 };
}

impl KubeletState {
    fn init_container(&self, pod: PodId, position: usize) -> InitContainer {
        let each = self.init_containers.get(&pod).map(|all| all.each.as_slice());
        each.and_then(|each| each.get(position)).copied().unwrap_or(InitContainer::NEW)
    }

    fn init_container_mut(&mut self, pod: PodId, position: usize) -> &mut InitContainer {
        let each = &mut self.init_containers.entry(pod).or_default().each;
        if each.len() <= position {
            each.resize(position + 1, InitContainer::NEW);
        }
        &mut each[position]
    }

    /// Returns true if a sidecar has exited and does not run again yet.
    pub(super) fn is_sidecar_down(&self, pod: PodId) -> bool {
        self.init_containers.get(&pod).is_some_and(|all| all.down > 0)
    }

    /// restartCount of this init container.
    pub(super) fn init_restarts(&self, pod: PodId, position: usize) -> u32 {
        self.pods[pod.ix()].all_restarts + self.init_container(pod, position).restarts
    }

    /// The largest restartCount of an init container of this pod.
    pub(super) fn most_init_restarts(&self, pod: PodId) -> u32 {
        let alone = self.init_containers.get(&pod).and_then(|all| all.each.iter().map(|c| c.restarts).max());
        self.pods[pod.ix()].all_restarts + alone.unwrap_or(0)
    }

    /// The init container that has ended alone and will run again.
    pub(super) fn restarting_init(&self, store: &ObjectStore, pod: PodId) -> Option<usize> {
        if self.pods[pod.ix()].to_restart == 0 { None } else { self.exited_init(store, pod) }
    }

    /// The init container that runs now, before the main containers have started.
    pub(super) fn running_init(&self, pod: PodId, now: SimTime) -> Option<usize> {
        let runs = &self.init_containers.get(&pod)?.runs;
        runs.iter().find(|run| run.from <= now && now < run.until).map(|run| run.position)
    }

    /// Increases restartCount of an init container that runs again.
    pub(super) fn count_init_restart(&mut self, pod: PodId, position: usize) {
        self.init_container_mut(pod, position).restarts += 1;
        self.pods[pod.ix()].restart_sum += 1;
    }

    /// Remaining back-off of an init container that ended at this time and restarts.
    pub(super) fn init_back_off(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, position: usize, ended_at: SimTime,
    ) -> Duration {
        let mut crash = self.init_container(pod, position).crash;
        crash.ended_at = ended_at;
        let back_off = self.remaining_back_off(ctx, pod, &mut crash);
        self.init_container_mut(pod, position).crash = crash;
        back_off
    }

    /// No init container runs, and pending events about sidecars are stale.
    pub(super) fn forget_sidecars(&mut self, pod: PodId) {
        if let Some(all) = self.init_containers.get_mut(&pod) {
            all.epoch = None;
            all.runs.clear();
        }
    }

    /// The rule that names this init container or sidecar.
    fn init_rule<'a>(&self, ctx: &EngineContext<'a>, pod: PodId, position: usize) -> Option<&'a ContainerRule> {
        if ctx.scenario.containers.is_empty() {
            return None;
        }
        let container = &ctx.store.pod_spec(pod).init_containers[position];
        self.find_rule(ctx, pod, self.init_restarts(pod, position), |named| named == Some(&container.name))
    }

    /// Time from the start of an init container, `before` from now, until the next container may start, and whether it
    /// fails. For a sidecar, this is the time until its startup probe succeeds.
    pub(super) fn init_run(
        &mut self, ctx: &mut EngineContext<'_>, pod: PodId, (before, position): (Duration, usize),
    ) -> (Duration, bool) {
        let from = ctx.now + before;
        let template = ctx.store.template(pod);
        let container = &template.pod.spec.init_containers[position];
        if container.is_sidecar() {
            let agent = agents::agent_container(&template.pod.spec, template.agent);
            let probe = container.startup_probe.filter(|_| agent.is_none_or(|a| a.name != container.name));
            let after = self.init_rule(ctx, pod, position).and_then(|r| r.ready_after);
            let started = probe.map(|p| self.startup_delay(pod, p, (from, after.unwrap_or_default())));
            return (started.unwrap_or_default(), false);
        }
        let rule = self.init_rule(ctx, pod, position).and_then(|r| Some((r.run_for?, r.exit_code)));
        let Some((run_for, exit_code)) = rule else {
            return (Duration::ZERO, false);
        };
        let runs = &mut self.init_containers.entry(pod).or_default().runs;
        runs.retain(|run| run.until > ctx.now);
        runs.push(InitRun { position, from, until: from + run_for });
        match exit_code {
            0 => (run_for + self.time_to_relist(ctx, pod, position + 2), false),
            _ => (run_for, true),
        }
    }

    /// Time from the start of the main containers until the readiness probe of a sidecar has succeeded. The time of
    /// its rule counts from the start of the main containers, as its exit does.
    pub(super) fn sidecar_readiness(&self, ctx: &EngineContext<'_>, pod: PodId, position: usize) -> Duration {
        let template = ctx.store.template(pod);
        let sidecar = &template.pod.spec.init_containers[position];
        let agent = agents::agent_container(&template.pod.spec, template.agent);
        let is_probed = sidecar.is_sidecar() && agent.is_none_or(|a| a.name != sidecar.name);
        let Some(probe) = sidecar.readiness_probe.filter(|_| is_probed && sidecar.startup_probe.is_none()) else {
            return Duration::ZERO;
        };
        let after = self.init_rule(ctx, pod, position).and_then(|r| r.ready_after);
        probe.ready_after(Duration::ZERO, after.unwrap_or_default())
    }

    /// The next init container that fails, with its exit code.
    pub(super) fn failing_init(&self, ctx: &EngineContext<'_>, pod: PodId) -> Option<(usize, i32)> {
        let all = ctx.store.pod_spec(pod).init_containers.iter().enumerate();
        let left = all.skip(usize::from(self.pods[pod.ix()].init_done));
        left.filter(|(_, c)| !c.is_sidecar()).find_map(|(position, _)| {
            let rule = self.init_rule(ctx, pod, position)?;
            (rule.run_for.is_some() && rule.exit_code != 0).then_some((position, rule.exit_code))
        })
    }

    /// An init container fails before the main containers have started.
    pub(super) fn fail_init(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, (position, code): (usize, i32)) {
        let mains = ctx.store.pod_spec(pod).containers.len();
        let row = &mut self.pods[pod.ix()];
        row.init_done = position.min(u8::MAX.into()) as u8;
        self.book_exit(ctx, pod, code, ExitedContainers::One(mains + position));
    }

    /// Position of the init container that exited last in this pod, if the exit was that of an init container.
    pub(super) fn exited_init(&self, store: &ObjectStore, pod: PodId) -> Option<usize> {
        match self.pods[pod.ix()].exited.exited() {
            ExitedContainers::All => None,
            ExitedContainers::One(at) => at.checked_sub(store.pod_spec(pod).containers.len()),
        }
    }

    /// The sidecars run: schedules the exits that rules give them. The time counts from the start of the main
    /// containers.
    pub(super) fn arm_sidecars(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let armed = self.init_containers.get(&pod).is_some_and(|all| all.epoch.is_some());
        if ctx.scenario.containers.is_empty() || armed {
            return;
        }
        let epoch = self.pods[pod.ix()].epoch;
        for position in 0..ctx.store.pod_spec(pod).init_containers.len() {
            if ctx.store.pod_spec(pod).init_containers[position].is_sidecar() {
                let all = self.init_containers.entry(pod).or_default();
                (all.epoch, all.down) = (Some(epoch), 0);
                self.arm_sidecar(ctx, pod, position);
            }
        }
    }

    fn arm_sidecar(&self, ctx: &mut EngineContext<'_>, pod: PodId, position: usize) {
        if let Some(run_for) = self.init_rule(ctx, pod, position).and_then(|r| r.run_for) {
            let exit = ContainerTimer::SidecarExit(position as u8);
            self.sidecar_timer(ctx, pod, run_for, TicketWait::Running, exit);
        }
    }

    fn sidecar_timer(
        &self, ctx: &mut EngineContext<'_>, pod: PodId, after: Duration, wait: TicketWait, timer: ContainerTimer,
    ) {
        let Some(epoch) = self.init_containers.get(&pod).and_then(|all| all.epoch) else {
            return;
        };
        let due = SimulationEvent::ContainerTimerDue { pod, epoch, timer };
        ctx.schedule_after(after, wait, TicketSubject::Pod(pod), due);
    }

    /// Returns true if an event about the sidecars of this epoch still counts.
    fn sidecars_live(&self, store: &ObjectStore, pod: PodId, epoch: u32) -> bool {
        let row = &self.pods[pod.ix()];
        let ends = row.has(STOPPING | SIDECARS | ALL_ENDED | ENDING) || store.pods.has(pod, flag::DELETING);
        let current = self.init_containers.get(&pod).and_then(|all| all.epoch) == Some(epoch);
        current && store.pods.exists(pod) && !ends
    }

    pub(super) fn timer_due(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, epoch: u32, timer: ContainerTimer) {
        match timer {
            ContainerTimer::ProbeSucceeded => self.probe_succeeded(ctx, pod, epoch),
            ContainerTimer::BarrierExit => self.barrier_exit(ctx, pod, epoch),
            _ if !self.sidecars_live(ctx.store, pod, epoch) => {}
            ContainerTimer::SidecarExit(position) => self.sidecar_exit(ctx, pod, position.into()),
            ContainerTimer::SidecarNoticed(position) => self.sidecar_noticed(ctx, pod, position.into()),
            ContainerTimer::SidecarStarted(position) => self.sidecar_started(ctx, pod, position.into()),
        }
    }

    pub fn is_timer_stale(&self, store: &ObjectStore, pod: PodId, epoch: u32, timer: ContainerTimer) -> bool {
        match timer {
            ContainerTimer::ProbeSucceeded | ContainerTimer::BarrierExit => {
                !self.is_current_lifetime(store, pod, epoch) || !self.has(pod, UP)
            }
            _ => !self.sidecars_live(store, pod, epoch),
        }
    }

    fn sidecar_exit(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, position: usize) {
        let template = ctx.store.template(pod);
        let agent = agents::agent_container(&template.pod.spec, template.agent);
        let name = &template.pod.spec.init_containers[position].name;
        if agent.is_some_and(|a| a.name == *name) {
            let code = self.init_rule(ctx, pod, position).map_or(1, |r| r.exit_code);
            self.set(pod, super::AGENT_EXIT);
            self.end_process(ctx, pod, code);
            return;
        }
        self.init_containers.entry(pod).or_default().down += 1;
        self.init_container_mut(pod, position).crash.ended_at = ctx.now;
        let wait = self.time_to_relist(ctx, pod, position + 2);
        let noticed = ContainerTimer::SidecarNoticed(position as u8);
        self.sidecar_timer(ctx, pod, wait, TicketWait::Pleg, noticed);
    }

    /// The kubelet restarts the sidecar, for any restart policy of the pod.
    fn sidecar_noticed(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, position: usize) {
        let code = self.init_rule(ctx, pod, position).map_or(1, |r| r.exit_code);
        let action = ctx.store.pod_spec(pod).init_containers[position].matching_rule(code);
        if action == Some(ContainerRestartAction::RestartAllContainers) {
            return self.restart_containers(ctx, pod, None);
        }
        self.write_sidecar_status(ctx, pod);
        let ended_at = self.init_container(pod, position).crash.ended_at;
        let back_off = self.init_back_off(ctx, pod, position, ended_at);
        let start = match real_kubelet(ctx) {
            None => Duration::ZERO,
            Some(k) => {
                let nth = name_of_draw(self.init_restarts(pod, position), position);
                ctx.draw(StreamPurpose::SidecarStart, TicketSubject::Pod(pod), nth, &k.container_start)
            }
        };
        let started = ContainerTimer::SidecarStarted(position as u8);
        self.sidecar_timer(ctx, pod, back_off + start, TicketWait::ContainerRestart, started);
    }

    fn sidecar_started(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, position: usize) {
        if self.fails_to_pull(ctx, pod, position, ctx.now) {
            let sidecar = self.init_container_mut(pod, position);
            sidecar.pull_level = sidecar.pull_level.saturating_add(1);
            let level = sidecar.pull_level;
            let back_off = self.next_pull(ctx, pod, level);
            self.pods[pod.ix()].unpulled = (position + 1).min(u8::MAX.into()) as u8;
            let started = ContainerTimer::SidecarStarted(position as u8);
            return self.sidecar_timer(ctx, pod, back_off, TicketWait::ImagePull, started);
        }
        self.pods[pod.ix()].unpulled = 0;
        self.init_container_mut(pod, position).pull_level = 0;
        self.init_containers.entry(pod).or_default().down -= 1;
        self.count_init_restart(pod, position);
        self.write_sidecar_status(ctx, pod);
        self.arm_sidecar(ctx, pod, position);
    }

    /// A sidecar that does not run makes the pod not ready. While the main containers do not run, the status is
    /// written with theirs.
    fn write_sidecar_status(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        if !self.has(pod, UP) || self.has(pod, EXITED) || !self.is_node_responsive(ctx, pod) {
            return;
        }
        let waits = self.has(pod, PROBING) || self.is_behind_barrier(ctx, pod);
        let status = if waits { StatusWrite::Running } else { StatusWrite::Ready };
        self.write_status(ctx, pod, status);
    }
}
