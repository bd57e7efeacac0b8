//! PodTopologySpread: scores by constraints with ScheduleAnyway.

use super::pod_topology_spread::{constraints, counts, includes};
use crate::pod_terms::SpreadConstraint;
use crate::topology::Topology;
use crate::{cycle::SchedulingCycle, index::NodeIndex, plugins::normalize::MAX_NODE_SCORE};
use sim_api::spec::keys::HOSTNAME;
use std::borrow::Cow;

/// Domains with fewer matching pods are better. Nodes without one of the labels get 0; with the system's default
/// constraints, only the constraint whose label is missing does not count.
pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let pod = cycle.pod;
    let of_pod = constraints(cycle.cluster, pod, cycle.profile);
    let all = of_pod.iter().filter(|c| !c.is_required);
    let requires_all = !pod.spread.is_empty() || cycle.profile.default_spread.is_some();
    let soft: Vec<(&SpreadConstraint, Cow<'_, Topology>)> =
        all.map(|c| (c, cycle.cluster.topology(&c.topology_key))).collect();
    if soft.is_empty() {
        return None;
    }
    let is_scored = |node: NodeIndex| !requires_all || soft.iter().all(|(_, topology)| topology.domain(node).is_some());
    let eligible: Vec<NodeIndex> = nodes.iter().copied().filter(|node| is_scored(*node)).collect();
    let counted = soft.iter().map(|(c, topology)| count_domains(cycle, (c, topology), &eligible, is_scored));
    let counted: Vec<(Vec<i64>, f64)> = counted.collect();
    let raw = |node: &NodeIndex| {
        let of_constraint = |(row, (counts, weight)): (usize, &(Vec<i64>, f64))| {
            let (constraint, topology) = &soft[row];
            let domain = topology.domain(*node)?;
            let at = if constraint.topology_key == HOSTNAME { *node } else { domain + 1 };
            Some((counts[at], constraint.max_skew, *weight))
        };
        is_scored(*node).then(|| raw_score(counted.iter().enumerate().filter_map(of_constraint)))
    };
    Some(normalize(&nodes.iter().map(raw).collect::<Vec<Option<i64>>>()))
}

/// Returns the weight of a constraint with this number of domains.
pub fn size_weight(domains: usize) -> f64 {
    libm::log((domains + 2) as f64)
}

/// Returns the score of a node before normalization, from the number of matching pods in its domain, `maxSkew` and the
/// weight of each constraint.
pub fn raw_score(constraints: impl Iterator<Item = (i64, i64, f64)>) -> i64 {
    let sum =
        constraints.fold(0.0, |sum, (count, max_skew, weight)| sum + (count as f64 * weight + (max_skew - 1) as f64));
    sum.round() as i64
}

/// Counts the matching pods of a constraint, and returns its weight. Hostnames are counted by node, other keys by
/// domain plus one; index 0 contains the pods on nodes without the label. Only domains of eligible nodes count.
fn count_domains(
    cycle: &SchedulingCycle<'_>, (constraint, topology): (&SpreadConstraint, &Topology), eligible: &[NodeIndex],
    is_scored: impl Fn(NodeIndex) -> bool,
) -> (Vec<i64>, f64) {
    let (cluster, pod) = (cycle.cluster, cycle.pod);
    let count = |node: NodeIndex| {
        let pods = cluster.usage[node].pods.iter().map(|index| &cluster.pods[*index]);
        pods.filter(|other| counts(constraint, pod, other)).count() as i64
    };
    if constraint.topology_key == HOSTNAME {
        let mut by_node = vec![0; cluster.nodes.len()];
        eligible.iter().for_each(|node| by_node[*node] = count(*node));
        return (by_node, size_weight(eligible.len()));
    }
    let row = |node: NodeIndex| topology.domain(node).map_or(0, |domain| domain + 1);
    let mut is_eligible = vec![false; topology.domain_count + 1];
    eligible.iter().for_each(|node| is_eligible[row(*node)] = true);
    let mut by_domain = vec![0; topology.domain_count + 1];
    for (node, view) in cluster.nodes.iter().enumerate() {
        let used = is_eligible[row(node)] && !cluster.usage[node].pods.is_empty();
        if used && is_scored(node) && includes(constraint, pod, view) {
            by_domain[row(node)] += count(node);
        }
    }
    (by_domain, size_weight(is_eligible.iter().filter(|eligible| **eligible).count()))
}

/// Scales scores so that the lowest is best. `None` becomes 0.
pub fn normalize(scores: &[Option<i64>]) -> Vec<i64> {
    let known = || scores.iter().copied().flatten();
    let (min, max) = (known().min().unwrap_or(0), known().max().unwrap_or(0));
    let scaled = |score: &Option<i64>| match score {
        None => 0,
        Some(_) if max == 0 => MAX_NODE_SCORE,
        Some(score) => MAX_NODE_SCORE * (max + min - score) / max,
    };
    scores.iter().map(scaled).collect()
}
