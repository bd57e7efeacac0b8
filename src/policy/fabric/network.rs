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
    /// The size of the part of the buffer that each member gathers or keeps, in any unit.
    parts: Vec<f64>,
}

impl<'i> NetworkGroup<'i> {
    /// Returns a group in which each island is a rank.
    pub fn of_islands(members: Vec<&'i JobIsland>, order: RankOrder) -> NetworkGroup<'i> {
        NetworkGroup { parts: vec![1.0; members.len()], members, order }
    }

    /// Returns a group in which each accelerator of the islands is a rank.
    pub fn of_accelerators(map: &FabricMap, islands: &'i [JobIsland], order: RankOrder) -> NetworkGroup<'i> {
        let accelerators =
            |island: &JobIsland| island.nodes.iter().map(|node| f64::from(map.accelerators(*node))).sum();
        let parts: Vec<f64> = islands.iter().map(accelerators).collect();
        let group = NetworkGroup::of_islands(islands.iter().collect(), order);
        if parts.iter().all(|part| *part > 0.0) { NetworkGroup { parts, ..group } } else { group }
    }

    fn len(&self) -> f64 {
        self.members.len() as f64
    }

    /// Adds the flows of a collective whose members are the islands.
    pub fn add_flows(&self, map: &FabricMap, transfer: Transfer, loads: &mut FlowLoads<'_>) {
        match (transfer.collective, self.order) {
            (Collective::AllToAll, _) => self.add_all_to_all(map, transfer.bytes, loads),
            (Collective::SendReceive, _) => self.add_chain(transfer.bytes, loads),
            (_, RankOrder::Ring) => {
                for (own, next, bytes) in ring_hops(&self.parts, transfer) {
                    loads.add_between(self.members[own], self.members[next], bytes);
                }
            }
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
        for (own, next, bytes) in ring_hops(&self.parts, transfer) {
            for (member, is_up) in [(own, true), (next, false)] {
                let nodes = &self.members[member].nodes;
                for port in nodes.iter().filter_map(|node| map.network.links_up(*node).next()) {
                    loads.add(port, is_up, bytes / nodes.len() as f64);
                }
            }
        }
        for level in 0..map.levels.len() {
            let mut parts: BTreeMap<DomainId, f64> = BTreeMap::new();
            for (island, part) in self.members.iter().zip(&self.parts) {
                *parts.entry(map.group(level, island.first_node())).or_insert(0.0) += part;
            }
            let (groups, parts): (Vec<DomainId>, Vec<f64>) = parts.into_iter().unzip();
            for (own, next, bytes) in ring_hops(&parts, transfer) {
                for (group, is_up) in [(own, true), (next, false)] {
                    if let Some(uplink) = map.network.group_uplink((level, groups[group])) {
                        loads.add(uplink, is_up, bytes);
                    }
                }
            }
        }
    }

    /// Adds the flows between all hosts of different islands. A link carries what the hosts below it exchange with the
    /// others.
    fn add_all_to_all(&self, map: &FabricMap, bytes: f64, loads: &mut FlowLoads<'_>) {
        // Per link: the sum of the parts below it, the sum of their squares, and the sum of the products of each with
        // the part of its island.
        let mut below: BTreeMap<_, (f64, f64, f64)> = BTreeMap::new();
        for (island, part) in self.members.iter().zip(&self.parts) {
            let mut shares: BTreeMap<_, u32> = BTreeMap::new();
            for link in island.nodes.iter().flat_map(|node| map.network.links_up(*node)) {
                *shares.entry(link).or_insert(0) += 1;
            }
            for (link, hosts) in shares {
                let own = part * f64::from(hosts) / island.nodes.len() as f64;
                let sums = below.entry(link).or_insert((0.0, 0.0, 0.0));
                *sums = (sums.0 + own, sums.1 + own * own, sums.2 + own * part);
            }
        }
        let all: f64 = self.parts.iter().sum();
        for (link, (own, squares, of_islands)) in below {
            let pairs = all * own - of_islands - (own * own - squares);
            if pairs > 1e-9 * all {
                loads.add_both(link, bytes / (all * all) * pairs);
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

/// Returns the members at both ends of each hop of a ring, and the bytes that the first one sends to the second: in an
/// AllGather, everything but the part of the second; in a ReduceScatter, everything but its own part.
fn ring_hops(parts: &[f64], transfer: Transfer) -> impl Iterator<Item = (usize, usize, f64)> {
    let (n, all): (usize, f64) = (parts.len(), parts.iter().sum());
    let others = move |part: f64| (all - part) / all;
    let hops = (0..n).filter(move |_| n > 1).map(move |own| (own, (own + 1) % n));
    hops.map(move |(own, next)| {
        let passes = match transfer.collective {
            Collective::AllGather => others(parts[next]),
            Collective::ReduceScatter => others(parts[own]),
            _ => others(parts[own]) + others(parts[next]),
        };
        (own, next, passes * transfer.bytes)
    })
}

/// Returns the parent of a rank in a binary tree with alternating leaves (`ncclGetBtree` in NCCL's src/graph/trees.cc).
fn tree_parent(rank: usize, ranks: usize) -> usize {
    let bit = rank & rank.wrapping_neg();
    let parent = (rank ^ bit) | (bit << 1);
    if parent >= ranks { rank ^ bit } else { parent }
}
