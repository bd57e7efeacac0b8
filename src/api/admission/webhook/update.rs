//! The validating webhook on update: the fields of a stored JobSet that may change (UPD-1…UPD-7, ELA-1).
//!
//! This module is pure; errors have upstream's order. CEL transition rules are checked in `cel`.

use super::object::items;
use super::volumes::replicated_jobs_json;
use crate::admission::types::{FieldKind, SchemaType};
use crate::admission::{AdmissionGates, go};
use crate::{admission::field::FieldError, admission::go::GoDecodeError};
use serde_json::{Value, json};

/// Pod template fields that may change while the JobSet is suspended or becomes suspended (UPD-2), relative to the
/// Job template.
const MUTABLE_WHILE_SUSPENDED: [&str; 5] = [
    "/template/spec/template/metadata/annotations", "/template/spec/template/metadata/labels",
    "/template/spec/template/spec/nodeSelector", "/template/spec/template/spec/tolerations",
    "/template/spec/template/spec/schedulingGates",
];
const REPLICATED_JOB: &str = "v1alpha2.ReplicatedJob";
const PARALLELISM: &str = "/template/spec/parallelism";
const COMPLETIONS: &str = "/template/spec/completions";

/// Returns all errors of the webhook. `Err` is Go's decoding error.
pub fn errors(old: &Value, new: &Value, gates: AdmissionGates) -> Result<Vec<FieldError>, GoDecodeError> {
    let (new_read, old_read) = (go::round_trip_jobset(new)?, go::round_trip_jobset(old)?);
    let mut errors = Vec::new();
    let old_jobs = items(&old_read["spec"]["replicatedJobs"]);
    let new_jobs = items(&new_read["spec"]["replicatedJobs"]);
    let mut masked = new_jobs.to_vec();
    // If several old replicatedJobs have the same name, the last one counts, as in a Go map.
    let old_of = |rj: &Value| old_jobs.iter().rev().find(|o| o["name"] == rj["name"]);
    if gates.elastic_job_set {
        for (i, new_job) in new_jobs.iter().enumerate() {
            if let Some(old_job) = old_of(new_job).filter(|_| is_indexed(new_job)) {
                elastic(i, old, old_job, new_job, &mut errors);
                for field in [PARALLELISM, COMPLETIONS] {
                    copy_field(old_job, &mut masked[i], field);
                }
            }
        }
    }
    let suspended = |js: &Value| js["spec"]["suspend"] == true;
    if suspended(&old_read) || suspended(&new_read) {
        for (i, new_job) in new_jobs.iter().enumerate() {
            if let Some(old_job) = old_of(new_job) {
                MUTABLE_WHILE_SUSPENDED.iter().for_each(|f| copy_field(old_job, &mut masked[i], f));
            }
        }
    }
    if !are_semantically_equal(old_jobs, &masked) {
        let masked = json!({"replicatedJobs": masked});
        let value = replicated_jobs_json(new, &masked);
        errors.push(immutable_error("spec.replicatedJobs", value));
    }
    let managed_by = |js: &Value| js["spec"]["managedBy"].clone();
    if managed_by(&old_read) != managed_by(&new_read) {
        let value = go::go_json_untyped(&managed_by(&new_read));
        errors.push(immutable_error("spec.managedBy", value));
    }
    Ok(errors)
}

/// Returns whether the lists are semantically equal, as upstream compares them: `1000m` equals `1`.
fn are_semantically_equal(old: &[Value], new: &[Value]) -> bool {
    let ty = SchemaType { name: REPLICATED_JOB, kind: FieldKind::Struct(REPLICATED_JOB) };
    let form = |jobs: &[Value]| -> Vec<Value> { jobs.iter().map(|j| go::normalize(&ty, j)).collect() };
    form(old) == form(new)
}

fn immutable_error(path: &str, value: String) -> FieldError {
    FieldError::invalid(path, value, "field is immutable")
}

/// Checks a changed size (ELA-1).
fn elastic(i: usize, old: &Value, old_job: &Value, new_job: &Value, errors: &mut Vec<FieldError>) {
    let number = |rj: &Value, field: &str| rj.pointer(field).and_then(Value::as_i64);
    let parallelism = number(new_job, PARALLELISM);
    let completions = number(new_job, COMPLETIONS);
    let parallelism_changed = parallelism != number(old_job, PARALLELISM);
    let completions_changed = completions != number(old_job, COMPLETIONS);
    if !parallelism_changed && !completions_changed {
        return;
    }
    let path = format!("spec.replicatedJobs[{i}].template.spec");
    if is_terminal(old) {
        let words = "Cannot mutate parallelism or completions when JobSet is in a terminal state (Completed or Failed)";
        errors.push(FieldError::new(path, crate::admission::field::FieldErrorKind::Forbidden, words));
        return;
    }
    for (field, number, changed) in
        [("parallelism", parallelism, parallelism_changed), ("completions", completions, completions_changed)]
    {
        if let Some(n) = number.filter(|n| changed && *n < 1) {
            let words = format!("{field} must be >= 1");
            errors.push(FieldError::invalid(format!("{path}.{field}"), n.to_string(), words));
        }
    }
    if let (Some(p), Some(c)) = (parallelism, completions)
        && p != c
    {
        let words = "completions must be equal to parallelism for Elastic Indexed Jobs";
        errors.push(FieldError::invalid(format!("{path}.completions"), c.to_string(), words));
    }
}

fn is_terminal(js: &Value) -> bool {
    let is_true = |kind: &str| {
        let first = items(&js["status"]["conditions"]).iter().find(|c| c["type"] == kind);
        first.is_some_and(|c| c["status"] == "True")
    };
    is_true("Completed") || is_true("Failed")
}

fn is_indexed(rj: &Value) -> bool {
    rj["template"]["spec"]["completionMode"] == "Indexed"
}

/// Copies the field at `path` from `from` to `to`, or removes it.
fn copy_field(from: &Value, to: &mut Value, path: &str) {
    let Some((parent, key)) = path.rsplit_once('/') else {
        return;
    };
    let mut at = to;
    for part in parent.split('/').skip(1) {
        if at[part].is_null() {
            if from.pointer(path).is_none() {
                return;
            }
            at[part] = Value::Object(Default::default());
        }
        at = &mut at[part];
    }
    match (from.pointer(path), at.as_object_mut()) {
        (Some(value), Some(object)) => {
            object.insert(key.to_owned(), value.clone());
        }
        (None, Some(object)) => {
            object.remove(key);
        }
        _ => {}
    }
}
