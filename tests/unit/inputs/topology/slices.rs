//! Tests of `slices` in topologies.

use sim_api::spec::TopologySpec;
use sim_base::NodeId;
use sim_inputs::{SourceText, print_yaml, read_topology, written_topology};
use sim_policy::fabric::{FabricMap, IslandLinks};
use sim_policy::topology::{ClusterBuilder, TopologyDomains};

const CUBES: &str = r#"
apiVersion: jobset-sim/v1alpha1
kind: Topology
metadata: {name: cubes}
slices:
- {name: b, shape: 4x4x8, cubes: [cube-3, cube-1]}
pools:
- name: n-{node}
  count: 4
  nodesPerIsland: 16
  islandKind: Ici
  interconnect: {kind: Torus, shape: 4x4x4, wrap: [true, true, true], gbitsPerSecond: 800}
  accelerator: google.com/tpu
  allocatable: {google.com/tpu: 4}
  labels: {cloud.google.com/gke-tpu-partition-4x4x4-id: "cube-{pool}", cloud.google.com/gce-topology-block: "b{pool/3}"}
"#;

fn read(text: &str) -> Result<TopologySpec, String> {
    let source = SourceText { file: "t.yaml".to_owned(), text: text.to_owned() };
    read_topology(&source).map_err(|errors| errors.to_string())
}

/// Puts the last cube into the block of the others.
fn one_block() -> String {
    CUBES.replace("b{pool/3}", "b")
}

#[test]
fn the_cubes_of_a_slice_are_one_torus_with_wraparound_and_have_its_label() {
    let topology = read(&one_block()).expect("a topology");
    let mut cluster = ClusterBuilder::build(&topology, &["pods".to_owned(), "google.com/tpu".to_owned()]);
    let slices = TopologyDomains::build(&cluster, "cloud.google.com/gke-tpu-slice");
    assert_eq!(slices.values, ["b"]);
    let expected: Vec<NodeId> = (16..32).chain(48..64).map(NodeId).collect();
    assert_eq!(slices.nodes, std::slice::from_ref(&expected));
    let map = FabricMap::build(&topology, &cluster);
    assert!(expected.iter().all(|node| map.island(*node) == map.island(NodeId(16))));
    assert_ne!(map.island(NodeId(0)), map.island(NodeId(32)));
    let Some(IslandLinks::Torus { axes, link_bytes_per_s, .. }) = map.links(map.island(NodeId(16)), 32) else {
        panic!("no torus")
    };
    let axes: Vec<(u32, bool)> = axes.iter().map(|axis| (axis.chips, axis.wrapped)).collect();
    assert_eq!((axes, link_bytes_per_s), (vec![(4, true), (4, true), (8, true)], 100e9));
    // A slice that lost a node has no wraparound.
    let Some(IslandLinks::Torus { axes, .. }) = map.links(map.island(NodeId(16)), 31) else { panic!("no torus") };
    assert!(axes.iter().all(|axis| !axis.wrapped));
    // The first cube takes the place of the second one.
    let mut map = map;
    for (node, has_label) in (0..16).map(|node| (node, true)).chain((16..32).map(|node| (node, false))) {
        let mut object = cluster.object(NodeId(node));
        object.labels.remove("cloud.google.com/gke-tpu-slice");
        if has_label {
            object.labels.insert("cloud.google.com/gke-tpu-slice".to_owned(), "b".to_owned());
        }
        cluster.change(NodeId(node), &object);
    }
    map.regroup_slices(&cluster);
    assert_eq!(map.island(NodeId(0)), map.island(NodeId(48)));
    assert_eq!(map.island(NodeId(16)), cluster.island[16]);
}

#[test]
fn a_written_topology_has_the_same_slices_and_no_label_of_an_omitted_one() {
    let topology = read(&one_block()).expect("a topology");
    let mut document = written_topology(&topology);
    let again = read(&print_yaml(&document)).expect("a topology");
    assert_eq!(again.slices, topology.slices);
    assert_eq!(again.pools[0].nodes, topology.pools[0].nodes);
    document["slices"] = serde_json::json!([]);
    let without = read(&print_yaml(&document)).expect("a topology");
    assert!(without.pools[0].nodes.iter().all(|node| node.labels.is_empty()));
}

#[test]
fn impossible_slices_are_refused() {
    let slice = "{name: b, shape: 4x4x8, cubes: [cube-3, cube-1]}";
    let cases = [
        (CUBES.to_owned(), "must be in one block"),
        (one_block().replace("cube-1]", "cube-9]"), "no node has cloud.google.com/gke-tpu-partition-4x4x4-id=cube-9"),
        (one_block().replace("4x4x8", "4x4x12"), "a slice of this shape has 3 cubes, but 2 are listed"),
        (one_block().replace("4x4x8", "2x4x16"), "three multiples of 4"),
        (one_block().replace("4x4x8", "4x8"), "three multiples of 4"),
        (one_block().replace("cube-1]", "cube-3]"), "already in slice \"b\""),
        (one_block().replace(slice, &format!("{slice}\n- {slice}")), "duplicate slice name \"b\""),
    ];
    for (text, part) in cases {
        let message = read(&text).expect_err("an error");
        assert!(message.contains(part), "{part}: {message}");
    }
}
