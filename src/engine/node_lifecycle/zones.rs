//! Share of silent nodes per failure zone, which determines the rate of taints (kubernetes.md 4.1).

use super::{EvictionZone, NodeLifecycle};
use crate::ctx::EngineContext;
use sim_base::{NodeId, ZoneId};
use sim_policy::topology::ClusterBuilder;

/// `--large-cluster-size-threshold` (kubernetes.md 4.1).
const LARGE_ZONE: u32 = 50;

/// Rate of a zone's limiter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EvictionPace {
    Normal,
    /// Most nodes of a large zone are silent.
    Slow,
    /// Most nodes of a small zone are silent, or all zones are silent.
    Stopped,
}

impl NodeLifecycle {
    /// Updates the counts of the zones after a node became silent or ready, was removed or created, or changed its
    /// zone.
    pub(super) fn count_node(&mut self, ctx: &mut EngineContext<'_>, node: NodeId) {
        let nodes = &ctx.store.nodes;
        let (row, zone) = (nodes.rows[node.ix()], nodes.cluster.zone[node.ix()]);
        self.add_zones(&nodes.cluster);
        let of = |counts: bool| if counts { zone } else { ZoneId::NONE };
        let (silent, gone) = (of(row.exists && row.unknown), of(!row.exists));
        let marks = self.node(node);
        let was_silent = std::mem::replace(&mut marks.silent_zone, silent);
        let was_gone = std::mem::replace(&mut marks.removed_zone, gone);
        let mut add = |zone: ZoneId, silent: i32, gone: i32| {
            if let Some(z) = self.zones.get_mut(zone.ix()) {
                let sum = |count: u32, n| count.checked_add_signed(n).expect("counted before");
                (z.silent, z.removed) = (sum(z.silent, silent), sum(z.removed, gone));
            }
        };
        add(was_silent, -1, 0);
        add(silent, 1, 0);
        add(was_gone, 0, -1);
        add(gone, 0, 1);
        if (was_silent, was_gone) != (silent, gone) {
            self.recheck_stopped_zones(ctx);
        }
    }

    pub(super) fn add_zones(&mut self, cluster: &ClusterBuilder) {
        self.zones.resize(cluster.zone_sizes.len(), EvictionZone::default());
    }

    pub(super) fn pace(&self, cluster: &ClusterBuilder, zone: ZoneId) -> EvictionPace {
        let nodes = |z: usize| cluster.zone_sizes[z] - self.zones[z].removed;
        let mut zones = (0..self.zones.len()).map(|z| (nodes(z), self.zones[z].silent));
        if zones.all(|(size, silent)| silent >= size) {
            return EvictionPace::Stopped;
        }
        zone_pace(nodes(zone.ix()), self.zones[zone.ix()].silent)
    }
}

/// `--unhealthy-zone-threshold`: more than two silent nodes and at least 55 %, but not all (kubernetes.md 4.1).
pub fn zone_pace(size: u32, silent: u32) -> EvictionPace {
    let partial = silent > 2 && silent * 100 >= size * 55 && silent < size;
    match partial {
        false => EvictionPace::Normal,
        true if size <= LARGE_ZONE => EvictionPace::Stopped,
        true => EvictionPace::Slow,
    }
}
