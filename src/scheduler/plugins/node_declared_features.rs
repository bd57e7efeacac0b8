//! NodeDeclaredFeatures: features of the kubelet that a pod needs.

use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin, rejection::Rejection};

const REASON: &str = "node(s) didn't match Pod's required features";

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    let declared = &cycle.cluster.nodes[node].features;
    if cycle.pod.required_features.iter().all(|feature| declared.contains(feature)) {
        return Ok(());
    }
    Err(Rejection::unresolvable(Plugin::NodeDeclaredFeatures, REASON))
}
