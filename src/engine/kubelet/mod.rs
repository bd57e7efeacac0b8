//! Kubelets: what happens on nodes, from a pod's binding to the end of its containers (kubernetes.md 3), with the
//! in-place agents that run there.
//!
//! The store has what a kubelet has written; what runs on a machine is known here alone. Must never write about a pod
//! whose node does not answer.

mod agents;
pub use agents::container as agent_container;
mod end;
mod exits;
mod machines;
#[cfg(test)]
#[path = "../../../tests/inside/engine/kubelet_play.rs"]
mod play_tests;
mod restarts;
mod rules;
mod start;
mod status;
mod stop;
#[cfg(test)]
#[path = "../../../tests/inside/engine/kubelet.rs"]
mod tests;

use super::ctx::{Ctx, Mark};
use super::event::Event;
use crate::store::{JobSetChange, NO_ATTEMPT, NodeChange, PodChange, Store, What, flag};
use sim_api::spec::{Kubelet, RealKubelet};
use sim_base::*;

#[derive(Clone, Default)]
pub struct Kubelets {
    pods: Vec<Life>,
    nodes: Vec<Machine>,
    /// A restart has begun: requests are counted apart.
    restarted: bool,
}

/// Yes-or-no facts of a pod's containers.
mod up {
    /// Containers run on the node.
    pub const UP: u8 = 1 << 0;
    /// Containers have ended and the API server does not know yet.
    pub const EXITED: u8 = 1 << 1;
    /// The kubelet is stopping the containers of a deleted pod.
    pub const STOPPING: u8 = 1 << 2;
    /// The barrier is down for this process life of the agent.
    pub const LIFTED: u8 = 1 << 3;
    /// The exit at hand is the in-place agent's own.
    pub const AGENT_EXIT: u8 = 1 << 4;
    /// The main containers have ended for good, and the kubelet is stopping the sidecars.
    pub const SIDECARS: u8 = 1 << 5;
    /// No container of the pod is left, sidecars included.
    pub const ALL_ENDED: u8 = 1 << 6;
    /// The pod's worker takes its turns towards the terminal phase.
    pub const ENDING: u8 = 1 << 7;
}
use up::*;

/// What a kubelet knows of a pod on its machine.
#[derive(Copy, Clone)]
struct Life {
    flags: u8,
    exit_code: u8,
    /// Which container `exit_code` is of, from 1; the others ended with 0. 0: all of them.
    exit_container: u8,
    /// Entry of the crash back-off: doublings, and when the containers were last started again.
    crash_level: u8,
    restarted_at: Time,
    /// nth life of containers in this row; grows with every object and every restart. Events carry it.
    epoch: u32,
    /// nth life of this object's containers, from 0: random numbers are named after it.
    lives: u32,
    /// Largest restartCount of a container, and the sum over containers, as the kubelet counts them.
    restarts: u32,
    restart_sum: u32,
    /// Containers that have ended and will have been restarted when the pod is up again.
    to_restart: u32,
    /// Attempt of the agent's present process; `NO_ATTEMPT` before its first write.
    agent_attempt: u32,
    /// Requests so far, by kind: their latencies are named after these.
    status_writes: u32,
    agent_writes: u32,
    deletes: u32,
    /// When the main containers ended.
    ended_at: Time,
    /// When the containers that are being stopped will have ended.
    stops_at: Time,
    /// When the newest status PATCH is answered; a later one is not answered earlier.
    status_until: Time,
    /// Since when the pod waits for a node that does not answer.
    waits: Option<Mark>,
}

impl Life {
    fn new(epoch: u32) -> Life {
        Life {
            flags: 0,
            exit_code: 0,
            exit_container: 0,
            crash_level: 0,
            restarted_at: Time::ZERO,
            epoch,
            lives: 0,
            restarts: 0,
            restart_sum: 0,
            to_restart: 0,
            agent_attempt: NO_ATTEMPT,
            status_writes: 0,
            agent_writes: 0,
            deletes: 0,
            ended_at: Time::NEVER,
            stops_at: Time::NEVER,
            status_until: Time::ZERO,
            waits: None,
        }
    }

    fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Events of the containers' life so far are void.
    fn begin_anew(&mut self) {
        self.epoch += 1;
        self.lives += 1;
    }
}

/// The physical state of a machine, whatever the Node object says.
#[derive(Copy, Clone)]
struct Machine {
    /// The kubelet reaches the API server.
    contact: bool,
    /// Containers run on after a partition, die in a crash.
    crashed: bool,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            contact: true,
            crashed: false,
        }
    }
}

impl Kubelets {
    pub fn reset(&mut self, _: &mut Ctx<'_>) {
        self.pods.clear();
        self.nodes.clear();
        self.restarted = false;
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        use Event::*;
        match event {
            ContainersUp { pod, epoch } => self.containers_up(ctx, pod, epoch),
            ContainerExit { pod, epoch } => self.container_exit(ctx, pod, epoch),
            ExitNoticed { pod, epoch } => self.exit_noticed(ctx, pod, epoch),
            ContainersBack { pod, epoch } => self.containers_back(ctx, pod, epoch),
            Stopped { pod, incarnation } => self.stopped(ctx, pod, incarnation),
            AgentSees { pod, epoch } => self.agent_sees(ctx, pod, epoch),
            WorkerUp { pod, epoch } => self.worker_up(ctx, pod, epoch),
            StatusWritten { pod, epoch, what } => self.status_written(ctx, pod, epoch, what),
            KubeletDeleted { pod, incarnation } => self.kubelet_deleted(ctx, pod, incarnation),
            AttemptWritten { pod, epoch } => self.attempt_written(ctx, pod, epoch),
            other => unreachable!("not an event of a kubelet: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What) {
        match what {
            What::Pod(pod, PodChange::Created) => self.new_pod(pod),
            What::Pod(pod, PodChange::Bound) => self.start_pod(ctx, pod),
            What::Pod(pod, PodChange::Deleting) => self.begin_stop(ctx, pod),
            What::Pod(pod, PodChange::Finished | PodChange::Gone) => self.pod_ended(pod),
            What::JobSet(jobset, JobSetChange::Attempts) => self.fan_out(ctx, jobset),
            What::Node(node, NodeChange::Created) => self.new_machine(ctx, node),
            What::Node(node, NodeChange::Gone) => self.pods_wait(ctx, node),
            What::WorkDone(jobset) => self.work_done(ctx, jobset),
            What::GivesUp(pod, exit_code) => _ = self.process_ends(ctx, pod, exit_code),
            _ => {}
        }
    }

    /// The row belongs to another object now.
    fn new_pod(&mut self, pod: PodId) {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, Life::new(0));
        }
        let row = &mut self.pods[pod.ix()];
        *row = Life::new(row.epoch + 1);
    }

    /// Terminal phase, or the object is gone: nothing of it runs, as far as anybody asks.
    fn pod_ended(&mut self, pod: PodId) {
        let row = &mut self.pods[pod.ix()];
        row.flags &= !(UP | EXITED | STOPPING | SIDECARS | ALL_ENDED | ENDING);
        row.begin_anew();
    }

    /// Whether an event of these containers has come to nothing.
    pub fn is_void(&self, store: &Store, at: Time, event: Event) -> bool {
        let lives = |pod, epoch| self.lives(store, pod, epoch);
        match event {
            Event::ContainersUp { pod, epoch } => !lives(pod, epoch) || self.has(pod, UP),
            Event::ContainerExit { pod, epoch } => !lives(pod, epoch) || !self.has(pod, UP),
            Event::ContainersBack { pod, epoch } => {
                !lives(pod, epoch) || store.pods.has(pod, flag::DELETING)
            }
            Event::Stopped { pod, incarnation } => {
                !self.ends_stopping(pod, at) || !store.pods.is(pod, incarnation)
            }
            _ => false,
        }
    }

    // --- what others may ask

    /// The kubelet runs and reaches the API server, which knows its Node.
    pub fn answers(&self, ctx: &Ctx<'_>, node: NodeId) -> bool {
        let m = self.machine(node);
        m.contact && !m.crashed && ctx.store.nodes.exists(node)
    }

    pub fn is_crashed(&self, node: NodeId) -> bool {
        self.machine(node).crashed
    }

    /// Containers of the pod run.
    pub fn is_up(&self, pod: PodId) -> bool {
        self.pods.get(pod.ix()).is_some_and(|row| row.has(UP))
    }

    /// Its containers have ended, whether or not anybody says so.
    pub fn has_ended(&self, pod: PodId) -> bool {
        self.pods.get(pod.ix()).is_some_and(|row| row.has(EXITED))
    }

    /// Since when the pod waits for a node that does not answer.
    pub fn waits_since(&self, pod: PodId) -> Option<Mark> {
        self.pods.get(pod.ix()).and_then(|row| row.waits)
    }

    // --- helpers of all files

    fn machine(&self, node: NodeId) -> Machine {
        self.nodes.get(node.ix()).copied().unwrap_or_default()
    }

    fn has(&self, pod: PodId, flags: u8) -> bool {
        self.pods[pod.ix()].has(flags)
    }

    fn set(&mut self, pod: PodId, flags: u8) {
        self.pods[pod.ix()].flags |= flags;
    }

    fn clear(&mut self, pod: PodId, flags: u8) {
        self.pods[pod.ix()].flags &= !flags;
    }

    /// Whether an event is about the life that the pod's containers have now.
    fn lives(&self, store: &Store, pod: PodId, epoch: u32) -> bool {
        self.pods[pod.ix()].epoch == epoch && store.pods.exists(pod)
    }

    fn pod_answers(&self, ctx: &Ctx<'_>, pod: PodId) -> bool {
        self.answers(ctx, ctx.store.pods.node[pod.ix()])
    }

    /// Names the random numbers of this life of the pod's containers, `position` among several of a kind.
    fn nth(&self, pod: PodId, position: usize) -> u32 {
        self.pods[pod.ix()].lives << POSITION_BITS | position.min(MOST_POSITIONS) as u32
    }
}

const POSITION_BITS: u32 = 6;
const MOST_POSITIONS: usize = (1 << POSITION_BITS) - 1;

/// The delays of real kubelets; `None`: the recordings' player.
fn real<'a>(ctx: &Ctx<'a>) -> Option<&'a RealKubelet> {
    match &ctx.scenario.timing.kubelet {
        Kubelet::Real(k) => Some(k),
        Kubelet::Scripted { .. } => None,
    }
}
