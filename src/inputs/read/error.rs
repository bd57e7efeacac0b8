//! Errors of times in seconds.

use sim_base::time::DurationError;
use std::fmt;

/// An error of reading a time in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum SecondsError {
    Text(DurationError),
    /// The number of seconds is negative or too large.
    OutOfRange {
        number: f64,
    },
    /// The value is neither a text nor a number. `found` describes it.
    NotDuration {
        found: String,
    },
}

impl fmt::Display for SecondsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecondsError::Text(error) => error.fmt(f),
            SecondsError::OutOfRange { number } => {
                write!(f, "{number} is out of range: the number of seconds must be from 0 to 1e9")
            }
            SecondsError::NotDuration { found } => write!(f, "{found} is not a duration"),
        }
    }
}

impl std::error::Error for SecondsError {}

impl From<DurationError> for SecondsError {
    fn from(error: DurationError) -> SecondsError {
        SecondsError::Text(error)
    }
}
