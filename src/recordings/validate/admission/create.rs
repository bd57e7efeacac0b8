//! Runs cases of kind `create`: a POST, possibly with existing claims.
//!
//! The comparison is the task of `compare`.

use super::cases::recorded_responses;
use super::compare::difference;
use super::go_yaml::go_yaml_error;
use crate::{validate::result::RecordedDifference, validate::simulate::yaml};
use serde_json::Value;
use sim_api::admission;
use sim_api::admission::{
    AdmissionAnswer, AdmissionGates, AdmissionRejection, CreateRequest, FieldValidation, GENERATED_SUFFIX,
};
use std::fmt;

/// Namespace of the cases that do not specify one.
const NAMESPACE: &str = "adm";

/// Returns the differences between the recorded and the simulated responses of one case.
pub fn compare(case: &Value) -> Vec<RecordedDifference> {
    let id = case["id"].as_str().unwrap_or("");
    let request = &case["request"];
    let existing = request["existing"].as_array().map_or(&[][..], Vec::as_slice);
    let claims = bound_claims(existing);
    let answers = recorded_responses(case).into_iter();
    let result = answers.filter_map(|(name, gates, recorded)| {
        let mut answer = respond(request, gates, &claims);
        if let Some(missing) = missing_namespace(request, existing, &answer) {
            answer = rejection(404, "NotFound", missing);
        } else if let Some(taken) = name_conflict(existing, &answer) {
            answer = rejection(409, "AlreadyExists", taken);
        }
        difference(&format!("{id}, gates {name}"), recorded, &answer)
    });
    result.collect()
}

/// A value of the query parameter `fieldValidation` that the server does not support. The text is the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldValidationError {
    pub value: String,
}

impl fmt::Display for FieldValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = &self.value;
        write!(
            f,
            "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: {value:?}: supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""
        )
    }
}

impl std::error::Error for FieldValidationError {}

/// Returns the treatment of unknown fields that the query requests.
pub fn field_validation(query: &str) -> Result<FieldValidation, FieldValidationError> {
    let value = query.split('&').find_map(|part| part.strip_prefix("fieldValidation="));
    match value {
        Some("Strict") => Ok(FieldValidation::Strict),
        Some("Ignore") => Ok(FieldValidation::Ignore),
        Some("Warn" | "") | None => Ok(FieldValidation::Warn),
        Some(other) => Err(FieldValidationError { value: other.to_owned() }),
    }
}

fn rejection(code: u16, reason: &str, message: String) -> AdmissionAnswer {
    AdmissionAnswer { code, result: Err(AdmissionRejection::new(code, reason, message)), warnings: Vec::new() }
}

/// Namespaces of every cluster.
const SYSTEM_NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Returns the error message if the namespace of the request does not exist. The server checks it after decoding the
/// body and before it calls the webhooks.
fn missing_namespace(request: &Value, existing: &[Value], answer: &AdmissionAnswer) -> Option<String> {
    let name = request["namespace"].as_str().unwrap_or(NAMESPACE);
    let is_created = |o: &Value| o["kind"] == "Namespace" && o["metadata"]["name"] == name;
    let exists = name == NAMESPACE || SYSTEM_NAMESPACES.contains(&name) || existing.iter().any(is_created);
    let is_undecoded = |r: &AdmissionRejection| {
        let by_webhook = r.message.starts_with("admission webhook");
        (r.code == 400 && !by_webhook) || r.code == 415 || r.message.starts_with("CreateOptions")
    };
    let undecoded = answer.result.as_ref().err().is_some_and(is_undecoded);
    (!exists && !undecoded).then(|| format!("namespaces {name:?} not found"))
}

/// Returns the error message if an existing object has the same name.
fn name_conflict(existing: &[Value], answer: &AdmissionAnswer) -> Option<String> {
    let stored = answer.result.as_ref().ok()?;
    let namespace = |o: &Value| o["metadata"]["namespace"].as_str().unwrap_or(NAMESPACE).to_owned();
    let same = |o: &&Value| {
        let same_name = o["metadata"]["name"] == stored["metadata"]["name"];
        o["kind"] == "JobSet" && same_name && namespace(o) == namespace(stored)
    };
    let name = existing.iter().find(same)?["metadata"]["name"].as_str()?;
    Some(format!("jobsets.jobset.x-k8s.io {name:?} already exists"))
}

fn respond(request: &Value, gates: AdmissionGates, claims: &[Value]) -> AdmissionAnswer {
    let content_type = request["contentType"].as_str().unwrap_or("");
    let is_known = content_type.is_empty() || ["json", "yaml"].iter().any(|t| content_type.ends_with(t));
    if !is_known {
        let words = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml";
        return rejection(415, "UnsupportedMediaType", words.to_owned());
    }
    match field_validation(request["query"].as_str().unwrap_or("")) {
        Ok(validation) => post(request, gates, claims, validation),
        Err(error) => rejection(422, "Invalid", error.to_string()),
    }
}

fn post(request: &Value, gates: AdmissionGates, claims: &[Value], validation: FieldValidation) -> AdmissionAnswer {
    let post = CreateRequest {
        object: &unmask_name(&request["body"]),
        namespace: request["namespace"].as_str().unwrap_or(NAMESPACE),
        gates,
        existing_claims: claims,
    };
    let Value::String(text) = &request["body"] else {
        return admission::post(&post, validation, &[]);
    };
    let is_yaml = request["contentType"].as_str().is_some_and(|t| t.ends_with("yaml"));
    if !is_yaml {
        return admission::post_text(text, &post, validation);
    }
    match yaml(text) {
        Ok((object, problems)) => {
            let post = CreateRequest { object: &object, ..post };
            admission::post_yaml(text, &post, validation, &problems)
        }
        Err(error) => admission::unreadable_yaml(&go_yaml_error(&error), text),
    }
}

/// Replaces the mask in the body's name. The recorder also masked names in request bodies that look generated.
fn unmask_name(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(Value::String(name)) = body.pointer_mut("/metadata/name") {
        *name = name.replace("<rand>", GENERATED_SUFFIX);
    }
    body
}

/// Returns the existing claims, each bound to a matching volume, because the real claims are bound by then.
fn bound_claims(existing: &[Value]) -> Vec<Value> {
    let of = |kind: &'static str| existing.iter().filter(move |o| o["kind"] == kind);
    let class = |spec: &Value| spec["storageClassName"].as_str().unwrap_or("").to_owned();
    let mut free: Vec<&Value> = of("PersistentVolume").collect();
    let mut claims: Vec<Value> = of("PersistentVolumeClaim").cloned().collect();
    for claim in &mut claims {
        let wanted = claim["spec"]["volumeName"].as_str().map(str::to_owned);
        let fits = |pv: &&Value| match &wanted {
            Some(name) => pv["metadata"]["name"] == name.as_str(),
            None => {
                class(&pv["spec"]) == class(&claim["spec"]) && pv["spec"]["accessModes"] == claim["spec"]["accessModes"]
            }
        };
        if let Some(at) = free.iter().position(fits) {
            let volume = free.remove(at);
            claim["spec"]["volumeName"] = volume["metadata"]["name"].clone();
        }
    }
    claims
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/admission/create.rs"]
mod tests;
