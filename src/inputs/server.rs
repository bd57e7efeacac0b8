//! Reports the errors that the API server and the webhooks find in a JobSet, at their positions in the manifest.
//!
//! This module must never contain rules; they are in `admission`.

use super::text::diagnostic::{DiagnosticReport, shortened};
use super::text::locate::locate;
use super::text::node::YamlNode;
use serde_json::Value;
use sim_api::admission;
use sim_api::admission::field::go_quote;
use sim_api::admission::names;
use sim_api::admission::{
    AdmissionGates, AdmissionRejection, CreateRequest, FieldError, FieldErrorKind, FieldValidation,
};

/// Values longer than this are omitted from messages.
const VALUE_MAX: usize = 80;
/// Maximum number of errors reported.
const ERRORS_MAX: usize = 200;

/// Builds the create request. All feature gates are on because a manifest does not specify a cluster.
fn request(object: &Value) -> CreateRequest<'_> {
    let namespace = object["metadata"]["namespace"].as_str();
    CreateRequest {
        object,
        namespace: namespace.filter(|n| !n.is_empty()).unwrap_or("default"),
        gates: AdmissionGates { in_place_restart: true, restart_job: true, elastic_job_set: true },
        existing_claims: &[],
    }
}

/// Returns the object as stored by the API server, or the refusal that kubectl would print.
pub fn stored(object: &Value) -> Result<Value, AdmissionRejection> {
    admission::post(&request(object), FieldValidation::Strict, &[]).result
}

/// Returns the object as stored by the API server, or reports the errors of the refusal.
///
/// If `report` already contains errors of this object, no errors are added. In both cases the first error,
/// `found[before]`, is annotated with the server's message.
pub fn stored_or_refused(
    node: &YamlNode, object: &Value, before: usize, report: &mut DiagnosticReport,
) -> Option<Value> {
    let rejection = match stored(object) {
        Ok(stored) => return Some(stored),
        Err(rejection) => rejection,
    };
    if report.found.len() == before {
        field_errors(node, &admission::all_errors(&request(object)), report);
    }
    if report.found.len() == before {
        report.error(node.at, "the API server would refuse this JobSet");
    }
    report.found[before].server = Some(shortened(rejection.message));
    None
}

/// Reports one error for each field error of the API server. Duplicates are omitted.
pub fn field_errors(node: &YamlNode, errors: &[FieldError], report: &mut DiagnosticReport) {
    let mut said: Vec<(u32, u32, String)> = Vec::new();
    for error in errors.iter().take(ERRORS_MAX) {
        let result = locate(node, error.object_path());
        let at = match &result {
            // If a map key is invalid, the error is positioned at the key, not at its value.
            Some(place) if place.is_complete && !is_key(error) => place.node.at,
            Some(place) => place.key,
            None => node.at,
        };
        let written = result.and_then(|place| place.node.as_str());
        let same = (at.line, at.column, message(error, written));
        if said.contains(&same) {
            continue;
        }
        let diagnostic = report.error(at, &same.2);
        if !error.legal.is_empty() {
            let known = error.legal.iter().map(String::as_str);
            diagnostic.nearest(written.unwrap_or(""), known);
            diagnostic.legal(error.legal.join(", "));
        }
        if let Some(hint) = &error.hint {
            diagnostic.suggest(hint);
        }
        said.push(same);
    }
}

/// Returns whether the invalid value is the last key of the field path.
fn is_key(error: &FieldError) -> bool {
    let Some(value) = error.value.as_deref() else {
        return false;
    };
    let key = value.trim_matches('"');
    value.len() > key.len() && error.object_path().ends_with(&format!("[{key}]"))
}

/// Returns a concise message for a field error; `written` is the text at its position.
fn message(error: &FieldError, written: Option<&str>) -> String {
    let path = match error.object_path() {
        "" => "the JobSet",
        place => place,
    };
    let detail = names::without_examples(&error.detail);
    let value = error.value.as_deref().unwrap_or("");
    let displayed = !value.is_empty() && value != "null" && value.len() <= VALUE_MAX;
    match error.kind {
        FieldErrorKind::Unknown => format!("unknown field {path:?}"),
        FieldErrorKind::Internal => detail.to_owned(),
        FieldErrorKind::Required if detail.is_empty() => format!("{path} is required"),
        FieldErrorKind::Required => format!("{path} is required: {detail}"),
        FieldErrorKind::NotSupported => format!("{path} is {value}, which is not a valid value"),
        FieldErrorKind::Duplicate => match written {
            Some(text) => format!("{path}: duplicate value {text:?}"),
            None => format!("{path}: duplicate value {value}"),
        },
        FieldErrorKind::Forbidden => format!("{path} is not allowed: {detail}"),
        _ if detail.is_empty() => format!("{path}: {value}"),
        _ if displayed && written.is_some_and(|text| go_quote(text) != value) => {
            format!("{path} results in {value}: {detail}")
        }
        _ if displayed => format!("{path} is {value}: {detail}"),
        _ => format!("{path}: {detail}"),
    }
}
