//! The search for a node: static filters, current taints, free resources; starts where the last search ended.

use super::template::TemplateFacts;
use sim_base::NodeId;

/// The cluster in the scheduler's cache.
pub struct ClusterView<'a> {
    pub columns: usize,
    /// Free amounts in thousandths, node-major.
    pub free: &'a [i64],
    /// Returns true for existing nodes without a current untolerated taint for this template.
    pub schedulable: &'a dyn Fn(NodeId) -> bool,
}

/// The chosen node, if any, and the number of examined nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlacementResult {
    pub node: Option<NodeId>,
    pub examined: u32,
    /// Position after the chosen node, where the next search starts.
    pub next: u32,
}

impl ClusterView<'_> {
    /// A node that the scheduler has not seen yet has no free resources.
    pub fn has_room(&self, facts: &TemplateFacts, node: NodeId) -> bool {
        let at = node.ix() * self.columns;
        let Some(free) = self.free.get(at..at + self.columns) else {
            return false;
        };
        facts.requests.iter().all(|(c, milli)| free[*c as usize] >= *milli)
    }
}

/// The first fitting node among `count` candidates from position `start` on; `candidate(i)` is the i-th.
pub fn find_node(
    view: &ClusterView<'_>, facts: &TemplateFacts, count: u32, start: u32, candidate: impl Fn(u32) -> NodeId,
    also: impl Fn(NodeId) -> bool,
) -> PlacementResult {
    let mut at = if start < count { start } else { 0 };
    for examined in 1..=count {
        let node = candidate(at);
        at = if at + 1 == count { 0 } else { at + 1 };
        let fits = facts.allows(node) && view.has_room(facts, node) && (view.schedulable)(node) && also(node);
        if fits {
            return PlacementResult { node: Some(node), examined, next: at };
        }
    }
    PlacementResult { node: None, examined: count, next: at }
}
