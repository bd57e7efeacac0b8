//! The notation of the policy cases.

#[path = "../it/policy/job_notation.rs"]
mod job_notation;
#[path = "../it/policy/notation.rs"]
pub mod notation;
