//! Errors that occur before a run.

use sim_analysis::experiment::NoRuns;
use sim_engine::{CannotRun, PrepareError};
use sim_inputs::{Diagnostic, Diagnostics};
use std::fmt;

/// Error of reading a scenario or starting its simulation. A run itself cannot fail: a JobSet that fails in the
/// simulation is a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulationError {
    /// The inputs are invalid. Contains all errors found, each with its location in the text.
    Invalid(Diagnostics),
    /// The inputs are valid, but some pods can never be placed on the cluster.
    Impossible(CannotRun),
    /// The operating system could not create threads for replications. Contains the reason.
    Threads(String),
}

impl SimulationError {
    /// Returns the errors of the inputs in the order of the text; empty for other kinds of error.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            SimulationError::Invalid(all) => &all.0,
            _ => &[],
        }
    }

    /// Returns the pods that cannot be placed; empty for other kinds of error.
    pub fn impossible(&self) -> &[PrepareError] {
        match self {
            SimulationError::Impossible(all) => &all.0,
            _ => &[],
        }
    }
}

impl fmt::Display for SimulationError {
    /// Formats the error as the program prints it: location, line of the text, legal values, suggestions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimulationError::Invalid(all) => all.fmt(f),
            SimulationError::Impossible(all) => all.fmt(f),
            SimulationError::Threads(why) => write!(f, "cannot start threads: {why}"),
        }
    }
}

impl std::error::Error for SimulationError {}

impl From<Diagnostics> for SimulationError {
    fn from(all: Diagnostics) -> SimulationError {
        SimulationError::Invalid(all)
    }
}

impl From<CannotRun> for SimulationError {
    fn from(all: CannotRun) -> SimulationError {
        SimulationError::Impossible(all)
    }
}

impl From<NoRuns> for SimulationError {
    fn from(why: NoRuns) -> SimulationError {
        match why {
            NoRuns::Threads(why) => SimulationError::Threads(why),
            NoRuns::Scenario(why) => SimulationError::Impossible(why),
        }
    }
}
