//! Errors that end a reconcile pass (REC-13), with upstream's messages.

use sim_api::spec::FailurePolicyAction;
use sim_api::spec::keys::{IN_PLACE_RESTART_ATTEMPT, RESTART_ATTEMPT};
use std::fmt;

/// An error that ends a reconcile pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReconcileError {
    /// A label of a Job has an invalid value (REC-5).
    InvalidLabel { job: String, label: &'static str },
    /// The index of a Job is out of range for its replicatedJob (REC-5).
    JobIndex { index: u32, replicated_job: String },
    /// The action requires the feature gate RestartJob.
    RestartJobDisabled { action: FailurePolicyAction },
    /// The status has no entry for the replicatedJob of a failed Job.
    FailedJobParent { job: String },
    /// The status has no entry for the index of a failed Job.
    FailedJobIndex { job: String, index: usize },
    /// The in-place restart attempt of a pod is invalid (IPR-3).
    InPlaceRestartAttempt,
    /// In-place restart requires equal completions and parallelism (IPR-5).
    InPlaceRestartSize { replicated_job: String },
    /// An update removed the success policy (C-76). The text is that of the manager's recovered panic.
    NoSuccessPolicy,
}

impl fmt::Display for ReconcileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReconcileError::InvalidLabel { job, label } => {
                write!(f, "job {job}: invalid value for label {label}")?;
                if *label == RESTART_ATTEMPT {
                    f.write_str(", must be integer")?;
                }
                Ok(())
            }
            ReconcileError::JobIndex { index, replicated_job } => {
                write!(f, "job index {index} is out of bounds for replicated job {replicated_job}")
            }
            ReconcileError::RestartJobDisabled { action } => write!(
                f,
                "{} failure policy action cannot be used when the feature gate RestartJob is disabled",
                action.as_str()
            ),
            ReconcileError::FailedJobParent { job } => write!(f, "failed job {job} has no parent"),
            ReconcileError::FailedJobIndex { job, index } => {
                write!(f, "failed job {job} has index {index} out of bounds")
            }
            ReconcileError::InPlaceRestartAttempt => {
                write!(f, "invalid value for annotation {IN_PLACE_RESTART_ATTEMPT}, must be non-negative integer")
            }
            ReconcileError::InPlaceRestartSize { replicated_job } => write!(
                f,
                "{replicated_job}: in-place restart requires jobTemplate.spec.completions == jobTemplate.spec.parallelism != nil"
            ),
            ReconcileError::NoSuccessPolicy => {
                f.write_str("panic: runtime error: invalid memory address or nil pointer dereference [recovered]")
            }
        }
    }
}

impl std::error::Error for ReconcileError {}
