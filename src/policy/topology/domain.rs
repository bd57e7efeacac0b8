//! The domains of a topology key: the nodes with the same value.

use super::build::ClusterBuilder;
use sim_base::{DomainId, NodeId};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct TopologyDomains {
    pub key: String,
    pub values: Vec<String>,
    /// Per node; `DomainId::NONE` if the label is missing.
    pub of: Vec<DomainId>,
    /// Nodes of each domain, ascending.
    pub nodes: Vec<Vec<NodeId>>,
    index: BTreeMap<String, DomainId>,
}

impl TopologyDomains {
    pub fn build(cluster: &ClusterBuilder, key: &str) -> TopologyDomains {
        let mut d = TopologyDomains { key: key.to_owned(), ..TopologyDomains::default() };
        let is_same = cluster.label_comparison(key);
        for n in 0..cluster.len() as u32 {
            let node = NodeId(n);
            // Most nodes are in the domain of the previous node, and formatting their labels is the most expensive
            // part.
            match n.checked_sub(1).map(NodeId) {
                Some(before) if is_same(node, before) => d.extend_domain(before),
                _ => d.move_node(cluster, node),
            }
        }
        d
    }

    /// Adds the next node to the domain of node `before`.
    fn extend_domain(&mut self, before: NodeId) {
        let (id, node) = (self.of[before.ix()], NodeId(self.of.len() as u32));
        self.of.push(id);
        if id.is_some() {
            self.nodes[id.ix()].push(node);
        }
    }

    /// Moves the node to the domain of its current label.
    pub fn move_node(&mut self, cluster: &ClusterBuilder, node: NodeId) {
        if self.of.len() <= node.ix() {
            self.of.resize(node.ix() + 1, DomainId::NONE);
        }
        let id = match cluster.label(node, &self.key) {
            Some(value) => self.value(value),
            None => DomainId::NONE,
        };
        let old = std::mem::replace(&mut self.of[node.ix()], id);
        if old == id {
            return;
        }
        if old.is_some() {
            self.nodes[old.ix()].retain(|n| *n != node);
        }
        if id.is_some() {
            let members = &mut self.nodes[id.ix()];
            let at = members.partition_point(|n| *n < node);
            members.insert(at, node);
        }
    }

    fn value(&mut self, value: String) -> DomainId {
        if let Some(id) = self.index.get(&value) {
            return *id;
        }
        let id = DomainId(self.values.len() as u32);
        self.index.insert(value.clone(), id);
        self.values.push(value);
        self.nodes.push(Vec::new());
        id
    }
}
