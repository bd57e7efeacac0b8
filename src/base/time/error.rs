//! Errors of durations in Go's notation.

use std::fmt;

/// Examples of valid durations.
const LEGAL: &str = "a duration is written like 500ms, 1.5s, 2m30s, 4h or 7d";

/// An error of parsing a duration. Contains the input text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DurationError {
    /// The text is empty.
    Empty,
    /// The duration is negative.
    Negative(String),
    /// The text is not a duration.
    NotDuration(String),
    /// A number has no unit.
    NoUnit(String),
    /// The duration exceeds `MAX_INPUT_DURATION`.
    TooLong(String),
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationError::Empty => write!(f, "empty duration; {LEGAL}"),
            DurationError::Negative(text) => write!(f, "negative duration {text:?}; {LEGAL}"),
            DurationError::NotDuration(text) => {
                write!(f, "{text:?} is not a duration; {LEGAL}")
            }
            DurationError::NoUnit(text) => write!(f, "{text:?} has no unit; {LEGAL}"),
            DurationError::TooLong(text) => write!(f, "{text:?} is longer than 100 years"),
        }
    }
}

impl std::error::Error for DurationError {}
