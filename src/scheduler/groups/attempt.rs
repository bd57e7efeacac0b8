//! Scheduling of pod groups (`schedule_one_podgroup.go` of 1.36): all pods of a group on one snapshot, in each
//! placement that its topology key permits.

use crate::cluster::{Cluster, RestrictedCluster};
use crate::decision::{Decision, schedule_without_preemption};
use crate::plugins::node_resources_fit::score_placement;
use crate::plugins::pod_group_pods_count::normalize_counts;
use crate::{groups::PodGroup, index::NodeIndex, pod::PodView, profile::Profile};
use std::collections::BTreeMap;

const UNSCHEDULABLE: &str = "pod group is unschedulable";
const NO_PLACEMENTS: &str = "no feasible placements found";
/// Message of pods that fit although their group does not.
const WAITING: &str = "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more \
                       plugins asked to wait and no plugin rejected pod";
/// Why pods of a group preempt no others by themselves: the group is tried in several placements, or as a whole.
const BY_PLACEMENT: &str = "not eligible due to placement-based pod group scheduling limitation";
const AS_A_WHOLE: &str = "not eligible due to workload aware preemption enabled";

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
    /// One number per pod: modulo the number of nodes with equal scores, it selects one of them; missing numbers select
    /// the first one. kube-scheduler draws for each pod and each trial.
    pub ties: &'a [u64],
    /// Index at which the search for the first pod starts.
    pub start: usize,
}

/// The result in one set of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Value of the topology key; empty if all nodes are permitted.
    pub domain: String,
    /// Node of each pending pod, or `None` if it does not fit.
    pub assignment: Vec<Option<NodeIndex>>,
    /// Message of each pod that does not fit; empty for the others.
    pub rejections: Vec<String>,
    pub is_feasible: bool,
    /// Score of NodeResourcesFit: how much of the placement is used with the assigned pods.
    utilization: i64,
}

/// Results in all placements, which are ordered by domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupResult {
    pub placements: Vec<Placement>,
    /// Number of pods of the attempt.
    pods: usize,
    /// Number of pods of the group that were scheduled before.
    scheduled: usize,
    is_topology_aware: bool,
    /// Index at which the search for the next pod starts.
    pub next_start: usize,
}

impl Placement {
    pub fn assigned(&self) -> usize {
        self.assignment.iter().flatten().count()
    }
}

impl GroupResult {
    /// Returns the feasible placements with the highest sum of the scores of NodeResourcesFit and PodGroupPodsCount,
    /// both with weight 1. The caller selects one of them.
    pub fn best(&self) -> Vec<&Placement> {
        let feasible: Vec<&Placement> = self.placements.iter().filter(|p| p.is_feasible).collect();
        let counts = normalize_counts(feasible.iter().map(|p| self.scheduled + p.assigned()).collect());
        let totals: Vec<i64> = feasible.iter().zip(counts).map(|(p, count)| p.utilization + count).collect();
        let highest = totals.iter().max();
        feasible.iter().zip(&totals).filter(|(_, total)| Some(*total) == highest).map(|(p, _)| *p).collect()
    }

    /// Returns the messages of the pods of an unschedulable group, which follow from its first placement.
    pub fn rejections(&self) -> Vec<String> {
        let Some(first) = self.placements.first() else {
            return vec![NO_PLACEMENTS.to_owned(); self.pods];
        };
        first.rejections.iter().map(|m| if m.is_empty() { WAITING.to_owned() } else { m.clone() }).collect()
    }

    /// Returns the message of an unschedulable group.
    pub fn message(&self) -> String {
        if !self.is_topology_aware {
            return UNSCHEDULABLE.to_owned();
        }
        if self.placements.is_empty() {
            return NO_PLACEMENTS.to_owned();
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
        let mut next_start = self.start;
        let mut restricted = RestrictedCluster::new(cluster);
        let placements = self.placements(cluster).into_iter().map(|(domain, nodes)| {
            let found = self.assign(restricted.restrict_to(&nodes), &mut next_start);
            let assignment: Vec<Option<NodeIndex>> =
                found.assignment.iter().map(|node| node.map(|node| nodes[node])).collect();
            let assigned = self.pods.iter().zip(&assignment).filter(|(_, node)| node.is_some()).map(|(pod, _)| pod);
            let utilization = score_placement(cluster, self.profile, &nodes, assigned);
            Placement { domain, assignment, utilization, ..found }
        });
        let placements: Vec<Placement> = placements.collect();
        GroupResult {
            placements,
            pods: self.pods.len(),
            scheduled: self.scheduled.len(),
            is_topology_aware: self.is_topology_aware,
            next_start,
        }
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
    fn assign(&self, cluster: &mut Cluster, start: &mut usize) -> Placement {
        let mut found = Placement::default();
        let mut scheduled = self.scheduled.len();
        let has_placements = self.is_topology_aware && self.group.topology_key.is_some();
        let ineligible = if has_placements { BY_PLACEMENT } else { AS_A_WHOLE };
        for (at, pod) in self.pods.iter().enumerate() {
            let (node, message) = match schedule_without_preemption(cluster, pod, self.profile, *start, ineligible) {
                Decision::Scheduled(nodes) => {
                    *start = nodes.next_start;
                    let (best, tie) = (nodes.best(), self.ties.get(at).copied().unwrap_or(0));
                    (best.get((tie % best.len() as u64) as usize).copied(), String::new())
                }
                Decision::Unschedulable { message, .. } => (None, message),
            };
            if let Some(node) = node {
                // From here on, the pod counts on its new node only.
                cluster.nominated.retain(|(_, other)| !pod.is_same(other));
                cluster.add_pod(node, pod.clone());
                scheduled += 1;
                found.is_feasible |= scheduled >= self.group.min_count.unwrap_or(1);
            }
            found.assignment.push(node);
            found.rejections.push(message);
        }
        found
    }
}
