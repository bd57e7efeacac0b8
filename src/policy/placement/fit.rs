//! The search for fitting nodes: static filters, current taints, free resources; starts where the last search ended.

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

/// The chosen node, if any, and the numbers of nodes that were examined and that fit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlacementResult {
    pub node: Option<NodeId>,
    pub examined: u32,
    pub feasible: u32,
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

/// The candidates of a search, in order, and where and when it ends.
#[derive(Copy, Clone, Debug)]
pub struct NodeSearch {
    pub count: u32,
    /// Position of the first candidate to examine.
    pub start: u32,
    /// Number of fitting nodes after which the search ends.
    pub wanted: u32,
}

impl NodeSearch {
    /// Examines candidates; `candidate(i)` is the i-th. Appends the fitting nodes with their positions, and returns the
    /// number of examined nodes.
    pub fn find_fitting(
        &self, view: &ClusterView<'_>, facts: &TemplateFacts, candidate: impl Fn(u32) -> NodeId,
        also: impl Fn(NodeId) -> bool, fitting: &mut Vec<(u32, NodeId)>,
    ) -> u32 {
        let mut at = if self.start < self.count { self.start } else { 0 };
        for examined in 1..=self.count {
            let node = candidate(at);
            let fits = facts.allows(node) && view.has_room(facts, node) && (view.schedulable)(node) && also(node);
            if fits {
                fitting.push((at, node));
                if fitting.len() == self.wanted as usize {
                    return examined;
                }
            }
            at = if at + 1 == self.count { 0 } else { at + 1 };
        }
        self.count
    }
}
