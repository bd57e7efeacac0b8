//! The API server's validation of the resources of a container, or of a pod as a whole.
//!
//! This module must not check whether a node has the resources.

use crate::objects::value_access::{list, pairs, quantity, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath, admission::names::label_key};
use serde_json::Value;
use std::cmp::Ordering;

const CONTAINER_RESOURCES: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
const QUOTA_RESOURCES: [&str; 18] = [
    "requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory",
    "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers", "secrets",
    "configmaps", "persistentvolumeclaims", "storage", "requests.storage", "services.nodeports",
    "services.loadbalancers", "requests.hugepages-",
];

/// Checks resource names, quantities, requests against limits, and claims.
pub fn check_container_resources(resources: &Value, claims: &[&str], path: &FieldPath, errors: &mut ErrorList) {
    check_amounts(resources, container_resource, path, errors);
    claim_names(resources, claims, &path.child("claims"), errors);
}

/// Checks the resources of a pod as a whole: names, quantities, and requests against limits.
pub fn check_pod_resources(resources: &Value, path: &FieldPath, errors: &mut ErrorList) {
    check_amounts(resources, pod_resource, path, errors);
}

/// Checks the name of a resource.
type ResourceRule = fn(&str, &FieldPath, &mut ErrorList);

fn check_amounts(resources: &Value, rule: ResourceRule, path: &FieldPath, errors: &mut ErrorList) {
    let (limits, requests) = (&resources["limits"], &resources["requests"]);
    let (limit_path, request_path) = (path.child("limits"), path.child("requests"));
    for (name, amount) in pairs(limits) {
        rule(name, &limit_path.key(name), errors);
        check_quantity(name, amount, &limit_path.key(name), errors);
    }
    for (name, amount) in pairs(requests) {
        rule(name, &request_path.key(name), errors);
        check_quantity(name, amount, &request_path.key(name), errors);
        let limit = &limits[name.as_str()];
        match (limit.is_null(), allows_overcommit(name)) {
            (true, false) => {
                let detail = "Limit must be set for non overcommitable resources";
                errors.required(&limit_path, detail);
            }
            (true, true) => {}
            (false, overcommit) => check_request_and_limit(name, amount, limit, overcommit, &request_path, errors),
        }
    }
    let names = || pairs(limits).chain(pairs(requests)).map(|(name, _)| name.as_str());
    if names().any(is_huge_page) && !names().any(|name| matches!(name, "cpu" | "memory")) {
        errors.forbidden(path, "HugePages require cpu or memory");
    }
}

fn check_request_and_limit(
    name: &str, amount: &Value, limit: &Value, overcommit: bool, path: &FieldPath, errors: &mut ErrorList,
) {
    let (Some(requested), Some(most)) = (quantity(amount), quantity(limit)) else {
        return;
    };
    let relation = match (overcommit, requested.compare(&most)) {
        (false, Ordering::Less | Ordering::Greater) => "equal to",
        (true, Ordering::Greater) => "less than or equal to",
        _ => return,
    };
    let limit = limit.as_str().unwrap_or("");
    errors.invalid(path, amount, &format!("must be {relation} {name} limit of {limit}"));
}

fn check_quantity(name: &str, amount: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let Some(read) = quantity(amount) else {
        return;
    };
    if read.is_negative() {
        errors.invalid(path, amount, "must be greater than or equal to 0");
    }
    if is_extended(name) && !read.is_whole() {
        errors.invalid(path, amount, "must be an integer");
    }
}

fn pod_resource(name: &str, path: &FieldPath, errors: &mut ErrorList) {
    let wrong = label_key(name);
    if !wrong.is_empty() {
        errors.all_invalid(path, name, wrong);
    } else if !is_standard(name) && !name.contains('/') {
        errors.invalid_text(path, name, "must be a standard resource type or fully qualified");
    } else if !is_supported(name) {
        errors.unsupported(path, &name.into(), &["cpu", "hugepages-", "memory"]);
    }
}

fn is_standard(name: &str) -> bool {
    CONTAINER_RESOURCES.contains(&name)
        || is_huge_page(name)
        || QUOTA_RESOURCES.contains(&name)
        || name.starts_with("requests.hugepages-")
}

fn container_resource(name: &str, path: &FieldPath, errors: &mut ErrorList) {
    let wrong = label_key(name);
    let legal = wrong.is_empty();
    errors.all_invalid(path, name, wrong);
    if name.contains('/') {
        if !is_native(name) && !is_extended(name) {
            errors.invalid_text(path, name, "doesn't follow extended resource name standard");
        }
        return;
    }
    let own = CONTAINER_RESOURCES.contains(&name) || is_huge_page(name);
    if legal && !is_standard(name) {
        errors.invalid_text(path, name, "must be a standard resource type or fully qualified");
    }
    if !own {
        errors.invalid_text(path, name, "must be a standard resource for containers");
    }
}

fn claim_names(resources: &Value, known: &[&str], path: &FieldPath, errors: &mut ErrorList) {
    let claims = list(resources, "claims");
    for (k, claim) in claims.iter().enumerate() {
        let (at, name) = (path.index(k), text(claim, "name"));
        if name.is_empty() {
            errors.required(&at.child("name"), "");
            continue;
        }
        if claims[..k].iter().any(|c| c["name"] == claim["name"] && c["request"] == claim["request"]) {
            errors.duplicate(&at, &name.into());
        }
        if !known.contains(&name) {
            let missing = "must be one of the names in pod.spec.resourceClaims";
            if known.is_empty() {
                let missing = format!("{missing} which is empty");
                errors.not_found_with(&at, name, &missing);
            } else {
                let missing = format!("{missing}: {}", known.join(", "));
                errors.not_found_with(&at, name, &missing);
            }
        }
    }
}

/// Returns whether the resource name has no domain or has a `kubernetes.io` domain.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    let quota = label_key(&format!("requests.{name}"));
    !is_native(name) && !name.starts_with("requests.") && quota.is_empty()
}

pub fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn allows_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

/// Returns whether a pod as a whole may have the resource.
pub fn is_supported(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_page(name)
}
