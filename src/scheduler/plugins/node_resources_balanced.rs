//! NodeResourcesBalancedAllocation: prefers nodes on which the pod makes the usage of CPU and memory more equal.

use crate::{cycle::SchedulingCycle, index::NodeIndex};
use crate::{plugins::normalize::MAX_NODE_SCORE, resources::EPHEMERAL_STORAGE};

/// Returns `None` for a pod without requests, which would otherwise attract all such pods to one node.
pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let columns = &cycle.cluster.columns;
    let resources = cycle.profile.balanced_resources.iter().filter_map(|name| columns.find(name));
    let resources: Vec<usize> = resources.collect();
    let requests = &cycle.pod.requests;
    if resources.iter().all(|column| requests.get(*column) == 0) {
        return None;
    }
    let score = |node: &NodeIndex| {
        let (view, usage) = (&cycle.cluster.nodes[*node], &cycle.cluster.usage[*node]);
        let balance = |with_pod: bool| {
            let fraction = |column: &usize| {
                // An extended resource that the pod does not request does not count.
                if *column > EPHEMERAL_STORAGE && requests.get(*column) == 0 {
                    return None;
                }
                let used = usage.requested.get(*column) + if with_pod { requests.get(*column) } else { 0 };
                let allocatable = view.allocatable.get(*column);
                (allocatable > 0).then(|| (used as f64 / allocatable as f64).min(1.0))
            };
            balance_score(&resources.iter().filter_map(fraction).collect::<Vec<f64>>())
        };
        let half = MAX_NODE_SCORE / 2;
        half + (half + balance(true) - balance(false)) / 2
    };
    Some(nodes.iter().map(score).collect())
}

/// Returns 100 × (1 − standard deviation of the fractions).
fn balance_score(fractions: &[f64]) -> i64 {
    let count = fractions.len() as f64;
    let deviation = match fractions {
        [] | [_] => 0.0,
        [a, b] => ((a - b) / 2.0).abs(),
        _ => {
            let mean = fractions.iter().sum::<f64>() / count;
            (fractions.iter().map(|f| (f - mean) * (f - mean)).sum::<f64>() / count).sqrt()
        }
    };
    ((1.0 - deviation) * MAX_NODE_SCORE as f64) as i64
}
