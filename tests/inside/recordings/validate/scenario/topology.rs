//! Unit tests of `sim_recordings::validate::scenario::topology`.

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
        .map(|p| (p.nodes_per_island, p.labels["pool"].as_str(), p.labels["topology.kubernetes.io/zone"].as_str()))
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
    assert_eq!(t.pools[0].allocatable["memory"], 64 * 1024 * 1024 * 1024 * 1000);
}

#[test]
fn four_pools_share_a_rack_and_names_are_unique() {
    let t = topology(&example(|j| j["controlPlane"]["nodes"] = 12.into()));
    let racks: Vec<&str> = t.pools.iter().map(|p| p.labels["rack"].as_str()).collect();
    assert_eq!(racks[3..5], ["rack-0000", "rack-0001"]);
    let names: std::collections::BTreeSet<&str> = t.pools.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names.len(), t.pools.len());
}

#[test]
fn nodes_have_the_names_of_the_recording_which_count_over_all_pools() {
    let t = topology(&example(|j| {
        j["controlPlane"]["nodes"] = 6.into();
        j["controlPlane"]["nodesPerPool"] = 4.into();
    }));
    let names: Vec<&str> = t.pools.iter().flat_map(|pool| &pool.nodes).map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["node-00000", "node-00001", "node-00002", "node-00003", "node-00004", "node-00005"]);
    assert_eq!(t.pools[1].nodes[1].labels["kubernetes.io/hostname"], "node-00005");
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
                let there = t.pools.iter().any(|p| p.labels.get(key).is_some_and(|v| v == value));
                assert_eq!(there, value != "nosuch", "{file}: {key}={value}");
            }
        }
    }
}
