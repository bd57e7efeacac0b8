//! Reads taints, which have the same fields in Topology files and Nodes.

use crate::read;
use crate::text::node::Node;
use sim_api::spec::{Taint, TaintEffect};

/// Converts a checked node to a taint.
pub fn taint(node: &Node) -> Taint {
    Taint {
        key: read::string(node, "key").unwrap_or_default(),
        value: read::string(node, "value").unwrap_or_default(),
        effect: taint_effect(node).unwrap_or(TaintEffect::NoSchedule),
    }
}

/// Reads the `effect` of a taint or toleration.
pub fn taint_effect(node: &Node) -> Option<TaintEffect> {
    match node.get("effect")?.as_str()? {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}
