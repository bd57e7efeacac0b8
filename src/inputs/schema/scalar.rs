//! Validates the range of a scalar.
//!
//! This module must never report an error; `check` does.

use super::field_type::FieldType;
use crate::read::{self, SecondsError};
use crate::text::node::{YamlNode, YamlValue, render_f64};
use sim_base::quantity::{self, QuantityError};
use sim_base::time::{Duration, DurationError};
use std::fmt;

/// The reason why a scalar of the right type is invalid.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarError {
    NotOneLine,
    /// No control plane preset has this name.
    UnknownPreset {
        name: String,
    },
    /// The text is not an override. `found` describes it.
    NotAssignment {
        found: String,
    },
    IntegerRange {
        number: i64,
    },
    NumberRange {
        number: f64,
    },
    /// The text is not one of the legal values.
    NotListed {
        value: String,
    },
    NegativeQuantity,
    Quantity(QuantityError),
    Duration(DurationError),
    /// The time is invalid.
    Seconds(SecondsError),
}

impl fmt::Display for ScalarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarError::NotOneLine => f.write_str("must be one line"),
            ScalarError::UnknownPreset { name } => {
                write!(f, "control plane preset {name:?} does not exist")
            }
            ScalarError::NotAssignment { found } => {
                write!(f, "{found} is not path=value, such as spec.replicatedJobs[0].replicas=2")
            }
            ScalarError::IntegerRange { number } => write!(f, "is {number}"),
            ScalarError::NumberRange { number } => write!(f, "is {}", render_f64(*number)),
            ScalarError::NotListed { value } => {
                write!(f, "is {value:?}, which is not a valid value")
            }
            ScalarError::NegativeQuantity => f.write_str("is negative"),
            ScalarError::Quantity(error) => error.fmt(f),
            ScalarError::Duration(error) => error.fmt(f),
            ScalarError::Seconds(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ScalarError {}

/// Checks the range of a scalar. Returns `None` if it has the wrong type.
pub fn check_scalar_range(node: &YamlNode, shape: &FieldType) -> Option<Result<(), ScalarError>> {
    let text = || node.scalar_text().unwrap_or_default();
    let error = match (shape, &node.value) {
        (FieldType::Bool, YamlValue::Bool(_))
        | (FieldType::Str, YamlValue::Str(_))
        | (FieldType::Version(_), YamlValue::Str(_) | YamlValue::Float(_) | YamlValue::Int(_)) => None,
        (FieldType::Line, YamlValue::Str(found)) => found.contains('\n').then_some(ScalarError::NotOneLine),
        (FieldType::Preset(names), YamlValue::Str(found)) => {
            (!names().contains(found)).then(|| ScalarError::UnknownPreset { name: found.clone() })
        }
        (FieldType::Assignment, YamlValue::Str(found)) => {
            let path = found.split_once('=').map_or("", |(path, _)| path);
            path.is_empty().then(|| ScalarError::NotAssignment { found: node.describe() })
        }
        (FieldType::Int(low, high), YamlValue::Int(i)) => {
            (!(low..=high).contains(&i)).then_some(ScalarError::IntegerRange { number: *i })
        }
        (FieldType::Number(low, high), YamlValue::Int(_) | YamlValue::Float(_)) => {
            let number = node.as_f64().unwrap_or(f64::NAN);
            // The range does not contain NaN.
            (!(*low..=*high).contains(&number)).then_some(ScalarError::NumberRange { number })
        }
        (FieldType::OneOf(names), YamlValue::Str(found)) => {
            (!names.contains(&found.as_str())).then(|| ScalarError::NotListed { value: found.clone() })
        }
        (FieldType::Quantity, YamlValue::Str(_) | YamlValue::Int(_) | YamlValue::Float(_)) => {
            quantity::parse_milli(&text()).err().map(ScalarError::Quantity)
        }
        (FieldType::Amount, YamlValue::Str(_) | YamlValue::Int(_) | YamlValue::Float(_)) => {
            match quantity::parse_milli(&text()) {
                Ok(milli) => (milli < 0).then_some(ScalarError::NegativeQuantity),
                Err(error) => Some(ScalarError::Quantity(error)),
            }
        }
        (FieldType::Duration, YamlValue::Str(_) | YamlValue::Int(_) | YamlValue::Float(_)) => {
            text().parse::<Duration>().err().map(ScalarError::Duration)
        }
        (FieldType::Seconds, YamlValue::Str(_) | YamlValue::Int(_) | YamlValue::Float(_)) => {
            read::seconds(node).err().map(ScalarError::Seconds)
        }
        _ => return None,
    };
    Some(error.map_or(Ok(()), Err))
}
