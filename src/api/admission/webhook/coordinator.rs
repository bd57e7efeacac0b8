//! Validation of the coordinator in the validating webhook (VAL-9, VAL-10).
//!
//! This module is pure. It must not look up the coordinator's pod.

use super::object::{Webhook, number, text};
use crate::admission::field::{FieldError, quoted};
use crate::admission::names;
use crate::spec::keys::COORDINATOR;

const PATH: &str = "spec.coordinator";

pub fn errors(webhook: &Webhook, errors: &mut Vec<FieldError>) {
    let coordinator = &webhook.spec["coordinator"];
    if !coordinator.is_object() {
        return;
    }
    let name = text(coordinator, "replicatedJob");
    let (job_index, pod_index) = (
        number(coordinator, "jobIndex"),
        number(coordinator, "podIndex"),
    );
    errors.extend(wrong_index(webhook, name, job_index, pod_index));
    let subdomain = match text(&webhook.spec["network"], "subdomain") {
        "" => webhook.name,
        subdomain => subdomain,
    };
    let endpoint = format!(
        "{}-{name}-{job_index}-{pod_index}.{subdomain}",
        webhook.name
    );
    let bad = names::label_value(&endpoint);
    if !bad.is_empty() {
        let words = format!(
            "spec will lead to invalid label value {} for coordinator label {} (long JobSet / ReplicatedJob / SubDomain name?): {}",
            quoted(&endpoint),
            quoted(COORDINATOR),
            bad.join(", ")
        );
        errors.push(FieldError::internal(words).at(PATH));
    }
}

/// Returns the first error of the coordinator's replicatedJob, job index and pod index. Upstream reports only the
/// first.
fn wrong_index(
    webhook: &Webhook,
    name: &str,
    job_index: i64,
    pod_index: i64,
) -> Option<FieldError> {
    let wrong =
        |field: &str, words: String| FieldError::internal(words).at(format!("{PATH}.{field}"));
    let below = |count: i64| Some(format!("0 to {}", count - 1)).filter(|_| count > 0);
    let Some(rj) = webhook.job(name) else {
        let words = format!("coordinator replicatedJob {name} does not exist");
        return Some(wrong("replicatedJob", words).legal(webhook.job_names()));
    };
    let replicas = number(rj, "replicas");
    if !(0..replicas).contains(&job_index) {
        let words =
            format!("coordinator job index {job_index} is invalid for replicatedJob {name}");
        return Some(wrong("jobIndex", words).legal(below(replicas)));
    }
    let job = &rj["template"]["spec"];
    let completions = job["completions"].as_i64();
    let Some(completions) = completions.filter(|_| job["completionMode"] == "Indexed") else {
        let words = "job for coordinator pod must be indexed completion mode, and completions number must be set";
        return Some(wrong("replicatedJob", words.to_owned()));
    };
    (!(0..completions).contains(&pod_index)).then(|| {
        let words = format!(
            "coordinator pod index {pod_index} is invalid for replicatedJob {name} job index {job_index}"
        );
        wrong("podIndex", words).legal(below(completions))
    })
}
