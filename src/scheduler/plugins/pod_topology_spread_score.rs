//! PodTopologySpread: scores by constraints with ScheduleAnyway.

use super::pod_topology_spread::{counts, includes};
use crate::cycle::SchedulingCycle;
use crate::index::NodeIndex;
use crate::node::NodeView;
use crate::normalize::MAX_NODE_SCORE;
use crate::pod_terms::SpreadConstraint;
use sim_api::spec::keys::HOSTNAME;
use std::collections::{BTreeMap, BTreeSet};

/// Domains with fewer matching pods are better. Nodes without one of the labels get 0.
pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let soft: Vec<&SpreadConstraint> = cycle.pod.spread.iter().filter(|c| !c.is_required).collect();
    if soft.is_empty() {
        return None;
    }
    let view = |node: NodeIndex| &cycle.cluster.nodes[node];
    let has_all = |node: &NodeView| soft.iter().all(|c| node.labels.contains_key(&c.topology_key));
    let eligible: Vec<NodeIndex> = nodes.iter().copied().filter(|node| has_all(view(*node))).collect();
    let counted = soft.iter().map(|constraint| count_domains(cycle, constraint, &eligible, has_all));
    let counted: Vec<BTreeMap<&str, i64>> = counted.collect();
    let weight = |constraint: &SpreadConstraint, domains: &BTreeMap<&str, i64>| {
        let size = if constraint.topology_key == HOSTNAME { eligible.len() } else { domains.len() };
        libm::log((size + 2) as f64)
    };
    let weights: Vec<f64> = soft.iter().zip(&counted).map(|(c, domains)| weight(c, domains)).collect();
    let raw = |node: &NodeIndex| {
        if !has_all(view(*node)) {
            return None;
        }
        let mut sum = 0.0;
        for ((constraint, domains), weight) in soft.iter().zip(&counted).zip(&weights) {
            let count = match constraint.topology_key.as_str() {
                HOSTNAME => count_on_node(cycle, constraint, *node),
                key => domains.get(view(*node).labels[key].as_str()).copied().unwrap_or(0),
            };
            sum += count as f64 * weight + (constraint.max_skew - 1) as f64;
        }
        Some(sum.round() as i64)
    };
    Some(normalize(&nodes.iter().map(raw).collect::<Vec<Option<i64>>>()))
}

fn count_on_node(cycle: &SchedulingCycle<'_>, constraint: &SpreadConstraint, node: NodeIndex) -> i64 {
    let pods = cycle.cluster.usage[node].pods.iter().map(|index| &cycle.cluster.pods[*index]);
    pods.filter(|other| counts(constraint, cycle.pod, other)).count() as i64
}

/// Counts matching pods on all nodes, in the domains of the eligible nodes. Hostnames are counted per node instead.
fn count_domains<'a>(
    cycle: &SchedulingCycle<'a>, constraint: &SpreadConstraint, eligible: &[NodeIndex],
    has_all: impl Fn(&NodeView) -> bool,
) -> BTreeMap<&'a str, i64> {
    if constraint.topology_key == HOSTNAME {
        return BTreeMap::new();
    }
    let cluster = cycle.cluster;
    let domain = |node: NodeIndex| cluster.nodes[node].labels[&constraint.topology_key].as_str();
    let keys: BTreeSet<&str> = eligible.iter().map(|node| domain(*node)).collect();
    let mut domains: BTreeMap<&str, i64> = keys.into_iter().map(|key| (key, 0)).collect();
    for (node, view) in cluster.nodes.iter().enumerate() {
        if has_all(view)
            && includes(constraint, cycle.pod, view)
            && let Some(count) = domains.get_mut(domain(node))
        {
            *count += count_on_node(cycle, constraint, node);
        }
    }
    domains
}

fn normalize(scores: &[Option<i64>]) -> Vec<i64> {
    let known = || scores.iter().copied().flatten();
    let (min, max) = (known().min().unwrap_or(0), known().max().unwrap_or(0));
    let scaled = |score: &Option<i64>| match score {
        None => 0,
        Some(_) if max == 0 => MAX_NODE_SCORE,
        Some(score) => MAX_NODE_SCORE * (max + min - score) / max,
    };
    scores.iter().map(scaled).collect()
}
