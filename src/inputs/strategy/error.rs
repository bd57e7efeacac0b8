//! Errors of overriding the restart strategy.

use sim_api::spec::RestartStrategy;
use std::fmt;

/// An error of overriding the restart strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestartStrategyError {
    Unknown {
        name: String,
    },
    /// The strategy requires different changes to the JobSets.
    DifferentChanges {
        strategy: RestartStrategy,
    },
}

impl fmt::Display for RestartStrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestartStrategyError::Unknown { name } => {
                let legal = RestartStrategy::ALL.map(RestartStrategy::as_str).join(", ");
                write!(f, "{name:?} is not a restart strategy; supported: {legal}")
            }
            RestartStrategyError::DifferentChanges { strategy } => write!(
                f,
                "strategy {}: the JobSets need different changes to their pods for it; add them under `set` of each entry in jobSets",
                strategy.as_str()
            ),
        }
    }
}

impl std::error::Error for RestartStrategyError {}
