//! Console output of `run` for a fleet: estimates of all outputs, and node time by state.

use super::replications::ReplicationsHead;
use super::waterfall::WaterfallStyle;
use crate::estimates::EstimateFormat;
use crate::table::Table;
use sim_analysis::experiment::FleetReplications;
use sim_analysis::fleet::FleetOutcome;
use sim_analysis::format::{count, wrap};
use sim_base::stats::MeanEstimate;
use std::fmt::Write;

/// Returns the console output.
pub fn text(all: &FleetReplications, style: &WaterfallStyle) -> String {
    let mut out = String::new();
    let head = ReplicationsHead {
        version: all.version,
        scenario: &all.scenario,
        digest: &all.digest,
        replications: count(all.replications as u64, "replication"),
        seed: all.seed,
        outcomes: all.outcomes.to_string(),
    };
    head.write(&mut out, style);
    if !all.description.is_empty() {
        for line in wrap(&all.description, style.width.saturating_sub(2)) {
            let _ = writeln!(out, "  {line}");
        }
        out.push('\n');
    }
    let mut table = EstimateFormat::new(&["output", "mean", "p10", "p50", "p90"], [26, 5, 12]);
    for (name, e) in &all.rows {
        add_estimate(&mut table, name, e);
    }
    table.write(&mut out, style);
    let total: f64 = all.node_hours.values().flatten().map(|e| e.mean).sum();
    out.push('\n');
    let _ = writeln!(out, "{}", style.bold("Node time by state (mean share of all node-hours)"));
    for (name, e) in all.node_hours.iter().filter_map(|(n, e)| Some((n, e.as_ref()?))) {
        if e.mean > 0.0 {
            let _ = writeln!(out, "  {name:<22} {:>8.3} %", 100.0 * e.mean / total);
        }
    }
    for warning in &all.warnings {
        let _ = writeln!(out, "Warning: {warning}");
    }
    out
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

fn add_estimate(table: &mut EstimateFormat, name: &str, e: &MeanEstimate) {
    let interval = format!("{} to {}", number(e.ci95[0]), number(e.ci95[1]));
    let numbers = [e.mean, e.p10, e.p50, e.p90].map(number);
    let cells = [name.to_owned()].into_iter().chain(numbers).chain([interval]);
    table.row(cells.collect());
}

/// Returns `replications.csv` with a row per replication.
pub fn table(seed: u64, rows: &[FleetOutcome]) -> Table {
    let names = rows.first().map_or(&[][..], |r| &r.outputs);
    let names = names.iter().map(|(name, _)| name.as_str());
    let head = ["replication", "seed", "end_reason"].into_iter();
    let mut table = Table::new(head.chain(names).chain(["digest"]));
    for (i, r) in rows.iter().enumerate() {
        let mut row = vec![i.to_string(), seed.to_string(), r.why.as_str().to_owned()];
        row.extend(r.outputs.iter().map(|(_, v)| v.to_string()));
        row.push(format!("{:016x}", r.digest));
        table.push(row);
    }
    table
}
