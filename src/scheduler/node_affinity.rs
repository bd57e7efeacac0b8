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
    /// Why the preferred terms cannot be parsed: the operators `Gt` and `Lt` need an integer. PreScore fails then.
    pub preference_error: Option<String>,
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
            preference_error: parse_error(list(affinity, PREFERRED).iter().map(|term| match int(term, "weight") {
                None | Some(0) => &Value::Null,
                Some(_) => &term["preference"],
            })),
        }
    }

    /// Returns why the required terms of `addedAffinity` cannot be parsed. Those of pods then match no node.
    pub fn requirement_error(affinity: &Value) -> Option<String> {
        parse_error(list(&affinity[REQUIRED], "nodeSelectorTerms").iter())
    }

    /// Returns whether the node satisfies the selector and the required terms.
    pub fn allows(&self, node: &NodeView) -> bool {
        self.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value)) && self.allows_by_terms(node)
    }

    /// Returns whether the node satisfies the required terms.
    pub fn allows_by_terms(&self, node: &NodeView) -> bool {
        self.required.as_ref().is_none_or(|terms| terms.iter().any(|term| matches(term, node)))
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

/// Returns the errors in terms, in the words of `nodeaffinity.NewPreferredSchedulingTerms`.
fn parse_error<'t>(terms: impl Iterator<Item = &'t Value>) -> Option<String> {
    const WHY: &str = "for 'Gt', 'Lt' operators, the value must be an integer";
    let mut errors = Vec::new();
    for (at, term) in terms.enumerate() {
        for (k, requirement) in list(term, "matchExpressions").iter().enumerate() {
            let compares = matches!(requirement["operator"].as_str(), Some("Gt" | "Lt"));
            let values = list(requirement, "values").iter().filter(|_| compares).filter_map(Value::as_str).enumerate();
            for (v, value) in values.filter(|(_, value)| value.parse::<i64>().is_err()) {
                errors.push(format!("[{at}].matchExpressions[{k}].values[{v}]: Invalid value: {value:?}: {WHY}"));
            }
        }
    }
    match errors.len() {
        0 => None,
        1 => errors.pop(),
        _ => Some(format!("[{}]", errors.join(", "))),
    }
}

pub fn read_term(term: &Value) -> NodeTerm {
    NodeTerm {
        expressions: list(term, "matchExpressions").iter().map(read_requirement).collect(),
        fields: list(term, "matchFields").iter().map(read_requirement).collect(),
    }
}
