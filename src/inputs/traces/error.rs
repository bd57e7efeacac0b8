//! Errors of the lines of a fault trace.

use std::fmt;

/// An error of a line of a fault trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceLineError {
    /// The CSV parser rejects the line.
    Csv {
        reason: String,
    },
    /// The numbers of values and columns differ.
    ValueCount {
        values: u64,
        columns: usize,
    },
    /// The format has no column with this name.
    UnknownColumn {
        name: String,
    },
    /// The line is not a JSON object.
    NotObject,
    /// The line has no component or no time.
    MissingField,
    /// The end is not a time of the same form at or after the start.
    InvalidEnd {
        text: String,
    },
    InvalidTime {
        text: String,
    },
}

impl fmt::Display for TraceLineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceLineError::Csv { reason } => f.write_str(reason),
            TraceLineError::ValueCount { values, columns } => {
                write!(f, "found {values} values, but the header has {columns} columns")
            }
            TraceLineError::UnknownColumn { name } => {
                write!(
                    f,
                    "unknown column {name:?}; supported columns: node or pod, time or start, kind, duration or end"
                )
            }
            TraceLineError::NotObject => f.write_str("the line is not a JSON object"),
            TraceLineError::MissingField => f.write_str("a fault requires a node (or a pod) and a time"),
            TraceLineError::InvalidEnd { text } => write!(f, "the end {text:?} is not a time after the start"),
            TraceLineError::InvalidTime { text } => {
                write!(
                    f,
                    "{text:?} is not a time; use a form such as 90, 1m30s or 3h since the start of the run, or 2026-11-20T08:00:00Z"
                )
            }
        }
    }
}

impl std::error::Error for TraceLineError {}

impl From<csv::Error> for TraceLineError {
    fn from(error: csv::Error) -> TraceLineError {
        TraceLineError::Csv { reason: error.to_string() }
    }
}
