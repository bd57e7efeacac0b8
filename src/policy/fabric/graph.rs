//! The fabric as a graph: nodes, the switches of islands, the groups of network levels, and the links between them.

use super::island::IslandLinks;
use super::map::{FabricMap, Uplink};
use super::torus_hosts::host_links;
use petgraph::algo::dijkstra;
use petgraph::algo::maximum_flow::dinics;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex, UnGraph};
use petgraph::visit::EdgeRef;
use sim_base::{IslandId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// A vertex of the fabric.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FabricVertex {
    Node(NodeId),
    /// The switch between the accelerators of an island.
    Switch(IslandId),
    /// The switches of a group of a network level.
    Group(Uplink),
    /// The network above the groups of the highest level.
    Core,
}

/// The links of a cluster. A torus connects its hosts directly; parallel links are one edge. The links of the network
/// are a tree, and their first end is the lower one.
#[derive(Clone, Debug, Default)]
pub struct FabricGraph {
    /// Edges have the capacity in one direction, in bytes per second.
    pub graph: UnGraph<FabricVertex, f64>,
    nodes: Vec<NodeIndex>,
    groups: BTreeMap<Uplink, NodeIndex>,
    /// Per vertex: its link to the next level of the network.
    uplinks: Vec<Option<EdgeIndex>>,
    /// Per vertex: number of links to the top of the network.
    depths: Vec<u32>,
}

/// A vertex with the capacity of its link to the next level. `node` identifies the group that it is in.
struct LowerVertex {
    vertex: NodeIndex,
    node: NodeId,
    bytes_per_s: f64,
}

impl FabricGraph {
    /// Returns the links of the islands and of the network.
    pub fn build(map: &FabricMap) -> FabricGraph {
        let mut fabric = FabricGraph::with_nodes(map);
        let ids = || (0..map.node_count() as u32).map(NodeId);
        let mut islands: BTreeMap<IslandId, Vec<NodeId>> = BTreeMap::new();
        for node in ids().filter(|node| map.island(*node).is_some()) {
            islands.entry(map.island(node)).or_default().push(node);
        }
        for (island, nodes) in islands {
            fabric.add_island(map, island, &nodes);
        }
        fabric.add_network(map);
        fabric
    }

    /// Returns the links of the network only.
    pub fn network(map: &FabricMap) -> FabricGraph {
        let mut fabric = FabricGraph::with_nodes(map);
        fabric.add_network(map);
        fabric
    }

    fn with_nodes(map: &FabricMap) -> FabricGraph {
        let mut graph = UnGraph::default();
        let ids = (0..map.node_count() as u32).map(NodeId);
        let nodes = ids.map(|node| graph.add_node(FabricVertex::Node(node))).collect();
        FabricGraph { graph, nodes, ..FabricGraph::default() }
    }

    fn add_island(&mut self, map: &FabricMap, island: IslandId, nodes: &[NodeId]) {
        match map.links(island, nodes.len() as u32) {
            Some(IslandLinks::Torus { axes, link_bytes_per_s, .. }) => {
                for ((host, other), links) in host_links(&axes, nodes) {
                    let ends = (self.nodes[host.ix()], self.nodes[other.ix()]);
                    self.graph.add_edge(ends.0, ends.1, f64::from(links) * link_bytes_per_s);
                }
            }
            Some(IslandLinks::Switch { bytes_per_s, .. }) if nodes.len() > 1 => {
                let switch = self.graph.add_node(FabricVertex::Switch(island));
                for node in nodes {
                    let capacity = f64::from(map.accelerators(*node)) * bytes_per_s;
                    self.graph.add_edge(self.nodes[node.ix()], switch, capacity);
                }
            }
            _ => {}
        }
    }

    fn add_network(&mut self, map: &FabricMap) {
        let Some(lowest) = map.levels.first() else {
            return;
        };
        let ids = (0..map.node_count() as u32).map(NodeId);
        let of_node =
            |node: NodeId| LowerVertex { vertex: self.nodes[node.ix()], node, bytes_per_s: lowest.node_bytes_per_s };
        let mut lower: Vec<LowerVertex> = ids.map(of_node).collect();
        for (level, fabric_level) in map.levels.iter().enumerate() {
            let mut groups = BTreeMap::new();
            let mut upper = Vec::new();
            for below in lower {
                let group = map.group(level, below.node);
                if !group.is_some() {
                    upper.push(below);
                    continue;
                }
                let vertex = *groups.entry(group).or_insert_with(|| {
                    let vertex = self.graph.add_node(FabricVertex::Group((level, group)));
                    let bytes_per_s = fabric_level.uplink_bytes_per_s[group.ix()];
                    upper.push(LowerVertex { vertex, node: below.node, bytes_per_s });
                    vertex
                });
                self.groups.insert((level, group), vertex);
                self.add_uplink(&below, vertex);
            }
            lower = upper;
        }
        if lower.len() > 1 {
            let core = self.graph.add_node(FabricVertex::Core);
            for below in lower {
                self.add_uplink(&below, core);
            }
        }
        self.uplinks.resize(self.graph.node_count(), None);
        self.depths = self.graph.node_indices().map(|vertex| self.path_up(vertex).count() as u32).collect();
    }

    fn add_uplink(&mut self, below: &LowerVertex, above: NodeIndex) {
        let edge = self.graph.add_edge(below.vertex, above, below.bytes_per_s);
        self.uplinks.resize(self.graph.node_count(), None);
        self.uplinks[below.vertex.index()] = Some(edge);
    }

    /// Returns the links from a vertex to the top of the network.
    fn path_up(&self, from: NodeIndex) -> impl Iterator<Item = EdgeIndex> + '_ {
        std::iter::successors(self.uplink(from), |edge| self.uplink(self.upper_end(*edge)))
    }

    fn uplink(&self, vertex: NodeIndex) -> Option<EdgeIndex> {
        self.uplinks.get(vertex.index()).copied().flatten()
    }

    fn upper_end(&self, edge: EdgeIndex) -> NodeIndex {
        self.graph.edge_endpoints(edge).map_or(NodeIndex::end(), |(_, upper)| upper)
    }

    /// Returns the links from a node to the top of the network.
    pub fn links_up(&self, node: NodeId) -> impl Iterator<Item = EdgeIndex> + '_ {
        self.path_up(self.nodes[node.ix()])
    }

    /// Returns the link of a group to the next level; `None` for the only group of the highest level.
    pub fn group_uplink(&self, group: Uplink) -> Option<EdgeIndex> {
        self.uplink(*self.groups.get(&group)?)
    }

    /// Calls `visit` with each link of the path between two nodes, and whether it leads upwards.
    pub fn visit_path(&self, from: NodeId, to: NodeId, mut visit: impl FnMut(EdgeIndex, bool)) {
        let (mut from, mut to) = (self.nodes[from.ix()], self.nodes[to.ix()]);
        while from != to {
            let (above, below) = (self.depths[from.index()], self.depths[to.index()]);
            if above >= below {
                let Some(edge) = self.uplink(from) else { return };
                visit(edge, true);
                from = self.upper_end(edge);
            }
            if below >= above {
                let Some(edge) = self.uplink(to) else { return };
                visit(edge, false);
                to = self.upper_end(edge);
            }
        }
    }

    /// Returns the number of links between two nodes on the shortest path; `None` if they are not connected.
    pub fn distance(&self, from: NodeId, to: NodeId) -> Option<u32> {
        let (from, to) = (self.nodes[from.ix()], self.nodes[to.ix()]);
        dijkstra(&self.graph, from, Some(to), |_| 1u32).get(&to).copied()
    }

    /// Returns the capacity between two sets of nodes in one direction, in Mbit/s: the smallest capacity of links that
    /// separate them. Nodes in both sets are ignored in the second.
    pub fn cut_mbits(&self, from: &[NodeId], to: &[NodeId]) -> u64 {
        let mut flow: DiGraph<(), u64> = DiGraph::default();
        let vertices: Vec<NodeIndex> = self.graph.node_indices().map(|_| flow.add_node(())).collect();
        let mut all = 1;
        for edge in self.graph.edge_references() {
            let (a, b) = (vertices[edge.source().index()], vertices[edge.target().index()]);
            let capacity = mbits(*edge.weight());
            all += capacity;
            flow.add_edge(a, b, capacity);
            flow.add_edge(b, a, capacity);
        }
        let (source, sink) = (flow.add_node(()), flow.add_node(()));
        for node in from {
            flow.add_edge(source, vertices[self.nodes[node.ix()].index()], all);
        }
        let sources: BTreeSet<&NodeId> = from.iter().collect();
        for node in to.iter().filter(|node| !sources.contains(node)) {
            flow.add_edge(vertices[self.nodes[node.ix()].index()], sink, all);
        }
        dinics(&flow, source, sink).0
    }
}

/// Converts a capacity to whole Mbit/s.
pub fn mbits(bytes_per_s: f64) -> u64 {
    (bytes_per_s * 8.0 / 1e6 + 0.5) as u64
}
