//! Errors of Go's decoders, with Go's messages.
//!
//! This module must not decide whether a value is valid.

use sim_base::quantity::QuantityError;
use std::fmt;

/// An error of Go's decoder for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoDecodeError {
    /// The object as a whole has the wrong type.
    ValueType {
        found: String,
        expected: String,
    },
    /// A field has the wrong type. `field` begins with the name of the Go struct.
    FieldType {
        found: String,
        field: String,
        expected: String,
    },
    Quantity(QuantityError),
    /// A time does not have the format of RFC 3339. Go's message is longer than the one here.
    Time {
        text: String,
    },
    /// The apiVersion has more than two parts.
    GroupVersion {
        version: String,
    },
}

impl fmt::Display for GoDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoDecodeError::ValueType { found, expected } => {
                write!(f, "json: cannot unmarshal {found} into Go value of type {expected}")
            }
            GoDecodeError::FieldType { found, field, expected } => {
                write!(f, "json: cannot unmarshal {found} into Go struct field {field} of type {expected}")
            }
            GoDecodeError::Quantity(error) => error.fmt(f),
            GoDecodeError::Time { text } => {
                let layout = "2006-01-02T15:04:05Z07:00";
                write!(f, "parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\"")
            }
            GoDecodeError::GroupVersion { version } => {
                write!(f, "unexpected GroupVersion string: {version}")
            }
        }
    }
}

impl std::error::Error for GoDecodeError {}

impl From<QuantityError> for GoDecodeError {
    fn from(error: QuantityError) -> GoDecodeError {
        GoDecodeError::Quantity(error)
    }
}
