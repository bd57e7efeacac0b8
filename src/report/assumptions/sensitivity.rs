//! The assumptions that several runs depend on, taken from the first replication of each variant or point. Used in
//! chart footers and on pages.
//!
//! This module runs no simulations. Callers simulate the first replication of each variant or point beforehand.

use super::dominant::{self, AssumedDefaults, DominantAssumption};
use super::provenance;
use crate::{page::PageBlock, table::Table};
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_base::Duration;

/// A variant or point, with the assumptions behind its first replication.
#[derive(Clone, Debug)]
pub struct SensitiveResult {
    /// Name of the variant or point; empty if there is only one.
    pub name: String,
    /// Control plane preset; empty if there is none.
    pub preset: String,
    pub assumptions: Vec<DominantAssumption>,
    /// Total length of all critical paths.
    pub total: Duration,
}

impl SensitiveResult {
    pub fn from_restarts(
        name: &str, run: &RunView<'_>, restarts: &[&RestartMetrics], defaults: &AssumedDefaults,
    ) -> SensitiveResult {
        SensitiveResult {
            name: name.to_owned(),
            preset: provenance::preset(&run.scenario.control_plane),
            assumptions: dominant::dominant_assumptions(run, restarts, defaults),
            total: Duration(restarts.iter().map(|r| r.path.total().0).sum()),
        }
    }
}

/// Returns the footer lines of a chart of all variants: the presets and the assumptions. Omits lines without content.
pub fn footer_lines(all: &[SensitiveResult]) -> Vec<String> {
    let mut presets: Vec<&str> = Vec::new();
    for own in all.iter().map(|h| h.preset.as_str()) {
        if !own.is_empty() && !presets.contains(&own) {
            presets.push(own);
        }
    }
    let total = all.iter().map(|h| h.total.0).sum();
    let line = dominant::footer_line(&merge_assumptions(all), Duration(total));
    let lines = [presets.join(" or "), line];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

/// Merges the assumptions of all variants by name. The merged value lists every distinct value.
pub fn merge_assumptions(all: &[SensitiveResult]) -> Vec<DominantAssumption> {
    let mut result: Vec<(DominantAssumption, Vec<String>)> = Vec::new();
    for own in all.iter().flat_map(|h| &h.assumptions) {
        match result.iter_mut().find(|(known, _)| known.name == own.name) {
            Some((known, values)) => {
                known.time = known.time + own.time;
                if !values.contains(&own.value) {
                    values.push(own.value.clone());
                }
            }
            None => result.push((own.clone(), vec![own.value.clone()])),
        }
    }
    let merged =
        result.into_iter().map(|(decider, values)| DominantAssumption { value: values.join(" or "), ..decider });
    let mut merged: Vec<DominantAssumption> = merged.collect();
    merged.sort_by_key(|d| std::cmp::Reverse(d.time));
    merged
}

/// Returns a table with a row per variant and assumption, preceded by an explanation; empty if there are no
/// assumptions.
pub fn blocks(all: &[SensitiveResult]) -> Vec<PageBlock> {
    let several = all.iter().any(|h| !h.name.is_empty());
    let row = |h: &SensitiveResult, d: &DominantAssumption| {
        let share = d.time.0 as f64 / (h.total.0 as f64).max(1.0);
        let share = match d.time {
            Duration::ZERO => d.text_if_zero.to_owned(),
            _ => sim_analysis::format::percent(share, 0),
        };
        let [name, of] = [d.name.to_owned(), h.name.clone()];
        let cells = [name, d.value.clone(), share, d.confidence.clone()];
        let cells = cells.into_iter().chain([d.source.clone(), d.id.clone()]);
        let first = several.then_some(of);
        first.into_iter().chain(cells).collect()
    };
    let rows = all.iter();
    let rows = rows.flat_map(|h| h.assumptions.iter().map(move |d| row(h, d)));
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let which = if several { "the restarts of the first replication of each variant or point" } else { "the restarts" };
    let mut head = vec!["of"];
    head.retain(|_| several);
    head.extend(["assumption", "value", "share of critical path", "confidence", "source", "field"]);
    vec![
        PageBlock::Text(format!(
            "Assumptions that affect the duration of {which}, by the share of critical path time spent waiting for each. Confidence: \
             documented (read in source code or its documentation), measured, derived, unverified (an estimate), \
             given (by the inputs), assumed."
        )),
        PageBlock::Table(
            Table::new(head.into_iter().map(str::to_owned))
                .with_number_columns(if several { &[3] } else { &[2] })
                .with_rows(rows)
                .with_initial_rows(30),
        ),
    ]
}
