//! Requests of pods by resource, in the order in which Kueue examines them.

use crate::amount::Amount;
use sim_api::spec::ResourceAmounts;
use sim_base::fnv::fnv1a;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of a resource, flavor, queue or cohort.
pub type Name = Arc<str>;

/// A resource in a flavor, the unit of quotas.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlavorResource {
    pub flavor: Name,
    pub resource: Name,
}

/// Quantities by flavor and resource.
pub type FlavorAmounts = BTreeMap<FlavorResource, Amount>;

/// Requests sorted by the FNV-1a hash of the resource (`pkg/resources/slice_requests.go`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests(Vec<(Name, Amount)>);

impl Requests {
    /// Converts thousandths of units. Negative requests count as zero.
    pub fn from_milli(amounts: &ResourceAmounts) -> Requests {
        let amount = |(name, milli): (&String, &i64)| {
            (Name::from(name.as_str()), Amount::from_milli(name, *milli).max(Amount::ZERO))
        };
        let mut all: Vec<(Name, Amount)> = amounts.iter().map(amount).collect();
        all.sort_by_key(|(name, _)| (fnv1a(name.bytes()), name.clone()));
        Requests(all)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Name, Amount)> {
        self.0.iter().map(|(name, amount)| (name, *amount))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, resource: &str) -> Amount {
        self.0.iter().find(|(name, _)| **name == *resource).map_or(Amount::ZERO, |(_, amount)| *amount)
    }

    /// Returns whether the resource is listed, even with quantity zero.
    pub fn has(&self, resource: &str) -> bool {
        self.0.iter().any(|(name, _)| **name == *resource)
    }

    /// Sets a quantity.
    pub fn set(&mut self, resource: Name, amount: Amount) {
        self.0.retain(|(name, _)| *name != resource);
        self.0.push((resource, amount));
        self.0.sort_by_key(|(name, _)| (fnv1a(name.bytes()), name.clone()));
    }

    /// Returns the requests of a number of pods.
    pub fn times(&self, count: u32) -> Requests {
        Requests(self.0.iter().map(|(name, amount)| (name.clone(), amount.times(count))).collect())
    }

    /// Adds the requests of other pods.
    pub fn add(&mut self, other: &Requests) {
        for (name, amount) in other.iter() {
            let sum = self.get(name) + amount;
            match self.0.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => *own = sum,
                None => self.set(name.clone(), sum),
            }
        }
    }

    /// Returns the requests of the resources that are selected.
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Requests {
        Requests(self.0.iter().filter(|(name, _)| keep(name)).cloned().collect())
    }
}
