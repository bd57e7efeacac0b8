//! Nodes by the value of a label, and counts by this value.

use crate::{index::NodeIndex, node::NodeView};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The domains of a topology key, numbered in the order of their first nodes.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    domains: Vec<Option<usize>>,
    pub domain_count: usize,
}

impl Topology {
    pub fn new(nodes: &[NodeView], key: &str) -> Topology {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let mut domains = Vec::with_capacity(nodes.len());
        for node in nodes {
            let next = known.len();
            domains.push(node.labels.get(key).map(|value| *known.entry(value).or_insert(next)));
        }
        let domain_count = known.len();
        Topology { domains, domain_count }
    }

    /// Returns the domain of a node, or `None` if it lacks the label.
    pub fn domain(&self, node: NodeIndex) -> Option<usize> {
        self.domains[node]
    }
}

/// Number of matches by domain, for several topology keys.
#[derive(Clone, Debug, Default)]
pub struct DomainCounts<'a> {
    keys: Vec<(&'a str, Cow<'a, Topology>, Vec<i64>)>,
    total: i64,
}

impl<'a> DomainCounts<'a> {
    /// Adds `by` to the node's domain of the key, if the node has the label.
    pub fn add(&mut self, topology: impl Fn(&str) -> Cow<'a, Topology>, key: &'a str, node: NodeIndex, by: i64) {
        let at = self.keys.iter().position(|(known, ..)| *known == key).unwrap_or_else(|| {
            let topology = topology(key);
            let counts = vec![0; topology.domain_count];
            self.keys.push((key, topology, counts));
            self.keys.len() - 1
        });
        let (_, topology, counts) = &mut self.keys[at];
        if let Some(domain) = topology.domain(node) {
            counts[domain] += by;
            self.total += by;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the count in the node's domain of the key.
    pub fn get(&self, key: &str, node: NodeIndex) -> i64 {
        let of_key = self.keys.iter().find(|(known, ..)| *known == key);
        of_key.map_or(0, |(_, topology, counts)| topology.domain(node).map_or(0, |domain| counts[domain]))
    }

    /// Returns whether there is a match in one of the node's domains.
    pub fn has_any(&self, node: NodeIndex) -> bool {
        let positive = |topology: &Topology, counts: &[i64]| topology.domain(node).is_some_and(|at| counts[at] > 0);
        self.total > 0 && self.keys.iter().any(|(_, topology, counts)| positive(topology, counts))
    }
}
