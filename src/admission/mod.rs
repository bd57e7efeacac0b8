//! What the API server and JobSet's webhooks answer to a JobSet that is created or updated.
//!
//! Pure: object in, stored object or refusal out. Objects are JSON trees as the API server holds them; what a field
//! means to the model is the business of `manifest`. Must never know of files, lines or virtual time.

mod cel;
mod errors;
mod go;
mod webhook_update;

use serde_json::Value;

/// JobSet's process-wide feature gates, as far as admission asks for them (jobset.md 1.8).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    pub in_place_restart: bool,
    pub restart_job: bool,
    pub elastic_job_set: bool,
}

/// What the server says no to, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// HTTP status.
    pub code: u16,
    /// `Invalid`, `BadRequest` …; empty where the server leaves it empty.
    pub reason: String,
    /// The whole sentence.
    pub message: String,
}

/// A POST of a JobSet.
pub struct Create<'a> {
    pub object: &'a Value,
    pub namespace: &'a str,
    pub gates: Gates,
    /// PersistentVolumeClaims of the namespace (VAL-19, VAL-20).
    pub existing_claims: &'a [Value],
}

/// The stored object, or the refusal.
pub fn create(request: &Create) -> Result<Value, Rejection> {
    Ok(request.object.clone())
}

/// A new version of a stored JobSet (PUT, or what a patch made of it).
pub fn update(old: &Value, new: &Value, gates: Gates) -> Result<Value, Rejection> {
    let name = new["metadata"]["name"].as_str().unwrap_or("");
    let immutable = cel::transitions(old, new);
    if !immutable.is_empty() {
        return Err(errors::invalid(name, &immutable));
    }
    let denied = webhook_update::errors(old, new, gates);
    if !denied.is_empty() {
        return Err(errors::denied(name, &denied));
    }
    let mut stored = new.clone();
    // The status is a subresource.
    match old.get("status") {
        Some(status) => stored["status"] = status.clone(),
        None => {
            stored.as_object_mut().map(|o| o.remove("status"));
        }
    }
    Ok(stored)
}

/// RFC 7386.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Default::default());
    }
    let object = target.as_object_mut().expect("made an object above");
    for (key, value) in fields {
        if value.is_null() {
            object.remove(key);
        } else {
            merge_patch(object.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}
