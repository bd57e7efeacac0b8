//! NodeAffinity: `nodeSelector` and node affinity.

use crate::cycle::SchedulingCycle;
use crate::index::NodeIndex;
use crate::node::NodeUsage;
use crate::plugin::Plugin;
use crate::plugins::normalize::normalize;
use crate::rejection::Rejection;

const REASON: &str = "node(s) didn't match Pod's node affinity/selector";

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    if cycle.pod.node_affinity.allows(&cycle.cluster.nodes[node]) {
        return Ok(());
    }
    Err(Rejection::unresolvable(Plugin::NodeAffinity, REASON))
}

pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let affinity = &cycle.pod.node_affinity;
    let preference = |node: &NodeIndex| affinity.preference(&cycle.cluster.nodes[*node]);
    (!affinity.preferred.is_empty()).then(|| normalize(nodes.iter().map(preference).collect(), false))
}
