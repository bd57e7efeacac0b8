//! The links of a topology: those of each island, and the levels of the network between them.

use super::graph::FabricGraph;
use super::island::{IslandLinks, JobIsland};
use crate::topology::{ClusterBuilder, TopologyDomains};
use sim_api::spec::keys::TPU_SLICE;
use sim_api::spec::{CollectiveAlgorithm, Interconnect, TopologySpec};
use sim_base::{DomainId, IslandId, NodeId};
use std::collections::BTreeMap;

/// The links of a cluster as described.
#[derive(Clone, Debug, Default)]
pub struct FabricMap {
    /// Per island: its entry in `pools`.
    island_pools: Vec<u32>,
    pools: Vec<PoolLinks>,
    pub levels: Vec<FabricLevel>,
    island_of: Vec<IslandId>,
    accelerators: Vec<u32>,
    /// Slices of cubes by name.
    slices: BTreeMap<String, IslandId>,
    /// The links of the network between the nodes.
    pub network: FabricGraph,
}

#[derive(Clone, Debug)]
struct PoolLinks {
    links: Option<IslandLinks>,
    nodes_per_island: u32,
}

/// One level of the network, as in the topology file.
#[derive(Clone, Debug)]
pub struct FabricLevel {
    pub name: String,
    /// Rate of one node.
    pub node_bytes_per_s: f64,
    /// Latency of a step between nodes of one group.
    pub latency_s: f64,
    pub groups: TopologyDomains,
    /// Rate of the links that leave a group.
    pub uplink_bytes_per_s: Vec<f64>,
    /// Algorithm of collectives over several islands.
    pub algorithm: Option<CollectiveAlgorithm>,
}

/// The links that leave a group of nodes: the level and the group.
pub type Uplink = (usize, DomainId);

impl FabricMap {
    /// Reads the links of a topology. `cluster` is built from the same topology.
    pub fn build(topology: &TopologySpec, cluster: &ClusterBuilder) -> FabricMap {
        let mut map = FabricMap {
            island_of: cluster.island.clone(),
            accelerators: cluster.accelerators.clone(),
            ..FabricMap::default()
        };
        let mut first_node = 0;
        for (p, pool) in topology.pools.iter().enumerate() {
            let per_node = cluster.accelerators.get(first_node).copied().unwrap_or(0);
            let links = pool.interconnect.as_ref();
            map.pools.push(PoolLinks {
                links: links.map(|links| IslandLinks::new(links, per_node * pool.nodes_per_island)),
                nodes_per_island: pool.nodes_per_island,
            });
            let islands = pool.count as usize * pool.islands as usize;
            map.island_pools.extend(std::iter::repeat_n(p as u32, islands));
            first_node += islands * pool.nodes_per_island as usize;
        }
        map.join_slices(topology, cluster);
        for level in &topology.dcn_levels {
            let groups = TopologyDomains::build(cluster, &level.label);
            map.levels.push(FabricLevel {
                name: level.name.clone(),
                node_bytes_per_s: level.rate.bytes_per_s(),
                latency_s: level.rate.latency.seconds(),
                uplink_bytes_per_s: groups.nodes.iter().map(|nodes| level.uplink_bytes_per_s(nodes.len())).collect(),
                algorithm: level.algorithm,
                groups,
            });
        }
        map.network = FabricGraph::network(&map);
        map
    }

    /// Makes each slice of cubes an island, with the rate of its first cube. Optical switches close all axes.
    fn join_slices(&mut self, topology: &TopologySpec, cluster: &ClusterBuilder) {
        let labelled = (!topology.slices.is_empty()).then(|| TopologyDomains::build(cluster, TPU_SLICE));
        for (slice, groups) in topology.slices.iter().zip(labelled.iter().cycle()) {
            let group = groups.values.iter().position(|value| *value == slice.name);
            let Some(nodes) = group.and_then(|group| groups.nodes.get(group)) else {
                continue;
            };
            let cube = nodes.first().and_then(|node| self.pool(self.island(*node)));
            let links = cube.and_then(|pool| topology.pools[pool as usize].interconnect.as_ref());
            let torus = links.map(|links| Interconnect::Torus {
                shape: slice.shape.clone(),
                wrap: vec![true; slice.shape.len()],
                rate: links.rate(),
            });
            let accelerators = nodes.iter().map(|node| self.accelerators(*node)).sum();
            let island = IslandId(self.island_pools.len() as u32);
            self.island_pools.push(self.pools.len() as u32);
            self.pools.push(PoolLinks {
                links: torus.map(|links| IslandLinks::new(&links, accelerators)),
                nodes_per_island: nodes.len() as u32,
            });
            self.slices.insert(slice.name.clone(), island);
        }
        self.regroup_slices(cluster);
    }

    /// Puts each node into the island of the slice that its label names, or into that of the topology.
    pub fn regroup_slices(&mut self, cluster: &ClusterBuilder) {
        if self.slices.is_empty() {
            return;
        }
        self.island_of.clone_from(&cluster.island);
        let labelled = TopologyDomains::build(cluster, TPU_SLICE);
        for (name, nodes) in labelled.values.iter().zip(&labelled.nodes) {
            if let Some(island) = self.slices.get(name) {
                nodes.iter().for_each(|node| self.island_of[node.ix()] = *island);
            }
        }
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.island_of.len()
    }

    /// Returns the number of islands.
    pub fn island_count(&self) -> usize {
        self.island_pools.len()
    }

    /// Returns the island of a node; a node without one is an island of its own for the network.
    pub fn island(&self, node: NodeId) -> IslandId {
        self.island_of.get(node.ix()).copied().unwrap_or(IslandId::NONE)
    }

    pub fn accelerators(&self, node: NodeId) -> u32 {
        self.accelerators.get(node.ix()).copied().unwrap_or(0)
    }

    /// Returns the number of the pool of an island; `None` for a node without an island.
    pub fn pool(&self, island: IslandId) -> Option<u32> {
        self.island_pools.get(island.ix()).copied()
    }

    /// Returns the links of an island of which `nodes` nodes take part.
    pub fn links(&self, island: IslandId, nodes: u32) -> Option<IslandLinks> {
        let pool = &self.pools[self.pool(island)? as usize];
        let mut links = pool.links.clone()?;
        if nodes < pool.nodes_per_island {
            links.keep_share(f64::from(nodes) / f64::from(pool.nodes_per_island));
        }
        Some(links)
    }

    /// Returns the first `count` nodes with accelerators in the order of their groups, from the farthest level to the
    /// nearest, and of their islands: the placement of a job that is spread as little as possible.
    pub fn contiguous_nodes(&self, count: usize) -> Vec<NodeId> {
        let nodes = (0..self.accelerators.len() as u32).map(NodeId);
        let mut nodes: Vec<NodeId> = nodes.filter(|node| self.accelerators(*node) > 0).collect();
        nodes.sort_by_cached_key(|node| {
            let groups = (0..self.levels.len()).rev().map(|level| self.group(level, *node));
            (groups.collect::<Vec<DomainId>>(), self.island(*node), *node)
        });
        nodes.truncate(count);
        nodes
    }

    /// Returns the number of groups of a level that the islands are in.
    pub fn groups_of(&self, level: usize, islands: &[JobIsland]) -> u32 {
        let groups = islands.iter().map(|island| self.group(level, island.first_node()));
        let mut groups: Vec<DomainId> = groups.collect();
        //  Neighbours in rank order are mostly in the same group.
        groups.dedup();
        groups.sort_unstable();
        groups.dedup();
        groups.len() as u32
    }

    /// Returns the group of a node at a level.
    pub fn group(&self, level: usize, node: NodeId) -> DomainId {
        self.levels[level].groups.of.get(node.ix()).copied().unwrap_or(DomainId::NONE)
    }
}
