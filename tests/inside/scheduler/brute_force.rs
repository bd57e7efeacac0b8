//! Filters and scores evaluated directly from the definitions: each node against all pods, without counts by domain.

use crate::cluster::Cluster;
use crate::index::NodeIndex;
use crate::pod::PodView;
use crate::pod_terms::{PodTerm, SpreadConstraint};
use sim_api::spec::TaintEffect;
use sim_api::spec::keys::HOSTNAME;
use std::collections::{BTreeMap, BTreeSet};

fn label<'c>(cluster: &'c Cluster, node: NodeIndex, key: &str) -> Option<&'c str> {
    cluster.nodes[node].labels.get(key).map(String::as_str)
}

fn share(cluster: &Cluster, a: NodeIndex, b: NodeIndex, key: &str) -> bool {
    label(cluster, a, key).is_some() && label(cluster, a, key) == label(cluster, b, key)
}

fn fits_resources(cluster: &Cluster, pod: &PodView, node: NodeIndex) -> bool {
    let pods: Vec<&PodView> = cluster.usage[node].pods.iter().map(|index| &cluster.pods[*index]).collect();
    let has_room = |(column, request): (usize, i64)| {
        let used: i64 = pods.iter().map(|other| other.requests.get(column)).sum();
        used + request <= cluster.nodes[node].allocatable.get(column)
    };
    let port_is_free = |port: &crate::host_port::HostPort| {
        pods.iter().all(|other| other.host_ports.iter().all(|used| !used.conflicts_with(port)))
    };
    (pods.len() as i64) < cluster.nodes[node].max_pods
        && pod.requests.iter().all(has_room)
        && pod.host_ports.iter().all(port_is_free)
}

fn fits_terms(cluster: &Cluster, pod: &PodView, node: NodeIndex) -> bool {
    let required = &pod.affinity.required;
    let matches_all = |other: &PodView| required.iter().all(|term| cluster.selects(term, other));
    let is_near = |term: &PodTerm| {
        let mut placed = cluster.placed_pods();
        placed.any(|(at, other)| share(cluster, at, node, &term.topology_key) && matches_all(other))
    };
    let is_alone = || {
        let counts = |at: NodeIndex| required.iter().any(|term| label(cluster, at, &term.topology_key).is_some());
        !cluster.placed_pods().any(|(at, other)| counts(at) && matches_all(other))
    };
    let has_labels = required.iter().all(|term| label(cluster, node, &term.topology_key).is_some());
    if !(required.iter().all(is_near) || has_labels && is_alone() && matches_all(pod)) {
        return false;
    }
    cluster.placed_pods().all(|(at, other)| {
        let repels = |terms: &[PodTerm], subject: &PodView| {
            terms.iter().any(|t| share(cluster, at, node, &t.topology_key) && cluster.selects(t, subject))
        };
        !repels(&pod.anti_affinity.required, other) && !repels(&other.anti_affinity.required, pod)
    })
}

fn matching(constraint: &SpreadConstraint, cluster: &Cluster, pod: &PodView, node: NodeIndex) -> i64 {
    let pods = cluster.usage[node].pods.iter().map(|index| &cluster.pods[*index]);
    let counted = pods.filter(|other| {
        !other.is_terminating
            && other.namespace == pod.namespace
            && !constraint.selector.is_empty()
            && constraint.selector.matches(&other.labels)
    });
    counted.count() as i64
}

/// Counts by value of the constraint's label on the nodes that have all labels and that the pod may use.
fn counts_by_value<'c>(
    constraint: &SpreadConstraint, all: &[&SpreadConstraint], cluster: &'c Cluster, pod: &PodView,
) -> BTreeMap<&'c str, i64> {
    let mut counts = BTreeMap::new();
    for node in 0..cluster.nodes.len() {
        let has_all = all.iter().all(|c| label(cluster, node, &c.topology_key).is_some());
        if has_all && pod.node_affinity.allows(&cluster.nodes[node]) {
            let value = label(cluster, node, &constraint.topology_key).unwrap_or("");
            *counts.entry(value).or_default() += matching(constraint, cluster, pod, node);
        }
    }
    counts
}

fn fits_spread(cluster: &Cluster, pod: &PodView, node: NodeIndex) -> bool {
    let hard: Vec<&SpreadConstraint> = pod.spread.iter().filter(|c| c.is_required).collect();
    hard.iter().all(|constraint| {
        let counts = counts_by_value(constraint, &hard, cluster, pod);
        let enough = counts.len() as i64 >= constraint.min_domains;
        let least = if enough { counts.values().min().copied().unwrap_or(i64::from(i32::MAX)) } else { 0 };
        label(cluster, node, &constraint.topology_key).is_some_and(|value| {
            let own = i64::from(constraint.selector.matches(&pod.labels));
            counts.get(value).copied().unwrap_or(0) + own - least <= constraint.max_skew
        })
    })
}

pub fn is_feasible(cluster: &Cluster, pod: &PodView, node: NodeIndex) -> bool {
    let view = &cluster.nodes[node];
    let mut hard = view.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
    hard.all(|taint| pod.tolerates(taint))
        && pod.node_affinity.allows(view)
        && fits_resources(cluster, pod, node)
        && fits_spread(cluster, pod, node)
        && fits_terms(cluster, pod, node)
}

/// Returns the weighted scores of InterPodAffinity, which are all zero if no term matches.
pub fn affinity_scores(cluster: &Cluster, pod: &PodView, nodes: &[NodeIndex]) -> Vec<i64> {
    let sum = |node: &NodeIndex| {
        let mut sum = 0;
        for (at, other) in cluster.placed_pods() {
            let mut add = |term: &PodTerm, subject: &PodView, weight: i64| {
                let counts = share(cluster, at, *node, &term.topology_key) && cluster.selects(term, subject);
                sum += if counts { weight } else { 0 };
            };
            pod.affinity.preferred.iter().for_each(|(weight, term)| add(term, other, *weight));
            pod.anti_affinity.preferred.iter().for_each(|(weight, term)| add(term, other, -weight));
            other.affinity.required.iter().for_each(|term| add(term, pod, 1));
            other.affinity.preferred.iter().for_each(|(weight, term)| add(term, pod, *weight));
            other.anti_affinity.preferred.iter().for_each(|(weight, term)| add(term, pod, -weight));
        }
        sum
    };
    let sums: Vec<i64> = nodes.iter().map(sum).collect();
    let (min, max) = (sums.iter().min().copied().unwrap_or(0), sums.iter().max().copied().unwrap_or(0));
    let scaled = |sum: &i64| if max == min { 0 } else { (100.0 * ((sum - min) as f64 / (max - min) as f64)) as i64 };
    sums.iter().map(|sum| 2 * scaled(sum)).collect()
}

/// Returns the weighted scores of PodTopologySpread for these constraints. `needs_all` is false for the constraints
/// that Services imply.
pub fn spread_scores(
    cluster: &Cluster, pod: &PodView, nodes: &[NodeIndex], soft: &[&SpreadConstraint], needs_all: bool,
) -> Vec<i64> {
    let is_ignored =
        |node: NodeIndex| needs_all && soft.iter().any(|c| label(cluster, node, &c.topology_key).is_none());
    let eligible: Vec<NodeIndex> = nodes.iter().copied().filter(|node| !is_ignored(*node)).collect();
    let raw = |node: NodeIndex| {
        let mut sum = 0.0;
        for constraint in soft {
            let key = constraint.topology_key.as_str();
            let Some(value) = label(cluster, node, key) else { continue };
            let values: BTreeSet<Option<&str>> = eligible.iter().map(|n| label(cluster, *n, key)).collect();
            let size = if key == HOSTNAME { eligible.len() } else { values.len() };
            let counted = (0..cluster.nodes.len()).filter(|at| match key {
                HOSTNAME => *at == node,
                _ => {
                    !is_ignored(*at)
                        && label(cluster, *at, key) == Some(value)
                        && pod.node_affinity.allows(&cluster.nodes[*at])
                }
            });
            let count: i64 = counted.map(|at| matching(constraint, cluster, pod, at)).sum();
            sum += count as f64 * libm::log((size + 2) as f64) + (constraint.max_skew - 1) as f64;
        }
        sum.round() as i64
    };
    let known: Vec<i64> = eligible.iter().map(|node| raw(*node)).collect();
    let (min, max) = (known.iter().min().copied().unwrap_or(0), known.iter().max().copied().unwrap_or(0));
    let scaled = |node: &NodeIndex| match max {
        _ if is_ignored(*node) => 0,
        0 => 100,
        _ => 100 * (max + min - raw(*node)) / max,
    };
    nodes.iter().map(|node| 2 * scaled(node)).collect()
}
