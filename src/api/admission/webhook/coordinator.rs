//! Validation of the coordinator in the validating webhook (VAL-9, VAL-10).
//!
//! This module is pure. It must not look up the coordinator's pod.

use super::object::{ObjectWebhook, number_field, text_field};
use crate::admission::field::{FieldError, go_quote};
use crate::{admission::names, spec::keys::COORDINATOR};

const PATH: &str = "spec.coordinator";

pub fn errors(webhook: &ObjectWebhook, errors: &mut Vec<FieldError>) {
    let coordinator = &webhook.spec["coordinator"];
    if !coordinator.is_object() {
        return;
    }
    let name = text_field(coordinator, "replicatedJob");
    let (job_index, pod_index) = (number_field(coordinator, "jobIndex"), number_field(coordinator, "podIndex"));
    errors.extend(index_error(webhook, name, job_index, pod_index));
    let subdomain = match text_field(&webhook.spec["network"], "subdomain") {
        "" => webhook.name,
        subdomain => subdomain,
    };
    let endpoint = format!("{}-{name}-{job_index}-{pod_index}.{subdomain}", webhook.name);
    let bad = names::label_value(&endpoint);
    if !bad.is_empty() {
        let words = format!(
            "spec will lead to invalid label value {} for coordinator label {} (long JobSet / ReplicatedJob / SubDomain name?): {}",
            go_quote(&endpoint),
            go_quote(COORDINATOR),
            bad.join(", ")
        );
        errors.push(FieldError::internal(words).with_actual_path(PATH));
    }
}

/// Returns the first error of the coordinator's replicatedJob, job index and pod index. Upstream reports only the
/// first.
fn index_error(webhook: &ObjectWebhook, name: &str, job_index: i64, pod_index: i64) -> Option<FieldError> {
    let wrong = |field: &str, words: String| FieldError::internal(words).with_actual_path(format!("{PATH}.{field}"));
    let below = |count: i64| Some(format!("0 to {}", count - 1)).filter(|_| count > 0);
    let Some(rj) = webhook.job(name) else {
        let words = format!("coordinator replicatedJob {name} does not exist");
        return Some(wrong("replicatedJob", words).with_legal_values(webhook.job_names()));
    };
    let replicas = number_field(rj, "replicas");
    if !(0..replicas).contains(&job_index) {
        let words = format!("coordinator job index {job_index} is invalid for replicatedJob {name}");
        return Some(wrong("jobIndex", words).with_legal_values(below(replicas)));
    }
    let job = &rj["template"]["spec"];
    let completions = job["completions"].as_i64();
    let Some(completions) = completions.filter(|_| job["completionMode"] == "Indexed") else {
        let words = "job for coordinator pod must be indexed completion mode, and completions number must be set";
        return Some(wrong("replicatedJob", words.to_owned()));
    };
    (!(0..completions).contains(&pod_index)).then(|| {
        let words =
            format!("coordinator pod index {pod_index} is invalid for replicatedJob {name} job index {job_index}");
        wrong("podIndex", words).with_legal_values(below(completions))
    })
}
