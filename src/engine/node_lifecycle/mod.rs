//! The node lifecycle controller: expired Leases, taints at a rate per zone, taint eviction (kubernetes.md 4).
//!
//! Knows only stored objects: Leases, conditions, taints, pods. Must never access the state of a machine. Healthy
//! nodes cost nothing: the monitor runs only while a node has a pending change.

mod evict;
mod monitor;
mod taints;
#[cfg(test)]
#[path = "../../../tests/inside/engine/node_lifecycle.rs"]
mod tests;
mod zones;

pub use zones::ZoneLimiters;

use super::apiserver::remove_taint;
use super::ctx::{ContextMark, EngineContext, StoreWatcher};
use super::event::SimulationEvent;
use super::token_bucket::BusyTimes;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ChangeKind, NodeChange, PodChange};
use sim_api::spec::keys::{NOT_READY, UNREACHABLE, UNSCHEDULABLE};
use sim_api::spec::{ControlPlane, TaintEffect, TolerationSpec};
use sim_base::random::StreamPurpose;
use sim_base::{Duration, NodeId, PodId, SimTime, ZoneId};

/// Period of the node monitor (kubernetes.md 4.1).
pub const MONITOR_PERIOD: Duration = Duration::from_secs(5);

/// Maximum time until the monitor detects a lost node: it observes the last Lease renewal within one period, and the
/// end of the grace period within another one.
pub fn max_detection_delay(plane: &ControlPlane) -> Duration {
    Duration::from_secs(plane.node_monitor_grace_period_s) + MONITOR_PERIOD + MONITOR_PERIOD
}

/// Maximum time until a node that returned has no taints: the monitor observes the node within one period, and its
/// requests take less than another one.
pub const MAX_TAINT_REMOVAL_DELAY: Duration = Duration(2 * MONITOR_PERIOD.0);

/// Period for which a pod with these tolerations stays on a node that is not reachable; `None` means indefinitely.
pub fn unreachable_toleration(tolerations: &[TolerationSpec]) -> Option<Duration> {
    let taint = monitor::unreachable_taint(TaintEffect::NoExecute);
    evict::toleration_period(tolerations, std::iter::once(&taint))
}

#[derive(Clone, Default)]
pub struct NodeLifecycle {
    monitor_phase: Duration,
    monitor_armed: bool,
    /// Nodes that the monitor has to check, each with the start of the wait.
    watched: Vec<(NodeId, ContextMark)>,
    nodes: Vec<NodeMarks>,
    limiters: ZoneLimiters,
    /// Whether nodes became silent or ready, or were removed or created, since the rates were adapted.
    has_changed_zones: bool,
    /// Time since which nodes wait for a limiter, or of the last taint.
    waiting_since: SimTime,
    pods: Vec<NodePodMarks>,
    pub limiter_busy: BusyTimes,
    pub tainted: u64,
}

#[derive(Copy, Clone)]
struct NodeMarks {
    /// What queued the node for the NoExecute taint; `None` if it is not queued.
    queued: Option<ContextMark>,
    /// The zone that counts the node as silent, and the one that counts it as removed; `NONE` if there is none.
    silent_zone: ZoneId,
    removed_zone: ZoneId,
    uncordons: u32,
}

impl Default for NodeMarks {
    fn default() -> NodeMarks {
        NodeMarks { queued: None, silent_zone: ZoneId::NONE, removed_zone: ZoneId::NONE, uncordons: 0 }
    }
}

#[derive(Copy, Clone)]
struct NodePodMarks {
    /// Time at which taint eviction deletes the pod; `NEVER` if all taints are tolerated.
    evict_at: SimTime,
    evictions: u32,
}

impl Default for NodePodMarks {
    fn default() -> NodePodMarks {
        NodePodMarks { evict_at: SimTime::NEVER, evictions: 0 }
    }
}

impl NodeLifecycle {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        let nothing = TicketSubject::Nothing;
        self.monitor_phase = ctx.draw_phase(StreamPurpose::MonitorPhase, nothing, 0, MONITOR_PERIOD);
        self.monitor_armed = false;
        self.watched.clear();
        self.nodes.clear();
        self.limiters.clear();
        self.has_changed_zones = false;
        self.waiting_since = SimTime::ZERO;
        self.pods.clear();
        self.limiter_busy.clear();
        self.tainted = 0;
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        match event {
            SimulationEvent::MonitorTick => self.monitor_tick(ctx),
            SimulationEvent::TaintDue(zone) => self.taint_due(ctx, zone),
            SimulationEvent::UncordonObserved(node) => uncordon_observed(ctx, node),
            SimulationEvent::TolerationExpired { pod, incarnation } => self.toleration_expired(ctx, pod, incarnation),
            SimulationEvent::EvictionAnswered { pod, incarnation } => self.eviction_answered(ctx, pod, incarnation),
            other => unreachable!("not an event of the node lifecycle controller: {other:?}"),
        }
    }

    #[inline(always)]
    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Pod(pod, PodChange::Created) => *self.pod(pod) = NodePodMarks::default(),
            ChangeKind::Pod(pod, PodChange::Bound) => self.update_eviction(ctx, pod),
            ChangeKind::Node(node, change) => self.node_changed(ctx, node, change),
            _ => {}
        }
    }

    fn node_changed(&mut self, ctx: &mut EngineContext<'_>, node: NodeId, change: NodeChange) {
        match change {
            NodeChange::Created => {
                self.leave_taint_queue(ctx, node);
                self.count_node(ctx, node);
                self.update_evictions(ctx, node);
            }
            NodeChange::Gone => {
                self.leave_taint_queue(ctx, node);
                self.watched.retain(|(n, _)| *n != node);
                self.count_node(ctx, node);
            }
            NodeChange::Condition => {
                self.count_node(ctx, node);
                self.node_becomes_ready(ctx, node);
            }
            NodeChange::Spec => {
                self.count_node(ctx, node);
                self.update_evictions(ctx, node);
            }
            NodeChange::Taints => self.update_evictions(ctx, node),
            NodeChange::Lease => self.watch_node(ctx, node),
            NodeChange::Uncordoned => self.uncordoned(ctx, node),
            NodeChange::Machine { .. } => {}
        }
    }

    /// The controller observes later that spec.unschedulable is false.
    fn uncordoned(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let marks = self.node(node);
        marks.uncordons += 1;
        let (about, nth) = (TicketSubject::Node(node), marks.uncordons);
        let lag = ctx.watch_lag(StoreWatcher::NodeLifecycle, about, nth);
        ctx.schedule_after(lag, TicketWait::Watch, about, SimulationEvent::UncordonObserved(node));
    }

    fn node(&mut self, node: NodeId) -> &mut NodeMarks {
        if self.nodes.len() <= node.ix() {
            self.nodes.resize(node.ix() + 1, NodeMarks::default());
        }
        &mut self.nodes[node.ix()]
    }

    fn pod(&mut self, pod: PodId) -> &mut NodePodMarks {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, NodePodMarks::default());
        }
        &mut self.pods[pod.ix()]
    }
}

/// Removes the taint of a Node whose spec.unschedulable is false.
fn uncordon_observed(ctx: &mut EngineContext<'_>, node: NodeId) {
    let row = ctx.store.nodes.rows[node.ix()];
    if row.exists && !row.cordoned {
        remove_taint(ctx, node, UNSCHEDULABLE, None);
    }
}
