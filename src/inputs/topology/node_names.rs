//! Generates the names of a topology's nodes, and finds nodes by label.

use sim_api::spec::{NodeNumbers, NodePool};
use std::collections::{BTreeMap, BTreeSet};

/// Returns all node names in order. A pool name without `{node}` gets the node's number as a suffix.
pub fn node_names(pools: &[NodePool]) -> impl Iterator<Item = String> {
    nodes(pools).map(|(_, _, name)| name)
}

/// Returns the names of the nodes with this label value, in order.
pub fn nodes_labelled(pools: &[NodePool], key: &str, value: &str) -> Vec<String> {
    let is = |(pool, numbers, name): (&NodePool, NodeNumbers, String)| {
        (numbers.label(pool, key).as_deref() == Some(value)).then_some(name)
    };
    nodes(pools).filter_map(is).collect()
}

/// Returns the distinct values of a label, in the order of their first nodes.
pub fn label_values(pools: &[NodePool], key: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let values = nodes(pools).filter_map(|(pool, numbers, _)| numbers.label(pool, key));
    values.filter(|value| seen.insert(value.clone())).collect()
}

/// Returns the average number of nodes that share a node's label value, including the node itself. A node without
/// the label counts as 1.
pub fn neighbours(pools: &[NodePool], key: &str) -> f64 {
    let mut with: BTreeMap<String, f64> = BTreeMap::new();
    let (mut all, mut sum) = (0.0, 0.0);
    for (pool, numbers, _) in nodes(pools) {
        all += 1.0;
        match numbers.label(pool, key) {
            Some(value) => *with.entry(value).or_default() += 1.0,
            None => sum += 1.0,
        }
    }
    sum += with.values().map(|n| n * n).sum::<f64>();
    sum / f64::max(all, 1.0)
}

fn nodes(pools: &[NodePool]) -> impl Iterator<Item = (&NodePool, NodeNumbers, String)> {
    pools.iter().flat_map(|pool| {
        let per_pool = u64::from(pool.islands) * u64::from(pool.nodes_per_island);
        let total = per_pool * u64::from(pool.count);
        (0..total).map(move |node| {
            let island = node / u64::from(pool.nodes_per_island.max(1));
            let numbers = NodeNumbers { pool: node / per_pool.max(1), island, node };
            (pool, numbers, numbers.node_name(pool))
        })
    })
}
