//! State of each node over an interval of time, from its pods and its Ready condition.
//!
//! Must never record which Job uses a node: that is the task of `occupancy`, whose rules for pod states are used here.

use super::occupancy::{PodChange, PodState, of_node, of_pod};
use sim_base::*;
use sim_engine::record::{Names, Record, Sink};

/// State of a node, shown as one color of a chart. With several pods, the last variant that applies to one of them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum NodeState {
    /// No pod is bound to the node.
    Free,
    Ready,
    Starting,
    Down,
    Ending,
    /// The Node is not ready or does not exist.
    Broken,
}

impl NodeState {
    pub const ALL: [NodeState; 6] = [
        Self::Free,
        Self::Ready,
        Self::Starting,
        Self::Down,
        Self::Ending,
        Self::Broken,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Ready => PodState::Ready.as_str(),
            Self::Starting => PodState::Starting.as_str(),
            Self::Down => PodState::Down.as_str(),
            Self::Ending => PodState::Ending.as_str(),
            Self::Broken => "node not ready",
        }
    }

    fn of(state: PodState) -> Option<NodeState> {
        match state {
            PodState::Pending => None,
            PodState::Starting => Some(Self::Starting),
            PodState::Ready => Some(Self::Ready),
            PodState::Down => Some(Self::Down),
            PodState::Ending => Some(Self::Ending),
        }
    }
}

#[derive(Clone, Default)]
struct Row {
    /// Number of pods by state.
    pods: [u32; NodeState::ALL.len()],
    broken: bool,
    /// Time and new state of each change; the first entry holds from the beginning of the interval.
    changes: Vec<(Time, NodeState)>,
}

impl Row {
    fn state(&self) -> NodeState {
        if self.broken {
            return NodeState::Broken;
        }
        let mut troubled = NodeState::ALL.iter().rev();
        let found = troubled.find(|state| self.pods[**state as usize] > 0);
        found.copied().unwrap_or(NodeState::Free)
    }
}

/// Sink for the second simulation of a run, which records node states in a known interval.
pub struct NodeStates {
    from: Time,
    to: Time,
    /// By pod id: node that the pod is bound to, and its state.
    pods: Vec<(NodeId, Option<PodState>)>,
    rows: Vec<Row>,
}

impl NodeStates {
    pub fn new((from, to): (Time, Time), nodes: usize) -> NodeStates {
        NodeStates {
            from,
            to,
            pods: Vec::new(),
            rows: vec![Row::default(); nodes],
        }
    }

    pub fn nodes(&self) -> usize {
        self.rows.len()
    }

    pub fn at(&self, node: usize, at: Time) -> NodeState {
        let changes = &self.rows[node].changes;
        let passed = changes.partition_point(|(since, _)| *since <= at);
        match passed.checked_sub(1) {
            Some(last) => changes[last].1,
            None => NodeState::Free,
        }
    }

    /// Appends the current state of the node if it differs from the last one.
    fn note(&mut self, node: NodeId, at: Time) {
        if at > self.to {
            return;
        }
        let from = self.from;
        let row = row(&mut self.rows, node.ix());
        let state = row.state();
        match row.changes.last_mut() {
            Some((_, last)) if *last == state => {}
            // Earlier states are overwritten: only the last one before the interval is needed.
            Some((since, last)) if at <= from || *since == at => *last = state,
            _ => row.changes.push((at, state)),
        }
    }

    fn count(&mut self, (node, state): (NodeId, Option<PodState>), by: i32) {
        if let Some(state) = state.and_then(NodeState::of)
            && node.is_some()
        {
            let n = &mut row(&mut self.rows, node.ix()).pods[state as usize];
            *n = n.saturating_add_signed(by);
        }
    }

    fn change(&mut self, pod: PodId, what: PodChange, at: Time) {
        while self.pods.len() <= pod.ix() {
            self.pods.push((NodeId::NONE, None));
        }
        let before = self.pods[pod.ix()];
        let after = match what {
            PodChange::Created(_) => (NodeId::NONE, Some(PodState::Pending)),
            PodChange::Bound(node) => (node, Some(PodState::Starting)),
            PodChange::To(state) => (before.0, Some(state)),
            PodChange::Gone => (NodeId::NONE, None),
        };
        self.pods[pod.ix()] = after;
        self.count(before, -1);
        self.count(after, 1);
        for node in [before.0, after.0] {
            if node.is_some() {
                self.note(node, at);
            }
        }
    }
}

impl Sink for NodeStates {
    fn record(&mut self, record: &Record, _: &Names) {
        let state = |pod: PodId| self.pods.get(pod.ix()).and_then(|(_, state)| *state);
        if let Some((pod, what)) = of_pod(&record.body, state) {
            self.change(pod, what, record.at);
        }
        if let Some((node, ready)) = of_node(&record.body) {
            row(&mut self.rows, node.ix()).broken = !ready;
            self.note(node, record.at);
        }
    }
}
