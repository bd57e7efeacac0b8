//! Reads taints, which have the same fields in Topology files and Nodes.

use crate::{read, text::node::YamlNode};
use sim_api::spec::{TaintEffect, TaintSpec};

/// Converts a checked node to a taint.
pub fn taint(node: &YamlNode) -> TaintSpec {
    TaintSpec {
        key: read::string(node, "key").unwrap_or_default(),
        value: read::string(node, "value").unwrap_or_default(),
        effect: taint_effect(node).unwrap_or(TaintEffect::NoSchedule),
    }
}

/// Reads the `effect` of a taint or toleration.
pub fn taint_effect(node: &YamlNode) -> Option<TaintEffect> {
    effect_of_text(node.get("effect")?.as_str()?)
}

/// Returns the effect with this name in the Kubernetes API.
pub fn effect_of_text(text: &str) -> Option<TaintEffect> {
    match text {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}
