//! InterPodAffinity: filters by required affinity and anti-affinity of the pod, and by the required anti-affinity of
//! the other pods.

use crate::{cluster::Cluster, cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin};
use crate::{pod::PodView, pod_terms::PodTerm, rejection::Rejection, topology::DomainCounts};

pub const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
const EXISTING_ANTI_AFFINITY: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

#[derive(Clone, Debug, Default)]
pub struct AffinityState<'a> {
    /// Pods that match all affinity terms of the pod.
    affinity: DomainCounts<'a>,
    /// Pods that match an anti-affinity term of the pod.
    anti_affinity: DomainCounts<'a>,
    /// Anti-affinity terms of other pods that match the pod.
    existing: DomainCounts<'a>,
}

impl<'a> AffinityState<'a> {
    pub fn new(cluster: &'a Cluster, pod: &'a PodView) -> AffinityState<'a> {
        let mut state = AffinityState::default();
        let has_required = !pod.affinity.required.is_empty() || !pod.anti_affinity.required.is_empty();
        for (node, other) in cluster.pods_about(has_required) {
            state.update(cluster, pod, node, other, 1);
        }
        state
    }

    /// Counts a pod on a node (`by` = 1), or no longer (−1).
    pub fn update(&mut self, cluster: &'a Cluster, pod: &'a PodView, node: NodeIndex, other: &'a PodView, by: i64) {
        let add = |counts: &mut DomainCounts<'a>, term: &'a PodTerm| {
            counts.add(|key| cluster.topology(key), &term.topology_key, node, by)
        };
        for term in other.anti_affinity.required.iter().filter(|term| cluster.selects(term, pod)) {
            add(&mut self.existing, term);
        }
        if !pod.affinity.required.is_empty() && selects_by_all(cluster, &pod.affinity.required, other) {
            pod.affinity.required.iter().for_each(|term| add(&mut self.affinity, term));
        }
        for term in pod.anti_affinity.required.iter().filter(|term| cluster.selects(term, other)) {
            add(&mut self.anti_affinity, term);
        }
    }
}

fn selects_by_all(cluster: &Cluster, terms: &[PodTerm], pod: &PodView) -> bool {
    terms.iter().all(|term| cluster.selects(term, pod))
}

pub fn filter(cycle: &SchedulingCycle<'_>, node: NodeIndex, _: &NodeUsage) -> Result<(), Rejection> {
    let (state, pod, labels) = (&cycle.affinity, cycle.pod, &cycle.cluster.nodes[node].labels);
    let required = &pod.affinity.required;
    // The first pod of a group may start it if it matches its own terms.
    let starts_group = || {
        let has_labels = required.iter().all(|term| labels.contains_key(&term.topology_key));
        has_labels && state.affinity.is_empty() && selects_by_all(cycle.cluster, required, pod)
    };
    if !required.iter().all(|term| state.affinity.get(&term.topology_key, node) > 0) && !starts_group() {
        return Err(Rejection::unresolvable(Plugin::InterPodAffinity, AFFINITY));
    }
    if pod.anti_affinity.required.iter().any(|term| state.anti_affinity.get(&term.topology_key, node) > 0) {
        return Err(Rejection::resolvable(Plugin::InterPodAffinity, ANTI_AFFINITY));
    }
    if state.existing.has_any(node) {
        return Err(Rejection::resolvable(Plugin::InterPodAffinity, EXISTING_ANTI_AFFINITY));
    }
    Ok(())
}
