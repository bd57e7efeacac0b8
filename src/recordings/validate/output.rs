//! Formats the comparison as JSON and CSV.
//!
//! This module does not compute anything; all numbers are part of the result.

use super::result::{
    FileResult, MilestoneResult, RecordedDifference, RequestDifference, ResultTotals, ValidationVerdict,
    ValidationVerdicts,
};
use serde_json::{Map, Value, json};

/// Rounds to six decimals (microseconds), which is finer than the resolution of the recordings.
fn round_to_microseconds(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    // −0 would print as "-0.0".
    if rounded == 0.0 { 0.0 } else { rounded }
}

pub fn json(files: &[FileResult], totals: &ResultTotals) -> Value {
    let mut out = Map::new();
    let recordings: Vec<Value> = files.iter().map(file_json).collect();
    out.insert("recordings".to_owned(), Value::Array(recordings));
    if let Some(all) = totals.decisions {
        out.insert("decisions".to_owned(), verdicts_json(all));
        let kinds = totals.kinds.iter();
        let kinds = kinds.map(|(kind, of_kind)| ((*kind).to_owned(), verdicts_json(*of_kind)));
        out.insert("kinds".to_owned(), Value::Object(kinds.collect()));
    }
    if let Some(e) = totals.admission {
        let admission = json!({"equal": e.equal, "total": e.total});
        out.insert("admission".to_owned(), admission);
    }
    if let Some(e) = totals.restart {
        let error = json!({"p50": round_to_microseconds(e.p50), "max": round_to_microseconds(e.max)});
        out.insert("restart".to_owned(), json!({"error": error}));
    }
    Value::Object(out)
}

fn verdicts_json(v: ValidationVerdicts) -> Value {
    json!({"equal": v.equal, "otherPlay": v.other_replay, "different": v.different,
        "notSimulated": v.not_simulated, "eitherWay": v.exit_races, "total": v.total()})
}

fn decisions_json(file: &FileResult, verdict: ValidationVerdict) -> Value {
    let differences = file.differences.iter().flatten();
    let list: Vec<Value> = differences.map(difference_json).collect();
    let mut decisions = json!({"result": verdict.as_str(), "equal": verdict == ValidationVerdict::Equal});
    if let Some(play) = &file.equal_replay {
        decisions["play"] = json!(play);
    }
    match verdict {
        ValidationVerdict::NotSimulated => decisions["notSimulated"] = json!(file.not_simulated),
        _ => {
            decisions["eitherWay"] = json!(file.exit_races);
            decisions["differences"] = json!(list);
        }
    }
    decisions
}

fn file_json(file: &FileResult) -> Value {
    let mut out = Map::new();
    out.insert("file".to_owned(), json!(file.file));
    out.insert("kind".to_owned(), json!(file.kind.as_str()));
    if let Some(verdict) = file.verdict() {
        out.insert("decisions".to_owned(), decisions_json(file, verdict));
    } else if !file.not_simulated.is_empty() {
        out.insert("notSimulated".to_owned(), json!(file.not_simulated));
    }
    if let Some(a) = &file.admission {
        let list: Vec<Value> = a.differences.iter().map(difference_json).collect();
        let (equal, total) = (a.count.equal, a.count.total);
        let admission = json!({"equal": equal, "total": total, "differences": list});
        out.insert("admission".to_owned(), admission);
    }
    if !file.milestones.is_empty() {
        let list: Vec<Value> = file.milestones.iter().map(milestone_json).collect();
        out.insert("milestones".to_owned(), Value::Array(list));
    }
    if let Some(r) = &file.restart {
        let (recorded_s, error) = (round_to_microseconds(r.recorded_s), round_to_microseconds(r.error()));
        let mut restart = json!({"recorded_s": recorded_s, "error": error, "scored": r.scored});
        if let Some(simulated_s) = r.simulated_s {
            restart["simulated_s"] = json!(round_to_microseconds(simulated_s));
        }
        out.insert("restart".to_owned(), restart);
    }
    Value::Object(out)
}

fn difference_json(d: &RecordedDifference) -> Value {
    json!({"path": d.path, "recorded": d.recorded, "simulated": d.simulated})
}

fn milestone_json(m: &MilestoneResult) -> Value {
    let mut out = Map::new();
    out.insert("name".to_owned(), json!(m.name));
    for (key, value) in [("recorded_s", m.recorded_s), ("simulated_s", m.simulated_s)] {
        if let Some(value) = value {
            out.insert(key.to_owned(), json!(round_to_microseconds(value)));
        }
    }
    Value::Object(out)
}

/// Column headers of [`rows`].
pub const COLUMNS: [&str; 7] = ["file", "kind", "section", "name", "recorded", "simulated", "difference"];

/// Returns one row per comparison: file, kind, section, name, recorded, simulated, difference. The difference is a
/// fraction if both values are numbers.
pub fn rows(files: &[FileResult]) -> Vec<Vec<String>> {
    let named = |file: &FileResult| {
        let head = [file.file.clone(), file.kind.as_str().to_owned()];
        let rows = file_rows(file).into_iter();
        rows.map(move |row| head.iter().cloned().chain(row).collect()).collect::<Vec<Vec<String>>>()
    };
    files.iter().flat_map(named).collect()
}

fn file_rows(file: &FileResult) -> Vec<[String; 5]> {
    let mut rows = Vec::new();
    let number = |n: Option<f64>| n.map_or(String::new(), |n| round_to_microseconds(n).to_string());
    let text = |s: &str| s.to_owned();
    let empty = || [(); 3].map(|()| String::new());
    let mut named = |section: &str, name: &str| {
        let [recorded, simulated, difference] = empty();
        rows.push([text(section), text(name), recorded, simulated, difference]);
    };
    for reason in &file.not_simulated {
        named("not simulated", reason);
    }
    if let Some(play) = &file.equal_replay {
        named("equal in another play", play);
    }
    if file.exit_races > 0 {
        named("pods that may have ended either way", &file.exit_races.to_string());
    }
    let admission = file.admission.iter().flat_map(|a| &a.differences);
    for d in file.differences.iter().flatten().chain(admission) {
        let (recorded, simulated) = (unquoted(&d.recorded), unquoted(&d.simulated));
        rows.push([text("difference"), d.path.clone(), recorded, simulated, text("")]);
    }
    for m in &file.milestones {
        rows.push([
            text("milestone"),
            m.name.clone(),
            number(m.recorded_s),
            number(m.simulated_s),
            number(relative_error(m.recorded_s, m.simulated_s)),
        ]);
    }
    if let Some(r) = &file.restart {
        rows.push([
            text(if r.scored { "restart" } else { "restart, not scored" }),
            r.milestone.clone(),
            number(Some(r.recorded_s)),
            number(r.simulated_s),
            number(Some(r.error())),
        ]);
    }
    for r in &file.requests {
        rows.push([
            format!("requests {}", r.window),
            request_name(r),
            r.recorded.to_string(),
            r.simulated.to_string(),
            number(relative_error(Some(r.recorded as f64), Some(r.simulated as f64))),
        ]);
    }
    rows
}

/// Returns (simulated − recorded) / recorded, or `None` if a value is missing or the recorded value is 0.
pub fn relative_error(recorded: Option<f64>, simulated: Option<f64>) -> Option<f64> {
    let (recorded, simulated) = (recorded?, simulated?);
    (recorded != 0.0).then_some((simulated - recorded) / recorded)
}

pub fn request_name(r: &RequestDifference) -> String {
    let name = format!("{} {} {}", r.client, r.verb, r.resource);
    if r.code.is_empty() { name } else { format!("{name} ({})", r.code) }
}

/// Returns a value without the quotes of JSON strings. Null is printed as `-`.
pub fn unquoted(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(s) if s.is_empty() => "(empty)".to_owned(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/output.rs"]
mod tests;
