//! Errors of reading recordings from files.

use super::value_error::RecordingValueError;
use crate::validate::recording::SCHEMA;
use serde_json::Value;
use std::fmt;

/// Kinds of recordings of runs.
pub const RUN_KINDS: [&str; 6] = ["decisions", "times", "corner", "nodes", "cluster", "kueueLive"];

/// A file or directory that cannot be read as a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingFileError {
    pub file: String,
    pub problem: RecordingFileProblem,
}

/// Reason why a file or directory cannot be read as a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordingFileProblem {
    UnreadableFile {
        reason: String,
    },
    UnreadableDirectory {
        reason: String,
    },
    /// The directory contains no `*.json` file.
    EmptyDirectory,
    TooLarge {
        max_mib: u64,
    },
    /// The byte at this offset is not UTF-8.
    NotUtf8 {
        byte: usize,
    },
    NotJson {
        reason: String,
    },
    /// The file does not match the schema of recordings.
    NotRecording {
        reason: String,
    },
    MissingSchema,
    UnknownSchema {
        schema: Value,
        expected: &'static str,
    },
    MissingKind,
    UnknownRunKind {
        kind: Value,
    },
    UnknownAdmissionKind {
        kind: Value,
    },
    /// A list without a header.
    EmptyList,
    /// The admission case with this number, starting at 1, has no id.
    MissingCaseId {
        number: usize,
    },
    /// A list of admission cases was passed to the reader of a run.
    ListOfCases,
    /// A file of admission cases or scheduling decisions was requested as the recording of a run.
    NotRun,
    InvalidValue(RecordingValueError),
}

impl RecordingFileProblem {
    pub fn in_file(self, file: &str) -> RecordingFileError {
        RecordingFileError { file: file.to_owned(), problem: self }
    }
}

impl From<RecordingValueError> for RecordingFileProblem {
    fn from(error: RecordingValueError) -> RecordingFileProblem {
        RecordingFileProblem::InvalidValue(error)
    }
}

impl fmt::Display for RecordingFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.problem)
    }
}

impl fmt::Display for RecordingFileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RecordingFileProblem as Problem;
        let kinds = format!("{}, scheduling, gang, kueue", RUN_KINDS.join(", "));
        match self {
            Problem::UnreadableFile { reason } => write!(f, "cannot read: {reason}"),
            Problem::UnreadableDirectory { reason } => f.write_str(reason),
            Problem::EmptyDirectory => f.write_str("no *.json file in this directory"),
            Problem::TooLarge { max_mib } => {
                write!(f, "file too large; maximum: {max_mib} MiB")
            }
            Problem::NotUtf8 { byte } => write!(f, "not a text file: byte {byte} is not UTF-8"),
            Problem::NotJson { reason } => {
                write!(f, "not JSON: {reason}; recordings are written by `recording import`")
            }
            Problem::NotRecording { reason } => {
                write!(f, "not a recording of schema {SCHEMA}: {reason}")
            }
            Problem::MissingSchema => write!(f, "key `schema` is missing; a recording has \"schema\": {SCHEMA:?}"),
            Problem::UnknownSchema { schema, expected } => {
                write!(f, "unknown schema {schema}; expected {expected:?}")
            }
            Problem::MissingKind => write!(f, "key `kind` is missing; expected one of {kinds}"),
            Problem::UnknownRunKind { kind } => {
                write!(f, "unknown kind {kind}; expected one of {kinds}")
            }
            Problem::UnknownAdmissionKind { kind } => {
                write!(f, "unknown kind {kind}; expected create, update or children")
            }
            Problem::EmptyList => f.write_str("empty list, not a recording"),
            Problem::MissingCaseId { number } => write!(f, "case {number} has no id"),
            Problem::ListOfCases => f.write_str("a list of admission cases, not one recording"),
            Problem::NotRun => {
                f.write_str("contains admission cases or decisions of a scheduler, not the recording of a run")
            }
            Problem::InvalidValue(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RecordingFileError {}
impl std::error::Error for RecordingFileProblem {}
