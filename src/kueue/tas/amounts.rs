//! Resource amounts by column: CPU in thousandths, other resources in whole units, rounded up.

use sim_api::spec::ResourceAmounts;
use std::collections::BTreeSet;

pub const PODS: &str = "pods";

/// Resources that the nodes offer, in alphabetical order, and always `pods`.
#[derive(Clone, Debug, Default)]
pub struct ResourceNames(Vec<String>);

/// Requests of one pod, in the order of the resource names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodAmounts(Vec<PodAmount>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct PodAmount {
    name: String,
    /// `None` if no node offers the resource.
    column: Option<usize>,
    amount: i64,
}

/// How often a request fits, and the position of the resource that limits it.
pub struct FitCount {
    pub count: i64,
    pub limiting: usize,
}

impl ResourceNames {
    pub fn new<'a>(names: impl Iterator<Item = &'a String>) -> ResourceNames {
        let mut all: BTreeSet<&str> = names.map(String::as_str).collect();
        all.insert(PODS);
        ResourceNames(all.into_iter().map(str::to_owned).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.0.binary_search_by(|known| known.as_str().cmp(name)).ok()
    }
}

impl PodAmounts {
    /// Reads amounts in thousandths.
    pub fn new(milli: &ResourceAmounts, names: &ResourceNames) -> PodAmounts {
        let read = |(name, milli): (&String, &i64)| PodAmount {
            name: name.clone(),
            column: names.column(name),
            amount: if name == "cpu" { *milli } else { milli.saturating_add(999).div_euclid(1000) },
        };
        PodAmounts(milli.iter().map(read).collect())
    }

    /// Adds the place that each pod takes on its node.
    pub fn with_pod(mut self, names: &ResourceNames) -> PodAmounts {
        match self.0.iter_mut().find(|own| own.name == PODS) {
            Some(pods) => pods.amount += 1,
            None => {
                self.0.push(PodAmount { name: PODS.to_owned(), column: names.column(PODS), amount: 1 });
                self.0.sort_by(|a, b| a.name.cmp(&b.name));
            }
        }
        self
    }

    /// Adds `count` times the amounts to a row of capacities.
    pub fn add_to(&self, row: &mut [i64], count: i64) {
        for PodAmount { column, amount, .. } in &self.0 {
            if let Some(column) = column {
                row[*column] = row[*column].saturating_add(amount.saturating_mul(count));
            }
        }
    }

    /// Returns how often the amounts fit into a row of capacities. An overused resource counts as full. Ties are broken
    /// by the name of the resource.
    #[inline]
    pub fn count_in(&self, row: &[i64]) -> FitCount {
        let mut fit = FitCount { count: i64::from(i32::MAX), limiting: 0 };
        for (position, PodAmount { column, amount, .. }) in self.0.iter().enumerate() {
            let capacity = column.map_or(0, |column| row[column]);
            let count = match amount {
                0 => i64::from(i32::MAX),
                // Most requests are for one unit, or do not fit. A division takes longer than all else here.
                1 => capacity.clamp(0, i64::from(i32::MAX)),
                amount if capacity < *amount => 0,
                amount => (capacity / amount).min(i64::from(i32::MAX)),
            };
            if count < fit.count {
                fit = FitCount { count, limiting: position };
            }
        }
        if self.0.is_empty() {
            fit.count = 0;
        }
        fit
    }

    /// Returns the names of the resources, by position.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|amount| amount.name.as_str())
    }
}
