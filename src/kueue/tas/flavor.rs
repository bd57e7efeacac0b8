//! A flavor in a snapshot: its tree and the capacity of its leaves.

use super::amounts::{PodAmounts, ResourceNames};
use super::assignment::TopologyAssignment;
use super::request::{TopologyRequest, level_key};
use super::tree::{TasFlavor, TasNode, TopologyTree};
use sim_api::spec::TolerationSpec;

#[derive(Clone, Debug)]
pub struct FlavorSnapshot {
    pub name: String,
    pub topology: String,
    pub tolerations: Vec<TolerationSpec>,
    pub tree: TopologyTree,
    columns: usize,
    /// Allocatable amounts minus pods outside TAS, one row per leaf.
    pub free: Vec<i64>,
    /// `free` minus the usage of workloads.
    pub remaining: Vec<i64>,
}

impl FlavorSnapshot {
    pub fn new(flavor: &TasFlavor, nodes: &[TasNode], names: &ResourceNames) -> FlavorSnapshot {
        let (tree, free) = TopologyTree::new(flavor, nodes, names);
        FlavorSnapshot {
            name: flavor.name.clone(),
            topology: flavor.topology.clone(),
            tolerations: flavor.tolerations.clone(),
            tree,
            columns: names.len(),
            remaining: free.clone(),
            free,
        }
    }

    /// Returns the row of a leaf in a table of capacities.
    pub fn row<'a>(&self, table: &'a [i64], leaf: usize) -> &'a [i64] {
        &table[leaf * self.columns..][..self.columns]
    }

    pub fn row_mut<'a>(&self, table: &'a mut [i64], leaf: usize) -> &'a mut [i64] {
        &mut table[leaf * self.columns..][..self.columns]
    }

    /// Adds `count` times the amounts to the remaining capacity of a leaf.
    pub fn add_remaining(&mut self, leaf: usize, amounts: &PodAmounts, count: i64) {
        amounts.add_to(&mut self.remaining[leaf * self.columns..][..self.columns], count);
    }

    pub fn add_free(&mut self, leaf: usize, amounts: &PodAmounts, count: i64) {
        amounts.add_to(&mut self.free[leaf * self.columns..][..self.columns], count);
        self.add_remaining(leaf, amounts, count);
    }

    /// Returns the leaves of an assignment that exist, with their pods.
    pub fn leaves_of(&self, assignment: &TopologyAssignment) -> Vec<(usize, u32)> {
        let leaf = |id: &str| self.tree.leaf_of_id(id);
        assignment.domains.iter().filter_map(|domain| Some((leaf(&domain.id())?, domain.count))).collect()
    }

    /// Returns the first value of a domain that no longer exists.
    pub fn stale_domain<'a>(&self, assignment: &'a TopologyAssignment) -> Option<&'a str> {
        let stale = assignment.domains.iter().find(|domain| self.tree.leaf_of_id(&domain.id()).is_none())?;
        stale.values.first().map(String::as_str)
    }

    /// Returns whether the topology has all levels that a request names.
    pub fn has_level(&self, request: &TopologyRequest) -> bool {
        let has = |key: &str| self.tree.level(key).is_some();
        level_key(request, &self.tree.levels).is_some_and(has) && request.slices.iter().all(|s| has(&s.topology))
    }
}
