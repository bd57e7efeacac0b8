//! Runs cases of kind `update`: a stored JobSet, optionally a first change, then the tested change.
//!
//! The comparison is the task of `compare`.

use super::cases::recorded_responses;
use super::compare::difference;
use super::create::field_validation;
use crate::validate::result::RecordedDifference;
use serde_json::{Value, json};
use sim_api::admission;
use sim_api::admission::{
    AdmissionAnswer, AdmissionChange, AdmissionGates, AdmissionRejection, ChangeRequest, CreateRequest,
    FieldValidation, change,
};

const NAMESPACE: &str = "upd";

/// Versions of the stored object. No case names them by accident.
const FIRST_VERSION: &str = "700000000000000001";
const SECOND_VERSION: &str = "700000000000000002";

/// Returns the differences between the recorded and the simulated responses of one case.
pub fn compare(case: &Value) -> Vec<RecordedDifference> {
    let id = case["id"].as_str().unwrap_or("");
    let answers = recorded_responses(case).into_iter();
    let result = answers.filter_map(|(name, gates, recorded)| {
        let path = format!("{id}, gates {name}");
        match apply_change(case, gates) {
            Ok(answer) => difference(&path, recorded, &answer),
            Err(refused) => Some(RecordedDifference::new(path, "base accepted", refused.message)),
        }
    });
    result.collect()
}

/// Returns the response to the change, or `Err` if the JobSet could not be created.
fn apply_change(case: &Value, gates: AdmissionGates) -> Result<AdmissionAnswer, AdmissionRejection> {
    let base = &case["base"];
    let create = CreateRequest { object: base, namespace: NAMESPACE, gates, existing_claims: &[] };
    let mut stored = admission::create(&create)?;
    set_system_fields(&mut stored);
    if case["status"].is_object() {
        stored["status"] = case["status"].clone();
    }
    if case["first"].is_object() {
        let first = respond(base, &stored, &case["first"], gates);
        stored = first.result?;
        stored["metadata"]["resourceVersion"] = json!(SECOND_VERSION);
    }
    Ok(respond(base, &stored, case, gates))
}

/// Sets the fields that the server adds to a stored object.
fn set_system_fields(stored: &mut Value) {
    for (key, value) in [
        ("uid", json!("00000000-0000-0000-0000-000000000001")),
        ("resourceVersion", json!(FIRST_VERSION)),
        ("generation", json!(1)),
        ("creationTimestamp", json!("2026-01-01T00:00:00Z")),
    ] {
        stored["metadata"][key] = value;
    }
}

fn respond(base: &Value, stored: &Value, case: &Value, gates: AdmissionGates) -> AdmissionAnswer {
    let op = case["op"].as_str().unwrap_or("put");
    let body = body(base, stored, op, &case["change"]);
    let request = |change| ChangeRequest {
        stored,
        change,
        gates,
        field_validation: field_validation(case["query"].as_str().unwrap_or("")).unwrap_or(FieldValidation::Warn),
    };
    change(&request(match op {
        "merge" => AdmissionChange::Merge(&body),
        "json" => AdmissionChange::Json(&body),
        "strategic" => AdmissionChange::Strategic(&body),
        "status" => AdmissionChange::Status(&body),
        "apply" => AdmissionChange::Apply(&body),
        _ => AdmissionChange::Put(&body),
    }))
}

/// Returns the request body: a patch unchanged, or an object with the change applied.
fn body(base: &Value, stored: &Value, op: &str, change: &Value) -> Value {
    if !["put", "apply"].contains(&op) {
        return change.clone();
    }
    let mut body = match change {
        Value::String(_) if change == "original" => {
            let mut original = base.clone();
            if op == "put" {
                original["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
            }
            original
        }
        _ if op == "apply" => base.clone(),
        _ => stored.clone(),
    };
    if change == "swap"
        && let Some(jobs) = body["spec"]["replicatedJobs"].as_array_mut()
    {
        jobs.reverse();
    }
    for (path, value) in change["set"].as_object().into_iter().flatten() {
        set_at_path(&mut body, &path_parts(path), Some(value));
    }
    for path in change["unset"].as_array().into_iter().flatten() {
        set_at_path(&mut body, &path_parts(path.as_str().unwrap_or("")), None);
    }
    body
}

/// Splits a path into its parts. `rj0`, `job0`, `pod0` and `c0` are abbreviations for the paths of a replicatedJob,
/// its Job spec, its pod spec and its first container.
fn path_parts(path: &str) -> Vec<String> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let digits = first.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let word = &first[..first.len() - digits.len()];
    let start = match word {
        _ if digits.parse::<usize>().is_err() => first.to_owned(),
        "rj" => format!("spec.replicatedJobs.{digits}"),
        "job" => format!("spec.replicatedJobs.{digits}.template.spec"),
        "pod" => format!("spec.replicatedJobs.{digits}.template.spec.template.spec"),
        "c" => format!("spec.replicatedJobs.{digits}.template.spec.template.spec.containers.0"),
        _ => first.to_owned(),
    };
    let rest = rest.split('.').filter(|p| !p.is_empty());
    start.split('.').chain(rest).map(str::to_owned).collect()
}

/// Sets the value at a path, or removes it if `value` is `None`.
fn set_at_path(target: &mut Value, path: &[String], value: Option<&Value>) {
    let Some((key, rest)) = path.split_first() else {
        return;
    };
    if let (Value::Array(items), Ok(index)) = (&mut *target, key.parse::<usize>()) {
        match (items.get_mut(index), value) {
            (Some(item), _) if !rest.is_empty() => set_at_path(item, rest, value),
            (Some(item), Some(value)) => *item = value.clone(),
            (Some(_), None) => {
                items.remove(index);
            }
            (None, Some(value)) if rest.is_empty() => items.push(value.clone()),
            (None, _) => {}
        }
        return;
    }
    if target.is_null() {
        *target = json!({});
    }
    let Value::Object(fields) = target else {
        return;
    };
    match value {
        Some(value) if rest.is_empty() => {
            fields.insert(key.clone(), value.clone());
        }
        None if rest.is_empty() => {
            fields.remove(key);
        }
        Some(_) => set_at_path(fields.entry(key.clone()).or_insert(Value::Null), rest, value),
        None => {
            if let Some(inner) = fields.get_mut(key) {
                set_at_path(inner, rest, None);
            }
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/admission/update.rs"]
mod tests;
