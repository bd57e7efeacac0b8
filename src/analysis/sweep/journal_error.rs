//! Errors of the journal of a sweep.

use std::fmt;
use std::path::PathBuf;

/// Reason why a journal cannot be created, read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepJournalError {
    NotCreated {
        path: PathBuf,
        reason: String,
    },
    NotOpened {
        path: PathBuf,
        reason: String,
    },
    Unreadable {
        path: PathBuf,
        reason: String,
    },
    NotWritten {
        reason: String,
    },
    /// Another process holds the lock.
    Locked {
        path: PathBuf,
    },
    OtherSweep {
        path: PathBuf,
    },
    /// A line before a valid one has an invalid checksum.
    DamagedLine {
        path: PathBuf,
        line: usize,
    },
    /// A line has a valid checksum and unknown contents.
    InvalidLine {
        path: PathBuf,
        line: usize,
    },
    /// The last line of a finished journal is incomplete.
    IncompleteLine {
        path: PathBuf,
    },
}

impl fmt::Display for SweepJournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use SweepJournalError as Problem;
        match self {
            Problem::NotCreated { path, reason } => {
                write!(f, "cannot create {}: {reason}", path.display())
            }
            Problem::NotOpened { path, reason } => {
                write!(f, "cannot open {}: {reason}", path.display())
            }
            Problem::Unreadable { path, reason } => {
                write!(f, "cannot read {}: {reason}", path.display())
            }
            Problem::NotWritten { reason } => {
                write!(f, "cannot write the journal of the sweep: {reason}; replications written before are kept")
            }
            Problem::Locked { path } => {
                write!(f, "another process is writing {}", path.display())
            }
            Problem::OtherSweep { path } => {
                write!(f, "{} belongs to another sweep: use another output directory", path.display())
            }
            Problem::DamagedLine { path, line } => write!(
                f,
                "{}: line {line} is damaged; remove it and all following lines to resume with the lines before it",
                path.display()
            ),
            Problem::InvalidLine { path, line } => {
                write!(f, "{}: line {line} is not valid in a journal of this version", path.display())
            }
            Problem::IncompleteLine { path } => {
                write!(f, "{} ends with an incomplete line", path.display())
            }
        }
    }
}

impl std::error::Error for SweepJournalError {}
