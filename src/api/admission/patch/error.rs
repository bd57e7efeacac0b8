//! Errors of JSON patches (RFC 6902). They are as brief as the server's.

use std::fmt;

/// An error of applying a JSON patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonPatchError {
    /// The operation has no `path`.
    MissingPath,
    /// The operation has no `value`.
    MissingValue,
    /// The operation has no `from`.
    MissingSource,
    /// The object has no value at the path.
    PathNotFound,
    /// The last part of a path into a list is not an index.
    InvalidIndex,
    /// The index exceeds the length of the list.
    IndexOutOfBounds,
    /// The value at the path differs from the value of a `test` operation.
    TestFailed,
    /// The operation is not one of RFC 6902.
    UnknownOperation { name: String },
}

impl fmt::Display for JsonPatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonPatchError::MissingPath => "no path",
            JsonPatchError::MissingValue => "no value",
            JsonPatchError::MissingSource => "no from",
            JsonPatchError::PathNotFound => "no such path",
            JsonPatchError::InvalidIndex => "not an index",
            JsonPatchError::IndexOutOfBounds => "index out of bounds",
            JsonPatchError::TestFailed => "testing value failed",
            JsonPatchError::UnknownOperation { name } => {
                return write!(f, "unexpected kind: {name}");
            }
        })
    }
}

impl std::error::Error for JsonPatchError {}
