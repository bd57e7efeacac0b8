//! Changes of a stored JobSet: PUT, patches of every kind, and the status subresource.
//!
//! This module is pure: it maps the old object and the change to the new object or an error. The caller handles
//! concurrency, except that a resourceVersion must match the stored one.

use super::decode::{API_VERSION, decode};
use super::errors::{self, bad_request};
use super::field::{FieldError, go_quote};
use super::webhook::update;
use super::{
    AdmissionAnswer, AdmissionGates, AdmissionRejection, FieldValidation, cel, meta, meta_check, patch, schema,
};
use serde_json::Value;

/// Kind and body of a change request.
#[derive(Copy, Clone, Debug)]
pub enum AdmissionChange<'a> {
    Put(&'a Value),
    Merge(&'a Value),
    Json(&'a Value),
    /// Strategic merge patch, which the API server does not support for custom resources.
    Strategic(&'a Value),
    /// Server-side apply with force.
    Apply(&'a Value),
    /// Merge patch of the status subresource.
    Status(&'a Value),
}

/// Request to change a stored JobSet.
#[derive(Copy, Clone, Debug)]
pub struct ChangeRequest<'a> {
    pub stored: &'a Value,
    pub change: AdmissionChange<'a>,
    pub gates: AdmissionGates,
    pub field_validation: FieldValidation,
}

pub fn change(request: &ChangeRequest) -> AdmissionAnswer {
    let mut warnings = Vec::new();
    let result = apply_change(request, &mut warnings);
    AdmissionAnswer { code: result.as_ref().map_or_else(|r| r.code, |_| 200), result, warnings }
}

fn apply_change(request: &ChangeRequest, warnings: &mut Vec<String>) -> Result<Value, AdmissionRejection> {
    let stored = request.stored;
    let new = match request.change {
        AdmissionChange::Put(body) => apply_put(request, body, warnings)?,
        AdmissionChange::Merge(body) => {
            let new = apply_merge_patch(stored, body)?;
            decode_patched(request, &new, warnings)?
        }
        AdmissionChange::Json(body) => {
            let new = apply_json_patch(stored, body)?;
            decode_patched(request, &new, warnings)?
        }
        AdmissionChange::Apply(body) => apply_server_side(stored, body)?,
        AdmissionChange::Strategic(_) => return Err(unsupported_media_type()),
        AdmissionChange::Status(body) => {
            let new = apply_merge_patch(stored, body)?;
            let new = decode_patched(request, &new, warnings)?;
            return apply_status(stored, &new);
        }
    };
    let new = store(stored, new, request.gates)?;
    warnings.extend(meta_check::finalizer_warnings(&new["metadata"], &stored["metadata"]));
    Ok(new)
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or("")
}

fn apply_put(request: &ChangeRequest, body: &Value, warnings: &mut Vec<String>) -> Result<Value, AdmissionRejection> {
    let mut new = decode(body, &[], request.field_validation, warnings)?;
    check_namespace(request.stored, &mut new)?;
    let (wanted, found) = (name(request.stored), name(&new));
    if wanted != found {
        let why = match found {
            "" => format!("the name of the object ({wanted} based on URL) was undeterminable: name must be provided"),
            found => format!("the name of the object ({found}) does not match the name on the URL ({wanted})"),
        };
        return Err(bad_request(why));
    }
    let text = |object: &Value, key: &str| object["metadata"][key].as_str().unwrap_or("").to_owned();
    let (uid, stored) = (text(&new, "uid"), text(request.stored, "uid"));
    if !uid.is_empty() && uid != stored {
        let namespace = request.stored["metadata"]["namespace"].as_str().unwrap_or("");
        return Err(conflict(
            wanted,
            &format!(
                "StorageError: invalid object, Code: 4, Key: /registry/jobset.x-k8s.io/jobsets/{namespace}/{wanted}, \
                 ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in \
                 object meta: {stored}"
            ),
        ));
    }
    Ok(new)
}

fn conflict(name: &str, why: &str) -> AdmissionRejection {
    let name = go_quote(name);
    AdmissionRejection::new(
        409,
        "Conflict",
        format!("Operation cannot be fulfilled on jobsets.jobset.x-k8s.io {name}: {why}"),
    )
}

fn unsupported_media_type() -> AdmissionRejection {
    AdmissionRejection::new(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
}

fn check_namespace(stored: &Value, new: &mut Value) -> Result<(), AdmissionRejection> {
    let wanted = stored["metadata"]["namespace"].as_str().unwrap_or("");
    match new["metadata"]["namespace"].as_str().unwrap_or("") {
        "" if wanted.is_empty() => {}
        "" => new["metadata"]["namespace"] = wanted.into(),
        found if found == wanted => {}
        _ => {
            return Err(bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    }
    Ok(())
}

fn apply_merge_patch(stored: &Value, body: &Value) -> Result<Value, AdmissionRejection> {
    if !body.is_object() {
        let result = if body.is_array() { "array" } else { "string" };
        return Err(bad_request(format!(
            "error decoding patch: json: cannot unmarshal {result} into Go value of type map[string]interface {{}}"
        )));
    }
    let mut new = stored.clone();
    patch::merge_patch(&mut new, body);
    Ok(new)
}

fn apply_json_patch(stored: &Value, body: &Value) -> Result<Value, AdmissionRejection> {
    let Some(operations) = body.as_array() else {
        return Err(bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ));
    };
    let mut new = stored.clone();
    // The API server does not return the reason.
    patch::json_patch(&mut new, operations).map_err(|_| {
        AdmissionRejection::new(422, "Invalid", "the server rejected our request due to an error in our request")
    })?;
    Ok(new)
}

/// Decodes the patched object. A decoding error is reported as an error of the patch.
fn decode_patched(
    request: &ChangeRequest, new: &Value, warnings: &mut Vec<String>,
) -> Result<Value, AdmissionRejection> {
    let decoded = decode(new, &[], request.field_validation, warnings);
    let mut decoded = decoded.map_err(|refused| {
        let why = refused.message;
        let marks = ["cannot be handled as a JobSet: ", "(must be of type JobSet): "];
        let why = marks.iter().find_map(|m| Some(why.split_once(m)?.1)).unwrap_or(&why);
        let error = FieldError::invalid("patch", go_quote(&new.to_string()), why);
        AdmissionRejection::new(422, "Invalid", format!(" \"\" is invalid: {error}"))
    })?;
    check_namespace(request.stored, &mut decoded)?;
    Ok(decoded)
}

/// Implements server-side apply. An object that does not fit the schema causes an internal server error.
fn apply_server_side(stored: &Value, body: &Value) -> Result<Value, AdmissionRejection> {
    let mut applied = body.clone();
    let unknown = super::coerce::prune(&mut applied);
    let unknown = unknown.first().map(|u| format!(".{u}: field not declared in schema"));
    if let Some(why) = unknown.or_else(|| schema::first_apply_error(&applied)) {
        let place = format!(
            "{}/{}; {API_VERSION}, Kind=JobSet",
            stored["metadata"]["namespace"].as_str().unwrap_or(""),
            name(stored)
        );
        return Err(AdmissionRejection::new(500, "", format!("failed to create typed patch object ({place}): {why}")));
    }
    if let Some(fields) = applied.as_object_mut() {
        fields.remove("status");
    }
    let mut new = stored.clone();
    patch::apply(&mut new, &applied);
    super::coerce::prune_nulls(&mut new);
    super::coerce::default(&mut new);
    Ok(new)
}

/// Runs the checks that apply to every change of the main resource (UPD-1…UPD-7, CEL).
pub fn store(old: &Value, mut new: Value, gates: AdmissionGates) -> Result<Value, AdmissionRejection> {
    let before = &old["metadata"];
    check_resource_version(before, &new["metadata"])?;
    keep_system_fields(before, &mut new["metadata"]);
    // The status is changed only through its subresource.
    if let Some(fields) = new.as_object_mut() {
        match old.get("status") {
            Some(status) => fields.insert("status".to_owned(), status.clone()),
            None => fields.remove("status"),
        };
    }
    let name = name(&new).to_owned();
    let mut problems = meta_check::update_errors(before, &new["metadata"]);
    problems.extend(schema::errors(&new, Some(old)));
    if schema::blocks_cel(&problems) {
        problems.push(schema::rules_not_checked());
    } else {
        problems.extend(cel::errors(&new, Some(old)));
    }
    if !problems.is_empty() {
        return Err(errors::invalid(&name, problems));
    }
    let denied = update::errors(old, &new, gates).map_err(|e| errors::webhook_decode_error("vjobset.kb.io", &e))?;
    if !denied.is_empty() {
        return Err(errors::denied(&name, denied));
    }
    Ok(new)
}

/// Checks that the resourceVersion of the change matches the stored object.
fn check_resource_version(before: &Value, metadata: &Value) -> Result<(), AdmissionRejection> {
    let text = |metadata: &Value, key: &str| metadata[key].as_str().unwrap_or("").to_owned();
    let (stored, given) = (text(before, "resourceVersion"), text(metadata, "resourceVersion"));
    let name = text(before, "name");
    if stored.is_empty() || stored == given {
        return Ok(());
    }
    if given.is_empty() || given == "0" {
        let words = "must be specified for an update";
        let error = FieldError::invalid("metadata.resourceVersion", "0", words);
        let name = go_quote(&name);
        return Err(AdmissionRejection::new(
            422,
            "Invalid",
            format!("jobsets.jobset.x-k8s.io {name} is invalid: {error}"),
        ));
    }
    let why = "the object has been modified; please apply your changes to the latest version and try again";
    Err(conflict(&name, why))
}

/// Restores fields that only the server may change.
fn keep_system_fields(before: &Value, metadata: &mut Value) {
    let Some(fields) = metadata.as_object_mut() else {
        return;
    };
    meta::dedup_owners(fields);
    for key in ["generation", "creationTimestamp", "managedFields"] {
        match before.get(key) {
            Some(value) => fields.insert(key.to_owned(), value.clone()),
            None => fields.remove(key),
        };
    }
    for key in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        if let Some(value) = before.get(key) {
            fields.entry(key).or_insert(value.clone());
        }
    }
}

/// Changes only the status. No webhook is called for the status subresource.
fn apply_status(stored: &Value, new: &Value) -> Result<Value, AdmissionRejection> {
    let mut result = stored.clone();
    if let Some(fields) = result.as_object_mut() {
        match new.get("status") {
            Some(status) => fields.insert("status".to_owned(), status.clone()),
            None => fields.remove("status"),
        };
    }
    let mut results = Vec::new();
    if let Some(status) = new.get("status") {
        results.extend(schema::status_errors(status, stored.get("status")));
    }
    if schema::blocks_cel(&results) {
        results.push(schema::rules_not_checked());
    }
    if results.is_empty() { Ok(result) } else { Err(errors::invalid(name(stored), results)) }
}
