//! PodTopologySpread: filters by constraints with DoNotSchedule.

use super::taint_toleration;
use crate::labels::{LabelSelector, Labels};
use crate::node::{NodeUsage, NodeView};
use crate::{cluster::Cluster, cycle::SchedulingCycle, index::NodeIndex, plugin::Plugin, pod::PodView};
use crate::{pod_terms::SpreadConstraint, profile::Profile, rejection::Rejection, topology::Topology};
use std::borrow::Cow;

const REASON: &str = "node(s) didn't match pod topology spread constraints";
const MISSING_LABEL: &str = "node(s) didn't match pod topology spread constraints (missing required label)";

/// The domains of each required constraint.
#[derive(Clone, Debug, Default)]
pub struct SpreadState<'a> {
    constraints: Vec<SpreadDomains<'a>>,
}

#[derive(Clone, Debug)]
struct SpreadDomains<'a> {
    constraint: Cow<'a, SpreadConstraint>,
    topology: Cow<'a, Topology>,
    /// Number of matching pods by domain; `None` for a domain without an included node.
    counts: Vec<Option<i64>>,
    /// Smallest count of a domain.
    minimum: i64,
}

/// Returns the constraints of a pod. Those of a pod without any depend on the profile, and their selector merges those
/// of the Services that select the pod (`buildDefaultConstraints`). The owners that also count upstream do not exist in
/// the model: ReplicaSets, StatefulSets and ReplicationControllers.
pub fn constraints<'a>(cluster: &Cluster, pod: &'a PodView, profile: &Profile) -> Cow<'a, [SpreadConstraint]> {
    if !pod.spread.is_empty() {
        return Cow::Borrowed(&pod.spread);
    }
    let selects = |selector: &Labels| selector.iter().all(|(key, value)| pod.labels.get(key) == Some(value));
    let services = cluster.services.iter().filter(|(namespace, s)| *namespace == pod.namespace && selects(s));
    let merged: Labels = services.flat_map(|(_, selector)| selector.clone()).collect();
    if merged.is_empty() {
        return Cow::Borrowed(&[]);
    }
    let mut defaults = profile.default_spread.clone().unwrap_or_else(SpreadConstraint::system_defaults);
    defaults.iter_mut().for_each(|constraint| constraint.selector = LabelSelector::of_labels(&merged));
    Cow::Owned(defaults)
}

/// Returns whether a pod counts for a constraint. An empty selector counts no pod (`countPodsMatchSelector`).
pub fn counts(constraint: &SpreadConstraint, pod: &PodView, other: &PodView) -> bool {
    let selector = &constraint.selector;
    !other.is_terminating && other.namespace == pod.namespace && !selector.is_empty() && selector.matches(&other.labels)
}

/// Returns whether the policies of a constraint include a node in its domains.
pub fn includes(constraint: &SpreadConstraint, pod: &PodView, node: &NodeView) -> bool {
    (!constraint.honors_affinity || pod.node_affinity.allows(node))
        && (!constraint.honors_taints || taint_toleration::tolerates_node(pod, node))
}

impl<'a> SpreadState<'a> {
    pub fn new(cluster: &'a Cluster, pod: &'a PodView, profile: &Profile) -> SpreadState<'a> {
        let domains = |constraint: Cow<'a, SpreadConstraint>| {
            let topology = cluster.topology(&constraint.topology_key);
            SpreadDomains { constraint, counts: vec![None; topology.domain_count], topology, minimum: 0 }
        };
        let constraints: Vec<Cow<'a, SpreadConstraint>> = match constraints(cluster, pod, profile) {
            Cow::Borrowed(own) => own.iter().map(Cow::Borrowed).collect(),
            Cow::Owned(defaults) => defaults.into_iter().map(Cow::Owned).collect(),
        };
        let required = constraints.into_iter().filter(|c| c.is_required);
        let mut state = SpreadState { constraints: required.map(domains).collect() };
        if state.constraints.is_empty() {
            return state;
        }
        for (node, view) in cluster.nodes.iter().enumerate() {
            let pods = || cluster.usage[node].pods.iter().map(|index| &cluster.pods[*index]);
            for (constraint, count) in state.domains_of(pod, node, view) {
                *count.get_or_insert(0) += pods().filter(|other| counts(constraint, pod, other)).count() as i64;
            }
        }
        state.refresh_minimums();
        state
    }

    /// Returns the constraints that include the node, each with the count of its domain.
    fn domains_of<'s>(
        &'s mut self, pod: &'s PodView, node: NodeIndex, view: &'s NodeView,
    ) -> impl Iterator<Item = (&'s SpreadConstraint, &'s mut Option<i64>)> {
        let has_all_keys = self.constraints.iter().all(|c| c.topology.domain(node).is_some());
        let included = self.constraints.iter_mut().filter(move |c| has_all_keys && includes(&c.constraint, pod, view));
        included.filter_map(move |c| Some((&*c.constraint, &mut c.counts[c.topology.domain(node)?])))
    }

    fn refresh_minimums(&mut self) {
        for domains in &mut self.constraints {
            let known = || domains.counts.iter().copied().flatten();
            let enough = known().count() as i64 >= domains.constraint.min_domains;
            domains.minimum = if enough { known().min().unwrap_or(i64::from(i32::MAX)) } else { 0 };
        }
    }

    /// Counts a pod on a node (`by` = 1), or no longer (−1).
    pub fn update(&mut self, cluster: &'a Cluster, pod: &PodView, node: NodeIndex, other: &PodView, by: i64) {
        if self.constraints.is_empty() {
            return;
        }
        for (constraint, count) in self.domains_of(pod, node, &cluster.nodes[node]) {
            if counts(constraint, pod, other) {
                *count.get_or_insert(0) += by;
            }
        }
        self.refresh_minimums();
    }
}

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    for domains in &cycle.spread.constraints {
        let Some(domain) = domains.topology.domain(node) else {
            return Err(Rejection::unresolvable(Plugin::PodTopologySpread, MISSING_LABEL));
        };
        let own = i64::from(domains.constraint.selector.matches(&cycle.pod.labels));
        let count = domains.counts[domain].unwrap_or(0);
        if count + own - domains.minimum > domains.constraint.max_skew {
            return Err(Rejection::resolvable(Plugin::PodTopologySpread, REASON));
        }
    }
    Ok(())
}
