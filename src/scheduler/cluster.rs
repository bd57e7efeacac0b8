//! The state that a scheduling cycle reads: nodes, their pods, namespaces and disruption budgets.

use crate::index::{NodeIndex, PodIndex};
use crate::labels::{LabelSelector, Labels};
use crate::node::{NodeUsage, NodeView};
use crate::{groups::PodGroup, pod::PodView, pod_terms::PodTerm, resources::ResourceColumns};
use crate::{storage::PodVolumes, storage::StorageObjects, topology::Topology};
use std::borrow::Cow;
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
    /// The placed pods with terms about other pods, and their nodes.
    pub with_terms: BTreeMap<PodIndex, NodeIndex>,
    pub groups: Vec<PodGroup>,
    /// Pods that wait for the end of their victims on a node.
    pub nominated: Vec<(NodeIndex, PodView)>,
    pub namespaces: BTreeMap<String, Labels>,
    pub budgets: Vec<DisruptionBudget>,
    pub storage: StorageObjects,
    /// Namespace and selector of each Service with a selector.
    pub services: Vec<(String, Labels)>,
    /// Domains by topology key. Those of other keys are computed when a cycle needs them.
    pub topologies: BTreeMap<String, Topology>,
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
        self.usage.push(NodeUsage::of_empty(&node));
        self.nodes.push(node);
        self.topologies.clear();
        self.nodes.len() - 1
    }

    /// Replaces the properties of a node, and returns the former ones.
    pub fn set_node(&mut self, node: NodeIndex, view: NodeView) -> NodeView {
        let is_moved = self.nodes[node].labels != view.labels;
        let before = std::mem::replace(&mut self.nodes[node], view);
        for (key, topology) in self.topologies.iter_mut().filter(|_| is_moved) {
            *topology = Topology::new(&self.nodes, key);
        }
        before
    }

    /// Computes the domains of the pod's topology keys, unless they are known.
    pub fn learn_topologies(&mut self, pod: &PodView) {
        for key in pod.topology_keys() {
            if !self.topologies.contains_key(key) {
                self.topologies.insert(key.to_owned(), Topology::new(&self.nodes, key));
            }
        }
    }

    pub fn topology(&self, key: &str) -> Cow<'_, Topology> {
        let known = self.topologies.get(key).map(Cow::Borrowed);
        known.unwrap_or_else(|| Cow::Owned(Topology::new(&self.nodes, key)))
    }

    pub fn find_node(&self, name: &str) -> Option<NodeIndex> {
        let mut nodes = (!name.is_empty()).then_some(&self.nodes).into_iter().flatten();
        nodes.position(|node| node.name == name)
    }

    pub fn add_pod(&mut self, node: NodeIndex, pod: PodView) -> PodIndex {
        let index = self.pods.len();
        if pod.has_terms() {
            self.learn_topologies(&pod);
        }
        self.pods.push(pod);
        self.place_pod(node, index);
        index
    }

    /// Binds the claims of a pod that wait for its node.
    pub fn bind_claims(&mut self, pod: &PodView, node: NodeIndex) {
        let bindings = PodVolumes::new(&self.storage, pod).find(&self.storage, &self.nodes[node]);
        bindings.unwrap_or_default().iter().for_each(|binding| self.storage.assume(binding));
    }

    /// Places a pod that has a row on a node.
    pub fn place_pod(&mut self, node: NodeIndex, index: PodIndex) {
        self.usage[node].add(index, &self.pods[index]);
        if self.pods[index].has_terms() {
            self.with_terms.insert(index, node);
        }
    }

    pub fn remove_pod(&mut self, node: NodeIndex, index: PodIndex) {
        self.usage[node].remove(index, &self.pods[index]);
        self.with_terms.remove(&index);
    }

    /// Returns the cluster with some of its nodes only, which are renumbered in the given order.
    pub fn restricted_to(&self, nodes: &[NodeIndex]) -> Cluster {
        let mut restriction = RestrictedCluster::new(self);
        restriction.restrict_to(nodes);
        restriction.cluster
    }

    /// Returns all pods that have a node.
    pub fn placed_pods(&self) -> impl Iterator<Item = (NodeIndex, &PodView)> {
        let rows = self.usage.iter().enumerate();
        rows.flat_map(move |(node, usage)| usage.pods.iter().map(move |pod| (node, &self.pods[*pod])))
    }

    /// Returns the pods that matter for terms about other pods: all, or those with terms of their own.
    pub fn pods_about(&self, all: bool) -> impl Iterator<Item = (NodeIndex, &PodView)> {
        let with_terms = self.with_terms.iter().filter(move |_| !all).map(|(pod, node)| (*node, &self.pods[*pod]));
        let placed = all.then(|| self.placed_pods()).into_iter().flatten();
        placed.chain(with_terms)
    }

    /// Returns the number of uses, by placed pods, of claims that only this pod may use.
    pub fn count_shared_claims(&self, pod: &PodView) -> i64 {
        let exclusive = self.storage.claims_of_one_pod(pod);
        let placed = (!exclusive.is_empty()).then(|| self.placed_pods()).into_iter().flatten();
        placed.map(|(_, other)| pod.shared_claims(&exclusive, other)).sum()
    }

    /// Returns whether the term selects the pod.
    pub fn selects(&self, term: &PodTerm, pod: &PodView) -> bool {
        const NO_LABELS: &Labels = &BTreeMap::new();
        term.selects(&pod.namespace, self.namespaces.get(&pod.namespace).unwrap_or(NO_LABELS), &pod.labels)
    }
}

/// A copy of a cluster that is restricted to one set of nodes after another. Everything but the nodes is copied once,
/// so that the work per set depends only on its nodes and their pods.
pub struct RestrictedCluster<'a> {
    whole: &'a Cluster,
    /// Positions in the list of nominated pods, by node.
    nominated: BTreeMap<NodeIndex, Vec<usize>>,
    cluster: Cluster,
}

impl<'a> RestrictedCluster<'a> {
    pub fn new(whole: &'a Cluster) -> RestrictedCluster<'a> {
        let mut nominated: BTreeMap<NodeIndex, Vec<usize>> = BTreeMap::new();
        for (position, (node, _)) in whole.nominated.iter().enumerate() {
            nominated.entry(*node).or_default().push(position);
        }
        let cluster = Cluster {
            columns: whole.columns.clone(),
            pods: whole.pods.clone(),
            groups: whole.groups.clone(),
            namespaces: whole.namespaces.clone(),
            budgets: whole.budgets.clone(),
            storage: whole.storage.clone(),
            services: whole.services.clone(),
            images: whole.images.clone(),
            ..Cluster::default()
        };
        RestrictedCluster { whole, nominated, cluster }
    }

    /// Returns the cluster with some nodes of the whole one, which are renumbered in the given order. Changes after the
    /// last restriction are undone. The caller must not change anything but nodes, pods and nominated pods.
    pub fn restrict_to(&mut self, nodes: &[NodeIndex]) -> &mut Cluster {
        let (whole, cluster) = (self.whole, &mut self.cluster);
        cluster.nodes.clear();
        cluster.usage.clear();
        cluster.nodes.extend(nodes.iter().map(|node| whole.nodes[*node].clone()));
        cluster.usage.extend(nodes.iter().map(|node| whole.usage[*node].clone()));
        cluster.pods.truncate(whole.pods.len());
        cluster.topologies.clear();
        cluster.with_terms.clear();
        for (row, usage) in cluster.usage.iter().enumerate() {
            let with_terms = usage.pods.iter().filter(|pod| whole.pods[**pod].has_terms());
            cluster.with_terms.extend(with_terms.map(|pod| (*pod, row)));
        }
        let rows = nodes.iter().enumerate();
        let mut nominated: Vec<(usize, NodeIndex)> = rows
            .flat_map(|(row, node)| {
                self.nominated.get(node).into_iter().flatten().map(move |position| (*position, row))
            })
            .collect();
        nominated.sort_unstable();
        cluster.nominated.clear();
        cluster.nominated.extend(nominated.into_iter().map(|(at, row)| (row, whole.nominated[at].1.clone())));
        cluster
    }
}
