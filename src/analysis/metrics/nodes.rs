//! Rows of `nodes.csv`: one per node, with the time of each transition.

use sim_base::*;
use sim_engine::record::{Body, Names, NodeReady, Record, Sink};

#[derive(Clone, Debug, PartialEq)]
pub struct NodeRow {
    pub pods_bound: u32,
    pub first_fault: Time,
    pub gone: Time,
    /// Changes of the Ready condition: time and new status.
    pub transitions: Vec<(Time, NodeReady)>,
    /// Changes of taints: time, taint key, and `true` if added or `false` if removed.
    pub taints: Vec<(Time, TextId, bool)>,
}

impl Default for NodeRow {
    fn default() -> NodeRow {
        NodeRow {
            pods_bound: 0,
            first_fault: Time::NEVER,
            gone: Time::NEVER,
            transitions: Vec::new(),
            taints: Vec::new(),
        }
    }
}

#[derive(Default)]
pub struct NodeFold {
    rows: Vec<NodeRow>,
}

impl NodeFold {
    /// Rows in order of node id, up to the last node that has a record.
    pub fn rows(&self) -> &[NodeRow] {
        &self.rows
    }
}

impl NodeRow {
    /// Returns the time during which the Ready condition was not `True`, up to `end` or the deletion of the node.
    pub fn not_ready(&self, end: Time) -> Duration {
        let mut total = Duration::ZERO;
        let mut down: Option<Time> = None;
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

impl Sink for NodeFold {
    fn record(&mut self, record: &Record, _: &Names) {
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
        let row = row(&mut self.rows, node.ix());
        match record.body {
            Body::PodBound { .. } => row.pods_bound += 1,
            Body::NodeState { ready, .. } => row.transitions.push((at, ready)),
            Body::NodeTaint { key, added, .. } => row.taints.push((at, key, added)),
            Body::NodeGone { .. } => row.gone = row.gone.min(at),
            _ => row.first_fault = row.first_fault.min(at),
        }
    }
}
