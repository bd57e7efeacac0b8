//! The Workload: what Kueue knows of a JobSet.

pub mod conditions;
pub mod info;
pub mod job_validation;
pub mod jobset;
pub mod object;
pub mod reasons;
pub mod status;
pub mod stored;
pub mod topology;
pub mod transitions;
pub mod webhook;

pub use conditions::{Condition, ConditionType};
pub use info::{Info, LastAssignment, PodSetRequests};
pub use object::{PodSet, Workload, WorkloadKey};
pub use status::{Admission, CheckState, CheckStatus, PodSetAdmission, RequeueState, WorkloadStatus};
