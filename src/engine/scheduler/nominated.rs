//! Pods that wait for the end of their victims on a node (`status.nominatedNodeName`).

use crate::store::ObjectStore;
use sim_base::{NodeId, PodId};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct NominatedPods(BTreeMap<PodId, NodeId>);

impl NominatedPods {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn node_of(&self, pod: PodId) -> Option<NodeId> {
        self.0.get(&pod).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (PodId, NodeId)> {
        self.0.iter().map(|(pod, node)| (*pod, *node))
    }

    /// Returns false if the pod was not nominated.
    pub fn remove(&mut self, pod: PodId) -> bool {
        self.0.remove(&pod).is_some()
    }

    /// Nominates a pod of a group. Other pods keep the node.
    pub fn insert(&mut self, pod: PodId, node: NodeId) {
        self.0.insert(pod, node);
    }

    /// Nominates a pod. Pods of lower priority lose the node (`getLowerPriorityNominatedPods`).
    pub fn nominate(&mut self, store: &ObjectStore, pod: PodId, node: NodeId) {
        let priority = store.facts(pod).priority;
        self.0.retain(|other, at| *at != node || store.facts(*other).priority >= priority);
        self.0.insert(pod, node);
    }
}
