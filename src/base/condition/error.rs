//! Errors of conditions: invalid texts, unknown names and missing references.

use crate::suggest::nearest;
use std::fmt;

/// Describes the syntax of a condition.
const FORM: &str = "write NAME OPERATOR LIMIT, with >, >=, <, <=, == or !=; the limit is a number, perhaps with %, ns, us, ms, s, m, h, d, k or M; \
    with + or - it is a change against the reference, such as +2%";

/// An error of a condition. Contains the condition as written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConditionError {
    /// The text contains no operator.
    NoOperator(String),
    /// The text contains characters of operators, but not an operator.
    UnknownOperator(String),
    /// The operator has no name before it.
    NoName(String),
    /// The limit is not a number.
    InvalidLimit {
        /// The condition as written.
        text: String,
        /// The operator and the limit.
        limit: String,
    },
    /// The condition is relative, and there is no reference.
    NoReference(String),
    /// The caller does not define the name.
    UnknownName {
        /// The condition as written.
        text: String,
        /// The unknown name.
        name: String,
        /// The names that the caller defines.
        known: Vec<String>,
    },
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionError::NoOperator(text) => {
                write!(f, "--fail-if {text:?}: no operator; {FORM}")
            }
            ConditionError::UnknownOperator(text) => {
                write!(f, "--fail-if {text:?}: no such operator; {FORM}")
            }
            ConditionError::NoName(text) => write!(f, "--fail-if {text:?}: no name; {FORM}"),
            ConditionError::InvalidLimit { text, limit } => {
                write!(f, "--fail-if {text:?}: {limit:?} is not a number with a unit or without; {FORM}")
            }
            ConditionError::NoReference(text) => {
                write!(f, "--fail-if {text:?}: there is nothing to compare with")
            }
            ConditionError::UnknownName { text, name, known } => {
                write!(f, "--fail-if {text:?}: unknown name {name:?}; available: {}", known.join(", "))?;
                match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => write!(f, "; did you mean {near:?}?"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for ConditionError {}
