//! Finding a node: static filters, taints of the moment, free resources; round-robin from where the last search
//! ended.

use super::template::TemplateFacts;
use sim_base::*;

/// The cluster as the scheduler's cache shows it.
pub struct ClusterView<'a> {
    pub columns: usize,
    /// Thousandths still free, node-major.
    pub free: &'a [i64],
    /// Nodes that exist and carry no untolerated taint of the moment for this template.
    pub schedulable: &'a dyn Fn(NodeId) -> bool,
}

/// A node and how many were looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub node: Option<NodeId>,
    pub examined: u32,
    /// Position in the list after the chosen node, where the next search starts.
    pub next: u32,
}

impl ClusterView<'_> {
    /// A node that the scheduler has not seen yet has none.
    pub fn has_room(&self, facts: &TemplateFacts, node: NodeId) -> bool {
        let at = node.ix() * self.columns;
        let Some(free) = self.free.get(at..at + self.columns) else {
            return false;
        };
        facts
            .requests
            .iter()
            .all(|(c, milli)| free[*c as usize] >= *milli)
    }
}

/// The first node that fits among `count` candidates, `candidate(i)` being the i-th, beginning at `start`.
pub fn find_node(
    view: &ClusterView<'_>,
    facts: &TemplateFacts,
    count: u32,
    start: u32,
    candidate: impl Fn(u32) -> NodeId,
    also: impl Fn(NodeId) -> bool,
) -> Found {
    let mut at = if start < count { start } else { 0 };
    for examined in 1..=count {
        let node = candidate(at);
        at = if at + 1 == count { 0 } else { at + 1 };
        let fits = facts.allows(node)
            && view.has_room(facts, node)
            && (view.schedulable)(node)
            && also(node);
        if fits {
            return Found {
                node: Some(node),
                examined,
                next: at,
            };
        }
    }
    Found {
        node: None,
        examined: count,
        next: at,
    }
}
