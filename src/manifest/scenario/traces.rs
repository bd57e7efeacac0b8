//! Reads traces of faults: CSV with a head line, or one JSON object a line, of node (or pod), time, kind and duration.
//!
//! Must never know what a fault does; that is the business of the processes that name the file.

use super::Loader;
use crate::base::Duration;
use crate::manifest::diagnostic::{Diagnostic, Report, Source};
use crate::manifest::node::{Node, Pos, Value};
use crate::manifest::{read, shape};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The names of the columns: what fails, by what a process is on.
pub const NAMED: [&str; 2] = ["node", "pod"];
const COLUMNS: [&str; 3] = ["time", "kind", "duration"];

/// One line of a trace.
#[derive(Clone, Debug)]
pub struct Row {
    /// `node` or `pod`.
    pub of: &'static str,
    pub name: String,
    pub at: Duration,
    pub kind: Option<String>,
    pub lasts: Option<Duration>,
    /// 1-based.
    pub line: u32,
}

/// A trace that was read.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub rows: Vec<Row>,
    pub source: Source,
}

/// By the name of the file.
pub type Traces = BTreeMap<String, Trace>;

/// The file that a process names.
pub fn file_of(process: &Node) -> Option<&Node> {
    let trace = process.get("trace")?;
    trace
        .get("file")
        .or(Some(trace))
        .filter(|file| file.as_str().is_some())
}

/// Reads every trace that `faultProcesses` names.
pub fn load(
    scenario: &Node,
    loader: &Loader,
    inputs: &mut Vec<(String, String)>,
    report: &mut Report,
) -> Traces {
    let mut traces = Traces::new();
    for process in read::list(scenario, "faultProcesses") {
        let Some((place, file)) = file_of(process).and_then(|f| Some((f, f.as_str()?))) else {
            continue;
        };
        if traces.contains_key(file) {
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
        let source = Source {
            file: file.clone(),
            text,
        };
        let (rows, errors) = rows(&source);
        report.found.extend(errors);
        traces.insert(file, Trace { rows, source });
    }
    traces
}

/// An error of a line.
pub fn error(source: &Source, line: u32, message: String) -> Diagnostic {
    let text = source.text.lines().nth(line.saturating_sub(1) as usize);
    let at = Pos {
        line,
        column: 1,
        len: text.map_or(1, |text| text.chars().count() as u32),
        ..Pos::default()
    };
    Diagnostic::at(source, at, message)
}

/// The values of a line by the names of their columns.
type Fields = BTreeMap<String, String>;

fn rows(source: &Source) -> (Vec<Row>, Vec<Diagnostic>) {
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    let mut lines = (1u32..)
        .zip(source.text.lines())
        .filter(|(_, l)| !l.trim().is_empty())
        .peekable();
    let is_json = lines
        .peek()
        .is_some_and(|(_, line)| line.trim_start().starts_with('{'));
    let head: Vec<String> = match is_json {
        true => Vec::new(),
        false => lines
            .next()
            .map(|(_, line)| cells(line))
            .unwrap_or_default(),
    };
    for (line, text) in lines {
        let fields = match is_json {
            true => of_json(text),
            false => of_csv(&head, text),
        };
        match fields.and_then(|fields| row(&fields, line)) {
            Ok(row) => rows.push(row),
            Err(message) => errors.push(error(source, line, message)),
        }
    }
    (rows, errors)
}

fn cells(line: &str) -> Vec<String> {
    let clean = |cell: &str| cell.trim().trim_matches('"').to_owned();
    line.split(',').map(clean).collect()
}

fn of_csv(head: &[String], line: &str) -> Result<Fields, String> {
    let cells = cells(line);
    if cells.len() != head.len() {
        let (found, wanted) = (cells.len(), head.len());
        return Err(format!(
            "{found} values; the head line has {wanted} columns"
        ));
    }
    let fields = head.iter().cloned().zip(cells);
    Ok(fields.filter(|(_, cell)| !cell.is_empty()).collect())
}

fn of_json(line: &str) -> Result<Fields, String> {
    let Ok(Json::Object(object)) = serde_json::from_str(line) else {
        return Err("no JSON object".to_owned());
    };
    let text = |value: Json| match value {
        Json::String(text) => text,
        other => other.to_string(),
    };
    let fields = object.into_iter().filter(|(_, value)| !value.is_null());
    Ok(fields.map(|(key, value)| (key, text(value))).collect())
}

fn row(fields: &Fields, line: u32) -> Result<Row, String> {
    let known = |key: &&String| NAMED.iter().chain(&COLUMNS).any(|known| known == key);
    if let Some(other) = fields.keys().find(|key| !known(key)) {
        return Err(format!(
            "unknown column {other:?}; node or pod, time, kind and duration are read"
        ));
    }
    let of = NAMED.into_iter().find(|of| fields.contains_key(*of));
    let (Some(of), Some(time)) = (of, fields.get("time")) else {
        return Err("a fault has a node (or a pod) and a time".to_owned());
    };
    let duration = |text: &String| {
        let number = text.parse().map_or(Value::Str(text.clone()), Value::Float);
        let seconds = shape::seconds(&Node::new(Pos::default(), number));
        let refused = |_| format!("{text:?} is no time: 90, 1m30s or 3h since the run began");
        seconds.map(Duration::from_seconds_f64).map_err(refused)
    };
    Ok(Row {
        of,
        name: fields[of].clone(),
        at: duration(time)?,
        kind: fields.get("kind").cloned(),
        lasts: fields.get("duration").map(duration).transpose()?,
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Row>, Vec<Diagnostic>) {
        rows(&Source {
            file: "faults.csv".to_owned(),
            text: text.to_owned(),
        })
    }

    #[test]
    fn csv_and_json_lines_say_the_same() {
        let csv = "time,node,kind,duration\n90,a-0,Crash,1h\n\n2h,a-1,,\n";
        let json = "{\"node\": \"a-0\", \"time\": 90, \"kind\": \"Crash\", \"duration\": \"1h\"}\n\
                    {\"node\": \"a-1\", \"time\": \"2h\", \"kind\": null}\n";
        for text in [csv, json] {
            let (rows, errors) = read(text);
            assert_eq!(errors, [], "{text}");
            let told = |r: &Row| {
                let lasts = r.lasts.map_or("-".to_owned(), |lasts| lasts.to_string());
                format!(
                    "{} {} {} {lasts}",
                    r.name,
                    r.at,
                    r.kind.as_deref().unwrap_or("-")
                )
            };
            let told: Vec<String> = rows.iter().map(told).collect();
            assert_eq!(told, ["a-0 1m30s Crash 1h", "a-1 2h - -"], "{text}");
        }
    }

    #[test]
    fn what_is_no_fault_is_refused_with_its_line() {
        for (text, line, part) in [
            ("time,node\n1,a,b\n", 2, "3 values"),
            ("time,node\n\n-1,a\n", 3, "no time"),
            ("time,where\n1,a\n", 2, "unknown column"),
            ("node\na\n", 2, "and a time"),
            ("{\"node\": \"a\"\n", 1, "no JSON object"),
        ] {
            let (_, errors) = read(text);
            assert_eq!(errors[0].line, line, "{text}");
            assert!(
                errors[0].message.contains(part),
                "{text}: {}",
                errors[0].message
            );
        }
    }
}
