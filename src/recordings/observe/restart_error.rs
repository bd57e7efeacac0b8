//! Errors of the import of a restart, and the reasons for missing milestones.

use std::fmt;

/// Reason why a restart cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartImportError {
    /// The JobSet did not restart.
    NoRestart,
    /// The JobSet restarted less often than requested.
    NoSuchRestart { requested: u32, counted: u32 },
    /// The creation time of the JobSet is unknown, and recordings count from it.
    NoCreationTime,
}

impl fmt::Display for RestartImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestartImportError::NoRestart => f.write_str("the JobSet did not restart in these files"),
            RestartImportError::NoSuchRestart { requested, counted } => {
                write!(f, "--restart {requested}: the JobSet restarted {counted} times in these files")
            }
            RestartImportError::NoCreationTime => f.write_str("the JobSet has no creationTimestamp"),
        }
    }
}

impl std::error::Error for RestartImportError {}

/// Reason why a milestone has no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingMilestone {
    /// The milestone is the removal of an object, and the files contain only lists.
    OnlyListed,
    /// No object of this description was observed.
    NoObject {
        description: &'static str,
    },
    /// Some objects were not removed.
    NotRemoved {
        remaining: usize,
        total: usize,
    },
    /// The milestone precedes the first entry.
    BeforeFirstEntry,
    /// Fewer pods than specified reached a state.
    TooFewPods {
        count: u64,
        specified: u64,
        state: &'static str,
    },
    /// No pod reached a state, and none is specified.
    NoPod {
        state: &'static str,
    },
    NotObserved,
}

impl fmt::Display for MissingMilestone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissingMilestone::OnlyListed => f.write_str("deleted objects are not part of a list taken afterwards"),
            MissingMilestone::NoObject { description } => {
                write!(f, "no {description} in these files")
            }
            MissingMilestone::NotRemoved { remaining, total } => {
                write!(f, "{remaining} of {total} are not removed in these files")
            }
            MissingMilestone::BeforeFirstEntry => f.write_str("it happened before the first entry of these files"),
            MissingMilestone::TooFewPods { count, specified, state } => {
                write!(f, "{count} of {specified} pods were {state} in these files")
            }
            MissingMilestone::NoPod { state } => write!(f, "no pod was {state}"),
            MissingMilestone::NotObserved => f.write_str("not in these files"),
        }
    }
}

impl std::error::Error for MissingMilestone {}
