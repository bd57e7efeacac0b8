//! The validating webhook on create: VAL-1…VAL-8 and VAL-11…VAL-13, with upstream's messages in upstream's order.
//!
//! This module is pure and reads the object as decoded by Go. Policies, coordinator and volumes are in separate
//! files. It must not repeat checks of the schema.

use super::object::{ObjectWebhook, items, number_field, text_field};
use super::{coordinator, policies, volumes};
use crate::admission::field::{FieldError, FieldPath, go_quote};
use crate::admission::{AdmissionGates, go, meta_check, names};
use crate::{admission::error_list::ErrorList, admission::go::GoDecodeError};
use serde_json::Value;

const MAX: i64 = i32::MAX as i64;

/// Returns all errors of the webhook. `Err` is Go's decoding error.
pub fn errors(object: &Value, gates: AdmissionGates, claims: &[Value]) -> Result<Vec<FieldError>, GoDecodeError> {
    let read = go::round_trip_jobset(object)?;
    let webhook =
        ObjectWebhook { object, name: read["metadata"]["name"].as_str().unwrap_or(""), spec: &read["spec"], gates };
    let mut errors = webhook.run_checks();
    let namespace = read["metadata"]["namespace"].as_str().unwrap_or("");
    let volumes = volumes::PodVolumes { object, name: webhook.name, namespace, spec: webhook.spec, claims };
    errors.extend(volumes.errors());
    Ok(errors)
}

impl ObjectWebhook<'_> {
    fn run_checks(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let in_place = self.spec["failurePolicy"]["restartStrategy"] == "InPlaceRestart";
        if in_place && !self.gates.in_place_restart {
            let words = "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled";
            errors.push(FieldError::internal(words).with_actual_path("spec.failurePolicy.restartStrategy"));
        }
        if self.object["spec"]["replicatedJobs"][0]["dependsOn"].is_array() {
            let words = "DependsOn can't be set for the first ReplicatedJob";
            errors.push(FieldError::internal(words).with_actual_path("spec.replicatedJobs[0].dependsOn"));
        }
        self.subdomain(&mut errors);
        if let Some(manager) = self.spec["managedBy"].as_str() {
            let mut problems = ErrorList::default();
            meta_check::managed_by(manager, &FieldPath::new("spec.managedBy"), &mut problems);
            errors.append(&mut problems.errors);
        }
        for (i, rj) in self.jobs().iter().enumerate() {
            self.replicated_job(i, rj, &mut errors);
            self.depends_on(i, rj, &mut errors);
            if in_place && self.gates.in_place_restart {
                self.in_place(i, rj, &mut errors);
            }
        }
        policies::errors(self, &mut errors);
        coordinator::errors(self, &mut errors);
        errors
    }

    /// Checks VAL-21: a dependency is the replicatedJob itself or an earlier one.
    fn depends_on(&self, i: usize, rj: &Value, errors: &mut Vec<FieldError>) {
        for (k, item) in items(&rj["dependsOn"]).iter().enumerate() {
            let (own, other) = (text_field(rj, "name"), text_field(item, "name"));
            if self.job_names().take(i + 1).any(|name| name == other) {
                continue;
            }
            let words = format!("replicatedJob: {own} cannot depend on replicatedJob: {other}");
            let place = format!("spec.replicatedJobs[{i}].dependsOn[{k}].name");
            let mut error = FieldError::internal(words).with_actual_path(place);
            error = match self.job(other) {
                Some(_) => {
                    error.with_hint(format!("{other:?} comes later in the list; a dependency must come earlier"))
                }
                None => error.with_legal_values(self.job_names().take(i)),
            };
            errors.push(error);
        }
    }

    /// Checks the subdomain (VAL-3).
    fn subdomain(&self, errors: &mut Vec<FieldError>) {
        const PATH: &str = "spec.network.subdomain";
        let subdomain = text_field(&self.spec["network"], "subdomain");
        if subdomain.is_empty() {
            return;
        }
        for words in names::dns1123_subdomain(subdomain) {
            errors.push(FieldError::invalid(PATH, go_quote(subdomain), words));
        }
        let long = ".spec.network.subdomain is too long, must be less than 63 characters";
        label(PATH, subdomain, subdomain, long, errors);
    }

    /// Checks the size and the generated names of a replicatedJob (VAL-5…VAL-8).
    fn replicated_job(&self, i: usize, rj: &Value, errors: &mut Vec<FieldError>) {
        let (name, replicas) = (text_field(rj, "name"), number_field(rj, "replicas"));
        let job = &rj["template"]["spec"];
        let path = format!("spec.replicatedJobs[{i}]");
        if job["parallelism"].as_i64().unwrap_or(1) * replicas > MAX {
            let words =
                format!("the product of replicas and parallelism must not exceed {MAX} for replicatedJob '{name}'");
            errors.push(FieldError::internal(words).with_actual_path(format!("{path}.replicas")));
        }
        let group = text_field(rj, "groupName");
        let long = ".spec.replicatedJob[].groupName is too long, must be less than 63 characters";
        label(&format!("{path}.groupName"), group, group, long, errors);
        let path = format!("{path}.name");
        let longest = format!("{}-{name}-{}", self.name, replicas - 1);
        let exceeds = |what: &str| {
            format!("JobSet name is too long, {what} names generated for this JobSet will exceed 63 characters")
        };
        label(&path, &longest, &longest, &exceeds("job"), errors);
        if let Some(completions) = job["completions"].as_i64()
            && job["completionMode"] == "Indexed"
        {
            // Upstream computes the index with 32-bit integers.
            let last = (completions as i32).wrapping_sub(1);
            let pod = format!("{longest}-{last}-abcde");
            label(&path, &pod, &longest, &exceeds("pod"), errors);
        }
    }

    /// Checks the Job fields that in-place restart requires (VAL-11…VAL-13).
    fn in_place(&self, i: usize, rj: &Value, errors: &mut Vec<FieldError>) {
        let job = &rj["template"]["spec"];
        let mut wrong = |field: &str, is: bool, words: &str, legal: &str| {
            if is {
                let error = FieldError::invalid(
                    format!("spec.replicatedJobs[{i}].template.spec.{field}"),
                    go::go_json_untyped(&job[field]),
                    format!("replicatedJob {}: {words}", text_field(rj, "name")),
                );
                errors.push(error.with_legal_values(Some(legal).filter(|l| !l.is_empty())));
            }
        };
        let limit = "must be set to 2147483647 (MaxInt32) when in-place restart is enabled";
        wrong("backoffLimit", job["backoffLimit"] != MAX, limit, "2147483647");
        let policy = "must be set to Failed when in-place restart is enabled";
        wrong("podReplacementPolicy", job["podReplacementPolicy"] != "Failed", policy, "Failed");
        let equal = !job["completions"].is_null() && job["completions"] == job["parallelism"];
        let words = "completions and parallelism must be set and equal to each other when in-place restart is enabled";
        wrong("completions", !equal, words, "");
    }
}

/// Checks a DNS-1035 label. The error quotes `displayed`, and `long` replaces the message for names that are too long.
fn label(path: &str, checked: &str, displayed: &str, long: &str, errors: &mut Vec<FieldError>) {
    for words in names::dns1035_label(checked) {
        let words = if words == names::TOO_LONG { long } else { &words };
        errors.push(FieldError::invalid(path, go_quote(displayed), words));
    }
}
