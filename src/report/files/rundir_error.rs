//! Errors of creating, writing and committing a run directory.

use crate::export_error::ExportError;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunDirError {
    AlreadyExists {
        path: PathBuf,
    },
    InvalidName {
        path: PathBuf,
    },
    CannotCreate {
        path: PathBuf,
        reason: String,
    },
    CannotWrite {
        /// File name relative to the directory.
        file: String,
        directory: PathBuf,
        cause: ExportError,
        /// States which files remain.
        failure_note: String,
    },
    /// Another process has created the target since the start of the run.
    CreatedDuringRun {
        path: PathBuf,
    },
    CannotRename {
        path: PathBuf,
        reason: String,
    },
}

impl fmt::Display for RunDirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunDirError::AlreadyExists { path } => {
                write!(f, "{} already exists; choose another name for --out or remove it", path.display())
            }
            RunDirError::InvalidName { path } => {
                write!(f, "{} is not a valid directory name", path.display())
            }
            RunDirError::CannotCreate { path, reason } => {
                write!(f, "cannot create the directory {}: {reason}", path.display())
            }
            RunDirError::CannotWrite { file, directory, cause, failure_note } => {
                write!(f, "cannot write {file} in {}: {cause}; {failure_note}", directory.display())
            }
            RunDirError::CreatedDuringRun { path } => {
                write!(f, "{} was created by another process during the run", path.display())
            }
            RunDirError::CannotRename { path, reason } => {
                write!(f, "cannot create {}: {reason}", path.display())
            }
        }
    }
}

impl std::error::Error for RunDirError {}
