//! Validation of success and failure policies in the validating webhook (VAL-22…VAL-26).
//!
//! This module is pure; errors have upstream's order. It must not implement the policies.

use super::object::{ObjectWebhook, items, number_field, text_field};
use crate::admission::field::FieldError;
use serde_json::Value;

const REASONS: [&str; 5] =
    ["BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"];
const RESTART_JOB: [&str; 2] = ["RestartJob", "RestartJobAndIgnoreMaxRestarts"];
const RESTART_JOB_REPLICAS_MAX: i64 = 1024;
const RULE_NAME_MAX: usize = 128;
const RULES: &str = "spec.failurePolicy.rules";

pub fn errors(webhook: &ObjectWebhook, errors: &mut Vec<FieldError>) {
    let policy = &webhook.spec["successPolicy"];
    targets(webhook, policy, "spec.successPolicy", "", errors);
    failure_policy(webhook, errors);
}

/// Checks that the target replicatedJobs of a policy exist (VAL-22, VAL-26).
fn targets(webhook: &ObjectWebhook, policy: &Value, path: &str, context: &str, errors: &mut Vec<FieldError>) {
    for (k, target) in items(&policy["targetReplicatedJobs"]).iter().enumerate() {
        let target = target.as_str().unwrap_or("");
        if webhook.job(target).is_none() {
            let words =
                format!("invalid replicatedJob name '{target}'{context} does not appear in .spec.ReplicatedJobs");
            let error = FieldError::internal(words).with_legal_values(webhook.job_names());
            errors.push(error.with_actual_path(format!("{path}.targetReplicatedJobs[{k}]")));
        }
    }
}

/// Checks the failure policy (VAL-23…VAL-26).
fn failure_policy(webhook: &ObjectWebhook, errors: &mut Vec<FieldError>) {
    let rules = items(&webhook.spec["failurePolicy"]["rules"]);
    if let Some(i) = rules.iter().position(|r| RESTART_JOB.contains(&text_field(r, "action"))) {
        let place = format!("{RULES}[{i}].action");
        if !webhook.gates.restart_job {
            let words = "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is disabled";
            errors.push(FieldError::internal(words).with_actual_path(place));
            return;
        }
        let large = |j: &&Value| number_field(j, "replicas") > RESTART_JOB_REPLICAS_MAX;
        if let Some(job) = webhook.jobs().iter().find(large) {
            let words = format!(
                "JobSet cannot have a failure policy rule with RestartJob or RestartJobAndIgnoreMaxRestarts action and a replicated job with replicas > {RESTART_JOB_REPLICAS_MAX}"
            );
            let hint = format!("{:?} has {}", text_field(job, "name"), number_field(job, "replicas"));
            errors.push(FieldError::internal(words).with_actual_path(place).with_hint(hint));
        }
    }
    for (i, rule) in rules.iter().enumerate() {
        let path = format!("{RULES}[{i}]");
        rule_name(text_field(rule, "name"), &path, errors);
        targets(webhook, rule, &path, " in failure policy", errors);
        for (k, reason) in items(&rule["onJobFailureReasons"]).iter().enumerate() {
            let reason = reason.as_str().unwrap_or("");
            if !REASONS.contains(&reason) {
                let words = format!(
                    "invalid job failure reason '{reason}' in failure policy is not a recognized job failure reason"
                );
                let error = FieldError::internal(words).with_legal_values(REASONS);
                errors.push(error.with_actual_path(format!("{path}.onJobFailureReasons[{k}]")));
            }
        }
    }
    unique_names(rules, errors);
}

/// Checks the length and format of a rule name (VAL-25).
fn rule_name(name: &str, path: &str, errors: &mut Vec<FieldError>) {
    let place = format!("{path}.name");
    if name.is_empty() || name.len() > RULE_NAME_MAX {
        let words = format!(
            "invalid failure policy rule name of length {}, the rule name must be at least 1 characters long and at most {RULE_NAME_MAX} characters long",
            name.len()
        );
        errors.push(FieldError::internal(words).with_actual_path(&place));
    }
    let inner = |c: char| c.is_ascii_alphanumeric() || "_,:".contains(c);
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(inner);
    if !good {
        let words = format!(
            "invalid failure policy rule name '{name}', a failure policy rule name must start with an alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
        );
        errors.push(FieldError::internal(words).with_actual_path(place));
    }
}

/// Checks that rule names are unique. Upstream reports duplicates in the order of a Go map; here they have the order
/// of their first rules.
fn unique_names(rules: &[Value], errors: &mut Vec<FieldError>) {
    for (i, rule) in rules.iter().enumerate() {
        let name = text_field(rule, "name");
        let same: Vec<usize> = (0..rules.len()).filter(|k| text_field(&rules[*k], "name") == name).collect();
        if same.len() > 1 && same[0] == i {
            let indices: Vec<String> = same.iter().map(usize::to_string).collect();
            let words = format!(
                "rule names are not unique, rules with indices [{}] all have the same name '{name}'",
                indices.join(" ")
            );
            let place = format!("{RULES}[{}].name", same[1]);
            errors.push(FieldError::internal(words).with_actual_path(place));
        }
    }
}
