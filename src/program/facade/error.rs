//! Errors that occur before a run.

use sim_analysis::experiment::NoRuns;
use sim_engine::{CannotRun, Impossible};
use sim_inputs::{Diagnostic, Diagnostics};
use std::fmt;

/// Error of reading a scenario or starting its simulation. A run itself cannot fail: a JobSet that fails in the
/// simulation is a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The inputs are invalid. Contains all errors found, each with its location in the text.
    Invalid(Diagnostics),
    /// The inputs are valid, but some pods can never be placed on the cluster.
    Impossible(CannotRun),
    /// The operating system could not create threads for replications. Contains the reason.
    Threads(String),
}

impl Error {
    /// Returns the errors of the inputs in the order of the text; empty for other kinds of error.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Invalid(all) => &all.0,
            _ => &[],
        }
    }

    /// Returns the pods that cannot be placed; empty for other kinds of error.
    pub fn impossible(&self) -> &[Impossible] {
        match self {
            Error::Impossible(all) => &all.0,
            _ => &[],
        }
    }
}

impl fmt::Display for Error {
    /// Formats the error as the program prints it: location, line of the text, legal values, suggestions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid(all) => all.fmt(f),
            Error::Impossible(all) => all.fmt(f),
            Error::Threads(why) => write!(f, "cannot start threads: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Diagnostics> for Error {
    fn from(all: Diagnostics) -> Error {
        Error::Invalid(all)
    }
}

impl From<CannotRun> for Error {
    fn from(all: CannotRun) -> Error {
        Error::Impossible(all)
    }
}

impl From<NoRuns> for Error {
    fn from(why: NoRuns) -> Error {
        match why {
            NoRuns::Threads(why) => Error::Threads(why),
            NoRuns::Scenario(why) => Error::Impossible(why),
        }
    }
}
