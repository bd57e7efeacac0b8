//! Errors of `path=value` overrides.

use std::fmt;

/// An error of setting the value at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverrideError {
    /// The path does not have a supported form.
    InvalidPath { path: String },
    /// A segment of the path does not fit the tree.
    CannotSet { path: String, reason: SegmentError },
}

/// A segment of a path that does not fit the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentError {
    /// The segment selects every element of an empty list.
    EmptyList,
    /// The segment is not an index of the list.
    InvalidIndex { segment: String, length: usize },
    /// The value is neither a list nor a mapping. `found` describes it.
    NotCollection { segment: String, found: String },
}

impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OverrideError::InvalidPath { path } => {
                write!(f, "{path:?} is not a valid path; supported forms: a.b, a[0].b, a.*.b or a[\"x.y/z\"]")
            }
            OverrideError::CannotSet { path, reason } => write!(f, "cannot set {path:?}: {reason}"),
        }
    }
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentError::EmptyList => f.write_str("the list is empty"),
            SegmentError::InvalidIndex { segment, length } => {
                write!(f, "{segment:?} is not a valid index: the length of the list is {length}")
            }
            SegmentError::NotCollection { segment, found } => {
                write!(f, "{segment:?} cannot be set inside {found}")
            }
        }
    }
}

impl std::error::Error for OverrideError {}
impl std::error::Error for SegmentError {}
