//! Networks between islands: levels of a fat tree, data parallelism over slices, and rank orders that ignore blocks.

use super::collective::{Collective, Transfer};
use super::island::IslandLinks;

/// One level of a tree of switches.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct NetworkLevel {
    /// Children of a group at this level that take part.
    pub children: u32,
    /// Rate of the links from one child to the group, in bytes per second.
    pub uplink_bytes_per_s: f64,
}

/// Returns the time that a level needs alone.
pub fn level_seconds(level: NetworkLevel, transfer: Transfer) -> f64 {
    transfer.port_seconds(f64::from(level.children.max(1)), level.uplink_bytes_per_s)
}

/// Returns the time of a collective over a tree, from the level next to the accelerators to the top, and the index of
/// the slowest level. Each level carries the whole buffer once per pass, and the levels work at the same time.
pub fn tree_seconds(levels: &[NetworkLevel], transfer: Transfer) -> (f64, usize) {
    let times = levels.iter().map(|level| level_seconds(*level, transfer)).enumerate();
    times.fold((0.0, 0), |slowest, (at, seconds)| if seconds > slowest.0 { (seconds, at) } else { slowest })
}

/// Rate and latency of the network between slices.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct DcnRate {
    pub host_bytes_per_s: f64,
    /// Latency of one step of a ring over the slices.
    pub step_s: f64,
}

/// Returns the time of an AllReduce over `slices` islands with `hosts` hosts each: a ReduceScatter on the links of the
/// island, an AllReduce of the shards of the hosts over the data center network, and an AllGather on the links. The
/// second value is the part of the data center network.
pub fn multislice_seconds(links: &IslandLinks, slices: u32, hosts: u32, dcn: DcnRate, bytes: f64) -> (f64, f64) {
    let of = |collective| links.seconds(Transfer { collective, bytes });
    let shards = Transfer { collective: Collective::AllReduce, bytes: bytes / f64::from(hosts.max(1)) };
    let steps = 2.0 * f64::from(slices.saturating_sub(1));
    let between = shards.port_seconds(f64::from(slices.max(1)), dcn.host_bytes_per_s) + steps * dcn.step_s;
    (of(Collective::ReduceScatter) + between + of(Collective::AllGather), between)
}

/// Equal blocks of nodes. The uplinks of a block have a part of the rate of its nodes.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct NodeBlocks {
    pub blocks: u32,
    pub nodes_per_block: u32,
    pub node_bytes_per_s: f64,
    /// Rate of all nodes of a block, divided by the rate of its uplinks.
    pub oversubscription: f64,
}

impl NodeBlocks {
    /// Returns the rate of the uplinks of a block in bytes per second.
    pub fn uplink_bytes_per_s(self) -> f64 {
        f64::from(self.nodes_per_block) * self.node_bytes_per_s / self.oversubscription
    }

    /// Returns the share of the edges of a ring that leave a block if the order of the ranks is random.
    pub fn crossing_share(self) -> f64 {
        let nodes = f64::from(self.blocks) * f64::from(self.nodes_per_block);
        1.0 - (f64::from(self.nodes_per_block) - 1.0) / (nodes - 1.0).max(1.0)
    }

    /// Returns the time of a ring whose ranks follow each other block by block: one edge leaves each block, so the
    /// nodes or the exchange between the blocks are the limit.
    pub fn ordered_seconds(self, transfer: Transfer) -> f64 {
        let nodes = f64::from(self.blocks) * f64::from(self.nodes_per_block);
        let between = transfer.port_seconds(f64::from(self.blocks), self.uplink_bytes_per_s());
        transfer.port_seconds(nodes, self.node_bytes_per_s).max(between)
    }

    /// Returns the time of a ring in random order: the edges that leave a block share its uplinks.
    pub fn random_seconds(self, transfer: Transfer) -> f64 {
        let nodes = f64::from(self.blocks) * f64::from(self.nodes_per_block);
        let edge = self.uplink_bytes_per_s() / (f64::from(self.nodes_per_block) * self.crossing_share());
        transfer.port_seconds(nodes, self.node_bytes_per_s.min(edge))
    }
}
