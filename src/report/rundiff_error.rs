//! Errors of reading the run directories of a comparison.

use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunDiffError {
    NotRunDirectory {
        path: PathBuf,
    },
    CannotOpen {
        path: PathBuf,
        reason: String,
    },
    /// The file is not valid JSON or CSV.
    InvalidFile {
        path: PathBuf,
        reason: String,
    },
    Io {
        reason: String,
    },
    LineTooLong {
        bytes_max: u64,
    },
}

impl fmt::Display for RunDiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunDiffError::NotRunDirectory { path } => {
                write!(f, "{} is not a run directory: summary.json is missing", path.display())
            }
            RunDiffError::CannotOpen { path, reason } => {
                write!(f, "cannot read {}: {reason}", path.display())
            }
            RunDiffError::InvalidFile { path, reason } => {
                write!(f, "{}: {reason}", path.display())
            }
            RunDiffError::Io { reason } => f.write_str(reason),
            RunDiffError::LineTooLong { bytes_max } => {
                write!(f, "line exceeds {bytes_max} bytes")
            }
        }
    }
}

impl std::error::Error for RunDiffError {}

impl From<std::io::Error> for RunDiffError {
    fn from(error: std::io::Error) -> RunDiffError {
        RunDiffError::Io { reason: error.to_string() }
    }
}
