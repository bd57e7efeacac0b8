//! Error responses of the API server to the creation of a child Job.

use sim_api::admission::AdmissionRejection;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildJobError {
    AlreadyExists {
        name: String,
    },
    /// The JobSet in the manager's cache has no replicatedJob at this position.
    ReplicatedJobMissing {
        position: u32,
    },
    Rejected(AdmissionRejection),
}

impl fmt::Display for ChildJobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChildJobError::AlreadyExists { name } => {
                write!(f, "jobs.batch {name:?} already exists")
            }
            ChildJobError::ReplicatedJobMissing { position } => {
                write!(f, "no replicatedJob {position}")
            }
            ChildJobError::Rejected(rejection) => f.write_str(&rejection.message),
        }
    }
}

impl std::error::Error for ChildJobError {}

impl From<AdmissionRejection> for ChildJobError {
    fn from(rejection: AdmissionRejection) -> ChildJobError {
        ChildJobError::Rejected(rejection)
    }
}
