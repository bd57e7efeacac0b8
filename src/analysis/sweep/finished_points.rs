//! The finished replications of a sweep, in any order of completion.

use super::row::SweepRow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The set of finished replications; each is contained once.
#[derive(Default)]
pub struct FinishedPoints {
    rows: BTreeMap<usize, BTreeMap<u64, SweepRow>>,
    count: usize,
    /// Shared lists of names.
    names: BTreeSet<Arc<Vec<String>>>,
}

impl FinishedPoints {
    /// Adds a row; returns false if one with this point and number exists.
    pub fn add(&mut self, mut row: SweepRow) -> bool {
        if self.contains(row.point, row.replication) {
            return false;
        }
        match self.names.get(&row.names) {
            Some(kept) => row.names = kept.clone(),
            None => {
                self.names.insert(row.names.clone());
            }
        }
        let own = self.rows.entry(row.point).or_default();
        own.insert(row.replication, row);
        self.count += 1;
        true
    }

    pub fn contains(&self, point: usize, replication: u64) -> bool {
        let own = self.rows.get(&point);
        own.is_some_and(|own| own.contains_key(&replication))
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the names of all metrics, sorted; `None` before the first replication.
    pub fn names(&self) -> Option<Vec<String>> {
        let all = self.names.iter().flat_map(|list| list.iter().cloned());
        let mut all: Vec<String> = all.collect();
        all.sort();
        all.dedup();
        (!all.is_empty()).then_some(all)
    }

    /// Returns all rows, sorted by point and replication number.
    pub fn into_rows(self) -> Vec<SweepRow> {
        let points = self.rows.into_values();
        points.flat_map(BTreeMap::into_values).collect()
    }

    /// Returns the rows of a point, sorted by replication number.
    pub fn of_point(&self, point: usize) -> Vec<&SweepRow> {
        let own = self.rows.get(&point).into_iter();
        own.flat_map(BTreeMap::values).collect()
    }
}
