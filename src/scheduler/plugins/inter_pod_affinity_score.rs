//! InterPodAffinity: scores by preferred terms of the pod and of the other pods.

use crate::{cycle::SchedulingCycle, index::NodeIndex, labels::Labels, plugins::normalize::MAX_NODE_SCORE};
use crate::{pod::PodView, pod_terms::PodTerm};
use std::collections::BTreeMap;

/// Sum of weights by topology key and value.
type DomainWeights<'a> = BTreeMap<&'a str, BTreeMap<&'a str, i64>>;

/// Returns `None` if no term matches a pod.
pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Option<Vec<i64>> {
    let weights = domain_weights(cycle);
    if weights.is_empty() {
        return None;
    }
    let raw = |node: &NodeIndex| {
        let labels = &cycle.cluster.nodes[*node].labels;
        let of_key = |(key, values): (&&str, &BTreeMap<&str, i64>)| {
            let value = labels.get(*key)?;
            values.get(value.as_str()).copied()
        };
        weights.iter().filter_map(of_key).sum::<i64>()
    };
    let raw: Vec<i64> = nodes.iter().map(raw).collect();
    let (min, max) = (raw.iter().min().copied()?, raw.iter().max().copied()?);
    let range = (max - min) as f64;
    let scaled = |score: &i64| {
        if max == min { 0 } else { (MAX_NODE_SCORE as f64 * ((score - min) as f64 / range)) as i64 }
    };
    Some(raw.iter().map(scaled).collect())
}

fn domain_weights<'a>(cycle: &SchedulingCycle<'a>) -> DomainWeights<'a> {
    let (cluster, pod) = (cycle.cluster, cycle.pod);
    let mut weights = DomainWeights::new();
    let prefers = !pod.affinity.preferred.is_empty() || !pod.anti_affinity.preferred.is_empty();
    for (node, other) in cluster.pods_about(prefers) {
        let labels = &cluster.nodes[node].labels;
        let mut add = |term: &'a PodTerm, subject: &PodView, weight: i64| {
            if weight != 0 && cluster.selects(term, subject) {
                add_weight(&mut weights, labels, term, weight);
            }
        };
        pod.affinity.preferred.iter().for_each(|(weight, term)| add(term, other, *weight));
        pod.anti_affinity.preferred.iter().for_each(|(weight, term)| add(term, other, -weight));
        // Required affinity of the other pod is symmetric to a preference of this weight.
        let hard = cycle.profile.hard_pod_affinity_weight;
        other.affinity.required.iter().for_each(|term| add(term, pod, hard));
        other.affinity.preferred.iter().for_each(|(weight, term)| add(term, pod, *weight));
        other.anti_affinity.preferred.iter().for_each(|(weight, term)| add(term, pod, -weight));
    }
    weights
}

fn add_weight<'a>(weights: &mut DomainWeights<'a>, labels: &'a Labels, term: &'a PodTerm, weight: i64) {
    if let Some(value) = labels.get(&term.topology_key) {
        *weights.entry(&term.topology_key).or_default().entry(value).or_default() += weight;
    }
}
