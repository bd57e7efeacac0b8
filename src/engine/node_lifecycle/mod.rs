//! The node lifecycle controller: Leases that are no longer renewed, taints at a rate per zone, taint eviction
//! (kubernetes.md 4).
//!
//! Knows only what the store has: Leases, conditions, taints, pods. Must never ask what a machine does. Healthy nodes
//! cost nothing: the monitor ticks only while some node is not as new.

mod evict;
mod monitor;
mod taints;
#[cfg(test)]
#[path = "../../../tests/inside/engine/node_lifecycle.rs"]
mod tests;
mod zones;

use super::apiserver::NOT_READY;
use super::ctx::{Ctx, Mark};
use super::event::Event;
use super::lane::BusyTimes;
use crate::record::About;
use crate::store::{NodeChange, PodChange, What};
use sim_api::spec::ControlPlane;
use sim_base::random::Purpose;
use sim_base::*;

const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// kubernetes.md 4.1.
const MONITOR_PERIOD: Duration = Duration::from_secs(5);

/// After so long at the latest the monitor knows of a node that is lost: it saw the last renewal of the Lease within
/// one period, and looks again within another one when the grace period is over.
pub fn longest_unnoticed(plane: &ControlPlane) -> Duration {
    Duration::from_secs(plane.node_monitor_grace_period_s) + MONITOR_PERIOD + MONITOR_PERIOD
}

#[derive(Clone, Default)]
pub struct NodeLifecycle {
    monitor_phase: Duration,
    monitor_armed: bool,
    /// Nodes whose state the monitor has to look at, each since when.
    watched: Vec<(NodeId, Mark)>,
    nodes: Vec<NodeMarks>,
    zones: Vec<Zone>,
    /// Nodes whose turn for a NoExecute taint came while their zone's limiter stood still.
    stopped: Vec<NodeId>,
    pods: Vec<PodMarks>,
    pub limiter_busy: BusyTimes,
    pub tainted: u64,
}

#[derive(Copy, Clone)]
struct NodeMarks {
    /// When the limiter gives the NoExecute taint; `NEVER`: not in its queue.
    taint_at: Time,
    /// The zones that count it as silent, and as a Node that is gone; `NONE`: none does.
    silent_in: ZoneId,
    gone_from: ZoneId,
}

impl Default for NodeMarks {
    fn default() -> NodeMarks {
        NodeMarks {
            taint_at: Time::NEVER,
            silent_in: ZoneId::NONE,
            gone_from: ZoneId::NONE,
        }
    }
}

#[derive(Copy, Clone, Default)]
struct Zone {
    /// When its limiter gives the next NoExecute taint.
    next: Time,
    silent: u32,
    gone: u32,
}

#[derive(Copy, Clone)]
struct PodMarks {
    /// When taint eviction deletes the pod; `NEVER` if no taint is against it.
    evict_at: Time,
    evictions: u32,
}

impl Default for PodMarks {
    fn default() -> PodMarks {
        PodMarks {
            evict_at: Time::NEVER,
            evictions: 0,
        }
    }
}

impl NodeLifecycle {
    pub fn reset(&mut self, ctx: &mut Ctx<'_>) {
        let nothing = About::Nothing;
        self.monitor_phase = ctx.draw_phase(Purpose::MonitorPhase, nothing, 0, MONITOR_PERIOD);
        self.monitor_armed = false;
        self.watched.clear();
        self.nodes.clear();
        self.zones.clear();
        self.stopped.clear();
        self.pods.clear();
        self.limiter_busy.clear();
        self.tainted = 0;
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match event {
            Event::MonitorTick => self.monitor_tick(ctx),
            Event::TaintDue(node) => self.taint_due(ctx, node),
            Event::TolerationOver { pod, incarnation } => {
                self.toleration_over(ctx, pod, incarnation)
            }
            Event::EvictionAnswered { pod, incarnation } => {
                self.eviction_answered(ctx, pod, incarnation)
            }
            other => unreachable!("not an event of the node lifecycle controller: {other:?}"),
        }
    }

    #[inline]
    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What) {
        match what {
            What::Pod(pod, PodChange::Created) => *self.pod(pod) = PodMarks::default(),
            What::Pod(pod, PodChange::Bound) => self.judge_pod(ctx, pod),
            What::Node(node, change) => self.node_changed(ctx, node, change),
            _ => {}
        }
    }

    fn node_changed(&mut self, ctx: &mut Ctx<'_>, node: NodeId, change: NodeChange) {
        match change {
            NodeChange::Created => {
                self.leave_taint_queue(node);
                self.count_node(ctx, node);
                self.judge_pods_on(ctx, node);
            }
            NodeChange::Gone => {
                self.leave_taint_queue(node);
                self.watched.retain(|(n, _)| *n != node);
                self.count_node(ctx, node);
            }
            NodeChange::Condition => {
                self.count_node(ctx, node);
                self.ready_again(ctx, node);
            }
            NodeChange::Spec => {
                self.count_node(ctx, node);
                self.judge_pods_on(ctx, node);
            }
            NodeChange::Taints => self.judge_pods_on(ctx, node),
            NodeChange::Lease => self.watch_node(ctx, node),
            NodeChange::Machine { .. } => {}
        }
    }

    fn node(&mut self, node: NodeId) -> &mut NodeMarks {
        if self.nodes.len() <= node.ix() {
            self.nodes.resize(node.ix() + 1, NodeMarks::default());
        }
        &mut self.nodes[node.ix()]
    }

    fn pod(&mut self, pod: PodId) -> &mut PodMarks {
        if self.pods.len() <= pod.ix() {
            self.pods.resize(pod.ix() + 1, PodMarks::default());
        }
        &mut self.pods[pod.ix()]
    }
}
