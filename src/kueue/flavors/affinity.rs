//! Whether the pods of a pod set can run on the nodes of a flavor: taints and node affinity.

use sim_api::spec::kueue::ResourceFlavor;
use sim_api::spec::{NodeTerm, PodSpec, TaintEffect, TaintSpec, TolerationSpec};

/// Returns the first taint of the flavor that neither the pods nor the flavor tolerate.
pub fn untolerated_taint<'a>(flavor: &'a ResourceFlavor, pods: &PodSpec) -> Option<&'a TaintSpec> {
    let tolerations = || pods.tolerations.iter().chain(&flavor.tolerations);
    let repels = |taint: &&TaintSpec| {
        taint.effect != TaintEffect::PreferNoSchedule && !tolerations().any(|t: &TolerationSpec| t.tolerates(taint))
    };
    flavor.node_taints.iter().find(repels)
}

/// Returns the message about a taint that is not tolerated.
pub fn taint_message(taint: &TaintSpec, flavor: &str) -> String {
    // Go prints the struct of the taint with its time, which is not set.
    format!("untolerated taint {{{} {} {} <nil>}} in flavor {flavor}", taint.key, taint.value, taint.effect.as_str())
}

/// Returns whether the labels of the flavor satisfy the node selector and the node affinity, as far as these use keys
/// of the flavor's labels.
pub fn matches_labels(flavor: &ResourceFlavor, pods: &PodSpec) -> bool {
    let labels = &flavor.node_labels;
    let selected = |(key, value): (&String, &String)| labels.get(key).is_none_or(|own| own == value);
    if !pods.node_selector.iter().all(selected) {
        return false;
    }
    let Some(terms) = &pods.node_affinity else {
        return true;
    };
    let restricted = |term: &NodeTerm| {
        let known = term.expressions.iter().filter(|e| labels.contains_key(&e.key)).cloned();
        NodeTerm { expressions: known.collect(), fields: Vec::new() }
    };
    let terms: Vec<NodeTerm> = terms.iter().map(restricted).collect();
    // One of the terms suffices, so a term without known keys makes all others irrelevant.
    terms.is_empty()
        || terms.iter().any(|term| term.expressions.is_empty())
        || terms.iter().any(|term| term.matches("", |key| labels.get(key)))
}
