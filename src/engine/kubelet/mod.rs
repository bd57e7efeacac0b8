//! Kubelets: the operations on nodes, from the binding of a pod to the end of its containers (kubernetes.md 3),
//! including the in-place restart agents.
//!
//! The store contains what a kubelet has written; only this module knows the state of a machine. Must never write the
//! status of a pod whose node does not respond.

mod admission;
pub use machines::last_heartbeat;

use admission::AdmissionRefusal;
mod agents;
pub use agents::agent_container;
mod exits;
mod image_pulls;
mod init_containers;
mod machines;
#[cfg(test)]
#[path = "../../../tests/inside/engine/kubelet_play.rs"]
pub mod play_tests;
mod probes;
mod restarts;
mod rules;
mod start;
mod status;
mod stop;
mod termination;
#[cfg(test)]
#[path = "../../../tests/inside/engine/kubelet.rs"]
mod tests;

use super::ctx::{ContextMark, EngineContext};
use super::event::SimulationEvent;
use crate::store::{
    ChangeKind, JobSetChange, NO_ATTEMPT, NodeChange, ObjectStore, PodChange, StoredContainersState, flag,
};
use sim_api::spec::{ImagePullFailure, KubeletTiming, RealKubelet};
use sim_base::{NodeId, PodId, SimTime};
use sim_policy::CrashBackOff;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Default)]
pub struct KubeletState {
    pods: Vec<ContainerLifetime>,
    nodes: Vec<NodeMachine>,
    /// Pods with init containers that rules have ended or may end.
    init_containers: BTreeMap<PodId, InitContainers>,
    /// Start of the wait of each pod that waits for an unresponsive node.
    waiting_since: BTreeMap<PodId, ContextMark>,
    /// Failures of image pulls so far, each with its end.
    pull_failures: Vec<(SimTime, ImagePullFailure)>,
    /// A restart has begun: requests are also counted separately.
    restarted: bool,
    /// Pods that were not admitted.
    refusals: BTreeMap<PodId, AdmissionRefusal>,
    /// Time from which the tickers of a pod's startup probes count, of pods with one.
    probed_since: BTreeMap<PodId, SimTime>,
    /// Profiles of kube-scheduler that do not check all that the kubelet checks.
    lenient_profiles: BTreeSet<String>,
}

/// Boolean facts of a pod's containers, as bit flags.
mod up {
    /// The containers run on the node.
    pub const UP: u16 = 1 << 0;
    /// The containers have ended, but the API server has not been informed.
    pub const EXITED: u16 = 1 << 1;
    /// The kubelet is stopping the containers of a deleted pod.
    pub const STOPPING: u16 = 1 << 2;
    /// The barrier is lifted for the current process of the agent.
    pub const BARRIER_LIFTED: u16 = 1 << 3;
    /// The current exit is that of the in-place restart agent.
    pub const AGENT_EXIT: u16 = 1 << 4;
    /// The main containers have ended permanently, and the kubelet is stopping the sidecars.
    pub const SIDECARS: u16 = 1 << 5;
    /// No container of the pod is left, including sidecars.
    pub const ALL_ENDED: u16 = 1 << 6;
    /// The pod's worker is in its last syncs, before the terminal phase.
    pub const ENDING: u16 = 1 << 7;
    /// The main containers run, and a startup or readiness probe has not yet succeeded.
    pub const PROBING: u16 = 1 << 8;
    /// The kubelet has admitted the pod.
    pub const ADMITTED: u16 = 1 << 9;
}
use init_containers::InitContainers;
use up::{ADMITTED, AGENT_EXIT, ALL_ENDED, BARRIER_LIFTED, ENDING, EXITED, PROBING, SIDECARS, STOPPING, UP};

/// The kubelet's data about a pod on its machine.
#[derive(Copy, Clone)]
struct ContainerLifetime {
    flags: u16,
    exit_code: u8,
    /// The containers that exited with `exit_code`.
    exited: StoredContainersState,
    /// Number of the init containers, from the first, that have ended or run as sidecars.
    init_done: u8,
    /// Number, from 1, of the container whose image could not be pulled; 0 if the start continues. Init containers
    /// come first.
    pull_failed: u8,
    /// Number of failed pulls of this image.
    pull_level: u8,
    /// Number, from 1, of the container whose latest image pull has failed; 0 after a successful one.
    unpulled: u8,
    crash: CrashBackOff,
    /// Number of the container lifetime in this row; increases with every object and every restart. Events carry it.
    epoch: u32,
    /// Number of the container lifetime of this object, from 0, part of the names of random numbers.
    lifetime: u32,
    /// restartCount of the main containers, and the total over all containers, as the kubelet counts them.
    restarts: u32,
    restart_sum: u32,
    /// Restarts by RestartAllContainers.
    all_restarts: u32,
    /// Containers that have ended and are counted as restarted when the pod runs again.
    to_restart: u32,
    /// Attempt of the agent's current process; `NO_ATTEMPT` before its first write.
    agent_attempt: u32,
    /// Numbers of requests so far, by kind, part of the names of their latencies.
    status_writes: u32,
    agent_writes: u32,
    deletes: u32,
    /// Time at which the main containers ended.
    ended_at: SimTime,
    /// Time at which the containers being stopped will have ended.
    stops_at: SimTime,
    /// Time of the response to the latest status PATCH; later PATCHes are not answered earlier.
    status_until: SimTime,
}

impl ContainerLifetime {
    fn new(epoch: u32) -> ContainerLifetime {
        ContainerLifetime {
            flags: 0,
            exit_code: 0,
            exited: StoredContainersState::ALL_EXITED,
            init_done: 0,
            pull_failed: 0,
            pull_level: 0,
            unpulled: 0,
            crash: CrashBackOff::NONE,
            epoch,
            lifetime: 0,
            restarts: 0,
            restart_sum: 0,
            all_restarts: 0,
            to_restart: 0,
            agent_attempt: NO_ATTEMPT,
            status_writes: 0,
            agent_writes: 0,
            deletes: 0,
            ended_at: SimTime::NEVER,
            stops_at: SimTime::NEVER,
            status_until: SimTime::ZERO,
        }
    }

    fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }

    /// Bumps the epoch so that pending events of the previous container lifetime are ignored.
    fn begin_lifetime(&mut self) {
        self.epoch += 1;
        self.lifetime += 1;
    }
}

/// The physical state of a machine, independent of the Node object.
#[derive(Copy, Clone)]
struct NodeMachine {
    /// True if the kubelet reaches the API server.
    connected: bool,
    /// True after a crash, which stops the containers; during a partition they continue to run.
    crashed: bool,
}

impl Default for NodeMachine {
    fn default() -> NodeMachine {
        NodeMachine { connected: true, crashed: false }
    }
}

impl KubeletState {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        self.refusals.clear();
        self.probed_since.clear();
        self.lenient_profiles = admission::lenient_profiles(ctx);
        self.pods.clear();
        self.nodes.clear();
        self.init_containers.clear();
        self.waiting_since.clear();
        self.pull_failures.clear();
        self.restarted = false;
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        use SimulationEvent::*;
        match event {
            ContainersStarted { pod, epoch } => self.containers_started(ctx, pod, epoch),
            ContainerExit { pod, epoch } => self.container_exit(ctx, pod, epoch),
            ExitNoticed { pod, epoch } => self.exit_noticed(ctx, pod, epoch),
            ContainersRestarted { pod, epoch } => self.containers_restarted(ctx, pod, epoch),
            ContainersStopped { pod, incarnation } => self.containers_stopped(ctx, pod, incarnation),
            AgentNotified { pod, epoch } => self.agent_notified(ctx, pod, epoch),
            WorkerStarted { pod, epoch } => self.worker_started(ctx, pod, epoch),
            StatusWritten { pod, epoch, what } => self.status_written(ctx, pod, epoch, what),
            KubeletDeleted { pod, incarnation } => self.kubelet_deleted(ctx, pod, incarnation),
            ContainerTimerDue { pod, epoch, timer } => self.timer_due(ctx, pod, epoch, timer),
            AttemptWritten { pod, epoch } => self.attempt_written(ctx, pod, epoch),
            other => unreachable!("not an event of a kubelet: {other:?}"),
        }
    }

    #[inline(always)]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Pod(pod, PodChange::Created) => self.new_pod(pod),
            ChangeKind::Pod(pod, PodChange::Bound) => self.start_pod(ctx, pod),
            ChangeKind::Pod(pod, PodChange::Deleting) => self.begin_stop(ctx, pod),
            ChangeKind::Pod(pod, PodChange::Finished | PodChange::Gone) => self.clear_containers(pod),
            ChangeKind::JobSet(jobset, JobSetChange::Attempts) => self.notify_agents(ctx, jobset),
            ChangeKind::Node(node, NodeChange::Created) => self.node_created(ctx, node),
            ChangeKind::WorkDone(jobset) => self.work_done(ctx, jobset),
            ChangeKind::ProcessExit(pod, exit_code) => _ = self.end_process(ctx, pod, exit_code),
            _ => {}
        }
    }

    /// Resets the row for another object.
    fn new_pod(&mut self, pod: PodId) {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, ContainerLifetime::new(0));
        }
        let row = &mut self.pods[pod.ix()];
        *row = ContainerLifetime::new(row.epoch + 1);
        self.init_containers.remove(&pod);
        self.waiting_since.remove(&pod);
        self.refusals.remove(&pod);
        self.probed_since.remove(&pod);
    }

    /// The pod has a terminal phase or was removed: none of its containers is considered running.
    fn clear_containers(&mut self, pod: PodId) {
        let row = &mut self.pods[pod.ix()];
        row.flags &= !(UP | EXITED | STOPPING | SIDECARS | ALL_ENDED | ENDING | PROBING);
        row.begin_lifetime();
        self.forget_sidecars(pod);
    }

    /// Returns true if an event about these containers is stale.
    pub fn is_stale(&self, store: &ObjectStore, at: SimTime, event: SimulationEvent) -> bool {
        let lives = |pod, epoch| self.is_current_lifetime(store, pod, epoch);
        match event {
            SimulationEvent::ContainersStarted { pod, epoch } => !lives(pod, epoch) || self.has(pod, UP),
            SimulationEvent::ContainerExit { pod, epoch } => !lives(pod, epoch) || !self.has(pod, UP),
            SimulationEvent::ContainersRestarted { pod, epoch } => {
                !lives(pod, epoch) || store.pods.has(pod, flag::DELETING)
            }
            SimulationEvent::ContainersStopped { pod, incarnation } => {
                !self.stops_at(pod, at) || !store.pods.is_current(pod, incarnation)
            }
            SimulationEvent::ContainerTimerDue { pod, epoch, timer } => self.is_timer_stale(store, pod, epoch, timer),
            _ => false,
        }
    }

    // --- queries of other components

    /// Returns true if the kubelet runs and reaches the API server. It does not need its Node object.
    pub fn is_responsive(&self, node: NodeId) -> bool {
        let m = self.machine(node);
        m.connected && !m.crashed
    }

    pub fn has_crashed(&self, node: NodeId) -> bool {
        self.machine(node).crashed
    }

    /// Returns true if containers of the pod run.
    pub fn is_up(&self, pod: PodId) -> bool {
        self.pods.get(pod.ix()).is_some_and(|row| row.has(UP))
    }

    /// Reason and message of the status of a pod that its kubelet has not admitted.
    pub fn refusal(&self, pod: PodId) -> Option<(&str, &str)> {
        self.refusals.get(&pod).map(AdmissionRefusal::texts)
    }

    /// Start of the pod's wait for an unresponsive node.
    pub fn waiting_since(&self, pod: PodId) -> Option<ContextMark> {
        self.waiting_since.get(&pod).copied()
    }

    // --- helpers

    fn machine(&self, node: NodeId) -> NodeMachine {
        self.nodes.get(node.ix()).copied().unwrap_or_default()
    }

    /// Returns false for a pod that its kubelet has not seen yet, such as a later one of those that exist at the start.
    fn has(&self, pod: PodId, flags: u16) -> bool {
        self.pods.get(pod.ix()).is_some_and(|row| row.has(flags))
    }

    fn set(&mut self, pod: PodId, flags: u16) {
        self.pods[pod.ix()].flags |= flags;
    }

    fn clear(&mut self, pod: PodId, flags: u16) {
        self.pods[pod.ix()].flags &= !flags;
    }

    /// Returns true if an event belongs to the current lifetime of the pod's containers.
    fn is_current_lifetime(&self, store: &ObjectStore, pod: PodId, epoch: u32) -> bool {
        self.pods[pod.ix()].epoch == epoch && store.pods.exists(pod)
    }

    fn is_node_responsive(&self, ctx: &EngineContext<'_>, pod: PodId) -> bool {
        self.is_responsive(ctx.store.pods.node[pod.ix()])
    }

    /// Names the random numbers of the current container lifetime; `position` distinguishes several of a kind.
    fn occurrence(&self, pod: PodId, position: usize) -> u32 {
        name_of_draw(self.pods[pod.ix()].lifetime, position)
    }
}

/// The occurrence of a random number that belongs to the container at this position.
fn name_of_draw(number: u32, position: usize) -> u32 {
    number << POSITION_BITS | position.min(MAX_POSITION) as u32
}

const POSITION_BITS: u32 = 6;
const MAX_POSITION: usize = (1 << POSITION_BITS) - 1;

/// The delays of real kubelets; `None` while a recording is replayed.
fn real_kubelet<'a>(ctx: &EngineContext<'a>) -> Option<&'a RealKubelet> {
    match &ctx.scenario.timing.kubelet {
        KubeletTiming::Real(k) => Some(k),
        KubeletTiming::Scripted { .. } => None,
    }
}
