//! Nodes with room for the pods of a template, as bit sets that follow the changes of pods and nodes.

use super::other_pods::TemplatePorts;
use crate::store::ObjectStore;
use sim_base::{NodeId, TemplateId};
use sim_policy::placement::{NodeSet, TemplateFacts, has_room};

/// Number of changed nodes that are remembered. After more changes, sets that are out of date are built again. Affects
/// speed only.
const REMEMBERED: usize = 1024;

#[derive(Clone, Default)]
pub struct NodesWithRoom {
    /// The set of each template.
    sets: Vec<TemplateNodes>,
    /// Nodes whose free resources or ports changed.
    changed: Vec<NodeId>,
}

/// The nodes that pass the filters that depend on the node and its resources alone.
#[derive(Clone, Default)]
struct TemplateNodes {
    nodes: NodeSet,
    /// Values of `changed.len()` and of the number of node changes when the set was up to date; `None` if it must be
    /// built again.
    as_of: Option<(usize, u32)>,
}

impl NodesWithRoom {
    /// The templates, or the free resources of all nodes, may have changed.
    pub fn discard(&mut self) {
        self.sets.iter_mut().for_each(|set| set.as_of = None);
        self.changed.clear();
    }

    /// The free resources or ports of a node changed.
    #[inline]
    pub fn note_change(&mut self, node: NodeId) {
        if self.changed.len() == REMEMBERED {
            self.forget_changes();
        }
        self.changed.push(node);
    }

    #[cold]
    fn forget_changes(&mut self) {
        for set in &mut self.sets {
            set.as_of = set.as_of.filter(|(seen, _)| *seen == self.changed.len()).map(|(_, nodes)| (0, nodes));
        }
        self.changed.clear();
    }

    /// Brings the set of a template up to date.
    pub fn update(&mut self, filter: &TemplateFilter<'_>, template: TemplateId) {
        if self.sets.len() <= template.ix() {
            self.sets.resize_with(template.ix() + 1, TemplateNodes::default);
        }
        let (set, nodes) = (&mut self.sets[template.ix()], &filter.store.nodes);
        match set.as_of.replace((self.changed.len(), nodes.changes())) {
            Some((seen, node_changes)) => {
                if node_changes != nodes.changes() {
                    nodes.changed_since(node_changes).for_each(|node| set.look_at(filter, node));
                }
                self.changed[seen..].iter().for_each(|node| set.look_at(filter, *node));
            }
            None => set.look_at_all(filter),
        }
    }

    /// The set of a template that is up to date.
    pub fn of_mut(&mut self, template: TemplateId) -> &mut NodeSet {
        &mut self.sets[template.ix()].nodes
    }
}

/// The filters that depend on a template and a node with its pods and taints.
pub struct TemplateFilter<'a> {
    pub store: &'a ObjectStore,
    pub facts: &'a TemplateFacts,
    /// Free amounts in thousandths, node-major.
    pub free: &'a [i64],
    pub ports: TemplatePorts<'a>,
}

impl TemplateFilter<'_> {
    /// Returns whether a node that the template allows passes.
    fn fits(&self, node: NodeId) -> bool {
        let nodes = &self.store.nodes;
        has_room(self.facts, self.free, nodes.cluster.resources.len(), node)
            && nodes.exists(node)
            && nodes.taints[node.ix()].iter().all(|taint| self.facts.tolerates(taint))
            && self.ports.are_free(node)
    }
}

impl TemplateNodes {
    fn look_at_all(&mut self, filter: &TemplateFilter<'_>) {
        self.nodes.read(&filter.facts.allowed);
        let nodes = (0..filter.store.nodes.len() as u32).map(NodeId);
        for node in nodes.filter(|node| filter.facts.allows(*node)) {
            if !filter.fits(node) {
                self.nodes.set(node, false);
            }
        }
    }

    fn look_at(&mut self, filter: &TemplateFilter<'_>, node: NodeId) {
        self.nodes.set(node, filter.facts.allows(node) && filter.fits(node));
    }
}
