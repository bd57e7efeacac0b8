//! Objects of any kind but JobSet that a user posts, in the form in which the API server stores them.
//!
//! This module must not check whether an object of the same name exists and must not create a UID. The component
//! that stores the object does both.

use super::context::ObjectContext;
use super::pod::{SYSTEM_CLASSES, admit_pod};
use super::sha1::sha1_hex;
use super::value_access::{as_object, has_value, int, items_mut, object_mut, set_default, set_default_text, text};
use super::{admit_claim, admit_job, admit_service};
use crate::{admission::AdmissionRejection, admission::error_list::ErrorList, admission::field::FieldPath};
use crate::{admission::meta_check::object_meta, admission::names::dns1123_subdomain};
use serde_json::{Value, json};

/// Returns the stored object, or the error of the API server. An object of a kind that is not modelled is returned
/// unchanged.
pub fn admit_any(posted: &Value, around: &ObjectContext) -> Result<Value, AdmissionRejection> {
    match text(posted, "kind") {
        "Job" => admit_job(posted),
        // The complete name is passed as the prefix, so that no suffix is appended.
        "Pod" => admit_pod(posted, text(&posted["metadata"], "name"), around),
        "Service" => admit_service(&with_cluster_ip(posted)),
        "PersistentVolumeClaim" => admit_claim(posted),
        kind => stored_with_defaults(kind, posted),
    }
}

/// Returns the Service with a cluster IP, unless it already specifies one.
fn with_cluster_ip(service: &Value) -> Value {
    let mut service = service.clone();
    let name = text(&service["metadata"], "name").to_owned();
    let spec = &mut service["spec"];
    as_object(spec);
    if text(spec, "clusterIP").is_empty() {
        // The API server assigns a random address. No result depends on its value.
        let digest = sha1_hex(&name);
        let byte = |at: usize| u8::from_str_radix(digest.get(at..at + 2).unwrap_or(""), 16);
        let (third, fourth) = (byte(0).unwrap_or(0), byte(2).unwrap_or(0));
        spec["clusterIP"] = json!(format!("10.96.{third}.{fourth}"));
    }
    set_default(spec, "clusterIPs", json!([spec["clusterIP"].clone()]));
    for port in items_mut(spec, "ports") {
        set_default_text(port, "protocol", "TCP");
        let number = port["port"].clone();
        set_default(port, "targetPort", number);
    }
    service
}

/// Checks the name and value of a PriorityClass: `ValidatePriorityClass`
/// (`pkg/apis/scheduling/validation/validation.go`).
fn priority_class(posted: &Value, name: &str, errors: &mut ErrorList) {
    const MAX_USER_PRIORITY: i64 = 1_000_000_000;
    let path = FieldPath::new("metadata.name");
    if name.starts_with("system-") {
        let reserved = "priority class names with 'system-' prefix are reserved for system use only. error: ";
        if !SYSTEM_CLASSES.iter().any(|(known, _)| *known == name) {
            let why = format!("{reserved}{name} is not a known system priority class");
            errors.forbidden(&path, &why);
        }
    } else if posted["value"].as_i64().is_some_and(|v| v > MAX_USER_PRIORITY) {
        let why = format!("maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}");
        errors.forbidden(&FieldPath::new("value"), &why);
    }
}

/// Checks the numbers of a budget: `ValidatePodDisruptionBudgetSpec` (`pkg/apis/policy/validation/validation.go`).
fn disruption_budget(spec: &Value, errors: &mut ErrorList) {
    let path = FieldPath::new("spec");
    if has_value(spec, "minAvailable") && has_value(spec, "maxUnavailable") {
        errors.invalid(&path, spec, "minAvailable and maxUnavailable cannot be both set");
    }
    for field in ["minAvailable", "maxUnavailable"] {
        if int(spec, field).is_some_and(|number| number < 0) {
            errors.invalid(&path.child(field), &spec[field], "must be greater than or equal to 0");
        }
    }
}

/// Returns the stored form for kinds that only get a few defaults.
fn stored_with_defaults(kind: &str, posted: &Value) -> Result<Value, AdmissionRejection> {
    let mut stored = posted.clone();
    let name = text(&posted["metadata"], "name").to_owned();
    match kind {
        "Node" if !has_value(&stored["status"], "allocatable") && has_value(&stored["status"], "capacity") => {
            stored["status"]["allocatable"] = stored["status"]["capacity"].clone();
        }
        "PersistentVolume" => {
            set_default_text(&mut stored["spec"], "persistentVolumeReclaimPolicy", "Retain");
            set_default_text(&mut stored["spec"], "volumeMode", "Filesystem");
            set_default_text(&mut stored["status"], "phase", "Pending");
        }
        "StorageClass" => {
            set_default_text(&mut stored, "reclaimPolicy", "Delete");
            set_default_text(&mut stored, "volumeBindingMode", "Immediate");
        }
        "PriorityClass" => set_default_text(&mut stored, "preemptionPolicy", "PreemptLowerPriority"),
        "Namespace" => {
            let labels = object_mut(&mut stored["metadata"], "labels");
            labels.entry("kubernetes.io/metadata.name").or_insert_with(|| json!(name));
            set_default_text(&mut stored["status"], "phase", "Active");
        }
        _ => {}
    }
    let mut errors = ErrorList::default();
    if kind == "PriorityClass" {
        priority_class(posted, &name, &mut errors);
    }
    if kind == "PodDisruptionBudget" {
        disruption_budget(&stored["spec"], &mut errors);
    }
    object_meta(&stored["metadata"], dns1123_subdomain, &mut errors);
    errors.into_rejection(kind, &name)?;
    Ok(stored)
}
