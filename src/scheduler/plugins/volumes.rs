//! VolumeRestrictions and VolumeBinding: claims that only one pod may use, and the nodes of volumes.

use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin, rejection::Rejection};
use sim_api::spec::NodeTerm;

const IN_USE: &str = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode";
const CONFLICT: &str = "node(s) didn't match PersistentVolume's node affinity";

pub fn filter_restrictions(cycle: &SchedulingCycle<'_>, _: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    if cycle.shared_claims > 0 { Err(Rejection::resolvable(Plugin::VolumeRestrictions, IN_USE)) } else { Ok(()) }
}

pub fn filter_binding(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    let view = &cycle.cluster.nodes[node];
    let matches = |term: &NodeTerm| term.matches(&view.name, |key| view.labels.get(key));
    if cycle.pod.claims.volume_nodes.iter().all(|terms| terms.iter().any(matches)) {
        return Ok(());
    }
    Err(Rejection::unresolvable(Plugin::VolumeBinding, CONFLICT))
}
