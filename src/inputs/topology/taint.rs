//! Reads taints, which Topology files and Nodes write in the same way.

use crate::read;
use crate::text::node::Node;
use sim_api::spec::{Taint, TaintEffect};

/// A taint of a checked node.
pub fn taint(node: &Node) -> Taint {
    Taint {
        key: read::string(node, "key").unwrap_or_default(),
        value: read::string(node, "value").unwrap_or_default(),
        effect: taint_effect(node).unwrap_or(TaintEffect::NoSchedule),
    }
}

/// The `effect` of a taint or toleration.
pub fn taint_effect(node: &Node) -> Option<TaintEffect> {
    match node.get("effect")?.as_str()? {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}
