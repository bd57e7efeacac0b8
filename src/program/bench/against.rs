//! Comparison of two versions row by row: changed rows, the change, and the phase and wait that changed most.

use super::row::BenchRow;
use serde::{Deserialize, Serialize};
use sim_base::Duration;
use std::collections::{BTreeMap, BTreeSet};

pub const SCHEMA: &str = "jobset-sim/bench-ttr/v1";

/// Output of `bench ttr --format json`, which also serves as a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineReport {
    pub schema: String,
    pub version: String,
    pub rows: Vec<BenchRow>,
    pub not_run: Vec<String>,
    /// By case: the fields of the inputs of a scenario of the user.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, BTreeMap<String, String>>,
    /// By case: what the model does not simulate of its inputs. Not stored in baselines.
    #[serde(skip)]
    pub not_modelled: BTreeMap<String, Vec<String>>,
}

impl BaselineReport {
    pub fn new(rows: Vec<BenchRow>, not_run: Vec<String>) -> BaselineReport {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        BaselineReport {
            schema: SCHEMA.to_owned(),
            version,
            rows,
            not_run,
            inputs: BTreeMap::new(),
            not_modelled: BTreeMap::new(),
        }
    }

    /// Formats the report as JSON with one row per line, so that changed rows are lines of a diff.
    pub fn json(&self) -> Result<String, String> {
        let rows: Result<Vec<String>, String> = self.rows.iter().map(line).collect();
        let not_run = line(&self.not_run)?;
        let (schema, version) = (line(&self.schema)?, line(&self.version)?);
        let inputs = match self.inputs.is_empty() {
            true => String::new(),
            false => format!("\"inputs\":{},", line(&self.inputs)?),
        };
        Ok(format!(
            "{{\"schema\":{schema},\"version\":{version},\"notRun\":{not_run},{inputs}\"rows\":[\n{}\n]}}\n",
            rows?.join(",\n")
        ))
    }

    /// Parses a baseline. The error describes the problem.
    pub fn read(text: &str) -> Result<BaselineReport, String> {
        let report: BaselineReport = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if report.schema == SCHEMA {
            Ok(report)
        } else {
            Err(format!("the schema is {:?}, not {SCHEMA:?}", report.schema))
        }
    }

    pub fn find(&self, row: &BenchRow) -> Option<&BenchRow> {
        self.rows.iter().find(|r| r.key == row.key)
    }
}

/// Formats a value as JSON without line breaks.
fn line<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(|e| e.to_string())
}

/// The changed inputs of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedInputs {
    pub case: String,
    /// Each changed field with its values, such as `moe.yaml: spec.suspend true -> false`.
    pub fields: Vec<String>,
    /// True if a row of the case differs from the baseline.
    pub has_effect: bool,
    /// Without an effect: the known reasons, each with the name of the field.
    pub reasons: Vec<String>,
}

impl ChangedInputs {
    /// Formats the changes as a sentence.
    pub fn text(&self) -> String {
        let effect = match (self.has_effect, self.reasons.as_slice()) {
            (true, _) => String::new(),
            (false, []) => "; without an effect on its rows".to_owned(),
            (false, reasons) => format!("; no effect, because {}", reasons.join("; ")),
        };
        format!("changed inputs of {}: {}{effect}", self.case, self.fields.join(", "))
    }
}

/// Maximum number of changed fields that are listed.
const FIELDS: usize = 10;

/// Returns the changed inputs by case. Baselines of earlier versions do not contain inputs.
pub fn changed_inputs(now: &BaselineReport, before: &BaselineReport) -> Vec<ChangedInputs> {
    let moved = moved(now, before);
    let changes = now.inputs.iter().filter_map(|(case, fields)| {
        let old = before.inputs.get(case)?;
        let names: BTreeSet<&String> = fields.keys().chain(old.keys()).collect();
        let differing: Vec<&String> = names.into_iter().filter(|name| fields.get(*name) != old.get(*name)).collect();
        let notes = now.not_modelled.get(case).map_or(&[][..], Vec::as_slice);
        let has_effect = moved.iter().any(|m| m.row.key.case == *case);
        let reasons = differing.iter().filter(|_| !has_effect).filter_map(|path| inert_reason(path, notes));
        let mut reasons: Vec<String> = reasons.collect();
        reasons.dedup();
        let value = |of: Option<&String>| of.map_or("(absent)".to_owned(), |v| v.chars().take(60).collect());
        let mut all: Vec<String> = differing
            .iter()
            .map(|name| format!("{name} {} -> {}", value(old.get(*name)), value(fields.get(*name))))
            .collect();
        let more = all.len().saturating_sub(FIELDS);
        if more > 0 {
            all.truncate(FIELDS);
            all.push(format!("{more} more"));
        }
        (!all.is_empty()).then(|| ChangedInputs { case: case.clone(), fields: all, has_effect, reasons })
    });
    changes.collect()
}

/// Returns why a changed field did not change a row: `run` lists it under "not modelled", or it is a limit that no row
/// reaches.
fn inert_reason(path: &str, notes: &[String]) -> Option<String> {
    let field = path.rsplit(['.', '[']).find(|part| part.parse::<u32>().is_err() && !part.ends_with(']'))?;
    if let Some(note) = notes.iter().find(|note| note.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w == field)) {
        return Some(format!("it is not modelled: {note}"));
    }
    let why = match field {
        "terminationGracePeriodSeconds" => "every container that is stopped exits earlier",
        "maxRestarts" | "backoffLimit" | "backoffLimitPerIndex" | "maxFailedIndexes" => "no row reaches the limit",
        _ => return None,
    };
    Some(format!("{why} ({field})"))
}

/// A row that differs from the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedRow<'r> {
    pub row: &'r BenchRow,
    pub before: &'r BenchRow,
    /// Change in nanoseconds; `None` if one of the two never recovered.
    pub change_ns: Option<i128>,
    /// The phase with the largest change, and the change in nanoseconds.
    pub phase: Option<(String, i128)>,
    /// The wait with the largest change, and the change in nanoseconds.
    pub wait: Option<(String, i128)>,
}

impl<'r> MovedRow<'r> {
    pub fn new(row: &'r BenchRow, before: &'r BenchRow) -> MovedRow<'r> {
        let times = row.ttr_ns.zip(before.ttr_ns);
        MovedRow {
            change_ns: times.map(|(now, old)| i128::from(now) - i128::from(old)),
            phase: most(&row.phases_ns, &before.phases_ns),
            wait: most(&row.waits_ns, &before.waits_ns),
            row,
            before,
        }
    }

    /// Returns the change relative to the baseline; infinite if the row no longer recovers.
    pub fn share(&self) -> f64 {
        match (self.row.ttr_ns, self.before.ttr_ns, self.change_ns) {
            (_, Some(before), Some(change)) if before > 0 => change as f64 / before as f64,
            (None, Some(_), _) => f64::INFINITY,
            (Some(_), None, _) => f64::NEG_INFINITY,
            _ => 0.0,
        }
    }
}

/// Returns the rows of both reports that differ in time, largest increase first; ties are in the order of the table.
pub fn moved<'r>(now: &'r BaselineReport, before: &'r BaselineReport) -> Vec<MovedRow<'r>> {
    let pairs = now.rows.iter().filter_map(|row| Some((row, before.find(row)?)));
    let differ = pairs.filter(|(row, old)| differs(row, old));
    let mut all: Vec<MovedRow<'_>> = differ.map(|(row, before)| MovedRow::new(row, before)).collect();
    all.sort_by(|a, b| b.share().total_cmp(&a.share()));
    all
}

/// Whether two results of a row differ in time. Replications are compared only if there are equally many.
fn differs(row: &BenchRow, before: &BenchRow) -> bool {
    let comparable = row.replications.len() == before.replications.len();
    row.ttr_ns != before.ttr_ns
        || row.phases_ns != before.phases_ns
        || (comparable && row.replications != before.replications)
}

/// Returns the entry with the largest absolute change.
fn most(now: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> Option<(String, i128)> {
    let names = now.keys().chain(before.keys());
    let time = |of: &BTreeMap<String, u64>, name: &String| i128::from(of.get(name).copied().unwrap_or(0));
    let change = |name: &String| time(now, name) - time(before, name);
    let most = names.max_by_key(|name| (change(name).unsigned_abs(), std::cmp::Reverse((*name).clone())))?;
    Some((most.clone(), change(most))).filter(|(_, change)| *change != 0)
}

/// Formats a time with its sign: `+1.5 s`, `-20.0 s`.
pub fn signed(nanos: i128, seconds: impl Fn(Duration) -> String) -> String {
    let sign = if nanos < 0 { '-' } else { '+' };
    let size = u64::try_from(nanos.unsigned_abs()).unwrap_or(u64::MAX);
    format!("{sign}{}", seconds(Duration(size)))
}

#[cfg(test)]
#[path = "../../../tests/inside/program/bench/against.rs"]
mod tests;
