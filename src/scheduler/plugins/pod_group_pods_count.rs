//! PodGroupPodsCount: prefers placements that hold more pods of a pod group.

use crate::plugins::normalize::MAX_NODE_SCORE;

/// Scales the numbers of pods in the placements so that the largest is 100 (`NormalizePlacementScore`).
pub fn normalize_counts(counts: Vec<usize>) -> Vec<i64> {
    let most = counts.iter().max().copied().unwrap_or(0).max(1) as i64;
    counts.into_iter().map(|count| count as i64 * MAX_NODE_SCORE / most).collect()
}
