//! The API server's validation of a Job's `podFailurePolicy`.
//!
//! This module must not match pod failures against the rules.

use super::value_access::{has_value, list, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath, admission::names::label_key};
use serde_json::Value;

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
const MAX_RULES: usize = 20;
const MAX_CONDITIONS: usize = 20;
const MAX_EXIT_CODES: usize = 255;

pub fn check(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let (rules, at) = (list(&spec["podFailurePolicy"], "rules"), path.child("rules"));
    if rules.len() > MAX_RULES {
        errors.too_many(&at, rules.len(), MAX_RULES);
    }
    let pod = &spec["template"]["spec"];
    let containers = list(pod, "containers").iter().chain(list(pod, "initContainers"));
    let names: Vec<&str> = containers.map(|c| text(c, "name")).collect();
    for (k, rule) in rules.iter().enumerate() {
        let per_index = has_value(spec, "backoffLimitPerIndex");
        check_rule(rule, per_index, &names, &at.index(k), errors);
    }
}

fn check_rule(rule: &Value, per_index: bool, names: &[&str], path: &FieldPath, errors: &mut ErrorList) {
    let at = path.child("action");
    if text(rule, "action") == "FailIndex" && !per_index {
        errors.invalid(&at, &rule["action"], "requires the backoffLimitPerIndex to be set");
    }
    check_one_of(&rule["action"], &ACTIONS, &at, errors);
    let (codes, conditions) = (&rule["onExitCodes"], list(rule, "onPodConditions"));
    if !codes.is_null() {
        exit_codes(codes, names, &path.child("onExitCodes"), errors);
    }
    pod_conditions(conditions, &path.child("onPodConditions"), errors);
    match (codes.is_null(), conditions.is_empty()) {
        (false, false) => {
            let detail = "specifying both OnExitCodes and OnPodConditions is not supported";
            errors.invalid_omitted(path, detail);
        }
        (true, true) => {
            let detail = "specifying one of OnExitCodes and OnPodConditions is required";
            errors.invalid_omitted(path, detail);
        }
        _ => {}
    }
}

/// Checks that the value is set and is one of the allowed names.
fn check_one_of(value: &Value, legal: &[&str], path: &FieldPath, errors: &mut ErrorList) {
    match value.as_str().unwrap_or("") {
        "" => {
            let names: Vec<String> = legal.iter().map(|name| format!("\"{name}\"")).collect();
            errors.required(path, &format!("valid values: [{}]", names.join(" ")));
        }
        name if !legal.contains(&name) => errors.unsupported(path, value, legal),
        _ => {}
    }
}

fn exit_codes(codes: &Value, names: &[&str], path: &FieldPath, errors: &mut ErrorList) {
    check_one_of(&codes["operator"], &OPERATORS, &path.child("operator"), errors);
    if let Some(name) = codes["containerName"].as_str()
        && !names.contains(&name)
    {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.invalid_text(&path.child("containerName"), name, detail);
    }
    let (values, at) = (list(codes, "values"), path.child("values"));
    if values.is_empty() {
        errors.invalid(&at, &codes["values"], "at least one value is required");
    } else if values.len() > MAX_EXIT_CODES {
        errors.too_many(&at, values.len(), MAX_EXIT_CODES);
    }
    for (k, value) in values.iter().enumerate() {
        if text(codes, "operator") == "In" && value.as_i64() == Some(0) {
            errors.invalid(&at.index(k), value, "must not be 0 for the In operator");
        }
        if values[..k].contains(value) {
            errors.duplicate(&at.index(k), value);
        }
    }
    if !values.is_sorted_by_key(|value| value.as_i64()) {
        errors.invalid(&at, &codes["values"], "must be ordered");
    }
}

fn pod_conditions(conditions: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    if conditions.len() > MAX_CONDITIONS {
        errors.too_many(path, conditions.len(), MAX_CONDITIONS);
    }
    for (k, pattern) in conditions.iter().enumerate() {
        let (at, kind) = (path.index(k), text(pattern, "type"));
        errors.all_invalid(&at.child("type"), kind, label_key(kind));
        check_one_of(&pattern["status"], &STATUSES, &at.child("status"), errors);
    }
}
