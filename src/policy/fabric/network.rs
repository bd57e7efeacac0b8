//! Times of collectives between islands: the ports of the nodes, and the uplinks of the groups at each network level.

use super::collective::{Collective, Transfer, passes};
use super::map::{FabricLoad, FabricMap, Uplink};
use super::step::{FabricLimit, JobIsland};
use sim_api::spec::RankOrder;
use sim_base::DomainId;
use std::collections::BTreeMap;

/// Members of one collective, in the order of their ranks: islands whose hosts each hold a shard of the buffer.
pub struct NetworkGroup<'i> {
    pub members: Vec<&'i JobIsland>,
    pub order: RankOrder,
}

/// Bytes that collectives send over uplinks.
pub type UplinkLoads = BTreeMap<Uplink, f64>;

impl NetworkGroup<'_> {
    /// Returns the time that the ports of the slowest node need. Within a hierarchy, a node exchanges data with the
    /// members of its group only.
    fn port_seconds(&self, map: &FabricMap, load: &FabricLoad, transfer: Transfer) -> f64 {
        let mut ranks = self.members.len();
        if self.order == RankOrder::Hierarchical {
            let largest = self.sizes(map, 0).into_values().max().unwrap_or(ranks);
            ranks = if largest > 1 { largest } else { ranks };
        }
        let Some(level) = map.levels.first() else {
            return 0.0;
        };
        let port = |island: &&JobIsland| {
            let slowest = island.nodes.iter().filter_map(|node| load.nodes.get(node)).fold(1.0, |a: f64, b| a.min(*b));
            transfer.sent_bytes(ranks as f64) / island.nodes.len() as f64 / (level.node_bytes_per_s * slowest)
        };
        self.members.iter().map(port).fold(0.0, f64::max)
    }

    /// Number of members in each group of a level.
    fn sizes(&self, map: &FabricMap, level: usize) -> BTreeMap<DomainId, usize> {
        let mut sizes = BTreeMap::new();
        for island in &self.members {
            *sizes.entry(map.group(level, island.first_node())).or_insert(0) += 1;
        }
        sizes
    }

    /// Adds the bytes that leave each group of a level.
    fn add_loads(&self, map: &FabricMap, level: usize, transfer: Transfer, loads: &mut UplinkLoads) {
        let sizes = self.sizes(map, level);
        if sizes.len() < 2 {
            return;
        }
        let n = self.members.len() as f64;
        for (group, size) in &sizes {
            let bytes = match (transfer.collective, self.order) {
                (Collective::AllToAll, _) => transfer.bytes / n * *size as f64 * (n - *size as f64) / n,
                (Collective::SendReceive, _) | (_, RankOrder::Ring) => {
                    transfer.sent_bytes(n) * self.edges_leaving(map, level, *group, transfer.collective) as f64
                }
                (_, RankOrder::Hierarchical) => transfer.sent_bytes(sizes.len() as f64),
            };
            *loads.entry((level, *group)).or_insert(0.0) += bytes;
        }
    }

    /// Number of edges from a member in the group to the next member outside of it. A chain of `SendReceive` does not
    /// return to the first member.
    fn edges_leaving(&self, map: &FabricMap, level: usize, group: DomainId, collective: Collective) -> usize {
        let groups: Vec<DomainId> = self.members.iter().map(|island| map.group(level, island.first_node())).collect();
        let closed = collective != Collective::SendReceive;
        let last = if closed { groups.len() } else { groups.len() - 1 };
        (0..last).filter(|at| groups[*at] == group && groups[(at + 1) % groups.len()] != group).count()
    }

    /// Returns the latency: a pass over n members takes log2(n) steps, at the latency of the lowest level whose group
    /// contains all members.
    fn latency_s(&self, map: &FabricMap, collective: Collective) -> f64 {
        let common = (0..map.levels.len()).find(|level| self.sizes(map, *level).len() < 2);
        let level = common.and_then(|level| map.levels.get(level)).or(map.levels.last());
        let steps = match collective {
            Collective::SendReceive => 1.0,
            _ => libm::ceil(libm::log2(self.members.len() as f64)),
        };
        passes(collective) * steps * level.map_or(0.0, |level| level.latency_s)
    }
}

/// Returns the time of a collective that several groups perform at once, what limits it, and the uplinks in use.
pub fn network_time(
    map: &FabricMap, load: &FabricLoad, groups: &[NetworkGroup<'_>], transfer: Transfer,
) -> (f64, FabricLimit, Vec<Uplink>) {
    let mut loads = UplinkLoads::new();
    let (mut slowest, mut latency) = ((0.0, FabricLimit::NodePorts), 0.0f64);
    for group in groups.iter().filter(|group| group.members.len() > 1) {
        let seconds = group.port_seconds(map, load, transfer);
        if seconds > slowest.0 {
            slowest.0 = seconds;
        }
        for level in 0..map.levels.len() {
            group.add_loads(map, level, transfer, &mut loads);
        }
        latency = latency.max(group.latency_s(map, transfer.collective));
    }
    for ((level, group), bytes) in &loads {
        let uplinks = &map.levels[*level].uplink_bytes_per_s;
        let users = load.users.get(&(*level, *group)).copied().unwrap_or(0).max(1);
        let Some(rate) = uplinks.get(group.ix()) else {
            continue;
        };
        let seconds = bytes * f64::from(users) / rate;
        if seconds > slowest.0 {
            slowest = (seconds, FabricLimit::Uplinks { level: *level });
        }
    }
    (slowest.0 + latency, slowest.1, loads.into_keys().collect())
}
