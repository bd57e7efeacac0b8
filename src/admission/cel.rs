//! The rules of the CRD that are written in CEL.
//!
//! Pure. Must never look at types or ranges: those are the schema's.

use super::errors::FieldError;
use serde_json::Value;

const IMMUTABLE: [&str; 5] = [
    "failurePolicy",
    "network",
    "startupPolicy",
    "successPolicy",
    "volumeClaimPolicies",
];

/// Fields that must not change where they are before and after (UPD-5).
pub fn transitions(old: &Value, new: &Value) -> Vec<FieldError> {
    let (old, new) = (&old["spec"], &new["spec"]);
    let mut errors = Vec::new();
    let mut check = |path: String, old: &Value, new: &Value| {
        if !old.is_null() && !new.is_null() && old != new {
            errors.push(FieldError::invalid(path, "Value is immutable", ""));
        }
    };
    for field in IMMUTABLE {
        check(format!("spec.{field}"), &old[field], &new[field]);
    }
    let jobs = |spec: &Value| {
        spec["replicatedJobs"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let old_jobs = jobs(old);
    for (i, rj) in jobs(new).iter().enumerate() {
        if let Some(before) = old_jobs.iter().find(|o| o["name"] == rj["name"]) {
            let path = format!("spec.replicatedJobs[{i}].dependsOn");
            check(path, &before["dependsOn"], &rj["dependsOn"]);
        }
    }
    errors
}
