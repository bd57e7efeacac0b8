//! The state that a scheduling cycle reads: nodes, their pods, namespaces and disruption budgets.

use crate::groups::PodGroup;
use crate::index::{NodeIndex, PodIndex};
use crate::labels::{LabelSelector, Labels};
use crate::node::{NodeUsage, NodeView};
use crate::pod::PodView;
use crate::pod_terms::PodTerm;
use crate::resources::ResourceColumns;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct Cluster {
    pub columns: ResourceColumns,
    /// Nodes in the order in which the scheduler examines them.
    pub nodes: Vec<NodeView>,
    /// One row per node.
    pub usage: Vec<NodeUsage>,
    /// Pods with a node. The rows of removed pods remain.
    pub pods: Vec<PodView>,
    pub groups: Vec<PodGroup>,
    /// Pods that wait for the end of their victims on a node.
    pub nominated: Vec<(NodeIndex, PodView)>,
    pub namespaces: BTreeMap<String, Labels>,
    pub budgets: Vec<DisruptionBudget>,
    pub images: BTreeMap<String, ClusterImage>,
}

/// An image that nodes have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterImage {
    /// Size in bytes as reported by the first node. Different sizes on other nodes are ignored
    /// (`addNodeImageStates` in `backend/cache/cache.go`).
    pub bytes: i64,
    pub node_count: usize,
}

#[derive(Clone, Debug, Default)]
pub struct DisruptionBudget {
    pub namespace: String,
    pub selector: LabelSelector,
    pub disruptions_allowed: i64,
}

impl Cluster {
    pub fn add_node(&mut self, node: NodeView) -> NodeIndex {
        for (name, bytes) in &node.images {
            let first = ClusterImage { bytes: *bytes, node_count: 0 };
            self.images.entry(name.clone()).or_insert(first).node_count += 1;
        }
        self.nodes.push(node);
        self.usage.push(NodeUsage::default());
        self.nodes.len() - 1
    }

    pub fn find_node(&self, name: &str) -> Option<NodeIndex> {
        self.nodes.iter().position(|node| node.name == name)
    }

    pub fn add_pod(&mut self, node: NodeIndex, pod: PodView) -> PodIndex {
        let index = self.pods.len();
        self.usage[node].add(index, &pod);
        self.pods.push(pod);
        index
    }

    pub fn remove_pod(&mut self, node: NodeIndex, index: PodIndex) {
        self.usage[node].remove(index, &self.pods[index]);
    }

    /// Returns the cluster with some of its nodes only, which are renumbered in the given order.
    pub fn restricted_to(&self, nodes: &[NodeIndex]) -> Cluster {
        let nominated = self.nominated.iter().filter_map(|(node, pod)| {
            let position = nodes.iter().position(|kept| kept == node)?;
            Some((position, pod.clone()))
        });
        Cluster {
            nodes: nodes.iter().map(|node| self.nodes[*node].clone()).collect(),
            usage: nodes.iter().map(|node| self.usage[*node].clone()).collect(),
            nominated: nominated.collect(),
            ..self.clone()
        }
    }

    /// Returns all pods that have a node.
    pub fn placed_pods(&self) -> impl Iterator<Item = (NodeIndex, &PodView)> {
        let rows = self.usage.iter().enumerate();
        rows.flat_map(move |(node, usage)| usage.pods.iter().map(move |pod| (node, &self.pods[*pod])))
    }

    /// Returns whether the term selects the pod.
    pub fn selects(&self, term: &PodTerm, pod: &PodView) -> bool {
        const NO_LABELS: &Labels = &BTreeMap::new();
        term.selects(&pod.namespace, self.namespaces.get(&pod.namespace).unwrap_or(NO_LABELS), &pod.labels)
    }
}
