//! The objects that the controllers create for a stored JobSet: Jobs, the headless Service, claims, pods.
//!
//! Pure: stored JobSet in, objects out, as JSON trees in the API's form. Must never decide *when* one is created.

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

/// The Job as the API server stores it (defaults of batch/v1 and core/v1), or why it refuses it.
pub fn admit_job(job: &Value) -> Result<Value, Rejection> {
    admit(job, Errors::default())
}

/// The same by a server that runs without `--allow-privileged`.
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
