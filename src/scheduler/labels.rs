//! Labels, and selectors of labels.

use serde_json::Value;
use sim_api::objects::value_access::{has_value, list, pairs, text};
use sim_api::spec::{NodeOperator, NodeRequirement};
use std::collections::BTreeMap;

pub type Labels = BTreeMap<String, String>;

/// A label selector of `metav1`. The default value is a nil selector, which selects nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSelector {
    /// `None` selects nothing; an empty list selects everything.
    requirements: Option<Vec<NodeRequirement>>,
}

impl LabelSelector {
    /// Reads the selector in a field of an object. A missing field is a nil selector.
    pub fn read(object: &Value, field: &str) -> LabelSelector {
        if !has_value(object, field) {
            return LabelSelector::default();
        }
        let selector = &object[field];
        let equal = pairs(&selector["matchLabels"]);
        let equal = equal.map(|(key, value)| requirement(key, "In", vec![value.as_str().unwrap_or("").to_owned()]));
        let expressions = list(selector, "matchExpressions").iter().map(read_requirement);
        LabelSelector { requirements: Some(equal.chain(expressions).collect()) }
    }

    /// Returns the selector of objects that have all these labels.
    pub fn of_labels(labels: &Labels) -> LabelSelector {
        let equal = labels.iter().map(|(key, value)| requirement(key, "In", vec![value.clone()]));
        LabelSelector { requirements: Some(equal.collect()) }
    }

    /// Adds the requirement that a label has a value, as `matchLabelKeys` does.
    pub fn require(&mut self, key: &str, value: &str) {
        let added = requirement(key, "In", vec![value.to_owned()]);
        self.requirements.iter_mut().for_each(|all| all.push(added.clone()));
    }

    pub fn matches(&self, labels: &Labels) -> bool {
        let matches = |r: &NodeRequirement| r.matches_label(labels.get(&r.key).map(String::as_str));
        self.requirements.as_ref().is_some_and(|all| all.iter().all(matches))
    }

    pub fn is_nil(&self) -> bool {
        self.requirements.is_none()
    }

    /// Returns whether a requirement is about this label.
    pub fn names_label(&self, key: &str) -> bool {
        self.requirements.iter().flatten().any(|requirement| requirement.key == key)
    }

    /// Returns whether the selector is nil or has no requirement.
    pub fn is_empty(&self) -> bool {
        self.requirements.as_ref().is_none_or(Vec::is_empty)
    }
}

fn requirement(key: &str, operator: &str, values: Vec<String>) -> NodeRequirement {
    NodeRequirement { key: key.to_owned(), operator: NodeOperator::parse(operator), values }
}

/// Reads one element of `matchExpressions` or `matchFields`.
pub fn read_requirement(expression: &Value) -> NodeRequirement {
    let values = list(expression, "values").iter().filter_map(Value::as_str).map(str::to_owned);
    requirement(text(expression, "key"), text(expression, "operator"), values.collect())
}

pub fn read_labels(labels: &Value) -> Labels {
    pairs(labels).map(|(key, value)| (key.clone(), value.as_str().unwrap_or("").to_owned())).collect()
}
