//! Errors of converting stored objects to typed ones.

use std::fmt;

/// An error of an `ObjectDecoders` function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectDecodeError {
    /// The scenario has no decoder for the objects, which are named in the plural.
    NoDecoder {
        objects: &'static str,
    },
    /// The object has another kind. `found` is the field in JSON.
    WrongKind {
        found: String,
        expected: &'static str,
    },
    /// The object does not fit the schema of its kind. `reason` is the first error.
    Schema {
        reason: String,
    },
    MissingName,
    /// The object has an owner that exists; only Jobs of a JobSet, Services and claims may have one.
    OwnerReferences,
    /// The Job has a manual selector, which is not modelled.
    ManualSelector,
    /// The Node is not ready at the start of the run, which is not modelled. `status` is that of its condition.
    NotReady {
        status: String,
    },
    TooManyPods {
        pods: u64,
        maximum: u64,
    },
}

impl fmt::Display for ObjectDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectDecodeError::NoDecoder { objects } => write!(f, "no decoder for {objects}"),
            ObjectDecodeError::WrongKind { found, expected } => {
                write!(f, "kind is {found}, not {expected}")
            }
            ObjectDecodeError::Schema { reason } => f.write_str(reason),
            ObjectDecodeError::MissingName => f.write_str("metadata.name is required"),
            ObjectDecodeError::OwnerReferences => {
                f.write_str("an owner that exists is not modelled for this kind (metadata.ownerReferences)")
            }
            ObjectDecodeError::ManualSelector => f.write_str("a Job with manualSelector is not modelled"),
            ObjectDecodeError::NotReady { status } => {
                write!(f, "a Node with condition Ready={status} at the start is not modelled")
            }
            ObjectDecodeError::TooManyPods { pods, maximum } => {
                write!(f, "{pods} pods in total; the maximum is {maximum}")
            }
        }
    }
}

impl std::error::Error for ObjectDecodeError {}
