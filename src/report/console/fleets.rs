//! Console output of `run` for a fleet: estimates of all outputs, and node time by state.

use super::page::{Block, Page, Rank, table_block, wrapped};
use super::replications::ReplicationsHead;
use super::style::Detail;
use super::waterfall::WaterfallStyle;
use crate::estimates::EstimateFormat;
use crate::table::{Table, csv_of};
use sim_analysis::experiment::{FleetReplications, MetricEstimate};
use sim_analysis::format::count;
use sim_surrogate::fleet::FleetOutcome;
use std::iter;

/// Maximum number of lines of the summary.
const LINES: usize = 45;
/// Maximum number of lines of a sentence in the summary.
const SENTENCE_LINES: usize = 3;

/// Returns the console output.
pub fn text(all: &FleetReplications, style: &WaterfallStyle) -> String {
    let mut page = Page::new(LINES, style);
    let head = ReplicationsHead {
        version: all.version,
        scenario: &all.scenario,
        digest: &all.digest,
        replications: count(all.replications as u64, "replication"),
        seed: all.seed,
        outcomes: all.outcomes.to_string(),
    };
    page.push(head.block(style));
    let description = wrapped(&all.description, style.width.saturating_sub(2), SENTENCE_LINES, style);
    let description: Vec<String> = description.iter().map(|line| format!("  {line}")).collect();
    page.push(Block::text(Rank::Main, description.join("\n")));
    let mut table = EstimateFormat::new(&["output", "n", "mean", "p10", "p50", "p90"], [26, 5, 12]);
    // A summary omits outputs that are 0 in every replication.
    let is_shown = |e: &MetricEstimate| style.detail == Detail::Full || e.mean != Some(0.0);
    for (name, e) in all.rows.iter().filter(|(_, e)| is_shown(e)) {
        add_estimate(&mut table, name, e);
    }
    let zero = all.rows.iter().filter(|(_, e)| !is_shown(e)).count() as u64;
    let block = table_block(Rank::Main, "", &table.formatted(style), style).noun("output");
    page.push(block.minimum(10, 0).uncounted(zero));
    let total: f64 = all.node_hours.values().flatten().map(|e| e.mean).sum();
    let states = all.node_hours.iter().filter_map(|(name, e)| Some((*name, e.as_ref()?.mean)));
    let mut states: Vec<(&str, f64)> = states.filter(|(_, mean)| *mean > 0.0).collect();
    states.sort_by(|a, b| b.1.total_cmp(&a.1));
    let line = |(name, mean): (&str, f64)| format!("  {name:<22} {:>8.3} %", 100.0 * mean / total);
    let title = style.bold("Node time by state (mean share of all node-hours)");
    page.push(Block::new(Rank::Support, title).entries(states.into_iter().map(line)).noun("state"));
    let warnings = all.warnings.iter().map(|warning| format!("Warning: {warning}"));
    let warnings = warnings.map(|text| wrapped(&text, style.width - 2, SENTENCE_LINES, style).join("\n  "));
    page.push(Block::new(Rank::Support, "").entries(warnings).noun("warning"));
    if style.detail == Detail::Brief {
        page.push(Block::text(Rank::Answer, "More: --verbose, --out DIR."));
    }
    page.finish()
}

/// Formats a number with at most six significant digits.
fn number(v: f64) -> String {
    match v.abs() {
        a if a >= 10_000.0 => format!("{v:.0}"),
        a if a >= 100.0 => format!("{v:.1}"),
        a if a >= 10.0 => format!("{v:.2}"),
        0.0 => "0".to_owned(),
        _ => format!("{v:.4}"),
    }
}

fn add_estimate(table: &mut EstimateFormat, name: &str, e: &MetricEstimate) {
    let unknown = || "-".to_owned();
    let interval = e.ci95.map_or_else(unknown, |[low, high]| format!("{} to {}", number(low), number(high)));
    let numbers = [e.mean, e.p10, e.p50, e.p90].map(|value| value.map_or_else(unknown, number));
    let cells = [name.to_owned(), e.n.to_string()].into_iter().chain(numbers).chain([interval]);
    table.row(cells.collect());
}

/// Returns a table with a row per replication.
pub fn table(seed: u64, rows: &[FleetOutcome]) -> Table {
    Table::new(head(rows)).with_rows(rows.iter().enumerate().map(|(i, row)| cells(seed, i, row)))
}

/// Returns `replications.csv`. Its rows are not kept as text, because there may be millions.
pub fn csv(seed: u64, rows: &[FleetOutcome]) -> Vec<u8> {
    csv_of(iter::once(head(rows)).chain(rows.iter().enumerate().map(|(i, row)| cells(seed, i, row))))
}

fn head(rows: &[FleetOutcome]) -> Vec<String> {
    let names = rows.first().map_or(&[][..], |r| r.outputs.names());
    let first = ["replication", "seed", "end_reason"].map(str::to_owned);
    first.into_iter().chain(names.iter().cloned()).chain(["digest".to_owned()]).collect()
}

fn cells(seed: u64, i: usize, r: &FleetOutcome) -> Vec<String> {
    let mut row = vec![i.to_string(), seed.to_string(), r.why.as_str().to_owned()];
    row.extend(r.outputs.values().iter().map(f64::to_string));
    row.push(format!("{:016x}", r.digest));
    row
}
