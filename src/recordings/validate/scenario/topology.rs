//! Converts the cluster of a recording to a `spec::TopologySpec`.
//!
//! Nodes have the names of the recording, `node-` and a running number of five digits, although the scheduler may
//! choose other nodes in the run. Nodes among `objects` are not included; they are created with the other objects.

use crate::validate::recording::{RecordedRun, RecordingKind};
use sim_api::spec::keys::{HOSTNAME, RESTART_ALL_CONTAINERS, ZONE};
use sim_api::spec::{NamedNode, NodePool, TaintEffect, TaintSpec, TopologySpec};
use sim_base::quantity::parse_milli;
use std::collections::BTreeMap;

const POOLS_PER_RACK: u32 = 4;
const ACCELERATOR: &str = "example.com/accelerator";

pub fn topology(recording: &RecordedRun) -> TopologySpec {
    let cp = &recording.control_plane;
    // Corner cases were recorded on a cluster whose last two nodes are special (docs/reference/recording.md).
    let special = if recording.kind == RecordingKind::Corner && cp.nodes > 2 { 2 } else { 0 };
    let plain = cp.nodes - special;
    let mut pools = Vec::new();
    let mut first = 0;
    while first < plain {
        let next = pool_or_zone_end(first, cp.nodes_per_pool, cp.nodes_per_zone).min(plain);
        let mut labels = BTreeMap::new();
        let pool = first / cp.nodes_per_pool;
        labels.insert("pool".to_owned(), format!("pool-{pool:04}"));
        labels.insert("rack".to_owned(), format!("rack-{:04}", pool / POOLS_PER_RACK));
        if let Some(per_zone) = cp.nodes_per_zone {
            let zone = format!("zone-{:03}", first / per_zone);
            labels.insert(ZONE.to_owned(), zone);
        }
        let names = (first..next).map(|number| format!("node-{number:05}"));
        pools.push(node_pool(names.collect(), labels, cp.pods_per_node));
        first = next;
    }
    if special > 0 {
        pools.extend(special_nodes(cp.pods_per_node));
    }
    TopologySpec { name: format!("recording {}", recording.name), pools, ..TopologySpec::default() }
}

/// Returns the first node after `first` that is in another pool or zone.
fn pool_or_zone_end(first: u32, per_pool: u32, per_zone: Option<u32>) -> u32 {
    let end = |size: u32| (first / size + 1).saturating_mul(size);
    end(per_pool).min(per_zone.map_or(u32::MAX, end))
}

fn node_pool(names: Vec<String>, labels: BTreeMap<String, String>, pods_per_node: u32) -> NodePool {
    let named = |name: &String| NamedNode {
        name: name.clone(),
        labels: BTreeMap::from([(HOSTNAME.to_owned(), name.clone())]),
        ..NamedNode::default()
    };
    let mut allocatable = BTreeMap::new();
    for (resource, quantity) in [("cpu", "8"), ("memory", "64Gi"), (ACCELERATOR, "4")] {
        allocatable.insert(resource.to_owned(), parse_milli(quantity).unwrap_or_default());
    }
    allocatable.insert("pods".to_owned(), i64::from(pods_per_node) * 1000);
    NodePool {
        name: names[0].clone(),
        count: 1,
        islands: 1,
        nodes_per_island: names.len() as u32,
        nodes: names.iter().map(named).collect(),
        labels,
        allocatable,
        accelerator: ACCELERATOR.to_owned(),
        features: vec![RESTART_ALL_CONTAINERS.to_owned()],
        ..NodePool::default()
    }
}

/// Returns the two special nodes. Both have the taint `dedicated`; one of them declares no features.
fn special_nodes(pods_per_node: u32) -> [NodePool; 2] {
    ["taint", "nofeature"].map(|kind| {
        let labels = BTreeMap::from([("special".to_owned(), kind.to_owned())]);
        let mut pool = node_pool(vec![format!("special-{kind}")], labels, pods_per_node);
        pool.taints.push(TaintSpec {
            key: "dedicated".to_owned(),
            value: String::new(),
            effect: TaintEffect::NoSchedule,
        });
        if kind == "nofeature" {
            pool.features.clear();
        }
        pool
    })
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/scenario/topology.rs"]
mod tests;
