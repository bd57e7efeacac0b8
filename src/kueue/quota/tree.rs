//! Quota and usage in the tree of cohorts (`pkg/cache/scheduler/resource_node.go`).
//!
//! A node first uses its local quota, the part of its quota that it does not lend. Usage beyond it counts in the
//! parent.

use crate::amount::Amount;
use crate::requests::{FlavorAmounts, FlavorResource, Name};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Index of a node in the tree.
pub type NodeId = usize;

/// Quota of one resource in one flavor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    pub nominal: Amount,
    pub borrowing_limit: Option<Amount>,
    pub lending_limit: Option<Amount>,
}

/// A ClusterQueue or a cohort.
#[derive(Clone, Debug)]
pub struct QuotaNode {
    pub name: Name,
    pub parent: Option<NodeId>,
    /// Cohorts below this cohort, by name.
    pub cohorts: Arc<Vec<NodeId>>,
    /// ClusterQueues of this cohort, by name.
    pub queues: Arc<Vec<NodeId>>,
    pub quotas: Arc<BTreeMap<FlavorResource, Quota>>,
    /// Own quota and what the children lend.
    pub subtree_quota: Arc<FlavorAmounts>,
    pub usage: FlavorAmounts,
    pub weight: f64,
    /// Whether the ClusterQueue is inactive. It then counts in usage and quota only.
    pub is_inactive: bool,
}

impl QuotaNode {
    /// Returns the quota of a resource; zero if it is not listed.
    pub fn quota(&self, fr: &FlavorResource) -> Quota {
        self.quotas.get(fr).copied().unwrap_or_default()
    }

    pub fn subtree_quota(&self, fr: &FlavorResource) -> Amount {
        self.subtree_quota.get(fr).copied().unwrap_or_default()
    }

    pub fn usage(&self, fr: &FlavorResource) -> Amount {
        self.usage.get(fr).copied().unwrap_or_default()
    }

    /// Returns the quota that the node does not lend.
    pub fn local_quota(&self, fr: &FlavorResource) -> Amount {
        let lending_limit = self.quota(fr).lending_limit;
        lending_limit.map_or(Amount::ZERO, |limit| (self.subtree_quota(fr) - limit).max(Amount::ZERO))
    }

    /// Returns the unused quota that the node does not lend.
    pub fn local_available(&self, fr: &FlavorResource) -> Amount {
        (self.local_quota(fr) - self.usage(fr)).max(Amount::ZERO)
    }

    /// Returns whether the usage and `amount` exceed the quota of the subtree.
    pub fn borrows_with(&self, fr: &FlavorResource, amount: Amount) -> bool {
        self.subtree_quota(fr) < self.usage(fr) + amount
    }

    /// Returns whether the usage of none of the resources exceeds the quota of the subtree.
    pub fn is_within_nominal<'a>(&self, mut resources: impl Iterator<Item = &'a FlavorResource>) -> bool {
        resources.all(|fr| self.subtree_quota(fr) >= self.usage(fr))
    }
}

/// All ClusterQueues and cohorts.
#[derive(Clone, Debug, Default)]
pub struct QuotaTree {
    pub nodes: Vec<QuotaNode>,
}

impl QuotaTree {
    /// Returns the cohorts above a node, nearest first.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.nodes[node].parent, |at| self.nodes[*at].parent)
    }

    /// Returns the topmost cohort above a node, or the node itself.
    pub fn root(&self, node: NodeId) -> NodeId {
        self.ancestors(node).last().unwrap_or(node)
    }

    pub fn has_parent(&self, node: NodeId) -> bool {
        self.nodes[node].parent.is_some()
    }

    /// Returns the ClusterQueues below a cohort.
    pub fn queues_below(&self, cohort: NodeId) -> Vec<NodeId> {
        let mut queues = self.nodes[cohort].queues.to_vec();
        for child in self.nodes[cohort].cohorts.iter() {
            queues.extend(self.queues_below(*child));
        }
        queues
    }

    /// Returns the path of a ClusterQueue, as in messages: `/root/…/queue`.
    pub fn path(&self, queue: NodeId) -> String {
        let mut parts = vec![&*self.nodes[queue].name];
        parts.extend(self.ancestors(queue).map(|cohort| &*self.nodes[cohort].name));
        parts.reverse();
        format!("/{}", parts.join("/"))
    }

    /// Returns what a node can still use: its own unused quota and what it may borrow. Negative if others borrow more
    /// than is left.
    pub fn available(&self, node: NodeId, fr: &FlavorResource) -> Amount {
        let this = &self.nodes[node];
        let Some(parent) = this.parent else {
            return this.subtree_quota(fr) - this.usage(fr);
        };
        let mut from_parent = self.available(parent, fr);
        if let Some(limit) = this.quota(fr).borrowing_limit {
            let local = this.local_quota(fr);
            let used_in_parent = (this.usage(fr) - local).max(Amount::ZERO);
            from_parent = from_parent.min(this.subtree_quota(fr) - local - used_in_parent + limit);
        }
        this.local_available(fr) + from_parent
    }

    /// Returns what a node could use if nothing were in use.
    pub fn potential_available(&self, node: NodeId, fr: &FlavorResource) -> Amount {
        let this = &self.nodes[node];
        let Some(parent) = this.parent else {
            return this.subtree_quota(fr);
        };
        let all = this.local_quota(fr) + self.potential_available(parent, fr);
        match this.quota(fr).borrowing_limit {
            Some(limit) => all.min(this.subtree_quota(fr) + limit),
            None => all,
        }
    }

    /// Adds usage to a node, and to its ancestors what exceeds the local quota.
    pub fn add_usage(&mut self, node: NodeId, fr: &FlavorResource, amount: Amount) {
        let this = &mut self.nodes[node];
        let beyond = amount - this.local_available(fr);
        *this.usage.entry(fr.clone()).or_default() += amount;
        if let Some(parent) = this.parent.filter(|_| beyond > Amount::ZERO) {
            self.add_usage(parent, fr, beyond);
        }
    }

    /// Removes usage from a node, and from its ancestors what exceeded the local quota.
    pub fn remove_usage(&mut self, node: NodeId, fr: &FlavorResource, amount: Amount) {
        let this = &mut self.nodes[node];
        let stored_in_parent = this.usage(fr) - this.local_quota(fr);
        let left = this.usage(fr) - amount;
        this.usage.insert(fr.clone(), left);
        if let Some(parent) = this.parent.filter(|_| stored_in_parent > Amount::ZERO) {
            self.remove_usage(parent, fr, amount.min(stored_in_parent));
        }
    }

    /// Returns whether the requests fit into the quota of the subtree, and the requests that its local quota does not
    /// cover.
    pub fn fits_in_subtree(&self, node: NodeId, requests: &FlavorAmounts) -> (bool, FlavorAmounts) {
        let this = &self.nodes[node];
        let fits = requests.iter().all(|(fr, amount)| !this.borrows_with(fr, *amount));
        let rest = |(fr, amount): (&FlavorResource, &Amount)| {
            (fr.clone(), (*amount - this.local_available(fr)).max(Amount::ZERO))
        };
        (fits, requests.iter().map(rest).collect())
    }

    /// Returns the distance from a cohort to its furthest leaf.
    pub fn height(&self, cohort: NodeId) -> usize {
        let this = &self.nodes[cohort];
        let has_queue = this.queues.iter().any(|queue| !self.nodes[*queue].is_inactive);
        let own = usize::from(has_queue || !this.cohorts.is_empty());
        this.cohorts.iter().map(|child| self.height(*child) + 1).fold(own, usize::max)
    }

    /// Returns the height of the lowest subtree around a ClusterQueue whose quota covers an additional amount, and
    /// whether it is smaller than the whole tree. The height is zero if the ClusterQueue need not borrow.
    pub fn lowest_fitting_height(&self, queue: NodeId, fr: &FlavorResource, amount: Amount) -> (usize, bool) {
        let this = &self.nodes[queue];
        let borrows = this.quota(fr).nominal < this.usage(fr) + amount;
        if !borrows || this.parent.is_none() {
            return (0, this.parent.is_some());
        }
        let mut rest = amount - this.local_available(fr);
        for cohort in self.ancestors(queue) {
            let node = &self.nodes[cohort];
            if !node.borrows_with(fr, rest) {
                return (self.height(cohort), node.parent.is_some());
            }
            rest = rest - node.local_available(fr);
        }
        (self.height(self.root(queue)), false)
    }
}
