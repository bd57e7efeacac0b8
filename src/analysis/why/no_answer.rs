//! Reasons why there is no explanation, or why a change cannot be simulated.

use crate::{experiment::NoRuns, format};
use sim_engine::CannotRun;
use std::fmt;

/// The reason why there is no explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The caller cannot load the inputs; contains its message.
    InvalidInput { reason: String },
    /// The what-ifs were not simulated.
    NoTrials(NoRuns),
    /// The run has fewer restarts than requested.
    NoSuchRestart { number: usize, restarts: u64 },
    /// No pod of this name was created; `known` lists the names.
    NoSuchPod { pod: String, known: String },
    /// The scenario has no JobSet of this name; `known` lists the names.
    NoSuchJobSet { name: String, known: String },
}

impl From<NoRuns> for NoAnswer {
    fn from(error: NoRuns) -> NoAnswer {
        NoAnswer::NoTrials(error)
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnswer::InvalidInput { reason } => f.write_str(reason),
            NoAnswer::NoTrials(error) => error.fmt(f),
            NoAnswer::NoSuchRestart { number, restarts } => {
                let there = format::count(*restarts, "restart");
                write!(f, "--restart {number}: the run has {there}, numbered from 1")
            }
            NoAnswer::NoSuchPod { pod, known } => {
                write!(f, "--pod {pod}: no pod of this name was created\n  legal: {known}")
            }
            NoAnswer::NoSuchJobSet { name, known } => {
                write!(f, "--jobset {name}: no JobSet of this name\n  legal: {known}")
            }
        }
    }
}

impl std::error::Error for NoAnswer {}

/// The reason why a change of the inputs cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialError {
    /// The caller cannot load the changed inputs; contains its message.
    InvalidInput { reason: String },
    /// No cluster of the changed scenario can place its pods.
    CannotRun(CannotRun),
}

impl From<CannotRun> for TrialError {
    fn from(error: CannotRun) -> TrialError {
        TrialError::CannotRun(error)
    }
}

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrialError::InvalidInput { reason } => f.write_str(reason),
            TrialError::CannotRun(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TrialError {}
