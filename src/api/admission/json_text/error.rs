//! Syntax errors of JSON texts, with the messages of Go's JSON package.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonSyntaxError {
    UnexpectedEnd,
    /// A character is not allowed. `context` is Go's description of its place.
    UnexpectedCharacter {
        found: char,
        context: &'static str,
    },
    /// A string contains an invalid escape sequence.
    InvalidEscape,
    InvalidNumber,
    /// Arrays and objects are nested too deeply.
    DepthExceeded,
}

impl fmt::Display for JsonSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonSyntaxError::UnexpectedEnd => f.write_str("unexpected end of JSON input"),
            JsonSyntaxError::UnexpectedCharacter { found, context } => {
                write!(f, "invalid character {found:?} {context}")
            }
            JsonSyntaxError::InvalidEscape => f.write_str("invalid character in string escape code"),
            JsonSyntaxError::InvalidNumber => f.write_str("invalid character in numeric literal"),
            JsonSyntaxError::DepthExceeded => f.write_str("exceeded max depth"),
        }
    }
}

impl std::error::Error for JsonSyntaxError {}
