//! Console output of `run`: the scenario, the main events, a waterfall per restart, shared resources and caveats.

use super::style::Detail;
use super::waterfall::{self, WaterfallStyle};
use super::{admission, brief, facts, main_events, placement, training};
use crate::planning::columns::columns;
use sim_analysis::format;
use sim_analysis::format::{count, thousands};
use sim_analysis::metrics::assumed;
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_base::SimTime;
use sim_engine::record::ResourceUsage;
use std::fmt::Write;

/// Number of restarts shown as a waterfall, and number of further restarts shown as a line each.
const MAX_WATERFALLS: usize = 3;
const MAX_RESTART_LINES: usize = 20;

/// Returns the report of one run. `files` is the path of the run directory, if one was written.
pub fn run(run: &RunView<'_>, files: Option<&str>, style: &WaterfallStyle) -> String {
    if style.detail == Detail::Brief {
        return brief::run(run, files, style);
    }
    let mut out = String::new();
    header(&mut out, run, style);
    failures(&mut out, run, style);
    main_events::write_main_events(&mut out, run, style);
    out.push('\n');
    admission::admission(&mut out, run, style);
    restarts(&mut out, run, style);
    training::training(&mut out, run, style);
    resources(&mut out, run, style);
    notes(&mut out, run, style);
    if let Some(files) = files {
        let _ = writeln!(out, "Files: {files} (start with summary.json and restarts.csv)");
    }
    out + &placement::text(&run.outcome.pending, style)
}

/// Returns the header of the report followed by the decision log.
pub fn decisions(run: &RunView<'_>, log: &str, files: Option<&str>, style: &WaterfallStyle) -> String {
    let mut out = String::new();
    header(&mut out, run, style);
    out.push_str(log);
    if let Some(files) = files {
        let _ = writeln!(out, "Files: {files} (start with decisions.log)");
    }
    out
}

fn header(out: &mut String, run: &RunView<'_>, style: &WaterfallStyle) {
    let title = format!("jobset-sim {}: {}", env!("CARGO_PKG_VERSION"), run.scenario.name);
    let _ = writeln!(out, "{}", style.bold(&title));
    for (label, text) in header_entries(run) {
        write_labeled(out, label, &text, style);
    }
    out.push('\n');
}

/// Writes the JobSets that failed, before everything else that happened.
fn failures(out: &mut String, run: &RunView<'_>, style: &WaterfallStyle) {
    let failed = run.failed_jobsets();
    for f in &failed {
        for line in format::wrap(&format!("{} ({})", f.headline(), f.message), style.width) {
            let _ = writeln!(out, "{}", style.bold(&line));
        }
    }
    if !failed.is_empty() {
        out.push('\n');
    }
}

/// Writes a labeled header entry, wrapped to the line width.
fn write_labeled(out: &mut String, label: &str, text: &str, style: &WaterfallStyle) {
    for (i, part) in format::wrap(text, style.width - 17).iter().enumerate() {
        let label = if i == 0 { label } else { "" };
        let _ = writeln!(out, "  {label:<14} {part}");
    }
}

/// Returns the header entries as label and text. An empty label marks a continuation of the previous entry.
pub fn header_entries(run: &RunView<'_>) -> Vec<(&'static str, String)> {
    let scenario = run.scenario;
    let mut facts =
        vec![("cluster", facts::describe_cluster(run)), ("control plane", facts::describe_control_plane(run))];
    let jobsets = scenario.jobsets.iter();
    facts.extend(jobsets.map(|j| ("JobSet", facts::describe_jobset(&j.jobset))));
    let trainings = scenario.training.iter();
    facts.extend(trainings.map(|t| ("training", training::describe_training_job(run, t))));
    let assumed = assumed::containers(scenario).lines();
    for (i, line) in assumed.into_iter().enumerate() {
        facts.push((if i == 0 { "containers" } else { "" }, line));
    }
    facts.extend(assumed::kueue(scenario).map(|fact| ("Kueue", fact)));
    facts.push(("seed", facts::describe_seed(run)));
    facts
}

fn restarts(out: &mut String, run: &RunView<'_>, style: &WaterfallStyle) {
    let all = run.restarts();
    if all.is_empty() {
        let _ = writeln!(out, "No restart.\n");
        return;
    }
    for (i, r) in all.iter().take(MAX_WATERFALLS).enumerate() {
        waterfall::restart(out, run, r, i + 1, style);
        out.push('\n');
    }
    for (i, r) in all.iter().enumerate().skip(MAX_WATERFALLS).take(MAX_RESTART_LINES) {
        let _ = writeln!(out, "{}", format::restart_title(run, r, i + 1));
    }
    if all.len() > MAX_WATERFALLS {
        let more = all.len().saturating_sub(MAX_WATERFALLS + MAX_RESTART_LINES) as u64;
        if more > 0 {
            let _ = writeln!(out, "... and {}", count(more, "more restart"));
        }
        out.push('\n');
        quantiles(out, all);
    }
}

fn quantiles(out: &mut String, all: &[RestartMetrics]) {
    if let Some(text) = facts::latency_quantiles(all) {
        let _ = writeln!(out, "{text}.\n");
    }
}

/// Returns the share of the given intervals in which the queue of the resource was not empty.
pub(crate) fn busy_share(usage: &ResourceUsage, intervals: &[(SimTime, SimTime)]) -> f64 {
    let (mut busy, mut total) = (0u64, 0u64);
    for &(from, to) in intervals {
        busy += usage.busy_within(from, to).0;
        total += to.since(from).0;
    }
    busy as f64 / (total as f64).max(1.0)
}

/// Number of columns of the table of resources with fixed column widths.
const RESOURCE_COLUMNS: usize = 92;

fn resources(out: &mut String, run: &RunView<'_>, style: &WaterfallStyle) {
    let outcome = run.outcome;
    let used: Vec<&ResourceUsage> = outcome.resources.iter().filter(|u| u.requests > 0).collect();
    if used.is_empty() {
        return;
    }
    let gating = bottleneck::bottlenecks(run.restarts());
    let complete = [(SimTime::ZERO, outcome.end)];
    let during: Vec<(SimTime, SimTime)> = run.restarts().iter().map(|r| (r.start, r.end)).collect();
    let title = "Shared resources (busy: share of time with a non-empty queue; longest: maximum queue length)";
    let _ = writeln!(out, "{}", style.bold(title));
    let head = ["resource", "capacity", "requests", "busy", "in restarts", "longest", ""];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for u in used {
        let in_restarts = match during.as_slice() {
            [] => "-".to_owned(),
            list => format::percent(busy_share(u, list), 0),
        };
        rows.push(vec![
            u.resource.as_str().to_owned(),
            u.capacity.clone(),
            thousands(u.requests),
            format::percent(busy_share(u, &complete), 0),
            in_restarts,
            thousands(u64::from(u.longest_queue)),
            if gating.contains(&u.resource) { "BOTTLENECK" } else { "" }.to_owned(),
        ]);
    }
    if style.width < RESOURCE_COLUMNS {
        for row in columns(&rows, |_| false, style) {
            let _ = writeln!(out, "{row}");
        }
        return;
    }
    for (at, row) in rows.iter().enumerate() {
        let [name, capacity, requests, busy, in_restarts, longest, mark] = &row[..] else { continue };
        let name = if at == 0 { "" } else { name };
        let mark = if mark.is_empty() { String::new() } else { format!("  {mark}") };
        let line = format!("  {name:<25} {capacity:<26} {requests:>9} {busy:>6} {in_restarts:>11} {longest:>7}{mark}");
        let _ = writeln!(out, "{}", if at == 0 { style.dim(&line) } else { line });
    }
    out.push('\n');
}

fn notes(out: &mut String, run: &RunView<'_>, style: &WaterfallStyle) {
    let mut list = |title: &str, lines: &[String]| {
        if lines.is_empty() {
            return;
        }
        let _ = writeln!(out, "{}", style.bold(title));
        for line in lines {
            for (i, part) in format::wrap(line, style.width - 4).iter().enumerate() {
                let _ = writeln!(out, "  {}{part}", if i == 0 { "- " } else { "  " });
            }
        }
        out.push('\n');
    };
    let (stuck, overtaken) = run.outcome.blocked_and_unfinished();
    list("Permanently blocked", &stuck);
    list("Not ready at the end", &overtaken);
    list("Suspended at the end", &run.suspended());
    list("Warnings", &run.outcome.warnings);
    if !run.not_modelled.is_empty() {
        let text = format!("Not modelled: {}", run.not_modelled.join(", "));
        for line in format::wrap(&text, style.width) {
            let _ = writeln!(out, "{line}");
        }
    }
}
