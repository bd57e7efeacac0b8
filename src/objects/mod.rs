//! The objects that the controllers create for a stored JobSet: Jobs, the headless Service, claims, pods.
//!
//! Pure: stored JobSet in, objects out, as JSON trees in the API's form. Must never decide *when* one is created.

use crate::admission::Rejection;
use serde_json::Value;

/// The Job that the JobSet controller posts for one slot (JOB-1, LAB-1…LAB-3).
pub struct JobSlot<'a> {
    /// The stored JobSet.
    pub jobset: &'a Value,
    /// Position of the replicatedJob in the spec.
    pub replicated_job: usize,
    pub index: u32,
    /// Label `restart-attempt`.
    pub restarts: u32,
    /// Label `job-restart-attempt`; `None` with gate RestartJob off.
    pub job_restarts: Option<u32>,
}

/// The Job as posted.
pub fn job(slot: &JobSlot) -> Value {
    slot.jobset["spec"]["replicatedJobs"][slot.replicated_job]["template"].clone()
}

/// The Job as the API server stores it (defaults of batch/v1 and core/v1), or why it refuses it.
pub fn admit_job(job: &Value) -> Result<Value, Rejection> {
    Ok(job.clone())
}
