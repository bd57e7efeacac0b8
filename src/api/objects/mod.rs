//! The objects that controllers create for a stored JobSet: Jobs, the headless Service, claims and pods.
//!
//! The functions are pure: they map a stored JobSet to objects, both as JSON trees in the form of the API. This
//! module must not decide when an object is created.

pub mod any_kind;
pub mod change;
pub mod check;
pub mod claim;
pub mod context;
mod defaults;
mod exclusive;
mod failure_policy;
pub mod job;
pub mod pod;
mod pod_resources;
mod pod_webhook;
pub mod service;
pub mod sha1;
pub mod value_access;

pub use any_kind::admit_any;
pub use change::{merge_template_on_resume, set_suspend};
pub use claim::{admit_claim, claims};
pub use context::ObjectContext;
pub use exclusive::{is_exclusive, is_leader};
pub use job::{
    GlobalJobIndexes, JobSlot, NO_UID, coordinator_dns_name, job_of_slot, mounted_claims, refuses_job, subdomain,
};
pub use pod::{admit_pod, admit_priority, existing_priority_classes, pod_of_index, priority_of, stored_pod};
pub use pod_webhook::{PodDenial, mutate_pod, validate_pod};
pub use service::{admit_service, service};

use crate::{admission::AdmissionRejection, admission::error_list::ErrorList};
use serde_json::Value;

/// Returns the Job as stored by the API server (with the defaults of batch/v1 and core/v1), or its error.
pub fn admit_job(job: &Value) -> Result<Value, AdmissionRejection> {
    admit(job, ErrorList::default())
}

/// Returns the stored Job or the error of an API server that runs without `--allow-privileged`.
pub fn admit_unprivileged_job(job: &Value) -> Result<Value, AdmissionRejection> {
    admit(job, ErrorList::unprivileged())
}

/// Adds the defaults that the API server stores with a Job.
pub fn add_job_defaults(job: &mut Value) {
    defaults::job(job);
}

fn admit(job: &Value, mut errors: ErrorList) -> Result<Value, AdmissionRejection> {
    let mut stored = job.clone();
    add_job_defaults(&mut stored);
    check::job::check_job(&stored, &mut errors);
    let name = value_access::text(&stored["metadata"], "name");
    errors.into_rejection("Job.batch", name)?;
    Ok(stored)
}
