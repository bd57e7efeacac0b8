//! Required node affinity of a pod template, and its matching rules
//! (`component-helpers/scheduling/corev1/nodeaffinity`).

use std::collections::BTreeSet;

/// The only node field that `matchFields` supports.
pub const NODE_NAME_FIELD: &str = "metadata.name";

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeTerm {
    pub expressions: Vec<NodeRequirement>,
    pub fields: Vec<NodeRequirement>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeRequirement {
    pub key: String,
    /// `None` for an unknown operator: the API server rejects the term, and no node matches.
    pub operator: Option<NodeOperator>,
    pub values: Vec<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
}

impl NodeOperator {
    /// Parses the name of an operator as written in a manifest.
    pub fn parse(word: &str) -> Option<NodeOperator> {
        Some(match word {
            "In" => NodeOperator::In,
            "NotIn" => NodeOperator::NotIn,
            "Exists" => NodeOperator::Exists,
            "DoesNotExist" => NodeOperator::DoesNotExist,
            "Gt" => NodeOperator::Gt,
            "Lt" => NodeOperator::Lt,
            _ => return None,
        })
    }
}

impl NodeTerm {
    /// Returns whether the node satisfies all requirements. An empty term matches no node, and neither does a term
    /// that cannot be parsed (the Filter of NodeAffinity ignores such errors).
    pub fn matches<S: AsRef<str>>(&self, name: &str, label: impl Fn(&str) -> Option<S>) -> bool {
        let some = !self.expressions.is_empty() || !self.fields.is_empty();
        some && self.expressions.iter().all(|r| r.matches_label(label(&r.key).as_ref().map(AsRef::as_ref)))
            && self.fields.iter().all(|r| r.matches_node_name(name))
    }

    /// Returns the names of the nodes that the term is restricted to, if any (PreFilter).
    pub fn node_names(&self) -> Option<BTreeSet<&str>> {
        intersect_in_values(&self.fields, NODE_NAME_FIELD)
    }

    /// Returns the values to which the term restricts a label, if it restricts them with `In`.
    pub fn required_values(&self, key: &str) -> Option<BTreeSet<&str>> {
        intersect_in_values(&self.expressions, key)
    }
}

/// Returns the intersection of the values of all `In` requirements on the key.
fn intersect_in_values<'a>(all: &'a [NodeRequirement], key: &str) -> Option<BTreeSet<&'a str>> {
    let lists = |r: &&NodeRequirement| r.key == key && r.operator == Some(NodeOperator::In);
    let values = |r: &'a NodeRequirement| r.values.iter().map(String::as_str).collect();
    let sets = all.iter().filter(lists).map(values);
    sets.reduce(|a: BTreeSet<&str>, b| a.intersection(&b).copied().collect())
}

impl NodeRequirement {
    /// Implements `labels.Requirement.Matches`, including the checks of the values in `labels.NewRequirement`.
    pub fn matches_label(&self, label: Option<&str>) -> bool {
        let listed = || label.is_some_and(|l| self.values.iter().any(|value| value == l));
        let some = !self.values.is_empty();
        match self.operator {
            Some(NodeOperator::In) => some && listed(),
            Some(NodeOperator::NotIn) => some && !listed(),
            Some(NodeOperator::Exists) => !some && label.is_some(),
            Some(NodeOperator::DoesNotExist) => !some && label.is_none(),
            Some(NodeOperator::Gt) => self.integer_operands(label).is_some_and(|(l, v)| l > v),
            Some(NodeOperator::Lt) => self.integer_operands(label).is_some_and(|(l, v)| l < v),
            None => false,
        }
    }

    /// Returns the label value and the single required value if both are integers.
    fn integer_operands(&self, label: Option<&str>) -> Option<(i64, i64)> {
        let [value] = &self.values[..] else {
            return None;
        };
        Some((label?.parse().ok()?, value.parse().ok()?))
    }

    fn matches_node_name(&self, name: &str) -> bool {
        let [value] = &self.values[..] else {
            return false;
        };
        // Any other field counts as empty.
        let has = if self.key == NODE_NAME_FIELD { name } else { "" };
        match self.operator {
            Some(NodeOperator::In) => has == value,
            Some(NodeOperator::NotIn) => has != value,
            _ => false,
        }
    }
}
