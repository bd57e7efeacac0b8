//! State of each node over an interval of time, from its pods and its Ready condition.
//!
//! Must never record which Job uses a node: that is the task of `occupancy`, whose rules for pod states are used here.

use super::occupancy::{OccupancyChange, OccupancyState, of_node, of_pod};
use sim_base::{NodeId, PodId, SimTime, row_or_default};
use sim_engine::record::{RecordNames, RecordSink, SimulationRecord};

/// State of a node, shown as one color of a chart. With several pods, the last variant that applies to one of them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum NodeState {
    /// No pod is bound to the node.
    Free,
    Succeeded,
    Failed,
    Ready,
    Starting,
    Down,
    Ending,
    /// The Node is not ready or does not exist.
    Broken,
}

impl NodeState {
    pub const ALL: [NodeState; 8] = [
        Self::Free,
        Self::Succeeded,
        Self::Failed,
        Self::Ready,
        Self::Starting,
        Self::Down,
        Self::Ending,
        Self::Broken,
    ];

    pub fn as_str(self) -> &'static str {
        match self.occupancy() {
            Some(state) => state.as_str(),
            None if self == Self::Broken => "node not ready",
            None => "free",
        }
    }

    /// Returns the state of the pods that determine the state of the node, if there are any.
    pub fn occupancy(self) -> Option<OccupancyState> {
        match self {
            Self::Free | Self::Broken => None,
            Self::Ready => Some(OccupancyState::Ready),
            Self::Starting => Some(OccupancyState::Starting),
            Self::Down => Some(OccupancyState::Down),
            Self::Succeeded => Some(OccupancyState::Succeeded),
            Self::Failed => Some(OccupancyState::Failed),
            Self::Ending => Some(OccupancyState::Ending),
        }
    }

    fn from_occupancy(state: OccupancyState) -> Option<NodeState> {
        Self::ALL.into_iter().find(|own| own.occupancy() == Some(state))
    }
}

#[derive(Clone, Default)]
struct NodeStateRow {
    pods: [u32; NodeState::ALL.len()],
    broken: bool,
    /// Time and new state of each change; the first entry holds from the beginning of the interval.
    changes: Vec<(SimTime, NodeState)>,
}

impl NodeStateRow {
    fn state(&self) -> NodeState {
        if self.broken {
            return NodeState::Broken;
        }
        let mut troubled = NodeState::ALL.iter().rev();
        let matching = troubled.find(|state| self.pods[**state as usize] > 0);
        matching.copied().unwrap_or(NodeState::Free)
    }
}

/// Sink for the second simulation of a run, which records node states in a known interval.
pub struct NodeStates {
    from: SimTime,
    to: SimTime,
    /// By pod id: node that the pod is bound to, and its state.
    pods: Vec<(NodeId, Option<OccupancyState>)>,
    rows: Vec<NodeStateRow>,
}

impl NodeStates {
    pub fn new((from, to): (SimTime, SimTime), nodes: usize) -> NodeStates {
        NodeStates { from, to, pods: Vec::new(), rows: vec![NodeStateRow::default(); nodes] }
    }

    pub fn nodes(&self) -> usize {
        self.rows.len()
    }

    pub fn at(&self, node: usize, at: SimTime) -> NodeState {
        let changes = &self.rows[node].changes;
        let passed = changes.partition_point(|(since, _)| *since <= at);
        match passed.checked_sub(1) {
            Some(last) => changes[last].1,
            None => NodeState::Free,
        }
    }

    /// Appends the current state of the node if it differs from the last one.
    fn append_state(&mut self, node: NodeId, at: SimTime) {
        if at > self.to {
            return;
        }
        let from = self.from;
        let row = row_or_default(&mut self.rows, node.ix());
        let state = row.state();
        match row.changes.last_mut() {
            Some((_, last)) if *last == state => {}
            // Earlier states are overwritten: only the last one before the interval is needed.
            Some((since, last)) if at <= from || *since == at => *last = state,
            _ => row.changes.push((at, state)),
        }
    }

    fn count(&mut self, (node, state): (NodeId, Option<OccupancyState>), by: i32) {
        if let Some(state) = state.and_then(NodeState::from_occupancy)
            && node.is_some()
        {
            let n = &mut row_or_default(&mut self.rows, node.ix()).pods[state as usize];
            *n = n.saturating_add_signed(by);
        }
    }

    fn change(&mut self, pod: PodId, what: OccupancyChange, at: SimTime) {
        while self.pods.len() <= pod.ix() {
            self.pods.push((NodeId::NONE, None));
        }
        let before = self.pods[pod.ix()];
        let after = match what {
            OccupancyChange::Created(_) => (NodeId::NONE, Some(OccupancyState::Pending)),
            OccupancyChange::Bound(node) => (node, Some(OccupancyState::Starting)),
            OccupancyChange::To(state) => (before.0, Some(state)),
            OccupancyChange::Gone => (NodeId::NONE, None),
        };
        self.pods[pod.ix()] = after;
        self.count(before, -1);
        self.count(after, 1);
        for node in [before.0, after.0] {
            if node.is_some() {
                self.append_state(node, at);
            }
        }
    }
}

impl RecordSink for NodeStates {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        let state = |pod: PodId| self.pods.get(pod.ix()).and_then(|(_, state)| *state);
        if let Some((pod, what)) = of_pod(&record.body, state) {
            self.change(pod, what, record.at);
        }
        if let Some((node, ready)) = of_node(&record.body) {
            row_or_default(&mut self.rows, node.ix()).broken = !ready;
            self.append_state(node, record.at);
        }
    }
}
