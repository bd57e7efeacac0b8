//! Scheduling of pod groups (`schedule_one_podgroup.go` of 1.36): all pods of a group on one snapshot, in each
//! placement that its topology key permits.

use crate::decision::{Decision, schedule};
use crate::{cluster::Cluster, groups::PodGroup, index::NodeIndex, pod::PodView, profile::Profile};
use std::collections::BTreeMap;

const UNSCHEDULABLE: &str = "pod group is unschedulable";

/// One attempt to schedule the pending pods of a group.
#[derive(Clone, Debug)]
pub struct GroupAttempt<'a> {
    pub group: &'a PodGroup,
    /// Pending pods in the order of the attempt.
    pub pods: &'a [PodView],
    pub profile: &'a Profile,
    /// Nodes of the pods of the group that are already scheduled.
    pub scheduled: &'a [NodeIndex],
    pub is_topology_aware: bool,
}

/// The result in one set of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Value of the topology key; empty if all nodes are permitted.
    pub domain: String,
    /// Node of each pending pod, or `None` if it does not fit.
    pub assignment: Vec<Option<NodeIndex>>,
    pub is_feasible: bool,
}

/// Results in all placements, which are ordered by domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupResult {
    pub placements: Vec<Placement>,
    is_topology_aware: bool,
}

impl Placement {
    pub fn assigned(&self) -> usize {
        self.assignment.iter().flatten().count()
    }
}

impl GroupResult {
    /// Returns the feasible placements with the largest number of pods (plugin PodGroupPodsCount). The caller selects
    /// one of them.
    pub fn best(&self) -> Vec<&Placement> {
        let feasible = || self.placements.iter().filter(|p| p.is_feasible);
        let most = feasible().map(Placement::assigned).max();
        feasible().filter(|p| Some(p.assigned()) == most).collect()
    }

    /// Returns the message of an unschedulable group.
    pub fn message(&self) -> String {
        if !self.is_topology_aware {
            return UNSCHEDULABLE.to_owned();
        }
        let count = self.placements.len();
        format!("0/{count} placements are available, first placement status: {UNSCHEDULABLE}")
    }
}

impl GroupAttempt<'_> {
    /// Returns whether the group has enough pods to be attempted at all (PreEnqueue).
    pub fn is_complete(&self) -> bool {
        self.pods.len() + self.scheduled.len() >= self.group.min_count.unwrap_or(0)
    }

    /// Simulates the group in each placement.
    pub fn run(&self, cluster: &Cluster) -> GroupResult {
        let placements = self.placements(cluster).into_iter().map(|(domain, nodes)| {
            let (assignment, is_feasible) = self.assign(cluster.restricted_to(&nodes));
            let assignment = assignment.into_iter().map(|node| node.map(|node| nodes[node]));
            Placement { domain, assignment: assignment.collect(), is_feasible }
        });
        GroupResult { placements: placements.collect(), is_topology_aware: self.is_topology_aware }
    }

    /// Returns the nodes of each placement. Pods that are already scheduled fix the domain.
    fn placements(&self, cluster: &Cluster) -> BTreeMap<String, Vec<NodeIndex>> {
        let all = 0..cluster.nodes.len();
        let Some(key) = self.group.topology_key.as_ref().filter(|_| self.is_topology_aware) else {
            return BTreeMap::from([(String::new(), all.collect())]);
        };
        let domain = |node: &NodeIndex| cluster.nodes[*node].labels.get(key);
        let mut domains: BTreeMap<String, Vec<NodeIndex>> = BTreeMap::new();
        for node in all {
            if let Some(value) = domain(&node) {
                domains.entry(value.clone()).or_default().push(node);
            }
        }
        if let Some(first) = self.scheduled.first() {
            domains.retain(|value, _| domain(first) == Some(value));
        }
        domains
    }

    /// Schedules the pods one after another. The group is feasible if the gang is large enough after one of them.
    fn assign(&self, mut cluster: Cluster) -> (Vec<Option<NodeIndex>>, bool) {
        let (mut assignment, mut is_feasible) = (Vec::new(), false);
        let mut scheduled = self.scheduled.len();
        for pod in self.pods {
            let node = match schedule(&cluster, pod, self.profile, 0) {
                Decision::Scheduled(nodes) => nodes.best().first().copied(),
                Decision::Unschedulable { .. } => None,
            };
            if let Some(node) = node {
                cluster.add_pod(node, pod.clone());
                scheduled += 1;
                is_feasible |= scheduled >= self.group.min_count.unwrap_or(1);
            }
            assignment.push(node);
        }
        (assignment, is_feasible)
    }
}
