//! The rows that a run selects, and the rows that only one of two reports has.

use super::BaselineReport;
use super::row::{BenchKey, BenchRow};
use super::suite::{BenchSuite, RowFilter};

/// The rows that a command line selects.
#[derive(Clone, Debug, Default)]
pub struct RowSelection {
    pub filter: RowFilter,
    /// Whether rows of the suite are selected.
    pub suite: bool,
    /// Whether scenarios of the user are selected.
    pub own: bool,
}

/// Rows that only one of two reports has, in the order of the reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MissingRows {
    /// Selected rows of the baseline that were not run.
    pub not_run: Vec<String>,
    /// Rows of the run that the baseline does not have.
    pub not_in_baseline: Vec<String>,
}

impl MissingRows {
    /// Returns the names that fulfill a condition, each with the report that does not have the row.
    pub fn reasons(&self, is_selected: impl Fn(&str) -> bool) -> Vec<(String, &'static str)> {
        let named = |names: &[String], reason: &'static str| -> Vec<(String, &'static str)> {
            let selected = names.iter().filter(|n| is_selected(n));
            selected.map(|n| (n.clone(), reason)).collect()
        };
        let mut all = named(&self.not_run, "in the baseline, not in this run");
        all.extend(named(&self.not_in_baseline, "in this run, not in the baseline"));
        all
    }
}

impl RowSelection {
    /// Whether a row of a baseline should be part of the run. A row that is not part of the suite is a scenario of
    /// the user, or a row that the suite no longer has.
    fn selects(&self, key: &BenchKey, suite: &BenchSuite) -> bool {
        let RowFilter { cases, nodes, strategies, presets } = &self.filter;
        let wanted = |list: &[String], name: &str| list.is_empty() || list.iter().any(|w| w == name);
        let of_suite = suite.cases.iter().any(|c| c.name == key.case);
        let by_case =
            if of_suite { self.suite && wanted(cases, &key.case) } else { self.own || wanted(cases, &key.case) };
        let by_size = nodes.is_empty() || nodes.iter().any(|n| u64::from(*n) == key.nodes);
        by_case && by_size && wanted(strategies, &key.strategy) && wanted(presets, &key.preset)
    }

    pub fn missing(&self, now: &BaselineReport, before: &BaselineReport) -> MissingRows {
        let suite = BenchSuite::shipped();
        let selected = before.rows.iter().filter(|r| self.selects(&r.key, &suite));
        let only = |rows: &mut dyn Iterator<Item = &BenchRow>, other: &BaselineReport| {
            let only = rows.filter(|r| other.find(r).is_none());
            only.map(|r| r.key.text()).collect()
        };
        MissingRows {
            not_run: only(&mut selected.into_iter(), now),
            not_in_baseline: only(&mut now.rows.iter(), before),
        }
    }
}
