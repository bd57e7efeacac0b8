//! `topology show --blast`: the JobSets and accelerators that the loss of each failure domain stops, and for how long.

use super::place::read;
use crate::cli::args::{FieldOverride, OutputFormat};
use crate::cli::{failure::CommandFailure, inputs::fitting_topology, output};
use serde_json::json;
use sim_analysis::capacity::{BlastEffect, BlastRow, HitJobSet, blast_radius, fit};
use sim_analysis::format::{column, count, seconds, thousands};
use sim_base::Duration;
use std::fmt::Write;
use std::path::Path;

pub fn cli(
    (file, manifests, sets): (&Path, &[String], &[FieldOverride]), deleted_after: Duration, format: OutputFormat,
) -> Result<(), CommandFailure> {
    let scenario = read(file, manifests, sets)?;
    let Some(rows) = blast_radius(&scenario, deleted_after)? else {
        let why = fit(&scenario, 1)?.blocked.into_iter().next();
        return Err(fitting_topology::refusal(&scenario, why.as_deref().unwrap_or("the JobSets are not ready")));
    };
    match format {
        OutputFormat::Json => {
            let deleted = deleted_after.seconds();
            output::json(&json!({
                "name": scenario.topology.name, "deletedAfter_s": deleted, "failureDomains": rows,
            }))
        }
        OutputFormat::Text => output::text(&text(&scenario.topology.name, &rows, deleted_after)),
    }
}

fn text(topology: &str, rows: &[BlastRow], deleted_after: Duration) -> String {
    let deleted = seconds(deleted_after);
    let mut out =
        format!("{topology}: all nodes of one failure domain crash; their Nodes are deleted after {deleted}\n\n");
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
        if let BlastEffect::Blocked { reason } = &row.effect {
            let _ = writeln!(out, "  {reason}");
        }
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
        BlastEffect::Blocked { .. } => format!("stops {jobsets} permanently"),
    }
}
