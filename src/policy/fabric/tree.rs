//! The network as a tree in which equal branches are counted: a cluster of any size has few different ones.

use super::graph::mbits;
use super::island::IslandLinks;
use super::map::FabricMap;
use sim_base::{DomainId, IslandId, NodeId};
use std::collections::BTreeMap;

/// A vertex of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeVertex {
    /// The network above the groups of the highest level, or nothing if there is no network.
    Core,
    /// A group of a network level, by index; nodes without the label of the level form a group.
    Group {
        level: usize,
    },
    Island(Option<IslandLinks>),
}

/// A part of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct FabricTree {
    pub vertex: TreeVertex,
    pub nodes: usize,
    /// Capacity of the links to the next level, in Mbit/s; zero if there is no network.
    pub uplink_mbits: u64,
    pub branches: Vec<FabricBranch>,
}

/// Equal parts of the network below a vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct FabricBranch {
    pub count: usize,
    pub tree: FabricTree,
}

impl FabricTree {
    pub fn build(map: &FabricMap) -> FabricTree {
        let nodes: Vec<NodeId> = (0..map.node_count() as u32).map(NodeId).collect();
        let branches = branches(map, map.levels.len(), &nodes);
        match &branches[..] {
            [FabricBranch { count: 1, tree }] if !map.levels.is_empty() => {
                FabricTree { uplink_mbits: 0, ..tree.clone() }
            }
            _ => FabricTree { vertex: TreeVertex::Core, nodes: nodes.len(), uplink_mbits: 0, branches },
        }
    }
}

/// Returns the groups of the level below `level`, or the islands below the lowest one, and counts equal ones.
fn branches(map: &FabricMap, level: usize, nodes: &[NodeId]) -> Vec<FabricBranch> {
    let parts: Vec<FabricTree> = match level.checked_sub(1) {
        Some(lower) => {
            let mut groups: BTreeMap<DomainId, Vec<NodeId>> = BTreeMap::new();
            nodes.iter().for_each(|node| groups.entry(map.group(lower, *node)).or_default().push(*node));
            groups.into_iter().map(|(group, nodes)| group_tree(map, (lower, group), &nodes)).collect()
        }
        None => {
            let mut islands: BTreeMap<IslandId, Vec<NodeId>> = BTreeMap::new();
            nodes.iter().for_each(|node| islands.entry(map.island(*node)).or_default().push(*node));
            islands.into_iter().map(|(island, nodes)| island_tree(map, island, &nodes)).collect()
        }
    };
    let mut counted: Vec<FabricBranch> = Vec::new();
    for tree in parts {
        match counted.iter_mut().find(|branch| branch.tree == tree) {
            Some(branch) => branch.count += 1,
            None => counted.push(FabricBranch { count: 1, tree }),
        }
    }
    counted
}

fn group_tree(map: &FabricMap, (level, group): (usize, DomainId), nodes: &[NodeId]) -> FabricTree {
    let uplink = map.levels[level].uplink_bytes_per_s.get(group.ix());
    FabricTree {
        vertex: TreeVertex::Group { level },
        nodes: nodes.len(),
        uplink_mbits: uplink.map_or(0, |rate| mbits(*rate)),
        branches: branches(map, level, nodes),
    }
}

fn island_tree(map: &FabricMap, island: IslandId, nodes: &[NodeId]) -> FabricTree {
    let node_rate = map.levels.first().map_or(0.0, |level| level.node_bytes_per_s);
    FabricTree {
        vertex: TreeVertex::Island(map.links(island, nodes.len() as u32)),
        nodes: nodes.len(),
        uplink_mbits: mbits(node_rate * nodes.len() as f64),
        branches: Vec::new(),
    }
}
