//! The API server's validation of a container's environment, and of references to fields, resources and keys.
//!
//! This module must not check whether a referenced object exists.

use crate::admission::names::{NameRule, config_map_key, dns1123_subdomain, env_name, label_key};
use crate::objects::value_access::{has_value, text};
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
    sources += usize::from(has_value(from, "fileKeyRef"));
    let detail = match sources {
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
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

fn resource_ref(reference: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let resource = text(reference, "resource");
    let huge = ["requests.hugepages-", "limits.hugepages-"];
    let legal = ENV_RESOURCES.contains(&resource) || huge.iter().any(|h| resource.starts_with(h));
    if resource.is_empty() {
        errors.required(&path.child("resource"), "");
    } else if !legal {
        errors.unsupported(&path.child("resource"), &resource.into(), &ENV_RESOURCES);
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
