//! One scheduling cycle of a pod: the state that PreFilter computes, and the filters over it.

use crate::{cluster::Cluster, index::NodeIndex, node::NodeUsage, plugin::Plugin, plugins::filter_of};
use crate::{plugins::inter_pod_affinity::AffinityState, plugins::pod_topology_spread::SpreadState, pod::PodView};
use crate::{profile::Profile, rejection::Rejection, storage::PodVolumes};

/// Message of NodeAffinity if required terms name no node in common.
const CONFLICT: &str = "pod affinity terms conflict";

#[derive(Clone, Debug)]
pub struct SchedulingCycle<'a> {
    pub cluster: &'a Cluster,
    pub pod: &'a PodView,
    pub profile: &'a Profile,
    pub spread: SpreadState<'a>,
    pub affinity: AffinityState<'a>,
    pub volumes: PodVolumes<'a>,
    exclusive_claims: Vec<&'a String>,
    /// Number of uses, by other pods, of claims that only one pod may use.
    pub shared_claims: i64,
    /// Nodes that PreFilter restricts the search to; `None` allows all.
    pub named_nodes: Option<Vec<NodeIndex>>,
}

impl<'a> SchedulingCycle<'a> {
    /// Computes the state of the pod, or returns the rejection of all nodes by PreFilter.
    pub fn new(cluster: &'a Cluster, pod: &'a PodView, profile: &'a Profile) -> Result<SchedulingCycle<'a>, Rejection> {
        let names = pod.node_affinity.node_names().filter(|_| profile.is_enabled(Plugin::NodeAffinity));
        if names.as_ref().is_some_and(|names| names.is_empty()) {
            return Err(Rejection::unresolvable(Plugin::NodeAffinity, CONFLICT));
        }
        let problems = cluster.storage.problems(pod).chain(pod.claim_problem.clone());
        let mut rejections = problems.map(Rejection::by_claim);
        if let Some(rejection) = rejections.find(|rejection| profile.is_enabled(rejection.plugin)) {
            return Err(rejection);
        }
        let volumes = PodVolumes::new(&cluster.storage, pod);
        let is_named = |names: &std::collections::BTreeSet<&str>, node: &NodeIndex| {
            names.contains(cluster.nodes[*node].name.as_str())
        };
        Ok(SchedulingCycle {
            cluster,
            pod,
            profile,
            spread: SpreadState::new(cluster, pod, profile),
            affinity: AffinityState::new(cluster, pod),
            volumes,
            exclusive_claims: cluster.storage.claims_of_one_pod(pod),
            shared_claims: cluster.count_shared_claims(pod),
            named_nodes: names.map(|names| (0..cluster.nodes.len()).filter(|n| is_named(&names, n)).collect()),
        })
    }

    /// Adds a pod on a node to the state (`by` = 1), or removes it (−1).
    pub fn update(&mut self, node: NodeIndex, other: &'a PodView, by: i64) {
        self.spread.update(self.cluster, self.pod, node, other, by);
        self.affinity.update(self.cluster, self.pod, node, other, by);
        self.shared_claims += by * self.pod.shared_claims(&self.exclusive_claims, other);
    }

    /// Runs the filters on a node with the given usage.
    pub fn filter(&self, node: NodeIndex, usage: &NodeUsage) -> Result<(), Rejection> {
        self.profile.filters().iter().try_for_each(|plugin| filter_of(*plugin)(self, node, usage))
    }

    /// Runs the filters twice if pods of at least the same priority are nominated to the node: with and without them.
    pub fn filter_with_nominated(&self, node: NodeIndex, usage: &NodeUsage) -> Result<(), Rejection> {
        let nominated = self
            .cluster
            .nominated
            .iter()
            .filter(|(at, other)| *at == node && other.priority >= self.pod.priority && !self.pod.is_same(other));
        let nominated: Vec<&PodView> = nominated.map(|(_, other)| other).collect();
        if !nominated.is_empty() {
            let (mut cycle, mut usage) = (self.clone(), usage.clone());
            for (row, other) in nominated.into_iter().enumerate() {
                usage.add(self.cluster.pods.len() + row, other);
                cycle.update(node, other, 1);
            }
            cycle.filter(node, &usage)?;
        }
        self.filter(node, usage)
    }
}
