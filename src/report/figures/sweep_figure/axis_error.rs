//! Errors of selecting the axis of a chart over a swept field.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepAxisError {
    /// The sweep has no axis with at least two numeric values.
    NoNumericAxis,
    UnknownAxis {
        name: String,
        available: Vec<String>,
    },
    NotNumeric {
        name: String,
    },
}

impl fmt::Display for SweepAxisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweepAxisError::NoNumericAxis => {
                f.write_str("no axis to draw along: no swept field has at least two numeric values")
            }
            SweepAxisError::UnknownAxis { name, available } => {
                write!(f, "--over: unknown axis {name:?}; available axes: {}", available.join(", "))
            }
            SweepAxisError::NotNumeric { name } => {
                write!(f, "--over: {name} does not have at least two numeric values")
            }
        }
    }
}

impl std::error::Error for SweepAxisError {}
