//! NodeName: pods that name their node.

use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin, rejection::Rejection};

const REASON: &str = "node(s) didn't match the requested node name";

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    let name = &cycle.pod.node_name;
    if name.is_empty() || *name == cycle.cluster.nodes[node].name {
        return Ok(());
    }
    Err(Rejection::unresolvable(Plugin::NodeName, REASON))
}
