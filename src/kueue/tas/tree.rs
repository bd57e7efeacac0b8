//! The domains of a flavor as a tree. Domains are numbered by level and, within a level, by the values of all levels up
//! to it, so that the children of a domain are consecutive and the number orders domains with equal capacities.

use super::amounts::{PodAmounts, ResourceNames};
use super::labels::LeafNodes;
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::{ResourceAmounts, TaintSpec, TolerationSpec};
use std::collections::BTreeMap;
use std::ops::Range;

/// A ResourceFlavor with its topology.
#[derive(Clone, Debug, Default)]
pub struct TasFlavor {
    pub name: String,
    /// Labels that select the nodes of the flavor.
    pub node_labels: BTreeMap<String, String>,
    pub tolerations: Vec<TolerationSpec>,
    pub topology: String,
    /// Node labels of the levels, the largest domains first.
    pub levels: Vec<String>,
}

/// A node as TAS sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TasNode {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<TaintSpec>,
    /// Whether `spec.unschedulable` is set.
    pub is_unschedulable: bool,
    /// Whether the condition Ready is True.
    pub is_ready: bool,
    /// `status.allocatable` in thousandths, with `pods`.
    pub allocatable: ResourceAmounts,
}

#[derive(Clone, Debug, Default)]
pub struct TopologyTree {
    pub levels: Vec<String>,
    /// Whether the lowest level is the hostname, so that a leaf is a node.
    pub has_node_leaves: bool,
    /// Domains of each level.
    level_domains: Vec<Range<usize>>,
    parents: Vec<usize>,
    children: Vec<Range<usize>>,
    /// Value of the domain's own level, by domain.
    values: Vec<String>,
    pub leaf_nodes: LeafNodes,
    leaf_by_node: BTreeMap<String, usize>,
    leaf_by_id: BTreeMap<String, usize>,
}

impl TopologyTree {
    /// Builds the tree of the flavor's nodes that are ready and schedulable and have the labels of all levels. Returns
    /// the allocatable amounts of the leaves in rows of `names.len()` as the second value.
    pub fn new(flavor: &TasFlavor, nodes: &[TasNode], names: &ResourceNames) -> (TopologyTree, Vec<i64>) {
        let has_node_leaves = flavor.levels.last().is_some_and(|key| key == HOSTNAME);
        let mut leaves: BTreeMap<Vec<&str>, Vec<&TasNode>> = BTreeMap::new();
        let mut path_by_hostname: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for node in nodes.iter().filter(|node| node.is_ready && !node.is_unschedulable && node.is_in_flavor(flavor)) {
            let path = flavor.levels.iter().map(|key| node.labels.get(key).map(String::as_str));
            let Some(mut path) = path.collect::<Option<Vec<&str>>>() else { continue };
            if let Some(hostname) = path.last().copied().filter(|_| has_node_leaves) {
                path = path_by_hostname.entry(hostname).or_insert(path).clone();
            }
            leaves.entry(path).or_default().push(node);
        }
        let mut tree = TopologyTree { levels: flavor.levels.clone(), has_node_leaves, ..TopologyTree::default() };
        tree.number_domains(&leaves.keys().collect::<Vec<_>>());
        tree.leaf_nodes = LeafNodes::new(&leaves.values().map(|nodes| nodes[0]).collect::<Vec<_>>());
        let mut capacities = vec![0; leaves.len() * names.len()];
        for (leaf, (path, nodes)) in leaves.iter().enumerate() {
            let id = if has_node_leaves { path.last().map_or("", |host| host).to_owned() } else { path.join(",") };
            tree.leaf_by_id.insert(id, leaf);
            for node in nodes {
                tree.leaf_by_node.insert(node.name.clone(), leaf);
                let row = &mut capacities[leaf * names.len()..][..names.len()];
                PodAmounts::new(&node.allocatable, names).add_to(row, 1);
            }
        }
        (tree, capacities)
    }

    /// Numbers the domains of all levels from the ordered paths of the leaves.
    fn number_domains(&mut self, paths: &[&Vec<&str>]) {
        for level in 0..self.levels.len() {
            let start = self.parents.len();
            let mut parent = self.level_domains.last().map_or(0, |above| above.start);
            let mut before: Option<&[&str]> = None;
            for path in paths {
                if before.is_some_and(|before| before[..=level] == path[..=level]) {
                    continue;
                }
                parent += usize::from(before.is_some_and(|before| before[..level] != path[..level]));
                self.add_domain(level, parent, path[level]);
                before = Some(path);
            }
            self.level_domains.push(start..self.parents.len());
        }
    }

    fn add_domain(&mut self, level: usize, parent: usize, value: &str) {
        let domain = self.parents.len();
        self.parents.push(if level == 0 { domain } else { parent });
        self.children.push(0..0);
        self.values.push(value.to_owned());
        if level > 0 {
            let children = &mut self.children[parent];
            *children = if children.end == 0 { domain..domain + 1 } else { children.start..domain + 1 };
        }
    }

    pub fn domain_count(&self) -> usize {
        self.parents.len()
    }

    pub fn lowest_level(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    pub fn level(&self, key: &str) -> Option<usize> {
        self.levels.iter().position(|level| level == key)
    }

    pub fn domains(&self, level: usize) -> Range<usize> {
        self.level_domains.get(level).cloned().unwrap_or_default()
    }

    pub fn leaves(&self) -> Range<usize> {
        self.domains(self.lowest_level())
    }

    /// Returns the children of a domain, which are empty for a leaf.
    pub fn children(&self, domain: usize) -> Range<usize> {
        self.children[domain].clone()
    }

    /// Returns the domain of a level that contains the leaf with this number among the leaves.
    pub fn ancestor(&self, leaf: usize, level: usize) -> usize {
        let domain = self.leaves().start + leaf;
        (level..self.lowest_level()).fold(domain, |domain, _| self.parents[domain])
    }

    /// Returns whether a leaf may replace a node for which this domain of a level is required. Kueue compares the path
    /// of the leaf with the identifier of the domain. That of a node is its host name alone, so that no leaf matches if
    /// there are higher levels.
    pub fn is_replacement_within(&self, leaf: usize, level: usize, domain: usize) -> bool {
        let is_comparable = level < self.lowest_level() || level == 0 || !self.has_node_leaves;
        is_comparable && self.ancestor(leaf, level) == domain
    }

    pub fn leaf_of_node(&self, node: &str) -> Option<usize> {
        self.leaf_by_node.get(node).copied()
    }

    /// Returns the number of a leaf by the identifier in an assignment.
    pub fn leaf_of_id(&self, id: &str) -> Option<usize> {
        self.leaf_by_id.get(id).copied()
    }

    /// Returns the levels and values that identify leaves in assignments.
    pub fn assignment_levels(&self) -> &[String] {
        if self.has_node_leaves { &self.levels[self.lowest_level()..] } else { &self.levels }
    }

    /// Returns the values of a leaf domain for the levels of assignments.
    pub fn assignment_values(&self, leaf_domain: usize) -> Vec<String> {
        let mut domain = leaf_domain;
        let mut values = vec![self.values[domain].clone()];
        while values.len() < self.assignment_levels().len() {
            domain = self.parents[domain];
            values.push(self.values[domain].clone());
        }
        values.reverse();
        values
    }
}

impl TasNode {
    fn is_in_flavor(&self, flavor: &TasFlavor) -> bool {
        flavor.node_labels.iter().all(|(key, value)| self.labels.get(key).map_or("", String::as_str) == value)
    }
}
