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
/// Period of the node monitor (kubernetes.md 4.1).
const MONITOR_PERIOD: Duration = Duration::from_secs(5);

/// Maximum time until the monitor detects a lost node: it observes the last Lease renewal within one period, and the
/// end of the grace period within another one.
pub fn longest_unnoticed(plane: &ControlPlane) -> Duration {
    Duration::from_secs(plane.node_monitor_grace_period_s) + MONITOR_PERIOD + MONITOR_PERIOD
}

#[derive(Clone, Default)]
pub struct NodeLifecycle {
    monitor_phase: Duration,
    monitor_armed: bool,
    /// Nodes that the monitor has to check, each with the start of the wait.
    watched: Vec<(NodeId, Mark)>,
    nodes: Vec<NodeMarks>,
    zones: Vec<Zone>,
    /// Nodes that were due for a NoExecute taint while the limiter of their zone was stopped.
    stopped: Vec<NodeId>,
    pods: Vec<PodMarks>,
    pub limiter_busy: BusyTimes,
    pub tainted: u64,
}

#[derive(Copy, Clone)]
struct NodeMarks {
    /// Time at which the limiter applies the NoExecute taint; `NEVER` if the node is not queued.
    taint_at: Time,
    /// The zone that counts the node as silent, and the one that counts it as removed; `NONE` if there is none.
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
    /// Time at which its limiter applies the next NoExecute taint.
    next: Time,
    silent: u32,
    gone: u32,
}

#[derive(Copy, Clone)]
struct PodMarks {
    /// Time at which taint eviction deletes the pod; `NEVER` if all taints are tolerated.
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
