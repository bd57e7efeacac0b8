//! Reads fault traces: CSV with a header line, or one JSON object per line, with node (or pod), time (or start), kind,
//! and duration or end.
//!
//! This module must never interpret the kind of a fault; that is the task of the processes that use the trace.

mod clock;
mod error;

pub use error::TraceLineError;

use crate::text::diagnostic::{Diagnostic, DiagnosticReport, SourceText};
use crate::text::node::{SourcePosition, YamlNode, YamlValue};
use crate::{files::FileLoader, read};
use serde_json::Value as Json;
use sim_base::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// Names of the column that identifies the failed component. The choice depends on the target of the process.
pub const NAMED: [&str; 2] = ["node", "pod"];
const COLUMNS: [&str; 5] = ["time", "start", "end", "kind", "duration"];

#[derive(Clone, Debug)]
pub struct TraceRow {
    /// Column that identifies the component: `node` or `pod`.
    pub of: &'static str,
    pub name: String,
    /// Time since the start of the run, or since 1970 while `is_absolute` is set.
    pub at: Duration,
    pub is_absolute: bool,
    pub kind: Option<String>,
    pub lasts: Option<Duration>,
    /// Line number, 1-based.
    pub line: u32,
}

#[derive(Clone, Debug, Default)]
pub struct FaultTrace {
    pub rows: Vec<TraceRow>,
    pub source: SourceText,
    settings: TraceSettings,
    /// Number of faults before the start of the run.
    pub omitted: usize,
}

/// Settings that apply to the whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TraceSettings {
    /// Timestamp of the start of the run.
    start: Option<Duration>,
    /// Names of the scenario for names of the trace.
    names: BTreeMap<String, String>,
}

/// Maximum number of reported errors per trace. A trace with more errors probably belongs to another cluster.
pub const TRACE_ERRORS_MAX: usize = 20;

/// Traces by file name.
pub type FaultTraces = BTreeMap<String, FaultTrace>;

pub fn file_of(process: &YamlNode) -> Option<&YamlNode> {
    let trace = process.get("trace")?;
    trace.get("file").or(Some(trace)).filter(|file| file.as_str().is_some())
}

/// Reads every trace named by the processes in a list.
pub fn load(
    (root, list): (&YamlNode, &str), loader: &FileLoader, inputs: &mut Vec<(String, String)>,
    report: &mut DiagnosticReport,
) -> FaultTraces {
    let mut traces = FaultTraces::new();
    for process in read::list(root, list) {
        let Some((place, file)) = file_of(process).and_then(|f| Some((f, f.as_str()?))) else {
            continue;
        };
        let settings = settings(process, report);
        if let Some(known) = traces.get(file) {
            if known.settings != settings {
                let message = format!("trace {file:?} has another start or other names in an earlier process");
                report.error(place.at, message).legal("the same start and names in all processes with this trace");
            }
            continue;
        }
        let text = match loader(file) {
            Ok(text) => text,
            Err(problem) => {
                report.error(place.at, format!("trace {file:?} {problem}"));
                continue;
            }
        };
        let file = file.to_owned();
        if !inputs.iter().any(|(name, _)| *name == file) {
            inputs.push((file.clone(), text.clone()));
        }
        let source = SourceText { file: file.clone(), text };
        let (rows, errors) = rows(&source);
        report.found.extend(errors);
        let mut trace = FaultTrace { rows, source, settings, omitted: 0 };
        rename(&mut trace, process, report);
        report.found.extend(clock::make_relative(&mut trace));
        traces.insert(file, trace);
    }
    traces
}

fn settings(process: &YamlNode, report: &mut DiagnosticReport) -> TraceSettings {
    let place = process.at_path(&["trace", "start"]);
    let start = place.and_then(YamlNode::as_str).and_then(clock::timestamp);
    if let (Some(place), None) = (place, start) {
        let error = report.error(place.at, "start is not a timestamp");
        error.legal("a timestamp such as 2026-11-20T08:00:00Z");
    }
    let names = process.at_path(&["trace", "names"]).map_or(&[][..], YamlNode::entries);
    let names = names.iter().filter_map(|(key, to)| Some((key.name.clone(), to.as_str()?.to_owned())));
    TraceSettings { start, names: names.collect() }
}

/// Replaces names of the trace by names of the scenario.
fn rename(trace: &mut FaultTrace, process: &YamlNode, report: &mut DiagnosticReport) {
    let names = process.at_path(&["trace", "names"]).map_or(&[][..], YamlNode::entries);
    for (key, to) in names.iter().filter(|(key, _)| !trace.rows.iter().any(|row| row.name == key.name)) {
        report.error(to.at, format!("the trace {:?} does not contain the name {:?}", trace.source.file, key.name));
    }
    for row in &mut trace.rows {
        if let Some(name) = trace.settings.names.get(&row.name) {
            row.name.clone_from(name);
        }
    }
}

/// Returns notes on faults that are not simulated, with their numbers.
pub fn notes(traces: &FaultTraces) -> impl Iterator<Item = (String, usize)> + '_ {
    let omitted = traces.iter().filter(|(_, trace)| trace.omitted > 0);
    omitted.map(|(file, trace)| (format!("faults of the trace {file} before its start"), trace.omitted))
}

impl FaultTrace {
    /// Returns the faults of the trace. If `kinds` is given, only faults of these kinds are returned.
    pub fn of_kinds(&self, kinds: Option<&[YamlNode]>) -> Vec<&TraceRow> {
        let wanted = |row: &&TraceRow| {
            let is = |kind: &YamlNode| kind.as_str() == row.kind.as_deref();
            kinds.is_none_or(|kinds| kinds.iter().any(is))
        };
        self.rows.iter().filter(wanted).collect()
    }
}

/// Checks that a process with a trace has faults, and that the trace contains each kind that the process names.
pub fn check_kinds(
    (trace, process): (&FaultTrace, &YamlNode), rows: &[&TraceRow], place: &YamlNode, report: &mut DiagnosticReport,
) {
    let file = &trace.source.file;
    let known: BTreeSet<&str> = trace.rows.iter().filter_map(|row| row.kind.as_deref()).collect();
    let kinds = process.at_path(&["trace", "kinds"]).map_or(&[][..], YamlNode::items);
    let unknown =
        kinds.iter().filter_map(|kind| Some((kind, kind.as_str()?))).filter(|(_, name)| !known.contains(name));
    let mut unknown = unknown.peekable();
    if unknown.peek().is_none() && rows.is_empty() {
        report.error(place.at, format!("the trace {file:?} contains no matching fault"));
    }
    for (kind, name) in unknown {
        let error = report.error(kind.at, format!("the trace {file:?} contains no fault of kind {name:?}"));
        error.legal(known.iter().copied().collect::<Vec<_>>().join(", "));
    }
}

pub fn error(source: &SourceText, line: u32, message: String) -> Diagnostic {
    let text = source.text.lines().nth(line.saturating_sub(1) as usize);
    let at = SourcePosition {
        line,
        column: 1,
        len: text.map_or(1, |text| text.chars().count() as u32),
        ..SourcePosition::default()
    };
    Diagnostic::at(source, at, message)
}

/// Values of a line, by column name.
type TraceFields = BTreeMap<String, String>;

fn rows(source: &SourceText) -> (Vec<TraceRow>, Vec<Diagnostic>) {
    let result = if source.text.trim_start().starts_with('{') { json_lines(source) } else { csv_lines(source) };
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for (line, fields) in result {
        match fields.and_then(|fields| row(&fields, line)) {
            Ok(row) => rows.push(row),
            Err(problem) => {
                errors.push(error(source, line, problem.to_string()));
                if errors.len() >= TRACE_ERRORS_MAX {
                    break;
                }
            }
        }
    }
    (rows, errors)
}

/// The non-empty lines with their line numbers.
type TraceLines = Vec<(u32, Result<TraceFields, TraceLineError>)>;

fn json_lines(source: &SourceText) -> TraceLines {
    let lines = (1u32..).zip(source.text.lines());
    let written = lines.filter(|(_, line)| !line.trim().is_empty());
    written.map(|(n, line)| (n, of_json(line))).collect()
}

/// Parses CSV. An invalid header gives a single error instead of one for each line.
fn csv_lines(source: &SourceText) -> TraceLines {
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.trim(csv::Trim::All).from_reader(source.text.as_bytes());
    // The csv crate counts empty lines before a record as part of it.
    let line_of = |at: Option<&csv::Position>| {
        let Some(at) = at else { return 1 };
        let rest = source.text.get(at.byte() as usize..).unwrap_or("");
        let empty = &rest[..rest.len() - rest.trim_start().len()];
        at.line() as u32 + empty.matches('\n').count() as u32
    };
    let head = match reader.headers() {
        Ok(head) => head.clone(),
        Err(e) => return vec![(line_of(e.position()), Err(e.into()))],
    };
    if let Some(error) = head.iter().find_map(unknown) {
        return vec![(line_of(head.position()), Err(error))];
    }
    let of = |record: Result<csv::StringRecord, csv::Error>| match record {
        Ok(record) => {
            let fields = head.iter().zip(&record);
            let fields = fields.filter(|(_, cell)| !cell.is_empty());
            let fields = fields.map(|(name, cell)| (name.to_owned(), cell.to_owned()));
            (line_of(record.position()), Ok(fields.collect()))
        }
        Err(e) => match e.kind() {
            csv::ErrorKind::UnequalLengths { pos, len, .. } => {
                let error = TraceLineError::ValueCount { values: *len, columns: head.len() };
                (line_of(pos.as_ref()), Err(error))
            }
            _ => (line_of(e.position()), Err(e.into())),
        },
    };
    reader.records().map(of).collect()
}

fn unknown(column: &str) -> Option<TraceLineError> {
    let known = NAMED.iter().chain(&COLUMNS).any(|known| *known == column);
    (!known).then(|| TraceLineError::UnknownColumn { name: column.to_owned() })
}

fn of_json(line: &str) -> Result<TraceFields, TraceLineError> {
    let Ok(Json::Object(object)) = serde_json::from_str(line) else {
        return Err(TraceLineError::NotObject);
    };
    let text = |value: Json| match value {
        Json::String(text) => text,
        other => other.to_string(),
    };
    let fields = object.into_iter().filter(|(_, value)| !value.is_null());
    Ok(fields.map(|(key, value)| (key, text(value))).collect())
}

fn row(fields: &TraceFields, line: u32) -> Result<TraceRow, TraceLineError> {
    if let Some(error) = fields.keys().find_map(|key| unknown(key)) {
        return Err(error);
    }
    let of = NAMED.into_iter().find(|of| fields.contains_key(*of));
    let (Some(of), Some(time)) = (of, fields.get("time").or(fields.get("start"))) else {
        return Err(TraceLineError::MissingField);
    };
    let duration = |text: &String| {
        let number = text.parse().map_or(YamlValue::Str(text.clone()), YamlValue::Float);
        let seconds = read::seconds(&YamlNode::new(SourcePosition::default(), number));
        let refused = |_| TraceLineError::InvalidTime { text: text.clone() };
        seconds.map(Duration::from_seconds_f64).map_err(refused)
    };
    let instant = |text: &String| -> Result<(Duration, bool), TraceLineError> {
        clock::timestamp(text).map_or_else(|| Ok((duration(text)?, false)), |at| Ok((at, true)))
    };
    let (at, is_absolute) = instant(time)?;
    let until_end = |end: &String| match instant(end)? {
        (end, is_same) if is_same == is_absolute && end >= at => Ok(Duration(end.0 - at.0)),
        _ => Err(TraceLineError::InvalidEnd { text: end.clone() }),
    };
    let lasts = match (fields.get("duration"), fields.get("end")) {
        (Some(lasts), _) => Some(duration(lasts)?),
        (None, end) => end.map(until_end).transpose()?,
    };
    Ok(TraceRow { of, name: fields[of].clone(), at, is_absolute, kind: fields.get("kind").cloned(), lasts, line })
}

#[cfg(test)]
#[path = "../../tests/inside/inputs/traces.rs"]
mod tests;
