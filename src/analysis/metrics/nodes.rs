//! Rows of `nodes.csv`: one per node, with the time of each transition.

use sim_base::{Duration, SimTime, TextId, row_or_default};
use sim_engine::record::{Body, NodeReady, RecordNames, RecordSink, SimulationRecord};

#[derive(Clone, Debug, PartialEq)]
pub struct NodeMetrics {
    pub pods_bound: u32,
    pub first_fault: SimTime,
    /// First removal of the Node object.
    pub gone: SimTime,
    /// Removals of the Node object; a new object can have the same name.
    pub removals: Vec<SimTime>,
    /// Changes of the Ready condition: time and new status.
    pub transitions: Vec<(SimTime, NodeReady)>,
    /// Changes of taints: time, taint key, and `true` if added or `false` if removed.
    pub taints: Vec<(SimTime, TextId, bool)>,
}

impl Default for NodeMetrics {
    fn default() -> NodeMetrics {
        NodeMetrics {
            pods_bound: 0,
            first_fault: SimTime::NEVER,
            gone: SimTime::NEVER,
            removals: Vec::new(),
            transitions: Vec::new(),
            taints: Vec::new(),
        }
    }
}

#[derive(Default)]
pub struct NodeFold {
    rows: Vec<NodeMetrics>,
}

impl NodeFold {
    /// Rows in order of node id, up to the last node that has a record.
    pub fn rows(&self) -> &[NodeMetrics] {
        &self.rows
    }
}

impl NodeMetrics {
    /// Returns the time during which the Ready condition was not `True`, up to `end` or the deletion of the node.
    pub fn not_ready(&self, end: SimTime) -> Duration {
        let mut total = Duration::ZERO;
        let mut down: Option<SimTime> = None;
        let until = self.gone.min(end);
        for &(at, ready) in &self.transitions {
            match (down, ready) {
                (None, NodeReady::False | NodeReady::Unknown) => down = Some(at),
                (Some(since), NodeReady::True) => {
                    total = total + at.since(since);
                    down = None;
                }
                _ => {}
            }
        }
        total + down.map_or(Duration::ZERO, |since| until.since(since))
    }
}

impl RecordSink for NodeFold {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        let at = record.at;
        let node = match record.body {
            Body::PodBound { node, .. }
            | Body::NodeState { node, .. }
            | Body::NodeTaint { node, .. }
            | Body::NodeGone { node }
            | Body::Fault { node, .. } => node,
            _ => return,
        };
        if !node.is_some() {
            return;
        }
        let row = row_or_default(&mut self.rows, node.ix());
        match record.body {
            Body::PodBound { .. } => row.pods_bound += 1,
            Body::NodeState { ready, .. } => row.transitions.push((at, ready)),
            Body::NodeTaint { key, added, .. } => row.taints.push((at, key, added)),
            Body::NodeGone { .. } => {
                row.gone = row.gone.min(at);
                row.removals.push(at);
            }
            _ => row.first_fault = row.first_fault.min(at),
        }
    }
}
