//! PodTopologySpread: filters by constraints with DoNotSchedule.

use super::taint_toleration;
use crate::cluster::Cluster;
use crate::cycle::SchedulingCycle;
use crate::index::NodeIndex;
use crate::node::{NodeUsage, NodeView};
use crate::plugin::Plugin;
use crate::pod::PodView;
use crate::pod_terms::SpreadConstraint;
use crate::rejection::Rejection;
use std::collections::BTreeMap;

const REASON: &str = "node(s) didn't match pod topology spread constraints";
const MISSING_LABEL: &str = "node(s) didn't match pod topology spread constraints (missing required label)";

/// Number of matching pods by domain, for each required constraint.
#[derive(Clone, Debug, Default)]
pub struct SpreadState<'a> {
    constraints: Vec<(&'a SpreadConstraint, BTreeMap<&'a str, i64>)>,
    /// Smallest count of a constraint.
    minimums: Vec<i64>,
}

/// Returns whether a pod counts for a constraint.
pub fn counts(constraint: &SpreadConstraint, pod: &PodView, other: &PodView) -> bool {
    !other.is_terminating && other.namespace == pod.namespace && constraint.selector.matches(&other.labels)
}

/// Returns whether the policies of a constraint include a node in its domains.
pub fn includes(constraint: &SpreadConstraint, pod: &PodView, node: &NodeView) -> bool {
    (!constraint.honors_affinity || pod.node_affinity.allows(node))
        && (!constraint.honors_taints || taint_toleration::tolerates_node(pod, node))
}

impl<'a> SpreadState<'a> {
    pub fn new(cluster: &'a Cluster, pod: &'a PodView) -> SpreadState<'a> {
        let required = pod.spread.iter().filter(|c| c.is_required);
        let constraints: Vec<_> = required.map(|c| (c, BTreeMap::new())).collect();
        let mut state = SpreadState { minimums: vec![0; constraints.len()], constraints };
        if state.constraints.is_empty() {
            return state;
        }
        for (node, view) in cluster.nodes.iter().enumerate() {
            if !state.has_all_keys(view) {
                continue;
            }
            let pods = || cluster.usage[node].pods.iter().map(|index| &cluster.pods[*index]);
            for (constraint, domains) in state.constraints.iter_mut().filter(|(c, _)| includes(c, pod, view)) {
                let count = pods().filter(|other| counts(constraint, pod, other)).count();
                *domains.entry(view.labels[&constraint.topology_key].as_str()).or_default() += count as i64;
            }
        }
        state.refresh_minimums();
        state
    }

    fn has_all_keys(&self, node: &NodeView) -> bool {
        self.constraints.iter().all(|(c, _)| node.labels.contains_key(&c.topology_key))
    }

    fn refresh_minimums(&mut self) {
        for ((constraint, domains), minimum) in self.constraints.iter().zip(&mut self.minimums) {
            let enough = domains.len() as i64 >= constraint.min_domains;
            *minimum = if enough { domains.values().copied().min().unwrap_or(i64::from(i32::MAX)) } else { 0 };
        }
    }

    /// Counts a pod on a node (`by` = 1), or no longer (−1).
    pub fn update(&mut self, cluster: &'a Cluster, pod: &PodView, node: NodeIndex, other: &PodView, by: i64) {
        let view = &cluster.nodes[node];
        if self.constraints.is_empty() || !self.has_all_keys(view) {
            return;
        }
        for (constraint, domains) in self.constraints.iter_mut().filter(|(c, _)| includes(c, pod, view)) {
            if counts(constraint, pod, other) {
                *domains.entry(view.labels[&constraint.topology_key].as_str()).or_default() += by;
            }
        }
        self.refresh_minimums();
    }
}

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    let (state, labels) = (&cycle.spread, &cycle.cluster.nodes[node].labels);
    for ((constraint, domains), minimum) in state.constraints.iter().zip(&state.minimums) {
        let Some(domain) = labels.get(&constraint.topology_key) else {
            return Err(Rejection::unresolvable(Plugin::PodTopologySpread, MISSING_LABEL));
        };
        let own = i64::from(constraint.selector.matches(&cycle.pod.labels));
        let count = domains.get(domain.as_str()).copied().unwrap_or(0);
        if count + own - minimum > constraint.max_skew {
            return Err(Rejection::resolvable(Plugin::PodTopologySpread, REASON));
        }
    }
    Ok(())
}
