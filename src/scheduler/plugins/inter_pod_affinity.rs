//! InterPodAffinity: filters by required affinity and anti-affinity of the pod, and by the required anti-affinity of
//! the other pods.

use crate::cluster::Cluster;
use crate::cycle::SchedulingCycle;
use crate::index::NodeIndex;
use crate::node::NodeUsage;
use crate::plugin::Plugin;
use crate::pod::PodView;
use crate::pod_terms::PodTerm;
use crate::rejection::Rejection;
use std::collections::BTreeMap;

pub const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
const EXISTING_ANTI_AFFINITY: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// Number of matches by topology key and value.
type DomainCounts<'a> = BTreeMap<(&'a str, &'a str), i64>;

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
        for (node, other) in cluster.placed_pods() {
            state.update(cluster, pod, node, other, 1);
        }
        state
    }

    /// Counts a pod on a node (`by` = 1), or no longer (−1).
    pub fn update(&mut self, cluster: &'a Cluster, pod: &'a PodView, node: NodeIndex, other: &'a PodView, by: i64) {
        let add = |counts: &mut DomainCounts<'a>, term: &'a PodTerm| {
            if let Some(value) = cluster.nodes[node].labels.get(&term.topology_key) {
                let key = (term.topology_key.as_str(), value.as_str());
                let count = counts.entry(key).or_default();
                *count += by;
                if *count == 0 {
                    counts.remove(&key);
                }
            }
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
    let count = |counts: &DomainCounts<'_>, term: &PodTerm| {
        let value = labels.get(&term.topology_key)?;
        Some(counts.get(&(term.topology_key.as_str(), value.as_str())).copied().unwrap_or(0))
    };
    let found = pod.affinity.required.iter().map(|term| count(&state.affinity, term));
    let found: Option<Vec<i64>> = found.collect();
    // The first pod of a group may start it if it matches its own terms.
    let starts_group = || state.affinity.is_empty() && selects_by_all(cycle.cluster, &pod.affinity.required, pod);
    if !found.is_some_and(|counts| counts.iter().all(|count| *count > 0) || starts_group()) {
        return Err(Rejection::unresolvable(Plugin::InterPodAffinity, AFFINITY));
    }
    if pod.anti_affinity.required.iter().any(|term| count(&state.anti_affinity, term).unwrap_or(0) > 0) {
        return Err(Rejection::resolvable(Plugin::InterPodAffinity, ANTI_AFFINITY));
    }
    let repels = |(key, value): (&String, &String)| state.existing.contains_key(&(key.as_str(), value.as_str()));
    if !state.existing.is_empty() && labels.iter().any(repels) {
        return Err(Rejection::resolvable(Plugin::InterPodAffinity, EXISTING_ANTI_AFFINITY));
    }
    Ok(())
}
