//! The cluster of a recording as a `spec::Topology`.
//!
//! Must never know a recorded node by its name: the scheduler may choose another one in the run. Nodes among `objects`
//! are no part of it: they come with the other objects.

use crate::validate::recording::{Kind, Recording};
use sim_api::spec::keys::{HOSTNAME, RESTART_ALL_CONTAINERS};
use sim_api::spec::*;
use sim_base::quantity::parse_milli;
use std::collections::BTreeMap;

const POOLS_PER_RACK: u32 = 4;
const ACCELERATOR: &str = "example.com/accelerator";

pub fn topology(recording: &Recording) -> Topology {
    let cp = &recording.control_plane;
    // Corner cases were played on a cluster whose last two nodes are special (docs/reference/recording.md).
    let special = if recording.kind == Kind::Corner && cp.nodes > 2 {
        2
    } else {
        0
    };
    let plain = cp.nodes - special;
    let mut pools = Vec::new();
    let mut first = 0;
    while first < plain {
        let next = run_end(first, cp.nodes_per_pool, cp.nodes_per_zone).min(plain);
        let mut labels = BTreeMap::new();
        let pool = first / cp.nodes_per_pool;
        labels.insert("pool".to_owned(), format!("pool-{pool:04}"));
        labels.insert(
            "rack".to_owned(),
            format!("rack-{:04}", pool / POOLS_PER_RACK),
        );
        if let Some(per_zone) = cp.nodes_per_zone {
            let zone = format!("zone-{:03}", first / per_zone);
            labels.insert("topology.kubernetes.io/zone".to_owned(), zone);
        }
        let name = format!("node-{first:05}-{{node}}");
        pools.push(node_pool(name, next - first, labels, cp.pods_per_node));
        first = next;
    }
    if special > 0 {
        pools.extend(special_nodes(cp.pods_per_node));
    }
    Topology {
        name: format!("recording {}", recording.name),
        pools,
        ..Topology::default()
    }
}

/// The first node after `first` that is in another pool or zone.
fn run_end(first: u32, per_pool: u32, per_zone: Option<u32>) -> u32 {
    let end = |size: u32| (first / size + 1).saturating_mul(size);
    end(per_pool).min(per_zone.map_or(u32::MAX, end))
}

fn node_pool(
    name: String,
    nodes: u32,
    mut labels: BTreeMap<String, String>,
    pods_per_node: u32,
) -> NodePool {
    labels.insert(HOSTNAME.to_owned(), name.clone());
    let mut allocatable = BTreeMap::new();
    for (resource, quantity) in [("cpu", "8"), ("memory", "64Gi"), (ACCELERATOR, "4")] {
        allocatable.insert(
            resource.to_owned(),
            parse_milli(quantity).unwrap_or_default(),
        );
    }
    allocatable.insert("pods".to_owned(), i64::from(pods_per_node) * 1000);
    NodePool {
        name,
        count: 1,
        islands: 1,
        nodes_per_island: nodes,
        labels,
        allocatable,
        accelerator: ACCELERATOR.to_owned(),
        features: vec![RESTART_ALL_CONTAINERS.to_owned()],
        ..NodePool::default()
    }
}

/// Both carry the taint `dedicated`; one of them declares no features.
fn special_nodes(pods_per_node: u32) -> [NodePool; 2] {
    ["taint", "nofeature"].map(|kind| {
        let labels = BTreeMap::from([("special".to_owned(), kind.to_owned())]);
        let mut pool = node_pool(format!("special-{kind}-{{node}}"), 1, labels, pods_per_node);
        pool.taints.push(Taint {
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
mod tests {
    use super::*;
    use crate::validate::read::read;
    use crate::validate::read::tests::*;

    #[test]
    fn pools_are_cut_where_the_pool_or_the_zone_changes() {
        let r = example(|j| {
            j["controlPlane"]["nodes"] = 10.into();
            j["controlPlane"]["nodesPerPool"] = 4.into();
            j["controlPlane"]["nodesPerZone"] = 6.into();
        });
        let t = topology(&r);
        let seen: Vec<(u32, &str, &str)> = t
            .pools
            .iter()
            .map(|p| {
                (
                    p.nodes_per_island,
                    p.labels["pool"].as_str(),
                    p.labels["topology.kubernetes.io/zone"].as_str(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                (4, "pool-0000", "zone-000"),
                (2, "pool-0001", "zone-000"),
                (2, "pool-0001", "zone-001"),
                (2, "pool-0002", "zone-001")
            ]
        );
        assert_eq!(t.nodes(), 10);
        assert_eq!(
            t.pools[0].allocatable["memory"],
            64 * 1024 * 1024 * 1024 * 1000
        );
    }

    #[test]
    fn four_pools_share_a_rack_and_names_are_unique() {
        let t = topology(&example(|j| j["controlPlane"]["nodes"] = 12.into()));
        let racks: Vec<&str> = t.pools.iter().map(|p| p.labels["rack"].as_str()).collect();
        assert_eq!(racks[3..5], ["rack-0000", "rack-0001"]);
        let names: std::collections::BTreeSet<&str> =
            t.pools.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names.len(), t.pools.len());
    }

    #[test]
    fn every_zone_and_pool_that_a_shared_recording_selects_exists() {
        for folder in ["nodes", "corner"] {
            for (file, text) in shared(folder) {
                let r = read(&file, &text).unwrap();
                let t = topology(&r);
                let manifest = r.job_set.to_string();
                for key in ["topology.kubernetes.io/zone", "pool"] {
                    let Some((_, rest)) = manifest.split_once(&format!("\"{key}\":\"")) else {
                        continue;
                    };
                    let value = rest.split('"').next().unwrap_or("");
                    let there = t
                        .pools
                        .iter()
                        .any(|p| p.labels.get(key).is_some_and(|v| v == value));
                    assert_eq!(there, value != "nosuch", "{file}: {key}={value}");
                }
            }
        }
    }
}
