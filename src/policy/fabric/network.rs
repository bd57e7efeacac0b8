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

/// The members of a collective in one group of a network level.
#[derive(Copy, Clone, Default)]
struct GroupShare {
    members: usize,
    /// Edges from a member in the group to the next member outside of it, in the order of the ranks.
    leaving: usize,
}

/// The groups of one level with members.
type LevelShares = BTreeMap<DomainId, GroupShare>;

impl NetworkGroup<'_> {
    /// Returns the groups of a level. A chain of `SendReceive` does not return to the first member.
    fn shares(&self, map: &FabricMap, level: usize, collective: Collective) -> LevelShares {
        let mut shares = LevelShares::new();
        let of = |island: &&JobIsland| map.group(level, island.first_node());
        let (first, mut at) = (self.members.first().map(of), 0);
        while let Some(group) = self.members.get(at).map(of) {
            let same = self.members[at..].iter().take_while(|island| of(island) == group).count();
            at += same;
            let closes = if collective == Collective::SendReceive { None } else { first };
            let next = self.members.get(at).map(of).or(closes);
            let share = shares.entry(group).or_default();
            share.members += same;
            share.leaving += usize::from(next.is_some_and(|next| next != group));
        }
        shares
    }

    /// Returns the time that the ports of the slowest node need. Within a hierarchy, a node exchanges data with the
    /// members of its group only.
    fn port_seconds(&self, map: &FabricMap, load: &FabricLoad, transfer: Transfer, levels: &[LevelShares]) -> f64 {
        let mut ranks = self.members.len();
        if self.order == RankOrder::Hierarchical {
            let sizes = levels.iter().take(1).flat_map(|lowest| lowest.values());
            let largest = sizes.map(|share| share.members).max().unwrap_or(ranks);
            ranks = if largest > 1 { largest } else { ranks };
        }
        let Some(level) = map.levels.first() else {
            return 0.0;
        };
        let sent = transfer.sent_bytes(ranks as f64);
        let port = |island: &&JobIsland| {
            let degraded = island.nodes.iter().filter(|_| !load.nodes.is_empty());
            let slowest = degraded.filter_map(|node| load.nodes.get(node)).fold(1.0, |a: f64, b| a.min(*b));
            sent / island.nodes.len() as f64 / (level.node_bytes_per_s * slowest)
        };
        self.members.iter().map(port).fold(0.0, f64::max)
    }

    /// Adds the bytes that leave each group of a level.
    fn add_loads(&self, level: usize, shares: &LevelShares, transfer: Transfer, loads: &mut UplinkLoads) {
        if shares.len() < 2 {
            return;
        }
        let n = self.members.len() as f64;
        for (group, share) in shares {
            let size = share.members as f64;
            let bytes = match (transfer.collective, self.order) {
                (Collective::AllToAll, _) => transfer.bytes / n * size * (n - size) / n,
                (Collective::SendReceive, _) | (_, RankOrder::Ring) => transfer.sent_bytes(n) * share.leaving as f64,
                (_, RankOrder::Hierarchical) => transfer.sent_bytes(shares.len() as f64),
            };
            *loads.entry((level, *group)).or_insert(0.0) += bytes;
        }
    }

    /// Returns the latency: a pass over n members takes log2(n) steps, at the latency of the lowest level whose group
    /// contains all members.
    fn latency_s(&self, map: &FabricMap, levels: &[LevelShares], collective: Collective) -> f64 {
        let common = levels.iter().position(|shares| shares.len() < 2);
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
        let levels = (0..map.levels.len()).map(|level| group.shares(map, level, transfer.collective));
        let levels: Vec<LevelShares> = levels.collect();
        let seconds = group.port_seconds(map, load, transfer, &levels);
        if seconds > slowest.0 {
            slowest.0 = seconds;
        }
        for (level, shares) in levels.iter().enumerate() {
            group.add_loads(level, shares, transfer, &mut loads);
        }
        latency = latency.max(group.latency_s(map, &levels, transfer.collective));
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
