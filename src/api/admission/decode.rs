//! Decoding of a request body by the API server. The result is an object or a 400 error.
//!
//! This module is pure. It must not read values outside `metadata`, except to drop fields that the schema does not
//! define.

use super::errors::bad_request;
use super::field::{FieldError, Kind, quoted};
use super::{FieldValidation, Rejection, coerce, go, meta};
use serde_json::Value;

pub const API_VERSION: &str = "jobset.x-k8s.io/v1alpha2";
const GROUP: &str = "jobset.x-k8s.io";
const KIND: &str = "JobSet";
/// Maximum number of bytes of the body in an error message.
const SHOWN: usize = 30;

/// Returns the object without unknown fields, with decoded metadata and the CRD's defaults. Appends to `warnings`.
pub fn decode(
    body: &Value,
    strict: &[String],
    validation: FieldValidation,
    warnings: &mut Vec<String>,
) -> Result<Value, Rejection> {
    let (kind, version) = type_of(body)?;
    let (decoded, unknown) =
        coerced(body, &kind, &version).map_err(|e| cannot(&kind, &version, &e))?;
    let words = unknown.iter().map(|path| format!("unknown field {path:?}"));
    let problems: Vec<String> = strict.iter().cloned().chain(words).collect();
    match validation {
        FieldValidation::Strict if !problems.is_empty() => {
            let problems = format!("strict decoding error: {}", problems.join(", "));
            let unknown = unknown.iter();
            return Err(Rejection {
                errors: unknown
                    .map(|path| FieldError::new(path, Kind::Unknown, ""))
                    .collect(),
                ..cannot(&kind, &version, &problems)
            });
        }
        FieldValidation::Warn => warnings.extend(problems),
        _ => {}
    }
    if version != API_VERSION {
        return Err(bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({API_VERSION})"
        )));
    }
    Ok(decoded)
}

fn cannot(kind: &str, version: &str, why: &str) -> Rejection {
    let version = version.rsplit('/').next().unwrap_or("");
    bad_request(format!(
        "{kind} in version {} cannot be handled as a {KIND}: {why}",
        quoted(version)
    ))
}

/// Returns the error for a body that is not an object.
pub fn unrecognized(why: &str, body: &str) -> Rejection {
    let shown = match body.char_indices().nth(SHOWN) {
        None if body.is_empty() => "<empty>".to_owned(),
        Some((end, _)) => format!("{} ...", &body[..end]),
        None => body.to_owned(),
    };
    bad_request(format!(
        "the object provided is unrecognized (must be of type {KIND}): {why} ({shown})"
    ))
}

/// Returns the kind and apiVersion. The kind must be present.
fn type_of(body: &Value) -> Result<(String, String), Rejection> {
    let unreadable = |found: &str, ty: &str| {
        let why = format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go {ty}"
        );
        unrecognized(&why, &body.to_string())
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
        return Err(unrecognized(&why, &body.to_string()));
    }
    Ok((kind, version))
}

/// Returns the object after the schema-based changes, and the paths of removed fields.
fn coerced(body: &Value, kind: &str, version: &str) -> Result<(Value, Vec<String>), String> {
    let mut object = body.clone();
    go::whole_numbers(&mut object);
    let mut unknown = Vec::new();
    let metadata = match body.get("metadata") {
        Some(metadata) => {
            let read = meta::read(metadata)?;
            unknown.extend(meta::unknown(metadata));
            Some(read)
        }
        None => None,
    };
    let (group, schema) = version.split_once('/').unwrap_or(("", version));
    if schema.contains('/') {
        return Err(format!("unexpected GroupVersion string: {version}"));
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
