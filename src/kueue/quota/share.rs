//! Dominant resource shares of ClusterQueues and cohorts (`pkg/cache/scheduler/fair_sharing.go`).

use super::tree::{NodeId, QuotaTree};
use crate::amount::Amount;
use crate::requests::{FlavorAmounts, FlavorResource, Name};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Share of the lendable quota that a node borrows, for the resource of which it borrows most.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    weight: f64,
    /// Thousandths of the lendable quota, before the weight is applied.
    ratio: f64,
    pub dominant_resource: Option<Name>,
    /// Resources of which the node borrows.
    pub borrowed: Vec<FlavorResource>,
}

impl Share {
    /// A share below that of every node.
    pub const NEGATIVE: Share = Share { weight: 1.0, ratio: -1.0, dominant_resource: None, borrowed: Vec::new() };

    pub fn is_borrowing(&self) -> bool {
        !self.borrowed.is_empty()
    }

    /// Returns whether the node borrows one of the requested resources.
    pub fn is_borrowing_any(&self, requested: &FlavorAmounts) -> bool {
        self.borrowed.iter().any(|fr| requested.get(fr).is_some_and(|amount| *amount > Amount::ZERO))
    }

    fn is_zero(&self) -> bool {
        self.ratio == 0.0
    }

    /// Returns whether a node of weight zero borrows. Its share is infinite.
    fn is_infinite(&self) -> bool {
        self.weight == 0.0 && !self.is_zero()
    }

    /// Returns the share divided by the weight.
    pub fn weighted(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        if self.weight == 0.0 {
            return f64::INFINITY;
        }
        self.ratio / self.weight
    }

    /// Returns the share as in the status: rounded up, and the largest integer if it is infinite.
    pub fn rounded(&self) -> i64 {
        if self.is_infinite() {
            return i64::MAX;
        }
        self.weighted().ceil() as i64
    }

    /// Compares two shares. Infinite shares are compared without weights.
    pub fn compare(&self, other: &Share) -> Ordering {
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) => self.ratio.total_cmp(&other.ratio),
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.weighted().total_cmp(&other.weighted()),
        }
    }
}

impl QuotaTree {
    /// Returns the dominant resource share of a node. A node without a parent borrows nothing.
    pub fn share(&self, node: NodeId) -> Share {
        let this = &self.nodes[node];
        let mut share = Share { weight: this.weight, ratio: 0.0, dominant_resource: None, borrowed: Vec::new() };
        let Some(parent) = this.parent else {
            return share;
        };
        let mut borrowing: BTreeMap<Name, Amount> = BTreeMap::new();
        for (fr, quota) in this.subtree_quota.iter() {
            let borrowed = this.usage(fr) - *quota;
            if borrowed > Amount::ZERO {
                *borrowing.entry(fr.resource.clone()).or_default() += borrowed;
                share.borrowed.push(fr.clone());
            }
        }
        if borrowing.is_empty() {
            return share;
        }
        let lendable = self.lendable(parent);
        for (resource, borrowed) in borrowing {
            let all = lendable.get(&resource).copied().unwrap_or_default();
            if all <= Amount::ZERO {
                continue;
            }
            let ratio = borrowed.0 as f64 * 1000.0 / all.0 as f64;
            // Among equal ratios the first name counts.
            if ratio > share.ratio {
                share.ratio = ratio;
                share.dominant_resource = Some(resource);
            }
        }
        share
    }

    /// Returns what the children of a cohort could use at most, by resource.
    fn lendable(&self, cohort: NodeId) -> BTreeMap<Name, Amount> {
        let mut lendable: BTreeMap<Name, Amount> = BTreeMap::new();
        for fr in self.nodes[self.root(cohort)].subtree_quota.keys() {
            *lendable.entry(fr.resource.clone()).or_default() += self.potential_available(cohort, fr);
        }
        lendable
    }
}
