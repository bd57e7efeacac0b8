//! The API server's validation of a container's environment, and of references to fields, resources and keys.
//!
//! This module must not check whether a referenced object exists.

use super::values::check_no_backsteps;
use crate::admission::names::{NameRule, config_map_key, dns1123_label, dns1123_subdomain, env_name, label_key};
use crate::objects::value_access::{has_value, list, quantity, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath};
use serde_json::Value;

const ENV_FIELDS: [&str; 9] = [
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
    "status.hostIPs", "status.podIP", "status.podIPs",
];
const ENV_RESOURCES: [&str; 6] = [
    "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
    "requests.memory",
];

const HUGE_PAGES: [&str; 2] = ["requests.hugepages-", "limits.hugepages-"];
/// Divisors of amounts of bytes.
const SIZES: [&str; 13] = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

pub fn env(vars: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    for (k, var) in vars.iter().enumerate() {
        let (at, name) = (path.index(k), text(var, "name"));
        if name.is_empty() {
            errors.required(&at.child("name"), "");
        } else {
            errors.all_invalid(&at.child("name"), name, env_name(name));
        }
        if has_value(var, "valueFrom") {
            value_from(var, &at.child("valueFrom"), errors);
        }
    }
}

fn value_from(var: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let from = &var["valueFrom"];
    let mut sources = 0;
    if has_value(from, "fieldRef") {
        sources += 1;
        field_ref(&from["fieldRef"], &ENV_FIELDS, &path.child("fieldRef"), errors);
    }
    if has_value(from, "resourceFieldRef") {
        sources += 1;
        resource_ref(&from["resourceFieldRef"], &path.child("resourceFieldRef"), errors);
    }
    for kind in ["configMapKeyRef", "secretKeyRef"] {
        if has_value(from, kind) {
            sources += 1;
            key_ref(&from[kind], &path.child(kind), errors);
        }
    }
    if has_value(from, "fileKeyRef") {
        sources += 1;
        file_key_ref(&from["fileKeyRef"], &path.child("fileKeyRef"), errors);
    }
    let detail = match sources {
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        _ if !text(var, "value").is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.invalid_text(path, "", detail);
}

/// Checks a downward API reference to a field of the pod, or to one of its labels or annotations.
pub fn field_ref(reference: &Value, legal: &[&str], path: &FieldPath, errors: &mut ErrorList) {
    if text(reference, "apiVersion").is_empty() {
        errors.required(&path.child("apiVersion"), "");
        return;
    }
    let (at, field) = (path.child("fieldPath"), text(reference, "fieldPath"));
    let subscript = field.strip_suffix("']").and_then(|field| field.split_once("['"));
    match subscript {
        _ if field.is_empty() => errors.required(&at, ""),
        Some(("metadata.annotations", key)) => {
            errors.all_invalid(path, key, label_key(&key.to_lowercase()));
        }
        Some(("metadata.labels", key)) => errors.all_invalid(path, key, label_key(key)),
        Some((other, _)) => errors.invalid_text(path, other, "does not support subscript"),
        None if legal.contains(&field) => {}
        None if KNOWN_FIELDS.contains(&field) => errors.unsupported(&at, &field.into(), legal),
        None => {
            let detail = format!("error converting fieldPath: field label not supported: {field}");
            errors.invalid_text(&at, field, &detail);
        }
    }
}

/// Fields that can be converted but are not allowed in every context.
const KNOWN_FIELDS: [&str; 13] = [
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP",
    "status.hostIPs", "status.podIP",
];

/// Checks a reference to a resource of a container (`validateContainerResourceFieldSelector`).
pub fn resource_ref(reference: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let resource = text(reference, "resource");
    let is_huge = HUGE_PAGES.iter().any(|huge| resource.starts_with(huge));
    if resource.is_empty() {
        errors.required(&path.child("resource"), "");
    } else if !ENV_RESOURCES.contains(&resource) && !is_huge {
        errors.unsupported(&path.child("resource"), &resource.into(), &ENV_RESOURCES);
    }
    let Some(divisor) = quantity(&reference["divisor"]).filter(|divisor| !divisor.is_zero()) else { return };
    let (legal, kind): (&[&str], &str) = match resource {
        "limits.cpu" | "requests.cpu" => (&["1m", "1"], "cpu"),
        "limits.memory" | "requests.memory" => (&SIZES, "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => (&SIZES, "local ephemeral storage"),
        _ if is_huge => (&SIZES, "hugepages"),
        _ => return,
    };
    if !legal.contains(&divisor.canonical_text().as_str()) {
        let values = if kind == "cpu" { legal.join(" and ") } else { legal.join(", ") };
        let detail = format!("only divisor's values {values} are supported with the {kind} resource");
        errors.invalid_text(&path.child("divisor"), resource, &detail);
    }
}

/// Checks a reference to a variable in a file of a volume (`validateFileKeySelector`).
fn file_key_ref(reference: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let mut check = |name: &str, rule: NameRule| match text(reference, name) {
        "" => errors.required(&path.child(name), ""),
        value => errors.all_invalid(&path.child(name), value, rule(value)),
    };
    check("key", env_name);
    check("volumeName", dns1123_label);
    match text(reference, "path") {
        "" => errors.required(&path.child("path"), ""),
        place => check_no_backsteps(place, &path.child("path"), errors),
    }
}

/// Checks that files with variables are in volumes of the kind emptyDir (`validateFileKeyRefVolumes`).
pub fn file_volumes(pod: &Value, path: &FieldPath, errors: &mut ErrorList) {
    for kind in ["initContainers", "containers"] {
        for (c, container) in list(pod, kind).iter().enumerate() {
            for (e, var) in list(container, "env").iter().enumerate() {
                let reference = &var["valueFrom"]["fileKeyRef"];
                if reference.is_null() {
                    continue;
                }
                let at = path.child(kind).index(c).child("env").index(e).child("valueFrom").child("fileKeyRef");
                let (at, name) = (at.child("volumeName"), text(reference, "volumeName"));
                match list(pod, "volumes").iter().rfind(|volume| text(volume, "name") == name) {
                    None => errors.not_found(&at, name),
                    Some(volume) if has_value(volume, "emptyDir") => {}
                    Some(_) => errors.invalid_text(&at, name, "referenced volume must be of type emptyDir"),
                }
            }
        }
    }
}

fn key_ref(reference: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let name = text(reference, "name");
    errors.all_invalid(&path.child("name"), name, dns1123_subdomain(name));
    let (at, key) = (path.child("key"), text(reference, "key"));
    if key.is_empty() {
        errors.required(&at, "");
    } else {
        errors.all_invalid(&at, key, config_map_key(key));
    }
}

pub fn env_from(sources: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    for (k, source) in sources.iter().enumerate() {
        let at = path.index(k);
        if let Some(prefix) = source["prefix"].as_str().filter(|p| !p.is_empty()) {
            errors.all_invalid(&at.child("prefix"), prefix, env_name(prefix));
        }
        let kinds = ["configMapRef", "secretRef"].map(|kind| (kind, &source[kind]));
        let given = kinds.iter().filter(|(_, reference)| !reference.is_null());
        for (kind, reference) in given.clone() {
            let rule: NameRule = dns1123_subdomain;
            check_required_name(reference, rule, &at.child(kind), errors);
        }
        match given.count() {
            0 => {
                let detail = "must specify one of: `configMapRef` or `secretRef`";
                errors.invalid_text(path, "", detail);
            }
            1 => {}
            _ => {
                let detail = "may not have more than one field specified at a time";
                errors.invalid_text(path, "", detail);
            }
        }
    }
}

/// Checks a required name against a naming rule.
fn check_required_name(reference: &Value, rule: NameRule, path: &FieldPath, errors: &mut ErrorList) {
    let (at, name) = (path.child("name"), text(reference, "name"));
    if name.is_empty() {
        errors.required(&at, "");
    } else {
        errors.all_invalid(&at, name, rule(name));
    }
}
