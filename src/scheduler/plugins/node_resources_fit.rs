//! NodeResourcesFit: filters by free resources, and scores by one of three strategies.

use crate::rejection::{Reason, Rejection};
use crate::resources::{CPU, EPHEMERAL_STORAGE, MEMORY};
use crate::{cluster::Cluster, plugins::normalize::MAX_NODE_SCORE, pod::PodView};
use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin};
use crate::{profile::Profile, profile::ScoringStrategy};

const TOO_MANY_PODS: &str = "Too many pods";
const RATIO_SCORE_MAX: i64 = 10;

/// All insufficient resources are reasons. If the whole node has too little of one, no preemption helps.
pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, usage: &NodeUsage) -> Result<(), Rejection> {
    let (view, columns) = (&cycle.cluster.nodes[node], &cycle.cluster.columns);
    let mut found = Rejection { plugin: Plugin::NodeResourcesFit, is_resolvable: true, reasons: Vec::new() };
    if usage.pods.len() as i64 + 1 > view.max_pods {
        found.reasons.push(Reason::Fixed(TOO_MANY_PODS));
    }
    for (column, request) in cycle.pod.requests.iter() {
        let allocatable = view.allocatable.get(column);
        if request > allocatable - usage.requested.get(column) {
            found.reasons.push(Reason::Insufficient(columns.name(column).to_owned()));
            found.is_resolvable &= request <= allocatable;
        }
    }
    if found.reasons.is_empty() { Ok(()) } else { Err(found) }
}

pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let columns = &cycle.cluster.columns;
    let weights = cycle.profile.fit_resources.iter();
    let weights = weights.filter_map(|(name, weight)| Some((columns.find(name)?, *weight)));
    let weights: Vec<(usize, i64)> = weights.collect();
    Some(nodes.iter().map(|node| score_node(cycle, *node, &weights)).collect())
}

fn score_node(cycle: &SchedulingCycle<'_>, node: NodeIndex, weights: &[(usize, i64)]) -> i64 {
    let (view, usage) = (&cycle.cluster.nodes[node], &cycle.cluster.usage[node]);
    let (mut sum, mut weight_sum) = (0, 0);
    for (column, weight) in weights {
        let request = request_for_scores(cycle.pod, *column);
        let used = used_for_scores(usage, *column);
        let allocatable = view.allocatable.get(*column);
        // An extended resource that the pod does not request does not count.
        if allocatable == 0 || (request == 0 && *column > EPHEMERAL_STORAGE) {
            continue;
        }
        let score = score_resource(&cycle.profile.strategy, request + used, allocatable);
        let is_ratio = matches!(cycle.profile.strategy, ScoringStrategy::RequestedToCapacityRatio(_));
        if is_ratio && score <= 0 {
            continue;
        }
        sum += score * weight;
        weight_sum += weight;
    }
    match (&cycle.profile.strategy, weight_sum) {
        (_, 0) => 0,
        (ScoringStrategy::RequestedToCapacityRatio(_), _) => (sum as f64 / weight_sum as f64).round() as i64,
        _ => sum / weight_sum,
    }
}

fn request_for_scores(pod: &PodView, column: usize) -> i64 {
    if column == CPU || column == MEMORY { &pod.scored } else { &pod.requests }.get(column)
}

fn used_for_scores(usage: &NodeUsage, column: usize) -> i64 {
    if column == CPU || column == MEMORY { &usage.assumed } else { &usage.requested }.get(column)
}

/// Scores the nodes of a placement with pods of a group that would be scheduled there: the used share of all nodes
/// together, as with MostAllocated (`scorePlacement` in `noderesources/resource_allocation.go`).
pub fn score_placement<'a>(
    cluster: &Cluster, profile: &Profile, nodes: &[NodeIndex], assigned: impl Iterator<Item = &'a PodView> + Clone,
) -> i64 {
    let (mut sum, mut weight_sum) = (0, 0);
    for (name, weight) in &profile.fit_resources {
        let Some(column) = cluster.columns.find(name) else { continue };
        let request: i64 = assigned.clone().map(|pod| request_for_scores(pod, column)).sum();
        let allocatable = |node: &&NodeIndex| cluster.nodes[**node].allocatable.get(column);
        let total: i64 = nodes.iter().map(|node| allocatable(&node)).sum();
        if total == 0 || (request == 0 && column > EPHEMERAL_STORAGE) {
            continue;
        }
        let with_resource = nodes.iter().filter(|node| allocatable(node) > 0);
        let used: i64 = with_resource.map(|node| used_for_scores(&cluster.usage[*node], column)).sum();
        sum += score_resource(&ScoringStrategy::MostAllocated, request + used, total) * weight;
        weight_sum += weight;
    }
    if weight_sum == 0 { 0 } else { sum / weight_sum }
}

fn score_resource(strategy: &ScoringStrategy, requested: i64, allocatable: i64) -> i64 {
    match strategy {
        ScoringStrategy::LeastAllocated if requested > allocatable => 0,
        ScoringStrategy::LeastAllocated => percentage(allocatable - requested, allocatable),
        ScoringStrategy::MostAllocated => percentage(requested.min(allocatable), allocatable),
        ScoringStrategy::RequestedToCapacityRatio(points) => {
            interpolate(points, percentage(requested.min(allocatable), allocatable))
        }
    }
}

fn percentage(part: i64, whole: i64) -> i64 {
    (i128::from(part) * i128::from(MAX_NODE_SCORE) / i128::from(whole)) as i64
}

/// Interpolates between points of (utilization, score), and scales the score to 100.
fn interpolate(points: &[(i64, i64)], utilization: i64) -> i64 {
    let scale = MAX_NODE_SCORE / RATIO_SCORE_MAX;
    let Some(at) = points.iter().position(|(limit, _)| utilization <= *limit) else {
        return points.last().map_or(0, |(_, score)| score * scale);
    };
    let (limit, score) = (points[at].0, points[at].1 * scale);
    match at.checked_sub(1).map(|before| points[before]) {
        None => score,
        Some((start, before)) => {
            let before = before * scale;
            before + (score - before) * (utilization - start) / (limit - start)
        }
    }
}
