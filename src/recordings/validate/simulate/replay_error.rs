//! Errors of the simulation of a recording.

use crate::validate::compare::NoRun;
use sim_engine::CannotRun;
use std::fmt;

/// Reason why a recording or its objects cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// The program has no control-plane preset of this name.
    MissingPreset {
        name: &'static str,
    },
    /// The model does not support a stored JobSet.
    UnsupportedJobSet {
        reason: String,
    },
    CannotRun(CannotRun),
    NoRun(NoRun),
}

impl From<CannotRun> for ReplayError {
    fn from(error: CannotRun) -> ReplayError {
        ReplayError::CannotRun(error)
    }
}

impl From<NoRun> for ReplayError {
    fn from(error: NoRun) -> ReplayError {
        ReplayError::NoRun(error)
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::MissingPreset { name } => write!(f, "no control-plane preset {name:?}"),
            ReplayError::UnsupportedJobSet { reason } => f.write_str(reason),
            ReplayError::CannotRun(error) => error.fmt(f),
            ReplayError::NoRun(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReplayError {}
