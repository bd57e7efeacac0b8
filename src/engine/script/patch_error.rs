//! Errors of patches of Jobs, pods and the status of JobSets.

use serde_json::Value;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobPatchError {
    /// This kind of patch cannot change the top-level field.
    SectionNotPatchable {
        section: String,
    },
    UnsupportedField {
        section: &'static str,
        field: String,
    },
    UnsupportedCondition {
        condition: Value,
    },
    SuspendNotBoolean {
        value: Value,
    },
    /// The value is not a non-negative int32.
    InvalidCount {
        field: &'static str,
        value: Value,
    },
    CompletionsRequired,
    /// The completions of a NonIndexed Job were changed.
    CompletionsImmutable {
        completions: Option<u32>,
    },
    /// The completions differ from the parallelism.
    CompletionsNotInTandem {
        completions: Option<u32>,
    },
    InvalidSpec {
        job: String,
        cause: Box<JobPatchError>,
    },
}

fn write_invalid_completions(f: &mut fmt::Formatter<'_>, completions: Option<u32>, reason: &str) -> fmt::Result {
    let displayed = completions.map_or("null".to_owned(), |n| n.to_string());
    write!(f, "spec.completions: Invalid value: {displayed}: {reason}")
}

impl fmt::Display for JobPatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobPatchError::SectionNotPatchable { section } => {
                write!(f, "{section} of a Job is not changed this way")
            }
            JobPatchError::UnsupportedField { section, field } => {
                write!(f, "{section}.{field} of a Job has no effect in the simulation")
            }
            JobPatchError::UnsupportedCondition { condition } => {
                write!(f, "condition {condition} of a Job has no effect in the simulation")
            }
            JobPatchError::SuspendNotBoolean { value } => {
                write!(f, "spec.suspend: {value} is not a boolean")
            }
            JobPatchError::InvalidCount { field, value } => {
                write!(f, "spec.{field}: Invalid value: {value}: must be greater than or equal to 0")
            }
            JobPatchError::CompletionsRequired => {
                f.write_str("spec.completions: Required value: when completion mode is Indexed")
            }
            JobPatchError::CompletionsImmutable { completions } => {
                write_invalid_completions(f, *completions, "field is immutable")
            }
            JobPatchError::CompletionsNotInTandem { completions } => {
                write_invalid_completions(f, *completions, "can only be modified in tandem with spec.parallelism")
            }
            JobPatchError::InvalidSpec { job, cause } => {
                write!(f, "Job.batch {job:?} is invalid: {cause}")
            }
        }
    }
}

impl std::error::Error for JobPatchError {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PodPatchError {
    /// This kind of patch cannot change the top-level field.
    SectionNotPatchable {
        section: String,
    },
    UnsupportedField {
        path: String,
    },
    UnsupportedCondition {
        condition: Value,
    },
}

impl fmt::Display for PodPatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PodPatchError::SectionNotPatchable { section } => write!(f, "{section} of a Pod is not changed this way"),
            PodPatchError::UnsupportedField { path } => {
                write!(f, "a change of {path} of a Pod has no effect in the simulation")
            }
            PodPatchError::UnsupportedCondition { condition } => {
                write!(f, "condition {condition} of a Pod has no effect in the simulation")
            }
        }
    }
}

impl std::error::Error for PodPatchError {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StatusPatchError {
    UnsupportedValue { path: String, value: Value },
}

impl fmt::Display for StatusPatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatusPatchError::UnsupportedValue { path, value } => {
                write!(f, "{path}: the value {value} is not supported by the simulation")
            }
        }
    }
}

impl std::error::Error for StatusPatchError {}
