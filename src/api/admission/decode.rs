//! Decoding of a request body by the API server. The result is an object or a 400 error.
//!
//! This module is pure. It must not read values outside `metadata`, except to drop fields that the schema does not
//! define.

use super::errors::bad_request;
use super::field::{FieldError, FieldErrorKind, go_quote};
use super::go::GoDecodeError;
use super::{AdmissionRejection, FieldValidation, coerce, go, meta};
use serde_json::Value;

pub const API_VERSION: &str = "jobset.x-k8s.io/v1alpha2";
const GROUP: &str = "jobset.x-k8s.io";
const KIND: &str = "JobSet";
/// Maximum number of bytes of the body in an error message.
const MAX_SHOWN: usize = 30;

/// Returns the object without unknown fields, with decoded metadata and the CRD's defaults. Appends to `warnings`.
///
/// `text` is the body as sent, if it was not JSON. Error messages quote it.
pub fn decode_text(
    (body, text): (&Value, Option<&str>), strict: &[String], validation: FieldValidation, warnings: &mut Vec<String>,
) -> Result<Value, AdmissionRejection> {
    let (kind, version) = kind_and_version(body, text)?;
    let (decoded, unknown) =
        coerce_and_default(body, &kind, &version).map_err(|e| cannot_handle(&kind, &version, &e.to_string()))?;
    let words = unknown.iter().map(|path| format!("unknown field {path:?}"));
    let problems: Vec<String> = strict.iter().cloned().chain(words).collect();
    match validation {
        FieldValidation::Strict if !problems.is_empty() => {
            let problems = format!("strict decoding error: {}", problems.join(", "));
            let unknown = unknown.iter();
            return Err(AdmissionRejection {
                errors: unknown.map(|path| FieldError::new(path, FieldErrorKind::Unknown, "")).collect(),
                ..cannot_handle(&kind, &version, &problems)
            });
        }
        FieldValidation::Warn => warnings.extend(problems.iter().flat_map(|p| warning_lines(p))),
        _ => {}
    }
    if version != API_VERSION {
        return Err(bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({API_VERSION})"
        )));
    }
    Ok(decoded)
}

/// Returns the same for a body of JSON.
pub fn decode(
    body: &Value, strict: &[String], validation: FieldValidation, warnings: &mut Vec<String>,
) -> Result<Value, AdmissionRejection> {
    decode_text((body, None), strict, validation, warnings)
}

fn cannot_handle(kind: &str, version: &str, why: &str) -> AdmissionRejection {
    let version = version.rsplit('/').next().unwrap_or("");
    bad_request(format!("{kind} in version {} cannot be handled as a {KIND}: {why}", go_quote(version)))
}

/// Returns the error for a body that is not an object.
pub fn unrecognized_body(why: &str, body: &str) -> AdmissionRejection {
    let displayed = summarize_data(body.as_bytes());
    bad_request(format!("the object provided is unrecognized (must be of type {KIND}): {why} ({displayed})"))
}

/// Returns the beginning of a body for an error message. Only JSON objects are shown as text, other data in
/// hexadecimal (apiserver, `summarizeData`).
fn summarize_data(data: &[u8]) -> String {
    let (displayed, more) = match data.split_at_checked(MAX_SHOWN) {
        _ if data.is_empty() => return "<empty>".to_owned(),
        Some((displayed, rest)) if !rest.is_empty() => (displayed, " ..."),
        _ => (data, ""),
    };
    if data[0] == b'{' {
        return String::from_utf8_lossy(displayed).into_owned() + more;
    }
    let digits: String = displayed.iter().map(|byte| format!("{byte:02x}")).collect();
    digits + more
}

/// First lines of an error about duplicate keys in YAML (apiserver, `parseYAMLWarnings`).
const YAML_ERROR_HEADS: [&str; 2] =
    ["yaml: unmarshal errors:\n", "error converting YAML to JSON: yaml: unmarshal errors:\n"];

/// Returns the warnings for a problem: one per line of an error about YAML.
fn warning_lines(problem: &str) -> Vec<String> {
    let body = YAML_ERROR_HEADS.iter().find_map(|head| problem.strip_prefix(head));
    match body {
        Some(lines) => lines.split('\n').map(|line| line.trim().to_owned()).collect(),
        None => vec![problem.to_owned()],
    }
}

/// Returns the kind and apiVersion. The kind must be present.
fn kind_and_version(body: &Value, text: Option<&str>) -> Result<(String, String), AdmissionRejection> {
    let sent = || text.map_or_else(|| body.to_string(), str::to_owned);
    let unreadable = |found: &str, ty: &str| {
        let why = format!("couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go {ty}");
        unrecognized_body(&why, &sent())
    };
    let found = |value: &Value| match value {
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => "string",
    };
    if !body.is_object() && !body.is_null() {
        let ty = "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";
        return Err(unreadable(found(body), ty));
    }
    let text = |key: &str| match &body[key] {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        other => {
            let ty = format!("struct field .{key} of type string");
            Err(unreadable(found(other), &ty))
        }
    };
    let (version, kind) = (text("apiVersion")?, text("kind")?);
    if kind.is_empty() {
        let why = format!("Object 'Kind' is missing in '{body}'");
        return Err(unrecognized_body(&why, &sent()));
    }
    Ok((kind, version))
}

/// Returns the object after the schema-based changes, and the paths of removed fields.
fn coerce_and_default(body: &Value, kind: &str, version: &str) -> Result<(Value, Vec<String>), GoDecodeError> {
    let mut object = body.clone();
    go::floats_to_integers(&mut object);
    let mut unknown = Vec::new();
    let metadata = match body.get("metadata") {
        Some(metadata) => {
            let read = meta::round_trip_metadata(metadata)?;
            unknown.extend(meta::unknown_metadata_fields(metadata));
            Some(read)
        }
        None => None,
    };
    let (group, schema) = version.split_once('/').unwrap_or(("", version));
    if schema.contains('/') {
        let version = version.to_owned();
        return Err(GoDecodeError::GroupVersion { version });
    }
    if group == GROUP && kind == KIND {
        unknown.extend(match version {
            API_VERSION => coerce::prune(&mut object),
            _ => coerce::prune_all(&mut object),
        });
    } else if version == API_VERSION {
        // The kind is not checked against JobSet here. The object is stored as a JobSet.
        coerce::prune(&mut object);
    }
    coerce::prune_nulls(&mut object);
    coerce::default(&mut object);
    object["kind"] = KIND.into();
    if let Some(metadata) = metadata {
        object["metadata"] = metadata;
    }
    Ok((object, unknown))
}
