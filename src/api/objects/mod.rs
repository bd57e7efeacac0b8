//! The objects that controllers create for a stored JobSet: Jobs, the headless Service, claims and pods.
//!
//! The functions are pure: they map a stored JobSet to objects, both as JSON trees in the form of the API. This
//! module must not decide when an object is created.

pub mod any;
pub mod change;
pub mod check;
pub mod claim;
mod defaults;
mod exclusive;
mod failure_policy;
pub mod job;
pub mod pod;
mod pod_webhook;
pub mod service;
pub mod sha1;
pub mod surroundings;
pub mod tree;

pub use any::admit_any;
pub use change::{elastic_patch, resize, resume, suspend};
pub use claim::{admit_claim, claims};
pub use exclusive::{is_exclusive, is_leader};
pub use job::{JobSlot, NO_UID, Places, coordinator, job, mounted_claims, subdomain};
pub use pod::{admit_pod, pod, stored_pod};
pub use pod_webhook::Denial;
pub use service::{admit_service, service};
pub use surroundings::Surroundings;

use crate::admission::Rejection;
use crate::admission::collector::Errors;
use serde_json::Value;

/// Returns the Job as stored by the API server (with the defaults of batch/v1 and core/v1), or its error.
pub fn admit_job(job: &Value) -> Result<Value, Rejection> {
    admit(job, Errors::default())
}

/// Returns the stored Job or the error of an API server that runs without `--allow-privileged`.
pub fn admit_unprivileged_job(job: &Value) -> Result<Value, Rejection> {
    admit(job, Errors::unprivileged())
}

fn admit(job: &Value, mut errors: Errors) -> Result<Value, Rejection> {
    let mut stored = job.clone();
    defaults::job(&mut stored);
    check::job::check(&stored, &mut errors);
    let name = tree::text(&stored["metadata"], "name");
    errors.into_rejection("Job.batch", name)?;
    Ok(stored)
}
