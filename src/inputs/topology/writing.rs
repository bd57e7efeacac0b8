//! Writes a topology as a document of the Topology format.

use super::{links, slices};
use crate::schema::definitions::common::API_VERSION;
use crate::schema::definitions::topology::{PER_ACCELERATOR, PER_NODE};
use sim_api::spec::{
    AcceleratorPrice, FormedSlice, IslandKind, NamedNode, NodePool, ResourceAmounts, TaintSpec, TopologySpec,
};
use sim_base::quantity::binary_text;

/// Returns the topology as a document of the Topology format.
pub fn written(topology: &TopologySpec) -> serde_json::Value {
    let mut document = serde_json::json!({
        "apiVersion": API_VERSION,
        "kind": "Topology",
        "metadata": {"name": topology.name, "description": topology.description},
        "currency": topology.currency,
        "extendedResourceToleration": topology.extended_resource_toleration,
        "dcnLevels": topology.dcn_levels.iter().map(links::written_level).collect::<Vec<_>>(),
        "pools": topology.pools.iter().map(|pool| written_pool(pool, &topology.slices)).collect::<Vec<_>>(),
    });
    if !topology.slices.is_empty() {
        document["slices"] = topology.slices.iter().map(slices::written_slice).collect();
    }
    document
}

fn written_pool(pool: &NodePool, slices: &[FormedSlice]) -> serde_json::Value {
    let (key, micros) = match pool.price {
        AcceleratorPrice::PerNode(micros) => (PER_NODE, micros),
        AcceleratorPrice::PerAccelerator(micros) => (PER_ACCELERATOR, micros),
    };
    let mut written = serde_json::json!({
        "name": pool.name,
        "count": pool.count,
        "islands": pool.islands,
        "nodesPerIsland": pool.nodes_per_island,
        "islandKind": match pool.island_kind {
            IslandKind::None => "None",
            IslandKind::Ici => "Ici",
            IslandKind::NvLink => "NvLink",
        },
        "allocatable": quantities(&pool.allocatable),
        "accelerator": pool.accelerator,
        key: micros as f64 / 1e6,
        "billing": pool.billing.as_str(),
        "taints": pool.taints.iter().map(written_taint).collect::<Vec<_>>(),
        "labels": pool.labels,
        "features": pool.features,
    });
    if let Some(interconnect) = &pool.interconnect {
        written["interconnect"] = links::written_interconnect(interconnect);
    }
    if !pool.occupied.is_empty() {
        written["occupied"] = quantities(&pool.occupied);
    }
    if !pool.nodes.is_empty() {
        written["nodes"] = pool.nodes.iter().map(|node| written_node(node, pool, slices)).collect();
    }
    written
}

/// Returns a listed node with its differences only.
fn written_node(node: &NamedNode, pool: &NodePool, slices: &[FormedSlice]) -> serde_json::Value {
    let mut all = serde_json::json!({"name": node.name});
    let labels = slices::own_labels(&node.labels, slices);
    if !labels.is_empty() {
        all["labels"] = serde_json::json!(labels);
    }
    if let Some(own) = node.taints.get(pool.taints.len()..).filter(|own| !own.is_empty()) {
        all["taints"] = own.iter().map(written_taint).collect();
    }
    for (key, amounts) in [("allocatable", &node.allocatable), ("occupied", &node.occupied)] {
        if !amounts.is_empty() {
            all[key] = quantities(amounts);
        }
    }
    for (key, parts) in [("workloads", &node.workloads), ("jobSets", &node.jobsets)] {
        parts.iter().for_each(|(owner, amounts)| all[key][owner] = quantities(amounts));
    }
    all
}

fn written_taint(t: &TaintSpec) -> serde_json::Value {
    serde_json::json!({"key": t.key, "value": t.value, "effect": t.effect.as_str()})
}

fn quantities(amounts: &ResourceAmounts) -> serde_json::Value {
    amounts.iter().map(|(name, milli)| (name.clone(), quantity(name, *milli))).collect()
}

/// Formats thousandths of a resource as a quantity, which is exact. Bytes have a binary suffix.
pub fn quantity(resource: &str, milli: i64) -> String {
    let is_bytes = ["memory", "ephemeral-storage"].contains(&resource) || resource.starts_with("hugepages-");
    match milli % 1_000 {
        0 if is_bytes => binary_text(milli / 1_000),
        0 => (milli / 1_000).to_string(),
        _ => format!("{milli}m"),
    }
}
