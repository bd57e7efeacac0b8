//! `topology show --blast`: the JobSets and accelerators that the loss of each failure domain stops, and for how long.

use super::place::read;
use crate::cli::args::OutputFormat;
use crate::cli::{failure::CommandFailure, output};
use serde_json::json;
use sim_analysis::capacity::{BlastEffect, BlastRow, HitJobSet, blast_radius, fit};
use sim_analysis::format::{column, count, seconds, thousands};
use sim_base::Duration;
use std::fmt::Write;
use std::path::Path;

pub fn cli(file: &Path, manifests: &[String], format: OutputFormat) -> Result<(), CommandFailure> {
    let scenario = read(file, manifests, &[])?;
    let Some(rows) = blast_radius(&scenario)? else {
        let why = fit(&scenario, 1)?.blocked.into_iter().next();
        return Err(CommandFailure::CannotBePlaced(why.unwrap_or_else(|| "the JobSets are not ready".to_owned())));
    };
    match format {
        OutputFormat::Json => output::json(&json!({"name": scenario.topology.name, "failureDomains": rows})),
        OutputFormat::Text => output::text(&text(&scenario.topology.name, &rows)),
    }
}

fn text(topology: &str, rows: &[BlastRow]) -> String {
    let mut out = format!("{topology}: loss of all nodes of a failure domain\n\n");
    let titles: Vec<String> = rows.iter().map(title).collect();
    let width = column(titles.iter().map(String::as_str), 14);
    let _ =
        writeln!(out, "{:<width$} {:>7} {:>13} {:>8}  effect", "failure domain", "nodes", "accelerators", "stopped");
    for (row, title) in rows.iter().zip(&titles) {
        let numbers = [row.accelerators, row.stopped_accelerators].map(thousands);
        let _ = writeln!(
            out,
            "{title:<width$} {:>7} {:>13} {:>8}  {}",
            thousands(row.nodes as u64),
            numbers[0],
            numbers[1],
            effect(row)
        );
    }
    out
}

fn title(row: &BlastRow) -> String {
    let key = if row.key.is_empty() || row.key == row.level { String::new() } else { format!(" ({})", row.key) };
    match row.domains {
        1 => format!("{}{key} {}", row.level, row.example),
        n => format!("{} × {}{key}", thousands(n as u64), row.level),
    }
}

fn effect(row: &BlastRow) -> String {
    let hit = |hit: &HitJobSet| {
        format!("{} ({} of {})", hit.name, count(hit.pods as u64, "pod"), count(hit.jobs as u64, "Job"))
    };
    let jobsets: Vec<String> = row.job_sets.iter().map(hit).collect();
    let jobsets = jobsets.join(", ");
    match &row.effect {
        BlastEffect::Nothing => "stops nothing".to_owned(),
        BlastEffect::Restart { seconds: s } => {
            format!("stops {jobsets} for {}", seconds(Duration::from_seconds_f64(*s)))
        }
        BlastEffect::Blocked { reason } => format!("stops {jobsets}: {reason}"),
    }
}
