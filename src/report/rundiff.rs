//! Comparison of two run directories: inputs, the first record that differs, and metrics.
//!
//! The event logs are streamed. Memory use is four bytes per record plus the records that are reported.

use crate::rundiff_error::RunDiffError;
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Number of records reported before the first difference.
const RECORDS_BEFORE: usize = 10;
/// Maximum number of causes reported per run.
const CAUSES: usize = 8;
/// Maximum line length. Longer lines are rejected because `run` does not write them.
const LINE_MAX: u64 = 16 << 20;
/// Maximum number of differing metrics that are listed. Further metrics are only counted.
const METRICS: usize = 200;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDiff {
    pub schema: &'static str,
    pub equal: bool,
    /// Program versions of the two runs.
    pub versions: [String; 2],
    pub digests: [String; 2],
    pub inputs: Vec<InputDiff>,
    pub first: Option<FirstDiff>,
    pub metrics: Vec<MetricDiff>,
    /// Number of differing metrics that are not listed.
    pub more_metrics: usize,
}

/// A file in `inputs/` that differs or exists in only one run directory.
#[derive(Debug, PartialEq, Serialize)]
pub struct InputDiff {
    pub file: String,
    /// First line that differs, counted from 1; `None` if the file exists on one side only.
    pub line: Option<usize>,
    /// Content of that line in each run.
    pub a: Option<String>,
    pub b: Option<String>,
}

/// The first record that differs between the runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstDiff {
    /// Line number in `events.ndjson`, counted from 1.
    pub line: usize,
    /// The preceding records, which are equal in both runs.
    pub before: Vec<Value>,
    /// The record in each run; `None` if its log has ended.
    pub a: Option<Value>,
    pub b: Option<Value>,
    /// Chain of causes of the record in each run, most recent first.
    pub causes_of_a: Vec<Value>,
    pub causes_of_b: Vec<Value>,
    /// The last decision up to this record, for runs with `--trace decisions`.
    pub decision_of_a: Option<Value>,
    pub decision_of_b: Option<Value>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct MetricDiff {
    pub metric: String,
    pub a: Value,
    pub b: Value,
}

pub fn diff(a: &Path, b: &Path) -> Result<RunDiff, RunDiffError> {
    let (of_a, of_b) = (summary(a)?, summary(b)?);
    let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let mut metrics = Vec::new();
    diff_values(&of_a, &of_b, "", &mut metrics);
    metrics.retain(|m| !["schema", "version", "digest", "scenario"].contains(&m.metric.as_str()));
    restarts(a, b, &mut metrics)?;
    let inputs = inputs(a, b)?;
    let first = first_differing_record(a, b)?;
    let digests = [text(&of_a, "digest"), text(&of_b, "digest")];
    let more_metrics = metrics.len().saturating_sub(METRICS);
    metrics.truncate(METRICS);
    Ok(RunDiff {
        schema: "jobset-sim/diff/v1",
        equal: inputs.is_empty() && first.is_none() && metrics.is_empty() && digests[0] == digests[1],
        versions: [text(&of_a, "version"), text(&of_b, "version")],
        digests,
        inputs,
        first,
        metrics,
        more_metrics,
    })
}

fn open(path: &Path) -> Result<BufReader<File>, RunDiffError> {
    let file = match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(io::Error::other("not a regular file")),
        _ => File::open(path),
    };
    let file = file.map_err(|e| cannot_open(path, &e))?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

fn cannot_open(path: &Path, error: &io::Error) -> RunDiffError {
    RunDiffError::CannotOpen { path: path.to_owned(), reason: error.to_string() }
}

fn invalid_file(path: &Path, error: &impl ToString) -> RunDiffError {
    RunDiffError::InvalidFile { path: path.to_owned(), reason: error.to_string() }
}

fn summary(dir: &Path) -> Result<Value, RunDiffError> {
    let path = dir.join("summary.json");
    if !path.is_file() {
        return Err(RunDiffError::NotRunDirectory { path: dir.to_owned() });
    }
    serde_json::from_reader(open(&path)?).map_err(|e| invalid_file(&path, &e))
}

/// Reads one line without its line feed into `into`. Returns `false` at the end of the file.
fn read_line(from: &mut impl BufRead, into: &mut Vec<u8>) -> Result<bool, RunDiffError> {
    into.clear();
    let read = from.take(LINE_MAX).read_until(b'\n', into)?;
    if read as u64 == LINE_MAX {
        return Err(RunDiffError::LineTooLong { bytes_max: LINE_MAX });
    }
    if into.last() == Some(&b'\n') {
        into.pop();
    }
    Ok(read > 0)
}

/// Adds every value that differs with its path. The keys `jobs` and `events` are skipped; the record comparison
/// covers them.
pub fn diff_values(a: &Value, b: &Value, path: &str, result: &mut Vec<MetricDiff>) {
    let at = |key: &str| {
        if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
    };
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let only_b = y.keys().filter(|key| !x.contains_key(*key));
            for key in x.keys().chain(only_b).filter(|key| !["jobs", "events"].contains(&key.as_str())) {
                diff_values(&a[key], &b[key], &at(key), result);
            }
        }
        (Value::Array(x), Value::Array(y)) => {
            for i in 0..x.len().max(y.len()) {
                let name = |list: &[Value]| list.get(i).and_then(|v| v["name"].as_str().map(str::to_owned));
                let key = name(x).or_else(|| name(y)).unwrap_or_else(|| i.to_string());
                let (none, other) = (Value::Null, Value::Null);
                diff_values(x.get(i).unwrap_or(&none), y.get(i).unwrap_or(&other), &at(&key), result);
            }
        }
        _ if a != b => result.push(MetricDiff { metric: path.to_owned(), a: a.clone(), b: b.clone() }),
        _ => {}
    }
}

/// Adds the cells of `restarts.csv` that differ.
fn restarts(a: &Path, b: &Path, result: &mut Vec<MetricDiff>) -> Result<(), RunDiffError> {
    let read = |dir: &Path| -> Result<Vec<Vec<String>>, RunDiffError> {
        let path = dir.join("restarts.csv");
        if !path.is_file() {
            return Ok(Vec::new());
        }
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(open(&path)?);
        let rows = reader.records().map(|row| {
            let row = row.map_err(|e| invalid_file(&path, &e))?;
            Ok(row.iter().map(str::to_owned).collect())
        });
        rows.collect()
    };
    let (rows_a, rows_b) = (read(a)?, read(b)?);
    let Some(head) = rows_a.first().or(rows_b.first()) else {
        return Ok(());
    };
    let empty = Vec::new();
    for i in 1..rows_a.len().max(rows_b.len()) {
        let (x, y) = (rows_a.get(i).unwrap_or(&empty), rows_b.get(i).unwrap_or(&empty));
        for (k, name) in head.iter().enumerate().filter(|(_, name)| *name != "digest") {
            let cell = |row: &[String]| row.get(k).map_or(Value::Null, |c| number_or_text(c));
            if cell(x) != cell(y) {
                result.push(MetricDiff { metric: format!("restarts.{i}.{name}"), a: cell(x), b: cell(y) });
            }
        }
    }
    Ok(())
}

fn number_or_text(cell: &str) -> Value {
    match cell.parse::<f64>() {
        Ok(number) => Value::from(number),
        Err(_) => Value::from(cell),
    }
}

/// Returns the sorted relative paths of all files below `inputs/`.
fn files(dir: &Path) -> Result<Vec<PathBuf>, RunDiffError> {
    let root = dir.join("inputs");
    let (mut folders, mut result) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| cannot_open(&folder, &e))?;
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => folders.push(entry.path()),
                (_, true) => result.extend(entry.path().strip_prefix(&root).ok().map(Path::to_owned)),
                _ => {}
            }
        }
    }
    result.sort();
    Ok(result)
}

fn inputs(a: &Path, b: &Path) -> Result<Vec<InputDiff>, RunDiffError> {
    let (of_a, of_b) = (files(a)?, files(b)?);
    let mut all: Vec<&PathBuf> = of_a.iter().chain(&of_b).collect();
    all.sort();
    all.dedup();
    let mut result = Vec::new();
    for file in all {
        let name = file.to_string_lossy().into_owned();
        let alone = |a: bool| {
            let text = |there: bool| there.then(|| "(entire file)".to_owned());
            let (file, line) = (name.clone(), None);
            InputDiff { file, line, a: text(a), b: text(!a) }
        };
        match (of_a.contains(file), of_b.contains(file)) {
            (true, true) => {
                let at = |dir: &Path| dir.join("inputs").join(file);
                let first = first_differing_line(&at(a), &at(b))?;
                result.extend(first.map(|(line, a, b)| InputDiff { file: name, line: Some(line), a, b }));
            }
            (only_a, _) => result.push(alone(only_a)),
        }
    }
    Ok(result)
}

type DiffLines = (usize, Option<String>, Option<String>);

/// Returns the first line in which two files differ.
fn first_differing_line(a: &Path, b: &Path) -> Result<Option<DiffLines>, RunDiffError> {
    let (mut from_a, mut from_b) = (open(a)?, open(b)?);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for at in 1.. {
        let (more_a, more_b) = (read_line(&mut from_a, &mut x)?, read_line(&mut from_b, &mut y)?);
        if !more_a && !more_b {
            break;
        }
        if more_a != more_b || x != y {
            let text = |more: bool, line: &[u8]| more.then(|| String::from_utf8_lossy(line).into_owned());
            return Ok(Some((at, text(more_a, &x), text(more_b, &y))));
        }
    }
    Ok(None)
}

/// Reads both event logs in parallel and returns the first difference.
fn first_differing_record(a: &Path, b: &Path) -> Result<Option<FirstDiff>, RunDiffError> {
    let (path_a, path_b) = (a.join("events.ndjson"), b.join("events.ndjson"));
    match (path_a.is_file(), path_b.is_file()) {
        (true, true) => {}
        //  `--trace none` writes no event log. The digests are compared instead.
        _ => return Ok(None),
    }
    let (mut from_a, mut from_b) = (open(&path_a)?, open(&path_b)?);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut before: VecDeque<Vec<u8>> = VecDeque::with_capacity(RECORDS_BEFORE + 1);
    let mut causes: Vec<u32> = Vec::new();
    for at in 1.. {
        let (more_a, more_b) = (read_line(&mut from_a, &mut x)?, read_line(&mut from_b, &mut y)?);
        if !more_a && !more_b {
            return Ok(None);
        }
        if more_a == more_b && x == y {
            causes.push(cause(&x));
            if before.len() == RECORDS_BEFORE {
                before.pop_front();
            }
            before.push_back(x.clone());
            continue;
        }
        let value = |more: bool, line: &[u8]| more.then(|| parsed(line));
        let (of_a, of_b) = (value(more_a, &x), value(more_b, &y));
        let chain = |more: bool, line: &[u8]| -> Result<Vec<Value>, RunDiffError> {
            //  The cause precedes the first difference, so it is the same record in both logs, or it is not in the
            //  common part.
            let first = if more { cause(line) } else { NO_CAUSE };
            read_records(&path_a, &cause_chain(first, &causes))
        };
        let until = |value: &Option<Value>| value.as_ref().and_then(|v| v["t_ns"].as_u64());
        return Ok(Some(FirstDiff {
            line: at,
            before: before.iter().map(|l| parsed(l)).collect(),
            causes_of_a: chain(more_a, &x)?,
            causes_of_b: chain(more_b, &y)?,
            decision_of_a: decision(a, until(&of_a))?,
            decision_of_b: decision(b, until(&of_b))?,
            a: of_a,
            b: of_b,
        }));
    }
    Ok(None)
}

const NO_CAUSE: u32 = u32::MAX;

fn parsed(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(line).into_owned()))
}

/// Returns the `cause` of a record. Only the first 120 bytes are searched, because the key is among the first.
fn cause(line: &[u8]) -> u32 {
    const KEY: &[u8] = b"\"cause\":";
    let head = &line[..line.len().min(120)];
    let Some(at) = head.windows(KEY.len()).position(|w| w == KEY) else {
        return NO_CAUSE;
    };
    let digits = head[at + KEY.len()..].iter().take_while(|c| c.is_ascii_digit());
    let digits: Vec<u8> = digits.copied().collect();
    std::str::from_utf8(&digits).ok().and_then(|d| d.parse().ok()).unwrap_or(NO_CAUSE)
}

/// Returns the chain of causes as record numbers, starting with `first`.
fn cause_chain(first: u32, causes: &[u32]) -> Vec<u32> {
    let mut all = Vec::new();
    let mut next = first;
    while let Some(cause) = causes.get(next as usize) {
        all.push(next);
        if all.len() == CAUSES || *cause >= next {
            break;
        }
        next = *cause;
    }
    all
}

/// Returns the records with these numbers in descending order.
fn read_records(path: &Path, which: &[u32]) -> Result<Vec<Value>, RunDiffError> {
    let Some(last) = which.iter().max() else {
        return Ok(Vec::new());
    };
    let (mut from, mut text) = (open(path)?, Vec::new());
    let mut result: Vec<(u32, Value)> = Vec::new();
    for seq in 0..=*last {
        if !read_line(&mut from, &mut text)? {
            break;
        }
        if which.contains(&seq) {
            result.push((seq, parsed(&text)));
        }
    }
    result.reverse();
    Ok(result.into_iter().map(|(_, value)| value).collect())
}

/// Returns the last decision up to `until`, if the run directory contains a decision log.
fn decision(dir: &Path, until: Option<u64>) -> Result<Option<Value>, RunDiffError> {
    let path = dir.join("decisions.ndjson");
    match until.filter(|_| path.is_file()) {
        Some(until) => newest_decision(open(&path)?, until),
        None => Ok(None),
    }
}

/// Returns the last decision up to `until` from a decision log with one decision per line.
pub fn newest_decision(mut log: impl BufRead, until: u64) -> Result<Option<Value>, RunDiffError> {
    let (mut text, mut newest) = (Vec::new(), None);
    while read_line(&mut log, &mut text)? {
        let value = parsed(&text);
        match value["t_ns"].as_u64() {
            Some(t) if t > until => break,
            _ => newest = Some(value),
        }
    }
    Ok(newest)
}

#[cfg(test)]
#[path = "../../tests/inside/report/rundiff.rs"]
mod tests;
