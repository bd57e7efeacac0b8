//! ImageLocality: prefers nodes that have the images of the pod.

use crate::{cycle::SchedulingCycle, index::NodeIndex, plugins::normalize::MAX_NODE_SCORE};

const MIB: i64 = 1 << 20;
const MIN_BYTES: i64 = 23 * MIB;
/// Per container, init containers included; volumes have images, but do not count.
const MAX_BYTES: i64 = 1000 * MIB;

pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let cluster = cycle.cluster;
    let max = MAX_BYTES * cycle.pod.images.len().max(1) as i64;
    let score = |node: &NodeIndex| {
        let images = &cluster.nodes[*node].images;
        // The size counts in proportion to the share of the nodes that have the image.
        let scaled = |name: &String| {
            let image = cluster.images.get(name).filter(|_| images.contains_key(name))?;
            let spread = image.node_count as f64 / cluster.nodes.len() as f64;
            Some((image.bytes as f64 * spread) as i64)
        };
        let sum = cycle.pod.images.iter().chain(&cycle.pod.volume_images).filter_map(scaled).sum::<i64>();
        MAX_NODE_SCORE * (sum.clamp(MIN_BYTES, max) - MIN_BYTES) / (max - MIN_BYTES)
    };
    Some(nodes.iter().map(score).collect())
}
