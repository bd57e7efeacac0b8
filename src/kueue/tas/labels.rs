//! Labels and taints of the nodes of a tree as columns, so that a selector compares numbers.

use super::exclusions::ExclusionStats;
use super::request::NodeConstraints;
use super::tree::TasNode;
use sim_api::spec::{NodeTerm, TaintEffect, TaintSpec, TolerationSpec};
use std::collections::BTreeMap;

/// Properties of the nodes at the leaves of a tree.
#[derive(Clone, Debug, Default)]
pub struct LeafNodes {
    names: Vec<String>,
    /// By label key: number of the value at each leaf, 0 if the label is missing.
    columns: BTreeMap<String, Vec<u32>>,
    numbers: BTreeMap<String, u32>,
    values: Vec<String>,
    taint_sets: Vec<Vec<TaintSpec>>,
    taint_set: Vec<u32>,
}

impl LeafNodes {
    /// Builds the columns from the nodes in the order of the leaves.
    pub fn new(nodes: &[&TasNode]) -> LeafNodes {
        let mut table = LeafNodes { values: vec![String::new()], ..LeafNodes::default() };
        for (leaf, node) in nodes.iter().enumerate() {
            table.names.push(node.name.clone());
            for (key, value) in &node.labels {
                let number = table.number(value);
                let column = table.columns.entry(key.clone()).or_insert_with(|| vec![0; nodes.len()]);
                column[leaf] = number;
            }
            let set = table.taint_sets.iter().position(|set| *set == node.taints).unwrap_or_else(|| {
                table.taint_sets.push(node.taints.clone());
                table.taint_sets.len() - 1
            });
            table.taint_set.push(set as u32);
        }
        table
    }

    fn number(&mut self, value: &str) -> u32 {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        let number = self.values.len() as u32;
        self.values.push(value.to_owned());
        self.numbers.insert(value.to_owned(), number);
        number
    }

    /// Returns which leaves satisfy the constraints, and counts the others; `None` if all do. Taints are checked first,
    /// then the selector, then the affinity.
    pub fn find_matching(
        &self, constraints: &NodeConstraints<'_>, flavor_tolerations: &[TolerationSpec], stats: &mut ExclusionStats<'_>,
    ) -> Option<Vec<bool>> {
        let tolerations = || constraints.tolerations.iter().chain(flavor_tolerations);
        let untolerated = |set: &Vec<TaintSpec>| {
            let hard = set.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
            let mut hard = hard.filter(|taint| !tolerations().any(|toleration| toleration.tolerates(taint)));
            hard.next().map(format_taint)
        };
        let untolerated: Vec<Option<String>> = self.taint_sets.iter().map(untolerated).collect();
        let has_selector = !constraints.node_selector.is_empty() || constraints.node_affinity.is_some();
        if !has_selector && untolerated.iter().all(Option::is_none) {
            return None;
        }
        let selector: Vec<Option<(&[u32], u32)>> =
            constraints.node_selector.iter().map(|(key, value)| self.find_label(key, value)).collect();
        let mut matching = vec![false; self.names.len()];
        for leaf in 0..self.names.len() {
            if let Some(taint) = &untolerated[self.taint_set[leaf] as usize] {
                *stats.taints.entry(taint.clone()).or_default() += 1;
            } else if !selector.iter().all(|label| label.is_some_and(|(column, number)| column[leaf] == number)) {
                stats.node_selector += 1;
            } else if !constraints.node_affinity.is_none_or(|terms| terms.iter().any(|t| self.satisfies(leaf, t))) {
                stats.affinity += 1;
            } else {
                matching[leaf] = true;
            }
        }
        Some(matching)
    }

    /// Returns the column of a label and the number of a value, or `None` if no node has it.
    fn find_label(&self, key: &str, value: &str) -> Option<(&[u32], u32)> {
        Some((self.columns.get(key)?, *self.numbers.get(value)?))
    }

    fn satisfies(&self, leaf: usize, term: &NodeTerm) -> bool {
        term.matches(&self.names[leaf], |key| {
            let number = self.columns.get(key)?[leaf];
            (number != 0).then(|| self.values[number as usize].as_str())
        })
    }
}

/// Formats a taint as Kubernetes does.
fn format_taint(taint: &TaintSpec) -> String {
    let effect = taint.effect.as_str();
    match taint.value.as_str() {
        "" => format!("{}:{effect}", taint.key),
        value => format!("{}={value}:{effect}", taint.key),
    }
}
