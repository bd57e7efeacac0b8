//! TaintToleration: filters by NoSchedule and NoExecute taints, and scores PreferNoSchedule taints.

use crate::node::{NodeUsage, NodeView};
use crate::rejection::Rejection;
use crate::{cycle::SchedulingCycle, index::NodeIndex, plugin::Plugin, plugins::normalize::normalize, pod::PodView};
use sim_api::spec::{TaintEffect, TolerationSpec};

const REASON: &str = "node(s) had untolerated taint(s)";

/// Returns whether the pod tolerates all taints of the node that affect scheduling.
pub fn tolerates_node(pod: &PodView, node: &NodeView) -> bool {
    let mut hard = node.taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
    hard.all(|taint| pod.tolerates(taint))
}

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    if tolerates_node(cycle.pod, &cycle.cluster.nodes[node]) {
        return Ok(());
    }
    Err(Rejection::unresolvable(Plugin::TaintToleration, REASON))
}

/// Fewer PreferNoSchedule taints without a toleration are better.
pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    const SOFT: TaintEffect = TaintEffect::PreferNoSchedule;
    let soft = cycle.pod.tolerations.iter().filter(|t| t.effect.is_none_or(|effect| effect == SOFT));
    let soft: Vec<&TolerationSpec> = soft.collect();
    let count = |node: &NodeIndex| {
        let taints = cycle.cluster.nodes[*node].taints.iter().filter(|taint| taint.effect == SOFT);
        taints.filter(|taint| !soft.iter().any(|t| t.tolerates(taint))).count() as i64
    };
    Some(normalize(nodes.iter().map(count).collect(), true))
}
