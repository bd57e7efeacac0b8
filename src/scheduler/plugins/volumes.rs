//! VolumeRestrictions, VolumeBinding and VolumeZone: claims that only one pod may use, and the nodes of volumes.

use crate::rejection::{Reason, Rejection};
use crate::storage::VolumeView;
use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin};
use sim_api::spec::keys::ZONE;

const IN_USE: &str =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
const ZONE_CONFLICT: &str = "node(s) had no available volume zone";
const REGION: &str = "topology.kubernetes.io/region";
/// Separates several zones in the label of a volume (`LabelMultiZoneDelimiter`).
const DELIMITER: &str = "__";

pub fn filter_restrictions(cycle: &SchedulingCycle<'_>, _: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    if cycle.shared_claims > 0 { Err(Rejection::resolvable(Plugin::VolumeRestrictions, IN_USE)) } else { Ok(()) }
}

pub fn filter_binding(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    let found = cycle.volumes.find(&cycle.cluster.storage, &cycle.cluster.nodes[node]);
    found.map(drop).map_err(|reasons| Rejection {
        plugin: Plugin::VolumeBinding,
        is_resolvable: false,
        reasons: reasons.into_iter().map(Reason::Fixed).collect(),
    })
}

/// A node with labels of a zone or region has to have those of the volumes.
pub fn filter_zone(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    let labels = &cycle.cluster.nodes[node].labels;
    let is_constrained = [ZONE, REGION].iter().any(|key| labels.contains_key(*key));
    let matches = |volume: &VolumeView, key: &str| {
        let zones = volume.labels.get(key);
        zones.is_none_or(|zones| labels.get(key).is_some_and(|own| zones.split(DELIMITER).any(|zone| zone == own)))
    };
    let mut volumes = cycle.volumes.bound_volumes();
    if !is_constrained || volumes.all(|volume| [ZONE, REGION].iter().all(|key| matches(volume, key))) {
        return Ok(());
    }
    Err(Rejection::unresolvable(Plugin::VolumeZone, ZONE_CONFLICT))
}
