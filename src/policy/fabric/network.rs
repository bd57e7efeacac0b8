//! Collectives between islands as flows over the network.

use super::collective::{Collective, Transfer, passes};
use super::flows::FlowLoads;
use super::island::JobIsland;
use super::map::FabricMap;
use sim_api::spec::RankOrder;
use sim_base::DomainId;
use std::collections::{BTreeMap, BTreeSet};

/// Members of one collective, in the order of their ranks: islands whose hosts each hold a shard of the buffer.
pub struct NetworkGroup<'i> {
    pub members: Vec<&'i JobIsland>,
    pub order: RankOrder,
}

impl NetworkGroup<'_> {
    fn len(&self) -> f64 {
        self.members.len() as f64
    }

    /// Adds the flows of a collective whose members are the islands.
    pub fn add_flows(&self, map: &FabricMap, transfer: Transfer, loads: &mut FlowLoads<'_>) {
        match (transfer.collective, self.order) {
            (Collective::AllToAll, _) => self.add_all_to_all(map, transfer.bytes, loads),
            (Collective::SendReceive, _) => self.add_chain(transfer.bytes, loads),
            (_, RankOrder::Ring) => self.add_ring(transfer.sent_bytes(self.len()), loads),
            (_, RankOrder::Hierarchical) => self.add_hierarchy(map, transfer, loads),
        }
    }

    /// Adds the flows of a ring whose members pass `bytes` to the next one.
    pub fn add_ring(&self, bytes: f64, loads: &mut FlowLoads<'_>) {
        self.add_chain(bytes, loads);
        if let [first, _, .., last] | [first, last] = &self.members[..] {
            loads.add_between(last, first, bytes);
        }
    }

    /// Adds flows from each member to the next one, but not from the last one to the first.
    fn add_chain(&self, bytes: f64, loads: &mut FlowLoads<'_>) {
        for pair in self.members.windows(2) {
            loads.add_between(pair[0], pair[1], bytes);
        }
    }

    /// Adds the flows of an AllReduce over two complementary binary trees, each with half of the buffer
    /// (`ncclGetDtree` in NCCL's src/graph/trees.cc).
    pub fn add_trees(&self, bytes: f64, loads: &mut FlowLoads<'_>) {
        let n = self.members.len();
        let second = |rank: usize| if n.is_multiple_of(2) { n - 1 - rank } else { (rank + 1) % n };
        for rank in 1..n {
            let parent = tree_parent(rank, n);
            for (child, parent) in [(rank, parent), (second(rank), second(parent))] {
                loads.add_between(self.members[child], self.members[parent], bytes / 2.0);
                loads.add_between(self.members[parent], self.members[child], bytes / 2.0);
            }
        }
    }

    /// Adds the flows of a collective that exchanges data first within the groups of each level. A node has to receive
    /// all shards but its own, as in any order. The links of each group carry one pass over the groups.
    fn add_hierarchy(&self, map: &FabricMap, transfer: Transfer, loads: &mut FlowLoads<'_>) {
        let sent = transfer.sent_bytes(self.len());
        for island in &self.members {
            for node in &island.nodes {
                if let Some(port) = map.network.links_up(*node).next() {
                    loads.add_both(port, sent / island.nodes.len() as f64);
                }
            }
        }
        for level in 0..map.levels.len() {
            let groups = self.groups(map, level);
            for group in groups.iter().filter(|_| groups.len() > 1) {
                if let Some(uplink) = map.network.group_uplink((level, *group)) {
                    loads.add_both(uplink, transfer.sent_bytes(groups.len() as f64));
                }
            }
        }
    }

    /// Adds the flows between all hosts of different islands. A link carries what the hosts below it exchange with the
    /// others.
    fn add_all_to_all(&self, map: &FabricMap, bytes: f64, loads: &mut FlowLoads<'_>) {
        // Per link: the sum of the shares of islands below it, and the sum of their squares.
        let mut below: BTreeMap<_, (f64, f64)> = BTreeMap::new();
        for island in &self.members {
            let mut shares: BTreeMap<_, u32> = BTreeMap::new();
            for link in island.nodes.iter().flat_map(|node| map.network.links_up(*node)) {
                *shares.entry(link).or_insert(0) += 1;
            }
            for (link, hosts) in shares {
                let share = f64::from(hosts) / island.nodes.len() as f64;
                let sums = below.entry(link).or_insert((0.0, 0.0));
                *sums = (sums.0 + share, sums.1 + share * share);
            }
        }
        let n = self.len();
        for (link, (share, squares)) in below {
            let pairs = (n - 1.0) * share - (share * share - squares);
            if pairs > 1e-9 * n {
                loads.add_both(link, bytes / (n * n) * pairs);
            }
        }
    }

    fn groups(&self, map: &FabricMap, level: usize) -> BTreeSet<DomainId> {
        self.members.iter().map(|island| map.group(level, island.first_node())).collect()
    }

    /// Returns the latency of a step between the members: that of the lowest level whose group contains all members.
    pub fn step_s(&self, map: &FabricMap) -> f64 {
        let common = (0..map.levels.len()).find(|level| self.groups(map, *level).len() < 2);
        let level = common.and_then(|level| map.levels.get(level)).or(map.levels.last());
        level.map_or(0.0, |level| level.latency_s)
    }

    /// Returns the latency of a collective whose members are the islands: a pass over n members takes log2(n) steps, as
    /// in NCCL with one accelerator per node.
    pub fn latency_s(&self, map: &FabricMap, collective: Collective) -> f64 {
        let steps = match collective {
            Collective::SendReceive => 1.0,
            _ => libm::ceil(libm::log2(self.len())),
        };
        passes(collective) * steps * self.step_s(map)
    }
}

/// Returns the parent of a rank in a binary tree with alternating leaves (`ncclGetBtree` in NCCL's src/graph/trees.cc).
fn tree_parent(rank: usize, ranks: usize) -> usize {
    let bit = rank & rank.wrapping_neg();
    let parent = (rank ^ bit) | (bit << 1);
    if parent >= ranks { rank ^ bit } else { parent }
}
