//! Share of silent nodes per failure zone, which determines the rate of taints (kubernetes.md 4.1).

use super::{NodeLifecycle, Zone};
use crate::ctx::Ctx;
use sim_base::*;
use sim_policy::topology::Cluster;

/// `--large-cluster-size-threshold` (kubernetes.md 4.1).
const LARGE_ZONE: u32 = 50;

/// Rate of a zone's limiter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Normal,
    /// Most nodes of a large zone are silent.
    Slow,
    /// Most nodes of a small zone are silent, or all zones are silent.
    Stopped,
}

impl NodeLifecycle {
    /// Updates the counts of the zones after a node became silent or ready, was removed or created, or changed its
    /// zone.
    pub(super) fn count_node(&mut self, ctx: &mut Ctx<'_>, node: NodeId) {
        let nodes = &ctx.store.nodes;
        let (row, zone) = (nodes.rows[node.ix()], nodes.cluster.zone[node.ix()]);
        self.see_zones(&nodes.cluster);
        let of = |counts: bool| if counts { zone } else { ZoneId::NONE };
        let (silent, gone) = (of(row.exists && row.unknown), of(!row.exists));
        let marks = self.node(node);
        let was_silent = std::mem::replace(&mut marks.silent_in, silent);
        let was_gone = std::mem::replace(&mut marks.gone_from, gone);
        let mut add = |zone: ZoneId, silent: i32, gone: i32| {
            if let Some(z) = self.zones.get_mut(zone.ix()) {
                let sum = |count: u32, n| count.checked_add_signed(n).expect("counted before");
                (z.silent, z.gone) = (sum(z.silent, silent), sum(z.gone, gone));
            }
        };
        add(was_silent, -1, 0);
        add(silent, 1, 0);
        add(was_gone, 0, -1);
        add(gone, 0, 1);
        if (was_silent, was_gone) != (silent, gone) {
            self.ask_stopped(ctx);
        }
    }

    pub(super) fn see_zones(&mut self, cluster: &Cluster) {
        self.zones.resize(cluster.zone_sizes.len(), Zone::default());
    }

    pub(super) fn pace(&self, cluster: &Cluster, zone: ZoneId) -> Pace {
        let nodes = |z: usize| cluster.zone_sizes[z] - self.zones[z].gone;
        let mut zones = (0..self.zones.len()).map(|z| (nodes(z), self.zones[z].silent));
        if zones.all(|(size, silent)| silent >= size) {
            return Pace::Stopped;
        }
        pace(nodes(zone.ix()), self.zones[zone.ix()].silent)
    }
}

/// `--unhealthy-zone-threshold`: more than two silent nodes and at least 55 %, but not all (kubernetes.md 4.1).
pub(super) fn pace(size: u32, silent: u32) -> Pace {
    let partial = silent > 2 && silent * 100 >= size * 55 && silent < size;
    match partial {
        false => Pace::Normal,
        true if size <= LARGE_ZONE => Pace::Stopped,
        true => Pace::Slow,
    }
}
