//! Machines that fail, become silent, return or are replaced, and the state that their kubelets then find.
//!
//! The script acts directly on machines; other components observe only the Lease and the status of pods.

use super::{
    AGENT_EXIT, ALL_ENDED, BARRIER_LIFTED, ENDING, EXITED, KubeletState, NodeMachine, PROBING, SIDECARS, STOPPING, UP,
};
use crate::event::{SimulationEvent, StatusWrite};
use crate::record::{TicketSubject, TicketWait};
use crate::store::{StoredContainersState, flag};
use crate::{apiserver, ctx::EngineContext};
use sim_api::spec::{AgentMode, RestartPolicy};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, NodeId, PodId, SimTime};

/// Exit code of containers that a kubelet finds dead after the machine restarted (recordings/nodes); no other
/// component reports it.
const LOST_EXIT_CODE: u8 = 255;
/// Exit code of containers that a kubelet does not find (ContainerStatusUnknown).
const MISSING_EXIT_CODE: u8 = 137;

impl KubeletState {
    /// Heartbeats stop. In a crash the containers also stop. No status is written.
    pub fn lose_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, crash: bool) {
        let was = self.machine(node);
        if was.crashed || (!was.connected && !crash) {
            return;
        }
        *self.machine_mut(node) = NodeMachine { connected: false, crashed: crash };
        if was.connected {
            self.begin_pod_waits(ctx, node);
        }
        if crash {
            for pod in ctx.store.nodes.pods[node.ix()].clone() {
                self.lose_containers(ctx, pod, LOST_EXIT_CODE);
            }
            apiserver::note_machine_change(ctx, node, true);
        }
        if was.connected && ctx.store.nodes.exists(node) {
            let period = Duration::from_secs(ctx.scenario.control_plane.heartbeat_s);
            // One loop renews the Leases of all nodes of a recording.
            let one_loop = ctx.has_scripted_kubelets();
            let subject = if one_loop { TicketSubject::Nothing } else { TicketSubject::Node(node) };
            let phase = ctx.draw_phase(StreamPurpose::HeartbeatPhase, subject, 0, period);
            apiserver::set_lease(ctx, node, last_heartbeat(ctx.now, phase, period));
        }
    }

    /// The kubelet returns: it sets Ready=True and catches up on everything that happened meanwhile.
    pub fn return_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let was = self.machine(node);
        if was.connected && !was.crashed {
            return;
        }
        self.revive_machine(ctx, node);
        if ctx.store.nodes.exists(node) {
            apiserver::set_lease(ctx, node, SimTime::NEVER);
            if ctx.store.nodes.rows[node.ix()].unknown {
                apiserver::set_node_ready(ctx, node, true);
            }
        }
        for pod in ctx.store.nodes.pods[node.ix()].clone() {
            self.catch_up(ctx, pod);
        }
    }

    /// A Node object was created; its machine does not change. No kubelet renews the Lease of a silent machine.
    pub(super) fn node_created(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        if !self.is_responsive(node) {
            apiserver::set_lease(ctx, node, ctx.now);
        }
    }

    /// A new machine and kubelet. It does not know the containers of pods bound to an earlier machine with that name:
    /// they have ended, with the status that a real kubelet reports for missing containers (ContainerStatusUnknown,
    /// `kubelet_pods.go`). The kubelets of recordings keep the status of a crashed machine's containers.
    pub fn new_machine(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let keeps_status = self.machine(node).crashed && ctx.has_scripted_kubelets();
        self.revive_machine(ctx, node);
        for pod in ctx.store.nodes.pods[node.ix()].clone() {
            if self.has(pod, EXITED) && !keeps_status {
                self.set(pod, UP);
            }
            self.lose_containers(ctx, pod, MISSING_EXIT_CODE);
            self.catch_up(ctx, pod);
        }
    }

    /// The pods of a node start to wait for its kubelet.
    pub(super) fn begin_pod_waits(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let since = ctx.mark();
        for pod in ctx.store.nodes.pods[node.ix()].iter() {
            self.waiting_since.entry(*pod).or_insert(since);
        }
    }

    fn revive_machine(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let was = std::mem::take(self.machine_mut(node));
        if was.crashed {
            apiserver::note_machine_change(ctx, node, false);
        }
    }

    fn machine_mut(&mut self, node: NodeId) -> &mut NodeMachine {
        if self.nodes.len() <= node.ix() {
            self.nodes.resize(node.ix() + 1, NodeMachine::default());
        }
        &mut self.nodes[node.ix()]
    }

    /// The running containers are dead, and operations in progress on the machine are lost.
    fn lose_containers(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, exit_code: u8) {
        let row = &mut self.pods[pod.ix()];
        if row.has(UP) {
            apiserver::note_process_change(ctx, pod, false);
            row.flags |= EXITED;
            row.exit_code = exit_code;
            row.exited = StoredContainersState::ALL_EXITED;
            row.ended_at = SimTime::NEVER;
            row.flags &= !AGENT_EXIT;
        }
        if row.has(EXITED) {
            row.flags |= ALL_ENDED;
        }
        row.flags &= !(UP | STOPPING | BARRIER_LIFTED | SIDECARS | ENDING | PROBING);
        row.init_done = 0;
        row.begin_lifetime();
        self.forget_sidecars(pod);
    }

    fn catch_up(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let since = self.waiting_since.remove(&pod);
        let before = ctx.mark();
        if let Some(since) = since {
            ctx.resume(since, TicketWait::SilentNode, TicketSubject::Pod(pod));
        }
        self.resume_pod(ctx, pod);
        ctx.restore_mark(before);
    }

    fn resume_pod(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let p = &ctx.store.pods;
        let deleting = p.has(pod, flag::DELETING);
        if p.is_terminal(pod) {
            if deleting && !p.has(pod, flag::CONFIRMED) {
                self.confirm_deletion(ctx, pod);
            }
            return;
        }
        let row = &mut self.pods[pod.ix()];
        if row.has(EXITED) {
            // The kubelet detects now that they are dead.
            row.ended_at = row.ended_at.min(ctx.now);
        }
        let still_stopping = row.has(STOPPING | SIDECARS) && row.stops_at > ctx.now;
        if still_stopping {
            return;
        }
        if deleting {
            self.clear(pod, STOPPING);
            self.begin_stop(ctx, pod);
        } else if self.has(pod, EXITED) {
            self.report_missed_exit(ctx, pod);
        } else if !self.has(pod, UP) {
            self.start_pod(ctx, pod);
        } else if !ctx.has_scripted_kubelets() {
            self.catch_up_running(ctx, pod);
        }
    }

    fn report_missed_exit(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        self.clear(pod, SIDECARS);
        self.pods[pod.ix()].begin_lifetime();
        if ctx.store.pod_spec(pod).restart_policy == RestartPolicy::Never {
            return self.write_status(ctx, pod, StatusWrite::Finished);
        }
        let epoch = self.pods[pod.ix()].epoch;
        let noticed = SimulationEvent::ExitNoticed { pod, epoch };
        ctx.schedule_after(Duration::ZERO, TicketWait::Pleg, TicketSubject::Pod(pod), noticed);
    }

    /// A real kubelet restores the Ready condition removed by the node controller, and an agent lists the JobSet
    /// again; a replayed recording does neither.
    fn catch_up_running(&mut self, ctx: &mut EngineContext<'_>, pod: PodId) {
        let agent = ctx.store.template(pod).agent != AgentMode::Absent;
        let (attempt, epoch) = (self.pods[pod.ix()].agent_attempt, self.pods[pod.ix()].epoch);
        if agent && ctx.store.pods.attempt[pod.ix()] != attempt {
            self.start_agent(ctx, pod);
        } else if agent {
            self.agent_notified(ctx, pod, epoch);
        }
        if !self.has(pod, UP) || ctx.store.pods.has(pod, flag::READY) {
            return;
        }
        let status = if self.is_behind_barrier(ctx, pod) || self.has(pod, PROBING) {
            StatusWrite::Running
        } else {
            StatusWrite::Ready
        };
        self.write_status(ctx, pod, status);
    }
}

impl KubeletState {
    /// Returns true if the workers of the pod wait for the in-place barrier.
    pub(super) fn is_behind_barrier(&self, ctx: &EngineContext<'_>, pod: PodId) -> bool {
        ctx.store.template(pod).agent != AgentMode::Absent && !self.has(pod, BARRIER_LIFTED)
    }
}

/// Time of the last Lease renewal of a kubelet whose heartbeats have this phase.
pub fn last_heartbeat(now: SimTime, phase: Duration, period: Duration) -> SimTime {
    if now.0 < phase.0 || period == Duration::ZERO {
        return SimTime::ZERO;
    }
    let beats = (now.0 - phase.0) / period.0;
    SimTime(phase.0 + beats * period.0)
}
