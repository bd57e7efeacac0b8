//! The fabric as a graph: cuts, distances, and the tree of equal parts.

use super::fabric::{cluster, switch, v5p};
use sim_base::NodeId;
use sim_policy::fabric::{FabricGraph, FabricMap, FabricTree, TreeVertex};

fn ids(range: std::ops::Range<u32>) -> Vec<NodeId> {
    range.map(NodeId).collect()
}

#[test]
fn the_cut_of_two_blocks_is_their_uplink() {
    let blocks = cluster([2, 4, 1, 8], switch(450.0), 400.0, 7.0);
    let graph = FabricGraph::build(&blocks.map);
    let uplink = blocks.map.levels[0].uplink_bytes_per_s[0];
    assert_eq!(graph.cut_mbits(&ids(0..4), &ids(4..8)), (uplink * 8.0 / 1e6 + 0.5) as u64);
    // Within a block, the ports of the smaller set limit.
    assert_eq!(graph.cut_mbits(&ids(0..1), &ids(1..4)), 3_200_000);
}

#[test]
fn the_cut_of_the_halves_of_a_torus_is_the_links_that_cross_it() {
    for (wrapped, links) in [(true, 32), (false, 16)] {
        let mut interconnect = v5p(&[4, 4, 4]);
        if let sim_api::spec::Interconnect::Torus { wrap, .. } = &mut interconnect {
            wrap.fill(wrapped);
        }
        // Hosts have blocks of 2x2x1, so the first eight are the first half of the first axis. A port of the network
        // has 1 GB/s, a link 100 GB/s.
        let cube = cluster([1, 1, 16, 4], interconnect, 1.0, 1.0);
        let graph = FabricGraph::build(&cube.map);
        assert_eq!(graph.cut_mbits(&ids(0..8), &ids(8..16)), (links * 100 + 8) * 8_000, "wrapped: {wrapped}");
    }
}

#[test]
fn nodes_of_a_switch_are_cut_at_their_ports() {
    // 18 trays with four GPUs at 900 GB/s, and a port of 200 GB/s.
    let rack = cluster([1, 1, 18, 4], switch(900.0), 200.0, 1.0);
    let graph = FabricGraph::build(&rack.map);
    assert_eq!(graph.cut_mbits(&ids(0..9), &ids(9..18)), 9 * (4 * 900 + 200) * 8_000);
}

/// Returns the smallest capacity of edges between a set of vertices with `from` and the others with `to`.
fn smallest_cut(graph: &FabricGraph, from: &[NodeId], to: &[NodeId]) -> u64 {
    let graph = &graph.graph;
    let mask = |nodes: &[NodeId]| nodes.iter().fold(0u32, |mask, node| mask | 1 << node.0);
    let sets = (0..1u32 << graph.node_count()).filter(|set| set & mask(from) == mask(from) && set & mask(to) == 0);
    let capacity = |set: u32| {
        let crossing = graph.edge_indices().filter(|edge| {
            let (a, b) = graph.edge_endpoints(*edge).expect("an edge");
            (set >> a.index()) & 1 != (set >> b.index()) & 1
        });
        crossing.map(|edge| (graph[edge] * 8.0 / 1e6 + 0.5) as u64).sum()
    };
    sets.map(capacity).min().expect("a set")
}

#[test]
fn cuts_equal_the_smallest_of_all_cuts() {
    let small = cluster([2, 2, 2, 2], v5p(&[2, 2]), 30.0, 2.5);
    let graph = FabricGraph::build(&small.map);
    for from in 1u32..32 {
        for to in [0b1000_0000, 0b1100_0000, 0b0110_0000] {
            let set = |mask: u32| (0..8).filter(|node| mask >> node & 1 == 1).map(NodeId).collect::<Vec<_>>();
            let (from, to) = (set(from), set(to));
            assert_eq!(graph.cut_mbits(&from, &to), smallest_cut(&graph, &from, &to), "{from:?} {to:?}");
        }
    }
}

#[test]
fn distances_follow_the_levels() {
    let blocks = cluster([2, 2, 16, 4], v5p(&[4, 4, 4]), 25.0, 1.0);
    let graph = FabricGraph::build(&blocks.map);
    let distance = |a, b| graph.distance(NodeId(a), NodeId(b));
    assert_eq!(distance(3, 3), Some(0));
    // Two hosts of one row; two islands of a block; two blocks.
    assert_eq!((distance(0, 1), distance(0, 16), distance(0, 40)), (Some(1), Some(2), Some(4)));
    assert_eq!(FabricGraph::build(&FabricMap::default()).graph.node_count(), 0);
}

#[test]
fn equal_parts_of_the_network_are_counted() {
    let blocks = cluster([35, 8, 18, 4], switch(900.0), 200.0, 1.0);
    let tree = FabricTree::build(&blocks.map);
    let [block] = &tree.branches[..] else { panic!("{tree:?}") };
    let [rack] = &block.tree.branches[..] else { panic!("{tree:?}") };
    assert_eq!((tree.vertex, tree.nodes), (TreeVertex::Core, 5_040));
    assert_eq!((block.count, block.tree.nodes, block.tree.uplink_mbits), (35, 144, 144 * 1_600_000));
    assert_eq!((rack.count, rack.tree.nodes), (8, 18));
}
