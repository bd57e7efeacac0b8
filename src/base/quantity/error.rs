//! Errors of quantities: the messages of Go, and those for inputs of the simulator.

use super::INVALID_FORMAT;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuantityError {
    /// The text does not have Go's format.
    Format,
    /// Go does not know the suffix.
    Suffix,
    /// Go cannot parse the digits.
    Number,
    NotQuantity {
        text: String,
    },
    /// An input exceeds the range of simulated quantities.
    TooLarge {
        text: String,
    },
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuantityError::Format => f.write_str(INVALID_FORMAT),
            QuantityError::Suffix => f.write_str("unable to parse quantity's suffix"),
            QuantityError::Number => f.write_str("unable to parse numeric part of quantity"),
            QuantityError::NotQuantity { text } => {
                write!(f, "{text:?} is not a quantity; write 500m, 2, 1.5, 64Gi, 16G or 129e6")
            }
            QuantityError::TooLarge { text } => {
                let most = i64::MAX / 1_000;
                write!(f, "{text:?} is too large; at most {most} is simulated")
            }
        }
    }
}

impl std::error::Error for QuantityError {}
