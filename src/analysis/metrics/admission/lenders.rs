//! Nominal quotas, and the members of a cohort that do not use theirs.

use sim_api::spec::kueue::{KueueObjects, ResourceGroup};
use std::collections::BTreeMap;

/// Names of a ClusterQueue, a flavor and a resource.
pub type QuotaKey = (String, String, String);

/// Nominal quotas in thousandths, and the trees of cohorts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NominalQuotas {
    nominal: BTreeMap<QuotaKey, i64>,
    /// Topmost cohort by ClusterQueue.
    roots: BTreeMap<String, String>,
}

impl NominalQuotas {
    /// Reads the quotas of the objects.
    pub fn new(objects: &KueueObjects) -> NominalQuotas {
        let parents: BTreeMap<&str, &str> =
            objects.cohorts.iter().filter_map(|c| Some((c.name.as_str(), c.parent.as_deref()?))).collect();
        let root = |cohort: &str| {
            let mut at = cohort;
            // A cycle of parents has no root; its ClusterQueues admit nothing.
            for _ in 0..parents.len() {
                at = parents.get(at).copied().unwrap_or(at);
            }
            at.to_owned()
        };
        let mut all = NominalQuotas::default();
        for queue in &objects.cluster_queues {
            all.add(&queue.name, &queue.resource_groups);
            if let Some(cohort) = &queue.cohort {
                all.roots.insert(queue.name.clone(), root(cohort));
            }
        }
        all
    }

    fn add(&mut self, name: &str, groups: &[ResourceGroup]) {
        for flavor in groups.iter().flat_map(|group| &group.flavors) {
            for quota in &flavor.resources {
                let key = (name.to_owned(), flavor.name.clone(), quota.name.clone());
                self.nominal.insert(key, quota.nominal);
            }
        }
    }

    /// Returns the names of the quotas that are not zero.
    pub fn keys(&self) -> impl Iterator<Item = &QuotaKey> {
        self.nominal.iter().filter(|(_, nominal)| **nominal > 0).map(|(key, _)| key)
    }

    /// Returns the nominal quota in thousandths; zero if there is none.
    pub fn nominal(&self, key: &QuotaKey) -> i64 {
        self.nominal.get(key).copied().unwrap_or(0)
    }

    /// Returns the part of an amount that exceeds the nominal quota, with `used` as the usage of the ClusterQueue.
    pub fn borrowed(&self, key: &QuotaKey, amount: i64, used: i64) -> i64 {
        let has_cohort = self.roots.contains_key(&key.0);
        if has_cohort { (used - self.nominal(key)).min(amount).max(0) } else { 0 }
    }

    /// Returns the other ClusterQueues of the same cohort tree that use less than their nominal quota.
    pub fn lenders(&self, key: &QuotaKey, used: &BTreeMap<QuotaKey, i64>) -> Vec<String> {
        let Some(root) = self.roots.get(&key.0) else { return Vec::new() };
        let is_member = |name: &String| *name != key.0 && self.roots.get(name) == Some(root);
        let has_unused = |name: &String| {
            let own = (name.clone(), key.1.clone(), key.2.clone());
            self.nominal(&own) > used.get(&own).copied().unwrap_or(0)
        };
        self.roots.keys().filter(|name| is_member(name) && has_unused(name)).cloned().collect()
    }
}
