//! The nodes that a pod requires or prefers by labels and names.

use crate::labels::{Labels, read_labels, read_requirement};
use crate::node::NodeView;
use serde_json::Value;
use sim_api::objects::value_access::{has_value, int, list};
use sim_api::spec::NodeTerm;
use std::collections::BTreeSet;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// `nodeSelector` and `affinity.nodeAffinity`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeAffinityView {
    pub selector: Labels,
    /// At least one of the terms has to match.
    pub required: Option<Vec<NodeTerm>>,
    pub preferred: Vec<(i64, NodeTerm)>,
}

impl NodeAffinityView {
    pub fn read(spec: &Value) -> NodeAffinityView {
        let affinity = &spec["affinity"]["nodeAffinity"];
        let terms = || list(&affinity[REQUIRED], "nodeSelectorTerms").iter().map(read_term).collect();
        let weighted = |t: &Value| (int(t, "weight").unwrap_or(0), read_term(&t["preference"]));
        NodeAffinityView {
            selector: read_labels(&spec["nodeSelector"]),
            required: has_value(affinity, REQUIRED).then(terms),
            preferred: list(affinity, PREFERRED).iter().map(weighted).collect(),
        }
    }

    /// Returns whether the node satisfies the selector and the required terms.
    pub fn allows(&self, node: &NodeView) -> bool {
        self.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
            && self.required.as_ref().is_none_or(|terms| terms.iter().any(|term| matches(term, node)))
    }

    /// Returns the sum of the weights of the preferred terms that match.
    pub fn preference(&self, node: &NodeView) -> i64 {
        self.preferred.iter().filter(|(_, term)| matches(term, node)).map(|(weight, _)| weight).sum()
    }

    /// Returns the names of the nodes to examine, if each required term names some (PreFilter).
    pub fn node_names(&self) -> Option<BTreeSet<&str>> {
        let terms = self.required.as_ref().filter(|terms| !terms.is_empty())?;
        let sets: Option<Vec<BTreeSet<&str>>> = terms.iter().map(NodeTerm::node_names).collect();
        Some(sets?.into_iter().flatten().collect())
    }
}

fn matches(term: &NodeTerm, node: &NodeView) -> bool {
    term.matches(&node.name, |key| node.labels.get(key))
}

pub fn read_term(term: &Value) -> NodeTerm {
    NodeTerm {
        expressions: list(term, "matchExpressions").iter().map(read_requirement).collect(),
        fields: list(term, "matchFields").iter().map(read_requirement).collect(),
    }
}
