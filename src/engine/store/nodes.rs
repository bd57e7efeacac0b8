//! Node objects as stored: the description of the cluster, changes since the start, and the pods bound to each node.

use sim_api::spec::{NodeObject, TaintEffect, TaintSpec};
use sim_base::{NodeId, PodId, SimTime};
use sim_policy::topology::ClusterBuilder;

#[derive(Clone, Default)]
pub struct NodeStore {
    /// Current labels, features, allocatable, and the taints of the description.
    pub cluster: ClusterBuilder,
    pub rows: Vec<NodeEntry>,
    /// Taints in addition to those of the description; empty for most nodes.
    pub taints: Vec<Vec<TaintSpec>>,
    /// Pods bound to the node, including ended ones while their object exists.
    pub pods: Vec<Vec<PodId>>,
    /// Number of changes of all nodes, and its value after the last change of each node.
    changes: u32,
    changed_at: Vec<u32>,
}

#[derive(Copy, Clone, Debug)]
pub struct NodeEntry {
    pub exists: bool,
    /// Number of the object with this name, from 1.
    pub incarnation: u32,
    /// Ready is Unknown, as written by the node lifecycle controller.
    pub unknown: bool,
    /// The field `spec.unschedulable`.
    pub cordoned: bool,
    /// Time of the last renewal of the kubelet's Lease; `NEVER` if it is renewed continuously.
    pub lease: SimTime,
}

impl Default for NodeEntry {
    fn default() -> NodeEntry {
        NodeEntry { exists: true, incarnation: 1, unknown: false, cordoned: false, lease: SimTime::NEVER }
    }
}

impl NodeStore {
    pub fn reset(&mut self) {
        self.cluster.reset();
        let n = self.cluster.len();
        self.rows.clear();
        self.rows.resize(n, NodeEntry::default());
        self.taints.iter_mut().for_each(Vec::clear);
        self.taints.resize_with(n, Vec::new);
        self.pods.iter_mut().for_each(Vec::clear);
        self.pods.resize_with(n, Vec::new);
        self.changes = 0;
        self.changed_at.clear();
    }

    pub fn count_change(&mut self, node: NodeId) {
        self.changes += 1;
        self.changed_at.resize(self.rows.len(), 0);
        self.changed_at[node.ix()] = self.changes;
    }

    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// Iterates over the nodes that changed after this number of changes.
    pub fn changed_since(&self, changes: u32) -> impl Iterator<Item = NodeId> + '_ {
        let all = self.changed_at.iter().enumerate().filter(move |(_, at)| **at > changes);
        all.map(|(node, _)| NodeId(node as u32))
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn exists(&self, node: NodeId) -> bool {
        self.rows.get(node.ix()).is_some_and(|n| n.exists)
    }

    /// Iterates over the nodes whose object exists.
    pub fn existing(&self) -> impl Iterator<Item = NodeId> + '_ {
        let all = (0..self.rows.len() as u32).map(NodeId);
        all.filter(|n| self.rows[n.ix()].exists)
    }

    /// Returns the row with a name, whether or not the object exists.
    pub fn find_by_name(&self, name: &str) -> Option<NodeId> {
        self.cluster.named(name)
    }

    pub fn has_taint(&self, node: NodeId, key: &str, effect: TaintEffect) -> bool {
        let mut taints = self.taints_of(node);
        taints.any(|t| t.key == key && t.effect == effect)
    }

    /// Iterates over all taints of the node.
    pub fn taints_of(&self, node: NodeId) -> impl Iterator<Item = &TaintSpec> {
        let own = self.cluster.taints(node).iter();
        own.chain(&self.taints[node.ix()])
    }

    /// Creates a Node object with a new name, or again with the name of a removed one.
    pub fn create(&mut self, object: &NodeObject) -> NodeId {
        let node = match self.find_by_name(&object.name) {
            Some(node) => {
                self.cluster.change(node, object);
                self.taints[node.ix()].clear();
                let incarnation = self.rows[node.ix()].incarnation + 1;
                self.rows[node.ix()] = NodeEntry { incarnation, ..NodeEntry::default() };
                node
            }
            None => {
                let node = self.cluster.push(object);
                self.rows.push(NodeEntry::default());
                self.taints.push(Vec::new());
                self.pods.push(Vec::new());
                node
            }
        };
        self.rows[node.ix()].cordoned = object.unschedulable;
        node
    }
}
