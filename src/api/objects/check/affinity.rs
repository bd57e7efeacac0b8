//! The API server's validation of affinity, label selectors and topology spread constraints.
//!
//! This module must not read nodes.

use crate::admission::names::{dns1123_subdomain, label_key, label_value};
use crate::objects::value_access::{has_value, int, list, pairs, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath, admission::meta_check::labels};
use serde_json::{Value, json};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub fn affinity(affinity: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let node = &affinity["nodeAffinity"];
    let at = path.child("nodeAffinity");
    if has_value(node, REQUIRED) {
        let at = at.child(REQUIRED).child("nodeSelectorTerms");
        let terms = list(&node[REQUIRED], "nodeSelectorTerms");
        if terms.is_empty() {
            errors.required(&at, "must have at least one node selector term");
        }
        for (k, term) in terms.iter().enumerate() {
            node_term(term, true, &at.index(k), errors);
        }
    }
    for (k, term) in list(node, PREFERRED).iter().enumerate() {
        let at = at.child(PREFERRED).index(k);
        weight(term, &at, errors);
        node_term(&term["preference"], false, &at.child("preference"), errors);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let (terms, at) = (&affinity[kind], path.child(kind));
        for (k, term) in list(terms, REQUIRED).iter().enumerate() {
            pod_term(term, &at.child(REQUIRED).index(k), errors);
        }
        for (k, term) in list(terms, PREFERRED).iter().enumerate() {
            let at = at.child(PREFERRED).index(k);
            weight(term, &at, errors);
            pod_term(&term["podAffinityTerm"], &at.child("podAffinityTerm"), errors);
        }
    }
}

fn weight(term: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let weight = int(term, "weight").unwrap_or(0);
    if !(1..=100).contains(&weight) {
        errors.invalid(&path.child("weight"), &weight.into(), "must be in the range 1-100");
    }
}

/// Checks a term of node affinity. Values that are no label values are legal in preferences.
fn node_term(term: &Value, is_required: bool, path: &FieldPath, errors: &mut ErrorList) {
    for (k, requirement) in list(term, "matchExpressions").iter().enumerate() {
        let at = path.child("matchExpressions").index(k);
        node_requirement(requirement, &at, errors);
        let key = text(requirement, "key");
        errors.all_invalid(&at.child("key"), key, label_key(key));
        for (k, value) in list(requirement, "values").iter().enumerate().filter(|_| is_required) {
            let value = value.as_str().unwrap_or("");
            errors.all_invalid(&at.child("values").index(k), value, label_value(value));
        }
    }
    for (k, requirement) in list(term, "matchFields").iter().enumerate() {
        let at = path.child("matchFields").index(k);
        let values = list(requirement, "values");
        match text(requirement, "operator") {
            "In" | "NotIn" if values.len() != 1 => {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.required(&at.child("values"), detail);
            }
            "In" | "NotIn" => {}
            _ => operator(requirement, &at, errors),
        }
        if text(requirement, "key") != "metadata.name" {
            let detail = "not a valid field selector key";
            errors.invalid_text(&at.child("key"), text(requirement, "key"), detail);
            continue;
        }
        for (k, name) in values.iter().enumerate() {
            let name = name.as_str().unwrap_or("");
            errors.all_invalid(&at.child("values").index(k), name, dns1123_subdomain(name));
        }
    }
}

fn operator(requirement: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let name = text(requirement, "operator");
    errors.invalid_text(&path.child("operator"), name, "not a valid selector operator");
}

fn node_requirement(requirement: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let (values, at) = (list(requirement, "values"), path.child("values"));
    match text(requirement, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            errors.required(&at, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.forbidden(&at, detail);
        }
        "Gt" | "Lt" if values.len() != 1 => {
            let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            errors.required(&at, detail);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        _ => operator(requirement, path, errors),
    }
}

fn pod_term(term: &Value, path: &FieldPath, errors: &mut ErrorList) {
    label_selector(&term["labelSelector"], &path.child("labelSelector"), errors);
    label_selector(&term["namespaceSelector"], &path.child("namespaceSelector"), errors);
    for (k, name) in list(term, "namespaces").iter().enumerate() {
        let name = name.as_str().unwrap_or("");
        let wrong = crate::admission::names::dns1123_label(name);
        errors.all_invalid(&path.child("namespace").index(k), name, wrong);
    }
    match_label_keys(term, path, errors);
    let (at, key) = (path.child("topologyKey"), text(term, "topologyKey"));
    if key.is_empty() {
        errors.required(&at, "can not be empty");
    }
    errors.all_invalid(&at, key, label_key(key));
}

fn match_label_keys(term: &Value, path: &FieldPath, errors: &mut ErrorList) {
    for name in ["matchLabelKeys", "mismatchLabelKeys"] {
        let (keys, at) = (list(term, name), path.child(name));
        if !keys.is_empty() && !has_value(term, "labelSelector") {
            errors.forbidden(&at, "must not be specified when labelSelector is not set");
        }
        for (k, key) in keys.iter().enumerate() {
            let key = key.as_str().unwrap_or("");
            errors.all_invalid(&at.index(k), key, label_key(key));
        }
    }
    let position = |key: &str| list(term, "matchLabelKeys").iter().rposition(|k| k == key);
    // The selector already contains the requirements of `matchLabelKeys`, so a key of the user occurs twice.
    let selector = &term["labelSelector"];
    let mut seen: Vec<&str> = pairs(&selector["matchLabels"]).map(|(key, _)| key.as_str()).collect();
    for key in list(selector, "matchExpressions").iter().map(|r| text(r, "key")) {
        if let Some(k) = position(key).filter(|_| seen.contains(&key)) {
            errors.invalid_text(&path.index(k), key, "exists in both matchLabelKeys and labelSelector");
        }
        seen.push(key);
    }
    for (k, key) in list(term, "matchLabelKeys").iter().enumerate() {
        if list(term, "mismatchLabelKeys").contains(key) {
            let at = path.child("matchLabelKeys").index(k);
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            errors.invalid_text(&at, key.as_str().unwrap_or(""), detail);
        }
    }
}

/// Checks the `matchLabels` and `matchExpressions` of a label selector.
pub fn label_selector(selector: &Value, path: &FieldPath, errors: &mut ErrorList) {
    labels(&selector["matchLabels"], &path.child("matchLabels"), errors);
    for (k, requirement) in list(selector, "matchExpressions").iter().enumerate() {
        let at = path.child("matchExpressions").index(k);
        let (values, value_path) = (list(requirement, "values"), at.child("values"));
        match text(requirement, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                errors.required(&value_path, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(&value_path, detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => operator(requirement, &at, errors),
        }
        let key = text(requirement, "key");
        errors.all_invalid(&at.child("key"), key, label_key(key));
        for (k, value) in values.iter().enumerate() {
            let value = value.as_str().unwrap_or("");
            errors.all_invalid(&value_path.index(k), value, label_value(value));
        }
    }
}

pub fn check_topology_spread(constraints: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    for (k, constraint) in constraints.iter().enumerate() {
        let at = path.index(k);
        let skew = int(constraint, "maxSkew").unwrap_or(0);
        if skew <= 0 {
            errors.invalid(&at.child("maxSkew"), &skew.into(), "must be greater than zero");
        }
        let key = text(constraint, "topologyKey");
        if key.is_empty() {
            errors.required(&at.child("topologyKey"), "can not be empty");
        }
        let action = text(constraint, "whenUnsatisfiable");
        let legal = ["DoNotSchedule", "ScheduleAnyway"];
        if !legal.contains(&action) {
            errors.unsupported(&at.child("whenUnsatisfiable"), &json!(action), &legal);
        }
        let same = |c: &Value| text(c, "topologyKey") == key && text(c, "whenUnsatisfiable") == action;
        if constraints[k + 1..].iter().any(same) {
            let pair = format!("{{{key}, {action}}}");
            let at = at.child("{topologyKey, whenUnsatisfiable}");
            errors.duplicate(&at, &pair.into());
        }
        if let Some(domains) = int(constraint, "minDomains") {
            min_domains(constraint, domains, &at.child("minDomains"), errors);
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"].into_iter().filter(|name| has_value(constraint, name)) {
            if !matches!(text(constraint, name), "Honor" | "Ignore") {
                errors.unsupported(&at.child(name), &constraint[name], &["Honor", "Ignore"]);
            }
        }
        match_label_keys(constraint, &at, errors);
        label_selector(&constraint["labelSelector"], &at.child("labelSelector"), errors);
    }
}

fn min_domains(constraint: &Value, domains: i64, path: &FieldPath, errors: &mut ErrorList) {
    let value = &constraint["minDomains"];
    if domains <= 0 {
        errors.invalid(path, value, "must be greater than zero");
    }
    if text(constraint, "whenUnsatisfiable") != "DoNotSchedule" {
        let detail = format!(
            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
            text(constraint, "whenUnsatisfiable")
        );
        errors.invalid(path, value, &detail);
    }
}
