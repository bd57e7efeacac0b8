//! Resource names as columns, and amounts by column.

use serde_json::Value;
use sim_api::objects::value_access::{pairs, quantity};
use std::collections::BTreeMap;

pub const CPU: usize = 0;
pub const MEMORY: usize = 1;
pub const EPHEMERAL_STORAGE: usize = 2;
/// The resource that the node's maximum number of pods is listed under. It has no column.
pub const PODS: &str = "pods";

/// Names of the resources of a cluster. The first three columns are fixed.
#[derive(Clone, Debug)]
pub struct ResourceColumns {
    names: Vec<String>,
}

impl Default for ResourceColumns {
    fn default() -> ResourceColumns {
        ResourceColumns { names: ["cpu", "memory", "ephemeral-storage"].map(str::to_owned).to_vec() }
    }
}

impl ResourceColumns {
    /// Returns the column of a resource, which is added if it is new.
    pub fn column(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    pub fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", String::as_str)
    }
}

/// Amounts by column: CPU in thousandths of a core, other resources in whole units, both rounded up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts(Vec<i64>);

impl Amounts {
    /// Reads a resource list; `pods` is skipped.
    pub fn read(resources: &Value, columns: &mut ResourceColumns) -> Amounts {
        let mut amounts = Amounts::default();
        for (name, value) in pairs(resources).filter(|(name, _)| *name != PODS) {
            let column = columns.column(name);
            amounts.set(column, amount(value, if column == CPU { 3 } else { 0 }));
        }
        amounts
    }

    /// Reads amounts in thousandths; `pods` is skipped.
    pub fn from_milli(resources: &BTreeMap<String, i64>, columns: &mut ResourceColumns) -> Amounts {
        let mut amounts = Amounts::default();
        for (name, milli) in resources.iter().filter(|(name, _)| *name != PODS) {
            let column = columns.column(name);
            amounts.set(column, if column == CPU { *milli } else { milli.saturating_add(999).div_euclid(1000) });
        }
        amounts
    }

    pub fn get(&self, column: usize) -> i64 {
        self.0.get(column).copied().unwrap_or(0)
    }

    pub fn set(&mut self, column: usize, amount: i64) {
        if self.0.len() <= column {
            self.0.resize(column + 1, 0);
        }
        self.0[column] = amount;
    }

    /// Adds `factor` times the other amounts.
    pub fn add(&mut self, other: &Amounts, factor: i64) {
        for (column, amount) in other.iter() {
            self.set(column, self.get(column).saturating_add(amount.saturating_mul(factor)));
        }
    }

    /// Returns the amounts that are not zero.
    pub fn iter(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.0.iter().copied().enumerate().filter(|(_, amount)| *amount != 0)
    }
}

/// Returns a quantity in units of 10^-`places`, rounded up. An unreadable quantity counts as zero.
pub fn amount(value: &Value, places: i32) -> i64 {
    let scaled = quantity(value).and_then(|q| q.scaled(places));
    scaled.map_or(0, |amount| i64::try_from(amount).unwrap_or(i64::MAX))
}
