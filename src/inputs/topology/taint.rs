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
    match node.get("effect")?.as_str()? {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}
