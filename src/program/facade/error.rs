//! Everything that can be wrong before a run.

use sim_analysis::experiment::NoRuns;
use sim_engine::{CannotRun, Impossible};
use sim_inputs::{Diagnostic, Diagnostics};
use std::fmt;

/// Why there is no scenario, or no run of it. A run itself cannot fail: a JobSet that fails in it is a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Inputs are wrong: every error found, each with its place in a text.
    Invalid(Diagnostics),
    /// The inputs are well formed, but some pod could never be placed on the cluster.
    Impossible(CannotRun),
    /// The operating system gave no threads for replications, and why.
    Threads(String),
}

impl Error {
    /// The errors of the inputs, in the order of the text; none for other kinds of trouble.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Invalid(all) => &all.0,
            _ => &[],
        }
    }

    /// What cannot be placed; none for other kinds of trouble.
    pub fn impossible(&self) -> &[Impossible] {
        match self {
            Error::Impossible(all) => &all.0,
            _ => &[],
        }
    }
}

impl fmt::Display for Error {
    /// As the program prints it: place, line of the text, what is legal, what may have been meant.
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
