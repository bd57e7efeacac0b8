//! The parts of a recording that are stored as rows instead of objects: the log and the pods.
//!
//! Rows are not interpreted here. A row of unexpected form is an error.

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A log row `[ms, kind, name, what, detail]`. The detail may be absent.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry {
    pub at_ms: u64,
    pub kind: String,
    pub name: String,
    pub what: String,
    pub detail: Value,
}

impl<'de> Deserialize<'de> for LogEntry {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<LogEntry, D::Error> {
        d.deserialize_seq(LogVisitor)
    }
}

struct LogVisitor;

impl<'de> Visitor<'de> for LogVisitor {
    type Value = LogEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a log row [ms, kind, name, what, detail]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<LogEntry, A::Error> {
        let short = |n| A::Error::invalid_length(n, &LogVisitor);
        let entry = LogEntry {
            at_ms: seq.next_element()?.ok_or_else(|| short(0))?,
            kind: seq.next_element()?.ok_or_else(|| short(1))?,
            name: seq.next_element()?.ok_or_else(|| short(2))?,
            what: seq.next_element()?.ok_or_else(|| short(3))?,
            detail: seq.next_element()?.unwrap_or(Value::Null),
        };
        while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(entry)
    }
}

/// One pod object. Times are in ms since the creation of the JobSet; `None` means never.
#[derive(Clone, Debug, Default)]
pub struct RecordedPodRow {
    pub replicated_job: String,
    pub job_index: u32,
    pub pod_index: u32,
    pub restart_attempt: u32,
    pub node: String,
    pub created_ms: Option<u64>,
    pub bound_ms: Option<u64>,
    pub ready_ms: Option<u64>,
    /// When the Job tracking finalizer was removed. Only imported recordings contain it.
    pub counted_ms: Option<u64>,
    pub finished_ms: Option<u64>,
    pub deleting_ms: Option<u64>,
    pub gone_ms: Option<u64>,
    pub phase: String,
    pub container_restarts: u32,
    /// Times at which the pod became ready; negative: at which it became not ready.
    pub ready_changes_ms: Vec<i64>,
    /// Times at which the in-place attempt of the pod increased.
    pub in_place_ms: Vec<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "RawPods")]
pub struct RecordedPods(pub Vec<RecordedPodRow>);

#[derive(Deserialize)]
struct RawPods {
    #[serde(rename = "podColumns", default)]
    columns: Vec<String>,
    #[serde(default)]
    pods: Vec<Vec<Value>>,
}

/// A table of pods that does not have the expected columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodTableError {
    MissingColumn { name: &'static str },
    WrongType { row: usize, column: String },
}

impl fmt::Display for PodTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PodTableError::MissingColumn { name } => {
                write!(f, "podColumns has no column {name}")
            }
            PodTableError::WrongType { row, column } => {
                write!(f, "pods[{row}]: column {column} has the wrong type")
            }
        }
    }
}

impl std::error::Error for PodTableError {}

impl TryFrom<RawPods> for RecordedPods {
    type Error = PodTableError;

    fn try_from(raw: RawPods) -> Result<RecordedPods, PodTableError> {
        if raw.pods.is_empty() {
            return Ok(RecordedPods::default());
        }
        let column = |name: &'static str| {
            let matching = raw.columns.iter().position(|c| c == name);
            matching.ok_or(PodTableError::MissingColumn { name })
        };
        let texts = [column("replicatedJob")?, column("node")?, column("phase")?];
        let numbers =
            [column("jobIndex")?, column("podIndex")?, column("restartAttempt")?, column("containerRestarts")?];
        let times = [column("createdMs")?, column("finishedMs")?, column("deletingMs")?, column("goneMs")?];
        let more = ["boundMs", "readyMs", "countedMs"].map(|name| column(name).ok());
        let lists = ["allReadyMs", "inPlaceMs"].map(|name| column(name).ok());
        let row = |(i, cells): (usize, &Vec<Value>)| {
            let bad = |c: usize| PodTableError::WrongType { row: i, column: raw.columns[c].clone() };
            let text = |c: usize| cells.get(c)?.as_str().map(str::to_owned);
            let number = |c: usize| cells.get(c)?.as_i64();
            let index = |c: usize| {
                let n = number(c).and_then(|n| u32::try_from(n).ok());
                n.ok_or_else(|| bad(c))
            };
            let time = |c: usize| {
                let n = number(c).ok_or_else(|| bad(c))?;
                Ok::<_, PodTableError>(u64::try_from(n).ok())
            };
            let maybe = |c: Option<usize>| c.map_or(Ok(None), &time);
            let list = |c: Option<usize>| {
                let numbers = c.and_then(|c| cells.get(c)?.as_array());
                numbers.into_iter().flatten().filter_map(Value::as_i64)
            };
            Ok(RecordedPodRow {
                ready_changes_ms: list(lists[0]).collect(),
                in_place_ms: list(lists[1]).filter_map(|n| u64::try_from(n).ok()).collect(),
                bound_ms: maybe(more[0])?,
                ready_ms: maybe(more[1])?,
                counted_ms: maybe(more[2])?,
                replicated_job: text(texts[0]).ok_or_else(|| bad(texts[0]))?,
                node: text(texts[1]).ok_or_else(|| bad(texts[1]))?,
                job_index: index(numbers[0])?,
                pod_index: index(numbers[1])?,
                restart_attempt: index(numbers[2])?,
                created_ms: time(times[0])?,
                finished_ms: time(times[1])?,
                deleting_ms: time(times[2])?,
                gone_ms: time(times[3])?,
                phase: text(texts[2]).ok_or_else(|| bad(texts[2]))?,
                container_restarts: index(numbers[3])?,
            })
        };
        raw.pods.iter().enumerate().map(row).collect::<Result<_, _>>().map(RecordedPods)
    }
}
