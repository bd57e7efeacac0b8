//! The responses of the API server and of JobSet's webhooks to the creation or update of a JobSet.
//!
//! This module is pure: it maps an object to the stored object or an error. Objects are JSON trees in the form of
//! the API server; the crate `sim_inputs` converts them to model types. It must not depend on files, line numbers or
//! virtual time.
//!
//! The order of the steps is the server's: the body is decoded (`decode`, `coerce`), the mutating webhook decodes it
//! into Go's types and sets defaults (`go`, `defaulting`), the CRD's schema and CEL rules are checked (`meta_check`,
//! `schema`, `cel`), and the validating webhook runs last (`webhook`). The field definitions are tables in `types`;
//! field errors are defined in `field`.

pub mod cel;
pub mod change;
pub mod coerce;
pub mod decode;
pub mod defaulting;
pub mod error_list;
pub mod errors;
pub mod field;
pub mod go;
pub mod go_text;
pub mod json_text;
pub mod meta;
pub mod meta_check;
pub mod names;
pub mod patch;
pub mod schema;
pub mod schema_unique;
pub mod size;
pub mod types;
pub mod webhook;

pub use change::{AdmissionChange, ChangeRequest, change};
pub use decode::API_VERSION;
pub use field::{FieldError, FieldErrorKind};
pub use go::GoDecodeError;
pub use json_text::JsonSyntaxError;
pub use meta::{GENERATED_SUFFIX, generated_name};
pub use patch::{JsonPatchError, apply, json_patch, merge_patch};

use serde_json::Value;
use std::fmt;

/// The feature gates of the JobSet manager that affect admission (`pkg/features/features.go`).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionGates {
    pub in_place_restart: bool,
    pub restart_job: bool,
    pub elastic_job_set: bool,
}

/// An error response of the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionRejection {
    /// HTTP status code.
    pub code: u16,
    /// Reason such as `Invalid` or `BadRequest`. Empty if the server sets none.
    pub reason: String,
    /// Complete error message.
    pub message: String,
    /// Field errors in the message. Empty if the message has no field errors.
    pub errors: Vec<FieldError>,
}

impl AdmissionRejection {
    /// Returns an error without field errors.
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> AdmissionRejection {
        AdmissionRejection { code, reason: reason.to_owned(), message: message.into(), errors: Vec::new() }
    }
}

impl fmt::Display for AdmissionRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AdmissionRejection {}

/// Handling of unknown and duplicate fields.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drops the fields without a message.
    Ignore,
    /// Reports each field as a warning (the server's default).
    #[default]
    Warn,
    /// Rejects the request with a 400 error (kubectl's default).
    Strict,
}

/// Complete response of the API server.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmissionAnswer {
    pub code: u16,
    /// The stored object, or the error.
    pub result: Result<Value, AdmissionRejection>,
    pub warnings: Vec<String>,
}

/// POST request for a JobSet.
pub struct CreateRequest<'a> {
    pub object: &'a Value,
    pub namespace: &'a str,
    pub gates: AdmissionGates,
    /// Existing PersistentVolumeClaims of the namespace (VAL-19, VAL-20).
    pub existing_claims: &'a [Value],
}

/// JobSet's webhooks as separate functions without the API server, as upstream's unit tests call them.
pub mod webhooks {
    use super::webhook::{create, update};
    use super::{AdmissionGates, AdmissionRejection, defaulting, errors};
    use serde_json::Value;

    /// Runs the mutating webhook.
    pub fn default(object: &Value) -> Result<Value, AdmissionRejection> {
        let mutated = defaulting::mutate(object);
        mutated.map_err(|e| errors::webhook_decode_error("mjobset.kb.io", &e))
    }

    /// Runs the validating webhook on create.
    pub fn validate_create(object: &Value, gates: AdmissionGates, claims: &[Value]) -> Result<(), AdmissionRejection> {
        deny_errors(object, create::errors(object, gates, claims))
    }

    /// Runs the validating webhook on update.
    pub fn validate_update(old: &Value, new: &Value, gates: AdmissionGates) -> Result<(), AdmissionRejection> {
        deny_errors(new, update::errors(old, new, gates))
    }

    fn deny_errors(
        object: &Value, result: Result<Vec<super::FieldError>, super::GoDecodeError>,
    ) -> Result<(), AdmissionRejection> {
        let result = result.map_err(|e| errors::webhook_decode_error("vjobset.kb.io", &e))?;
        let name = object["metadata"]["name"].as_str().unwrap_or("");
        if result.is_empty() { Ok(()) } else { Err(errors::denied(name, result)) }
    }
}

/// Creates a JobSet with the server's default field validation. Returns the stored object or the error.
pub fn create(request: &CreateRequest) -> Result<Value, AdmissionRejection> {
    post(request, FieldValidation::Warn, &[]).result
}

/// Processes a POST request and returns the complete response. `strict` contains problems found by the parser, such
/// as duplicate keys.
pub fn post(request: &CreateRequest, validation: FieldValidation, strict: &[String]) -> AdmissionAnswer {
    post_decoded(request, validation, (strict, None))
}

/// Processes a POST request whose body is the YAML `text`.
pub fn post_yaml(
    text: &str, request: &CreateRequest, validation: FieldValidation, strict: &[String],
) -> AdmissionAnswer {
    post_decoded(request, validation, (strict, Some(text)))
}

fn post_decoded(
    request: &CreateRequest, validation: FieldValidation, (strict, text): (&[String], Option<&str>),
) -> AdmissionAnswer {
    let mut warnings = Vec::new();
    let decoded = decode::decode_text((request.object, text), strict, validation, &mut warnings);
    let result = decoded.and_then(|object| check_object(request, object));
    if let Ok(stored) = &result {
        warnings.extend(meta_check::finalizer_warnings(&stored["metadata"], &Value::Null));
    }
    AdmissionAnswer { code: result.as_ref().map_or_else(|r| r.code, |_| 201), result, warnings }
}

/// Processes a POST request with a body of JSON text.
pub fn post_text(text: &str, request: &CreateRequest, validation: FieldValidation) -> AdmissionAnswer {
    match json_text::parse(text) {
        Ok((object, duplicates)) => {
            let request = CreateRequest { object: &object, ..*request };
            post(&request, validation, &duplicates)
        }
        Err(error) => {
            let why = format!("couldn't get version/kind; json parse error: {error}");
            rejection_answer(decode::unrecognized_body(&why, text))
        }
    }
}

/// Returns the response to a body that is not valid YAML.
pub fn unreadable_yaml(error: &str, text: &str) -> AdmissionAnswer {
    rejection_answer(decode::unrecognized_body(error, text))
}

fn rejection_answer(rejection: AdmissionRejection) -> AdmissionAnswer {
    AdmissionAnswer { code: rejection.code, result: Err(rejection), warnings: Vec::new() }
}

/// Returns all errors of a new JobSet, including those of checks that the server skips after earlier errors.
pub fn all_errors(request: &CreateRequest) -> Vec<FieldError> {
    let strict = FieldValidation::Strict;
    let decoded = decode::decode(request.object, &[], strict, &mut Vec::new());
    let object = match decoded.and_then(|object| complete_object(request, object)) {
        Ok(object) => object,
        Err(rejection) => return rejection.errors,
    };
    let mut problems = meta_check::create_errors(&object["metadata"]);
    problems.extend(schema::errors(&object, None));
    problems.extend(cel::errors(&object, None));
    let denied = webhook::create::errors(&object, request.gates, request.existing_claims);
    problems.extend(denied.unwrap_or_default());
    if problems.is_empty() {
        problems.extend(size::size_error(&object));
    }
    problems
}

/// Runs all steps after decoding.
fn check_object(request: &CreateRequest, object: Value) -> Result<Value, AdmissionRejection> {
    let object = complete_object(request, object)?;
    let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
    let mut problems = meta_check::create_errors(&object["metadata"]);
    problems.extend(schema::errors(&object, None));
    if schema::blocks_cel(&problems) {
        problems.push(schema::rules_not_checked());
    } else {
        problems.extend(cel::errors(&object, None));
    }
    if !problems.is_empty() {
        return Err(errors::invalid(&name, problems));
    }
    let denied = webhook::create::errors(&object, request.gates, request.existing_claims);
    let denied = denied.map_err(|e| errors::webhook_decode_error("vjobset.kb.io", &e))?;
    if !denied.is_empty() {
        return Err(errors::denied(&name, denied));
    }
    match size::size_error(&object) {
        None => Ok(object),
        Some(error) => Err(errors::too_large(error)),
    }
}

/// Returns the object with the additions of the server and the mutating webhook.
fn complete_object(request: &CreateRequest, mut object: Value) -> Result<Value, AdmissionRejection> {
    if !object["metadata"].is_object() {
        object["metadata"] = Value::Object(Default::default());
    }
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("");
    if !namespace.is_empty() && namespace != request.namespace {
        return Err(errors::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        meta::complete_metadata(metadata, request.namespace);
    }
    let mutated = defaulting::mutate(&object);
    let mut object = mutated.map_err(|e| errors::webhook_decode_error("mjobset.kb.io", &e))?;
    coerce::default(&mut object);
    if let Some(metadata) = object["metadata"].as_object_mut() {
        meta::generate_name(metadata);
    }
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    Ok(object)
}

/// Updates a stored JobSet. `new` is the body of a PUT request or the result of a patch.
pub fn update(old: &Value, new: &Value, gates: AdmissionGates) -> Result<Value, AdmissionRejection> {
    let mut new = new.clone();
    for (key, value) in [("apiVersion", API_VERSION), ("kind", "JobSet")] {
        if let Some(fields) = new.as_object_mut() {
            fields.entry(key).or_insert(value.into());
        }
    }
    let mut warnings = Vec::new();
    let new = decode::decode(&new, &[], FieldValidation::Ignore, &mut warnings)?;
    change::store(old, new, gates)
}
