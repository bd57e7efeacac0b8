//! Formats the comparison as text: one block per recording, then the totals.
//!
//! This module does not compute anything. Omitted entries are counted.

use super::output::{relative_error, request_name, unquoted};
use super::recording::RecordingKind;
use super::result::{
    FileResult, MilestoneResult, RecordedDifference, RequestDifference, ResultTotals, ValidationVerdicts,
};
use sim_analysis::metrics::restarts::waits::with_sign;
use std::fmt::Write;

/// Maximum number of differences shown per recording. JSON and CSV contain all of them.
const MAX_SHOWN: usize = 8;

pub fn text(files: &[FileResult], totals: &ResultTotals) -> String {
    let mut out = String::new();
    for file in files {
        file_text(&mut out, file);
    }
    totals_text(&mut out, totals);
    out
}

/// Appends a line. `writeln!` to a String cannot fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => {{
        let _ = writeln!($out, $($arg)*);
    }};
}

fn file_text(out: &mut String, file: &FileResult) {
    let mut title = format!("{} ({})", file.file, file.kind.as_str());
    if !file.about.is_empty() {
        let _ = write!(title, ": {}", file.about);
    }
    line!(out, "{title}");
    for reason in &file.not_simulated {
        line!(out, "  not simulated: {reason}");
    }
    if let Some(differences) = &file.differences {
        differences_text(out, differences, file.equal_replay.as_deref());
    }
    match file.exit_races {
        0 => {}
        1 => line!(out, "  1 pod may have ended either way"),
        n => line!(out, "  {n} pods may have ended either way"),
    }
    if let Some(a) = &file.admission {
        line!(out, "  {} of {} cases equal", a.count.equal, a.count.total);
        if !a.differences.is_empty() {
            differences_text(out, &a.differences, None);
        }
    }
    // A node failure has many steps. Only the steps that differ are shown, above.
    if file.kind == RecordingKind::Times && !file.milestones.is_empty() {
        milestones_text(out, &file.milestones);
    }
    if let Some(r) = &file.restart {
        let simulated = seconds(r.simulated_s);
        let error = percent(Some(r.error()));
        let note = if r.scored { "" } else { "; not scored" };
        line!(
            out,
            "  restart, up to {}: recorded {}, simulated {simulated}, {error}{note}",
            r.milestone,
            seconds(Some(r.recorded_s))
        );
    }
    requests_text(out, &file.requests);
}

fn differences_text(out: &mut String, differences: &[RecordedDifference], play: Option<&str>) {
    // Another replay, with different values for properties that the recording does not contain, had the same decisions.
    if let Some(play) = play {
        line!(out, "  equal only with {play}; differences of the first replay:");
    }
    match differences.len() {
        0 => line!(out, "  equal"),
        1 => line!(out, "  1 difference"),
        n => line!(out, "  {n} differences"),
    }
    for d in differences.iter().take(MAX_SHOWN) {
        line!(out, "    {}", d.path);
        line!(out, "      recorded   {}", unquoted(&d.recorded));
        line!(out, "      simulated  {}", unquoted(&d.simulated));
    }
    if differences.len() > MAX_SHOWN {
        let more = differences.len() - MAX_SHOWN;
        line!(out, "    and {more} more; --format json shows all");
    }
}

fn seconds(s: Option<f64>) -> String {
    s.map_or("never".to_owned(), |s| format!("{s:.3} s"))
}

fn percent(fraction: Option<f64>) -> String {
    fraction.map_or("-".to_owned(), |f| format!("{} %", with_sign(f * 100.0, 1)))
}

fn milestones_text(out: &mut String, milestones: &[MilestoneResult]) {
    line!(out, "  {:<18}{:>12}{:>12}{:>12}", "milestone", "recorded", "simulated", "difference");
    for m in milestones {
        line!(
            out,
            "  {:<18}{:>12}{:>12}{:>12}",
            m.name,
            seconds(m.recorded_s),
            seconds(m.simulated_s),
            percent(relative_error(m.recorded_s, m.simulated_s))
        );
    }
}

fn requests_text(out: &mut String, requests: &[RequestDifference]) {
    let displayed: Vec<&RequestDifference> = requests.iter().filter(|r| r.window == "restart").collect();
    if displayed.is_empty() {
        return;
    }
    line!(out, "  {:<52}{:>9}{:>10}{:>12}", "requests during the restart", "recorded", "simulated", "difference");
    for r in displayed {
        let difference = match r.note {
            Some(_) => "not modelled".to_owned(),
            None => percent(relative_error(Some(r.recorded as f64), Some(r.simulated as f64))),
        };
        line!(out, "  {:<52}{:>9}{:>10}  {difference:>12}", request_name(r), r.recorded, r.simulated);
    }
}

fn totals_text(out: &mut String, totals: &ResultTotals) {
    line!(out, "");
    if let Some(all) = totals.decisions {
        line!(out, "decisions: {}", verdict_counts(all));
        for (kind, of_kind) in totals.kinds.iter().filter(|_| totals.kinds.len() > 1) {
            line!(out, "  {kind}: {}", verdict_counts(*of_kind));
        }
    }
    if let Some(e) = totals.admission {
        line!(out, "admission: {} of {} equal", e.equal, e.total);
    }
    if let Some(e) = totals.restart {
        line!(
            out,
            "restart time: {} scored, absolute error p50 {}, max {}",
            totals.scored_restarts,
            sim_analysis::format::percent(e.p50, 1),
            sim_analysis::format::percent(e.max, 1)
        );
    }
    if !totals.not_simulated.is_empty() {
        line!(out, "not simulated, by reason:");
        for (reason, n) in &totals.not_simulated {
            line!(out, "  {n} {reason}");
        }
    }
}

/// Returns all counts, including zeros, so that none of them is mistaken for another.
fn verdict_counts(v: ValidationVerdicts) -> String {
    format!(
        "{} of {} equal ({} with pods that may have ended either way), {} equal only in another replay, {} different, \
         {} not simulated",
        v.equal,
        v.total(),
        v.exit_races,
        v.other_replay,
        v.different,
        v.not_simulated
    )
}

/// Returns the reasons for "not modelled", each once per output.
pub fn not_modelled(files: &[FileResult]) -> String {
    let mut out = String::new();
    let used = |reason: &str| {
        let mut all = files.iter().flat_map(|f| &f.requests);
        all.any(|r| r.window == "restart" && r.note == Some(reason))
    };
    for (client, resource, code, reason) in super::requests::NOT_MODELLED {
        if !used(reason) {
            continue;
        }
        let parts = [client, resource, code];
        let what: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
        line!(out, "  {}: {reason}", what.join(" "));
    }
    if out.is_empty() { out } else { format!("requests that are not modelled:\n{out}") }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/text.rs"]
mod tests;
