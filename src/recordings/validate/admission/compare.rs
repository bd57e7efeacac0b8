//! Decides whether two responses of the API server are equal: acceptance, code, stored object, and message depending
//! on its source.
//!
//! The responses are produced by other modules.

use crate::validate::result::RecordedDifference;
use regex::Regex;
use serde_json::{Map, Value};
use sim_api::admission::{AdmissionAnswer, GENERATED_SUFFIX};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Metadata fields that the recordings omit.
const NOT_RECORDED: [&str; 8] = [
    "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "deletionTimestamp",
    "deletionGracePeriodSeconds",
];
const UID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/// Returns the first difference. `path` contains the case and its feature gates.
pub fn difference(path: &str, recorded: &Value, answer: &AdmissionAnswer) -> Option<RecordedDifference> {
    let differ = |what: &str, recorded: Value, simulated: Value| {
        let differs = recorded != simulated;
        differs.then(|| RecordedDifference::new(format!("{path}: {what}"), recorded, simulated))
    };
    let message = answer.result.as_ref().err().map(|r| mask(&r.message));
    let accepted: Value = answer.result.is_ok().into();
    if recorded["accepted"] != accepted || recorded["code"] != answer.code {
        let said = |message: Option<&str>, code: String| match message {
            Some(message) => format!("{code}: {message}"),
            None => code,
        };
        return differ(
            "code",
            said(recorded["message"].as_str(), recorded["code"].to_string()).into(),
            said(message.as_deref(), answer.code.to_string()).into(),
        );
    }
    match (&answer.result, message) {
        _ if warnings(recorded) != answer.warnings => {
            differ("warnings", recorded["warnings"].clone(), answer.warnings.clone().into())
        }
        (Ok(object), _) => differ("object", without_times(&recorded["object"]), recorded_form(object)),
        (Err(_), Some(simulated)) => {
            let recorded = recorded["message"].as_str().unwrap_or("");
            let equal = is_same_message(recorded, &simulated);
            (!equal).then(|| RecordedDifference::new(format!("{path}: message"), recorded, simulated))
        }
        (Err(_), None) => None,
    }
}

/// Returns the HTTP warning texts. Recordings without warnings omit the field.
fn warnings(recorded: &Value) -> Vec<&str> {
    let list = recorded["warnings"].as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

/// Returns an object in its form in the recordings.
fn recorded_form(object: &Value) -> Value {
    let mut out = Map::new();
    for key in ["metadata", "spec", "status"] {
        if let Some(value) = object.get(key) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    let mut out = without_times(&Value::Object(out));
    let metadata = out.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        metadata.retain(|key, _| !NOT_RECORDED.contains(&key.as_str()));
        if let Some(Value::String(name)) = metadata.get_mut("name") {
            *name = mask(name);
        }
    }
    out
}

/// Drops times and masks uids, which differ between runs.
fn without_times(object: &Value) -> Value {
    match object {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| *key != "lastTransitionTime");
            let kept = kept.map(|(key, value)| match (key.as_str(), value) {
                ("uid", Value::String(_)) => (key.clone(), "<uid>".into()),
                _ => (key.clone(), without_times(value)),
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => items.iter().map(without_times).collect(),
        other => other.clone(),
    }
}

/// Replaces generated suffixes by `<rand>` and uids by `<uid>`.
fn mask(text: &str) -> String {
    static UIDS: OnceLock<Option<Regex>> = OnceLock::new();
    let text = text.replace(GENERATED_SUFFIX, "<rand>");
    match UIDS.get_or_init(|| Regex::new(UID).ok()) {
        Some(uids) => uids.replace_all(&text, "<uid>").into_owned(),
        None => text,
    }
}

/// Compares two messages. The component that produced the message determines how exactly they must match.
fn is_same_message(recorded: &str, simulated: &str) -> bool {
    if recorded == simulated {
        return true;
    }
    let webhook = recorded.starts_with("admission webhook \"vjobset.kb.io\"");
    if webhook && recorded.contains(" is invalid: ") {
        // Errors about duplicate rule names are in the order of a Go map, which is random.
        let sorted = |message: &str| {
            let body = message.strip_suffix(']').unwrap_or(message);
            let mut parts: Vec<&str> = body.split(", <nil>: ").collect();
            parts.sort_unstable();
            parts.join(", <nil>: ")
        };
        return recorded.matches("rule names are not unique").count() > 1
            && sorted(&without_error_count(recorded)) == sorted(&without_error_count(simulated));
    }
    if recorded.contains(" is invalid: ") {
        return errors(recorded) == errors(simulated);
    }
    field(recorded) == field(simulated)
}

/// Removes the bracket before the first of several errors, so that all have the same form.
fn without_error_count(message: &str) -> String {
    message.replacen("is invalid: [<nil>: ", "is invalid: , <nil>: ", 1)
}

/// Returns field path and type of each error.
fn errors(message: &str) -> BTreeSet<(String, String)> {
    static ERROR: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r"(?:^\[?|, )(<nil>|[A-Za-z][^\s:,]*): (Required value|Invalid value|Unsupported value|Duplicate value|Too long|Too many|Forbidden|Internal error|Not found)";
    let body = message.split_once(" is invalid: ").map_or("", |(_, body)| body);
    let regex = ERROR.get_or_init(|| Regex::new(pattern).ok());
    let all = regex.iter().flat_map(|r| r.captures_iter(body));
    all.map(|c| (c[1].to_owned(), c[2].to_owned())).collect()
}

/// Returns the field that a 400 response names, or the complete message if it names none.
fn field(message: &str) -> String {
    static FIELD: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r#"Go struct field \S*?\.(\S+) of type|(?:unknown|duplicate) field "([^"]*)"|Object '(\w+)' is missing|(json parse error)|(the namespace|the API version|the name of)|(quantities must match)"#;
    let regex = FIELD.get_or_init(|| Regex::new(pattern).ok());
    let result = regex.as_ref().and_then(|r| r.captures(message));
    let result = result.and_then(|c| c.iter().skip(1).flatten().next().map(|m| m.as_str().to_owned()));
    result.unwrap_or_else(|| message.to_owned())
}
