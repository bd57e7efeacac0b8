//! Objects of any kind but JobSet that a user posts, in the form in which the API server stores them.
//!
//! This module must not check whether an object of the same name exists and must not create a UID. The component
//! that stores the object does both.

use super::check::{cluster, label_selector};
use super::context::ObjectContext;
use super::pod::{SYSTEM_CLASSES, admit_pod};
use super::sha1::sha1_hex;
use super::value_access::{
    as_object, has_value, int, items_mut, list, object_mut, set_default, set_default_text, text,
};
use super::{admit_claim, admit_job, admit_service};
use crate::admission::errors::bad_request;
use crate::admission::meta_check::object_meta;
use crate::admission::names::{dns1123_label, dns1123_subdomain, label_key, percentage};
use crate::{admission::AdmissionRejection, admission::error_list::ErrorList, admission::field::FieldPath};
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

/// Returns the error of the API server if a number of a budget is neither an integer nor a string (`IntOrString`).
fn undecodable_number(posted: &Value) -> Result<(), AdmissionRejection> {
    for field in ["minAvailable", "maxUnavailable"] {
        let value = &posted["spec"][field];
        let found = match value {
            Value::Null | Value::String(_) => continue,
            Value::Number(number) if number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()) => continue,
            Value::Number(number) => format!("number {number}"),
            Value::Bool(_) => "bool".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        return Err(bad_request(format!(
            "PodDisruptionBudget in version \"v1\" cannot be handled as a PodDisruptionBudget: json: cannot unmarshal \
             {found} into Go value of type int32"
        )));
    }
    Ok(())
}

/// Checks a budget: `ValidatePodDisruptionBudgetSpec` (`pkg/apis/policy/validation/validation.go`).
fn disruption_budget(spec: &Value, errors: &mut ErrorList) {
    let path = FieldPath::new("spec");
    if has_value(spec, "minAvailable") && has_value(spec, "maxUnavailable") {
        errors.invalid(&path, spec, "minAvailable and maxUnavailable cannot be both set");
    }
    for field in ["minAvailable", "maxUnavailable"] {
        match &spec[field] {
            Value::String(percentage) => check_percentage(percentage, &path.child(field), errors),
            value if value.as_i64().is_some_and(|number| number < 0) => {
                errors.invalid(&path.child(field), value, "must be greater than or equal to 0");
            }
            _ => {}
        }
    }
    label_selector(&spec["selector"], &path.child("selector"), errors);
}

/// `ValidatePositiveIntOrPercent` and `IsNotMoreThan100Percent` (`pkg/apis/apps/validation/validation.go`).
fn check_percentage(text: &str, path: &FieldPath, errors: &mut ErrorList) {
    errors.check_name(path, text, percentage);
    let number = text.strip_suffix('%').filter(|_| percentage(text).is_empty());
    if number.is_some_and(|number| number.parse::<u64>().map_or(true, |number| number > 100)) {
        errors.invalid_text(path, text, "must not be greater than 100%");
    }
}

/// Checks a PodGroup by the markers of its type (`staging/src/k8s.io/api/scheduling/v1alpha2/types.go`), in the order
/// of its fields.
fn pod_group(spec: &Value, errors: &mut ErrorList) {
    let path = FieldPath::new("spec");
    let names = |object: &Value, path: &FieldPath, errors: &mut ErrorList| {
        for key in ["workloadName", "podGroupTemplateName"] {
            let (at, name) = (path.child(key), text(object, key));
            match name {
                "" => errors.required(&at, ""),
                name => errors.check_name(&at, name, dns1123_label),
            }
        }
    };
    if has_value(spec, "podGroupTemplateRef") {
        let (template, at) = (&spec["podGroupTemplateRef"], path.child("podGroupTemplateRef"));
        if has_value(template, "workload") {
            names(&template["workload"], &at.child("workload"), errors);
        } else {
            errors.invalid_text(&at, "", "must specify one of: `workload`");
        }
    }
    let (policy, at) = (&spec["schedulingPolicy"], path.child("schedulingPolicy"));
    match (has_value(policy, "basic"), has_value(policy, "gang")) {
        (false, false) => errors.invalid_text(&at, "", "must specify one of: `basic`, `gang`"),
        (true, true) => {
            let detail = "exactly one of `basic`, `gang` is required, but multiple fields are set";
            errors.invalid_text(&at, "{`basic`, `gang`}", detail);
        }
        (true, false) => {}
        (false, true) => {
            let at = at.child("gang").child("minCount");
            match int(&policy["gang"], "minCount").unwrap_or(0) {
                0 => errors.required(&at, ""),
                count if count < 0 => errors.invalid(&at, &count.into(), "must be greater than or equal to 1"),
                _ => {}
            }
        }
    }
    let constraints = list(&spec["schedulingConstraints"], "topology");
    let at = path.child("schedulingConstraints").child("topology");
    if constraints.len() > 1 {
        errors.too_many(&at, constraints.len(), 1);
    }
    for (i, constraint) in constraints.iter().enumerate() {
        let (at, key) = (at.index(i).child("key"), text(constraint, "key"));
        match key {
            "" => errors.required(&at, ""),
            key => errors.all_invalid(&at, key, label_key(key)),
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
    match kind {
        "PriorityClass" => priority_class(posted, &name, &mut errors),
        "PodDisruptionBudget" => {
            undecodable_number(posted)?;
            disruption_budget(&stored["spec"], &mut errors);
        }
        "PodGroup" => pod_group(&stored["spec"], &mut errors),
        _ => {}
    }
    let name_rule = if kind == "Namespace" { dns1123_label } else { dns1123_subdomain };
    object_meta(&stored["metadata"], name_rule, &mut errors);
    let spec = FieldPath::new("spec");
    match kind {
        "Node" => cluster::node_taints(list(&stored["spec"], "taints"), &spec.child("taints"), &mut errors),
        "PersistentVolume" => cluster::persistent_volume(&stored["spec"], &spec, &mut errors),
        _ => {}
    }
    errors.into_rejection(kind, &name)?;
    Ok(stored)
}
