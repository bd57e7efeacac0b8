//! Generates the names of a topology's nodes, and finds nodes by label.

use sim_api::spec::NodePool;
use std::collections::BTreeMap;

/// Returns all node names in order. A pool name without `{node}` gets the node's number as a suffix.
pub fn node_names(pools: &[NodePool]) -> impl Iterator<Item = String> {
    nodes(pools).map(|(_, _, name)| name)
}

/// Returns the names of the nodes with this label value, in order.
pub fn nodes_labelled(pools: &[NodePool], key: &str, value: &str) -> Vec<String> {
    let is = |(pool, numbers, name): (&NodePool, NumberRange, String)| {
        (label(pool, numbers, key).as_deref() == Some(value)).then_some(name)
    };
    nodes(pools).filter_map(is).collect()
}

/// Returns the average number of nodes that share a node's label value, including the node itself. A node without
/// the label counts as 1.
pub fn neighbours(pools: &[NodePool], key: &str) -> f64 {
    let mut with: BTreeMap<String, f64> = BTreeMap::new();
    let (mut all, mut sum) = (0.0, 0.0);
    for (pool, numbers, _) in nodes(pools) {
        all += 1.0;
        match label(pool, numbers, key) {
            Some(value) => *with.entry(value).or_default() += 1.0,
            None => sum += 1.0,
        }
    }
    sum += with.values().map(|n| n * n).sum::<f64>();
    sum / f64::max(all, 1.0)
}

/// The running numbers of a node, by variable name.
type NumberRange = [(&'static str, u64); 3];

fn nodes(pools: &[NodePool]) -> impl Iterator<Item = (&NodePool, NumberRange, String)> {
    pools.iter().flat_map(|pool| {
        let per_pool = u64::from(pool.islands) * u64::from(pool.nodes_per_island);
        let total = per_pool * u64::from(pool.count);
        let numbered = pool.name.contains("{node") || total <= 1;
        (0..total).map(move |node| {
            let island = node / u64::from(pool.nodes_per_island.max(1));
            let numbers = [("pool", node / per_pool.max(1)), ("island", island), ("node", node)];
            let name = fill(&pool.name, numbers);
            let name = match pool.nodes.get(node as usize) {
                Some(listed) => listed.name.clone(),
                None if numbered => name,
                None => format!("{name}-{node:05}"),
            };
            (pool, numbers, name)
        })
    })
}

/// Returns the value of a label of a node.
fn label(pool: &NodePool, numbers: NumberRange, key: &str) -> Option<String> {
    let own = pool.nodes.get(numbers[2].1 as usize).and_then(|node| node.labels.get(key)).cloned();
    own.or_else(|| pool.labels.get(key).map(|value| fill(value, numbers)))
}

/// Fills in the variables `{pool}`, `{island}` and `{node}`. `{node:05}` pads with zeros.
fn fill(text: &str, numbers: [(&str, u64); 3]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{') {
        let Some((inside, tail)) = tail.split_once('}') else {
            break;
        };
        out.push_str(before);
        let (word, width) = inside.split_once(':').unwrap_or((inside, "0"));
        let width = width.parse().unwrap_or(0usize).min(9);
        match numbers.iter().find(|(name, _)| *name == word) {
            Some((_, n)) => out.push_str(&format!("{n:0width$}")),
            None => out.push_str(&format!("{{{inside}}}")),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}
