//! NodeAffinity: `nodeSelector` and node affinity.

use crate::rejection::Rejection;
use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin, plugins::normalize::normalize};

const REASON: &str = "node(s) didn't match Pod's node affinity/selector";
const ADDED_REASON: &str = "node(s) didn't match scheduler-enforced node affinity";

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    if cycle.profile.added_affinity.as_ref().is_some_and(|added| !added.allows(&cycle.cluster.nodes[node])) {
        return Err(Rejection::unresolvable(Plugin::NodeAffinity, ADDED_REASON));
    }
    if cycle.pod.node_affinity.allows(&cycle.cluster.nodes[node]) {
        return Ok(());
    }
    Err(Rejection::unresolvable(Plugin::NodeAffinity, REASON))
}

pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let preferring = [Some(&cycle.pod.node_affinity), cycle.profile.added_affinity.as_ref()].into_iter().flatten();
    let preferring: Vec<_> = preferring.filter(|affinity| !affinity.preferred.is_empty()).collect();
    let preference = |node: &NodeIndex| preferring.iter().map(|a| a.preference(&cycle.cluster.nodes[*node])).sum();
    (!preferring.is_empty()).then(|| normalize(nodes.iter().map(preference).collect(), false))
}
