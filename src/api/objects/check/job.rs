//! The API server's validation of a new Job (`batch/v1`), with errors in the server's order.
//!
//! This module must not change the Job. Pod templates are validated in `check::pod`.

use super::index_list::count_indexes;
use super::pod;
use super::values::not_negative;
use crate::admission::meta_check::{annotations, labels, managed_by, object_meta};
use crate::admission::names::{dns1123_label, dns1123_subdomain};
use crate::objects::value_access::{has_value, int, list, pairs, text};
use crate::{admission::error_list::ErrorList, admission::field::FieldPath, objects::failure_policy};
use crate::{objects::job::uid, spec::keys};
use serde_json::{Value, json};

const MAX_INDEXES: i64 = 100_000;
const MAX_WITH_MANY_INDEXES: i64 = 10_000;
const MAX_RULES: usize = 20;
const MAX_INDEX_TEXT: usize = 64 * 1024;
pub const REPLACEMENT_POLICIES: [&str; 2] = ["Failed", "TerminatingOrFailed"];

/// Adds all errors of a Job that already has its defaults.
pub fn check_job(job: &Value, errors: &mut ErrorList) {
    object_meta(&job["metadata"], dns1123_subdomain, errors);
    generated_selector(job, errors);
    let path = FieldPath::new("spec");
    spec(&job["spec"], &path, errors);
    selector(&job["spec"], &path, errors);
    longest_hostname(job, errors);
}

/// Checks that the labels and the selector that the server generates have the generated values.
fn generated_selector(job: &Value, errors: &mut ErrorList) {
    let spec = &job["spec"];
    if spec["manualSelector"].as_bool() == Some(true) {
        return;
    }
    let metadata = &spec["template"]["metadata"];
    let (uid, name) = (uid(job), text(&job["metadata"], "name"));
    let expected = [
        (keys::LEGACY_CONTROLLER_UID, uid),
        (keys::LEGACY_JOB_NAME, name),
        (keys::BATCH_CONTROLLER_UID, uid),
        (keys::BATCH_JOB_NAME, name),
    ];
    let path = FieldPath::new("spec.template.metadata.labels");
    for (key, value) in expected {
        if metadata["labels"][key] != value {
            let detail = format!("must be '{value}'");
            errors.invalid(&path.key(key), &metadata["labels"], &detail);
        }
    }
    let set = expected.map(|(key, value)| (key.to_owned(), json!(value)));
    if !matches_selector(&spec["selector"], &Value::Object(set.into_iter().collect())) {
        let path = FieldPath::new("spec.selector");
        errors.invalid(&path, &spec["selector"], "`selector` not auto-generated");
    }
}

/// Returns whether a label selector matches the labels. An unknown operator matches nothing.
fn matches_selector(selector: &Value, labels: &Value) -> bool {
    let equal = pairs(&selector["matchLabels"]).all(|(key, value)| labels[key] == *value);
    let expressions = list(selector, "matchExpressions");
    equal
        && expressions.iter().all(|e| {
            let value = &labels[text(e, "key")];
            let within = list(e, "values").contains(value);
            match text(e, "operator") {
                "In" => within,
                "NotIn" => !within,
                "Exists" => !value.is_null(),
                "DoesNotExist" => value.is_null(),
                _ => false,
            }
        })
}

fn selector(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let at = path.child("selector");
    if !has_value(spec, "selector") {
        errors.required(&at, "");
    }
    pod::label_selector(&spec["selector"], &at, errors);
    let template_labels = &spec["template"]["metadata"]["labels"];
    if !matches_selector(&spec["selector"], template_labels) {
        let at = path.child("template").child("metadata").child("labels");
        errors.invalid(&at, template_labels, "`selector` does not match template `labels`");
    }
}

/// Checks the longest host name that a pod of an Indexed Job can get.
fn longest_hostname(job: &Value, errors: &mut ErrorList) {
    let spec = &job["spec"];
    let completions = int(spec, "completions").unwrap_or(0);
    if text(spec, "completionMode") != "Indexed" || completions <= 0 {
        return;
    }
    let name = text(&job["metadata"], "name");
    let hostname = format!("{name}-{}", completions - 1);
    if !dns1123_label(&hostname).is_empty() {
        let detail = format!("will not able to create pod with invalid DNS label: {hostname}");
        errors.invalid_text(&FieldPath::new("metadata.name"), name, &detail);
    }
}

fn spec(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let counts = [
        "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
        "backoffLimitPerIndex", "maxFailedIndexes",
    ];
    for name in counts {
        not_negative(&spec[name], &path.child(name), errors);
    }
    if has_value(spec, "maxFailedIndexes") && !has_value(spec, "backoffLimitPerIndex") {
        errors.required(&path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    if let Some(manager) = spec["managedBy"].as_str() {
        managed_by(manager, &path.child("managedBy"), errors);
    }
    completion_mode(spec, path, errors);
    if has_value(spec, "podFailurePolicy") {
        failure_policy::check(spec, &path.child("podFailurePolicy"), errors);
    }
    success_policy(spec, &path.child("successPolicy"), errors);
    replacement_policy(spec, &path.child("podReplacementPolicy"), errors);
    let template = path.child("template");
    let metadata = &spec["template"]["metadata"];
    labels(&metadata["labels"], &template.child("labels"), errors);
    annotations(&metadata["annotations"], &template.child("annotations"), errors);
    pod::specific_annotations(&spec["template"], &template.child("annotations"), errors);
    pod::template(&spec["template"], &template, errors);
    restart_policy(spec, &template.child("spec").child("restartPolicy"), errors);
}

fn completion_mode(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    match text(spec, "completionMode") {
        "Indexed" => indexed(spec, path, errors),
        "NonIndexed" => {
            for name in ["backoffLimitPerIndex", "maxFailedIndexes"] {
                if has_value(spec, name) {
                    errors.invalid(&path.child(name), &spec[name], "requires indexed completion mode");
                }
            }
        }
        _ => {
            let mode = &spec["completionMode"];
            errors.unsupported(&path.child("completionMode"), mode, &["NonIndexed", "Indexed"]);
        }
    }
}

fn indexed(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let at_most = |name: &str, most: i64, detail: &str, errors: &mut ErrorList| {
        if int(spec, name).is_some_and(|v| v > most) {
            let detail = format!("must be less than or equal to {detail}");
            errors.invalid(&path.child(name), &spec[name], &detail);
        }
    };
    let completions = int(spec, "completions");
    if completions.is_none() {
        errors.required(&path.child("completions"), "when completion mode is Indexed");
    }
    let detail = format!("{MAX_INDEXES} when completion mode is Indexed");
    at_most("parallelism", MAX_INDEXES, &detail, errors);
    let own = completions.unwrap_or(i64::MAX);
    at_most("maxFailedIndexes", own, "completions", errors);
    at_most("maxFailedIndexes", MAX_INDEXES, &MAX_INDEXES.to_string(), errors);
    if completions.unwrap_or(0) <= MAX_INDEXES || !has_value(spec, "backoffLimitPerIndex") {
        return;
    }
    if !has_value(spec, "maxFailedIndexes") {
        let detail = format!("must be specified when completions is above {MAX_INDEXES}");
        errors.required(&path.child("maxFailedIndexes"), &detail);
    }
    let most = MAX_WITH_MANY_INDEXES;
    let detail = format!("{most} when completions are above {MAX_INDEXES} and used with backoff limit per index");
    at_most("parallelism", most, &detail, errors);
    at_most("maxFailedIndexes", most, &detail, errors);
}

fn success_policy(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let policy = &spec["successPolicy"];
    if policy.is_null() {
        return;
    }
    if text(spec, "completionMode") != "Indexed" {
        let displayed = internal_success_policy(policy);
        errors.invalid_raw(path, &displayed, "requires indexed completion mode");
        return;
    }
    let (rules, at) = (list(policy, "rules"), path.child("rules"));
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.required(&at, detail);
    }
    if rules.len() > MAX_RULES {
        errors.too_many(&at, rules.len(), MAX_RULES);
    }
    let completions = int(spec, "completions").unwrap_or(0);
    for (k, rule) in rules.iter().enumerate() {
        success_rule(rule, completions, &at.index(k), errors);
    }
}

/// Formats a success policy like the server, which prints its internal Go type with capitalized field names.
fn internal_success_policy(policy: &Value) -> String {
    let rule = |rule: &Value| {
        let (indexes, count) = (&rule["succeededIndexes"], &rule["succeededCount"]);
        format!("{{\"SucceededIndexes\":{indexes},\"SucceededCount\":{count}}}")
    };
    match policy["rules"].as_array() {
        Some(rules) => {
            let rules: Vec<String> = rules.iter().map(rule).collect();
            format!("{{\"Rules\":[{}]}}", rules.join(","))
        }
        None => "{\"Rules\":null}".to_owned(),
    }
}

fn success_rule(rule: &Value, completions: i64, path: &FieldPath, errors: &mut ErrorList) {
    let indexes = rule["succeededIndexes"].as_str();
    if indexes.is_none() && !has_value(rule, "succeededCount") {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        errors.required(path, detail);
    }
    let mut total = 0;
    if let Some(indexes) = indexes {
        let at = path.child("succeededIndexes");
        if indexes.len() > MAX_INDEX_TEXT {
            errors.too_long(&at, MAX_INDEX_TEXT);
        }
        match count_indexes(indexes, completions) {
            Ok(found) => total = found,
            Err(why) => {
                let detail = format!("error parsing succeededIndexes: {why}");
                errors.invalid_text(&at, indexes, &detail);
            }
        }
    }
    let Some(count) = int(rule, "succeededCount") else {
        return;
    };
    let (at, value) = (path.child("succeededCount"), &rule["succeededCount"]);
    not_negative(value, &at, errors);
    let mut at_most = |most: i64, what: &str| {
        if count > most {
            errors.invalid(&at, value, &format!("must be less than or equal to {most} (the number of {what})"));
        }
    };
    at_most(completions, "specified completions");
    if indexes.is_some() {
        at_most(total, "indexes in the specified succeededIndexes field");
    }
}

fn replacement_policy(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let policy = &spec["podReplacementPolicy"];
    let legal: &[&str] =
        if has_value(spec, "podFailurePolicy") { &REPLACEMENT_POLICIES[..1] } else { &REPLACEMENT_POLICIES };
    if !legal.iter().any(|name| policy == name) {
        errors.unsupported(path, policy, legal);
    }
}

fn restart_policy(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let policy = &spec["template"]["spec"]["restartPolicy"];
    match policy.as_str().unwrap_or("") {
        "Always" | "" => errors.required(path, "valid values: \"OnFailure\", \"Never\""),
        "Never" => {}
        "OnFailure" if has_value(spec, "podFailurePolicy") => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.invalid(path, policy, detail);
        }
        "OnFailure" => {}
        _ => errors.unsupported(path, policy, &["OnFailure", "Never"]),
    }
}
