//! The validation rules of the CRD that are written in CEL.
//!
//! This module is pure. It must not check types or ranges, which the schema covers.

use super::field::FieldError;
use serde_json::Value;

const IMMUTABLE: [&str; 5] = ["failurePolicy", "network", "startupPolicy", "successPolicy", "volumeClaimPolicies"];
const EXCLUSIVE_MESSAGE: &str = "StartupPolicy and DependsOn APIs are mutually exclusive";
/// Field to which the error of the mutual exclusion is attributed.
const STARTUP_ORDER_PATH: &str = "spec.startupPolicy.startupPolicyOrder";
const NO_NAMESPACE: &str = "namespace cannot be set for VolumeClaimPolicies templates";

/// Returns all errors. Fields that are equal in `old` are not validated again.
pub fn errors(object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let spec = &object["spec"];
    let changed = |field: &str| old.is_none_or(|old| old["spec"][field] != spec[field]);
    let mut errors = Vec::new();
    if spec.is_object() && old.is_none_or(|old| old["spec"] != *spec) {
        errors.extend(exclusive(spec));
    }
    if changed("volumeClaimPolicies") {
        for (i, policy) in items(&spec["volumeClaimPolicies"]).iter().enumerate() {
            errors.extend(no_namespace(&format!("spec.volumeClaimPolicies[{i}]"), policy));
        }
    }
    errors.extend(old.into_iter().flat_map(|old| immutable_field_errors(old, object)));
    errors
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn missing_key(path: &str, key: &str, rule: &str) -> FieldError {
    let words = format!("no such key: {key} evaluating rule: {rule}");
    FieldError::invalid(path, "\"object\"", words)
}

/// Checks VAL-27. The CEL function `has` is also true for an empty list.
fn exclusive(spec: &Value) -> Option<FieldError> {
    if spec["startupPolicy"]["startupPolicyOrder"] != "InOrder" {
        return None;
    }
    let Some(jobs) = spec.get("replicatedJobs") else {
        return Some(missing_key("spec", "replicatedJobs", EXCLUSIVE_MESSAGE).with_actual_path(STARTUP_ORDER_PATH));
    };
    let depends = items(jobs).iter().any(|rj| rj.get("dependsOn").is_some());
    depends.then(|| FieldError::invalid("spec", EXCLUSIVE_MESSAGE, "").with_actual_path(STARTUP_ORDER_PATH))
}

/// Checks that no claim template sets a namespace (API-28).
fn no_namespace(path: &str, policy: &Value) -> Option<FieldError> {
    let Some(templates) = policy.get("templates") else {
        return Some(missing_key(path, "templates", NO_NAMESPACE));
    };
    let named = |t: &Value| t["metadata"]["namespace"].as_str().is_some_and(|n| !n.is_empty());
    if items(templates).iter().any(named) {
        return Some(FieldError::invalid(path, NO_NAMESPACE, ""));
    }
    let bare = items(templates).iter().any(|t| t.get("metadata").is_none());
    bare.then(|| missing_key(path, "metadata", NO_NAMESPACE))
}

/// Checks fields that must not change once they are set (UPD-5).
fn immutable_field_errors(old: &Value, new: &Value) -> Vec<FieldError> {
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
    let old_jobs = items(&old["replicatedJobs"]);
    for (i, rj) in items(&new["replicatedJobs"]).iter().enumerate() {
        if let Some(before) = old_jobs.iter().find(|o| o["name"] == rj["name"]) {
            let path = format!("spec.replicatedJobs[{i}].dependsOn");
            check(path, &before["dependsOn"], &rj["dependsOn"]);
        }
    }
    errors
}
