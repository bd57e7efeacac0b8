//! Conversion of field errors to the messages of the API server and of webhooks.
//!
//! This module must not decide whether a value is valid.

use super::AdmissionRejection;
use super::field::{FieldError, go_quote};
use super::go::GoDecodeError;
use std::collections::BTreeSet;

/// Joins the error messages, in brackets if there are several. Duplicate messages are removed.
pub fn join_errors(errors: &[FieldError]) -> String {
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
    sentences.retain(|sentence| said.insert(sentence.clone()));
    match sentences.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// Returns the API server's 422 error for an object of a kind such as `Job.batch`.
pub fn invalid_object(kind: &str, name: &str, errors: Vec<FieldError>) -> AdmissionRejection {
    let message = format!("{kind} {} is invalid: {}", go_quote(name), join_errors(&errors));
    AdmissionRejection { code: 422, reason: "Invalid".to_owned(), message, errors }
}

/// Returns the API server's 422 error for a JobSet.
pub fn invalid(name: &str, errors: Vec<FieldError>) -> AdmissionRejection {
    invalid_object("JobSet.jobset.x-k8s.io", name, errors)
}

/// Returns the 422 error of the validating webhook.
pub fn denied(name: &str, errors: Vec<FieldError>) -> AdmissionRejection {
    let inner = invalid(name, errors);
    AdmissionRejection {
        message: format!("admission webhook \"vjobset.kb.io\" denied the request: {}", inner.message),
        ..inner
    }
}

/// Returns the 400 error of a webhook that cannot decode the object. It has no reason.
pub fn webhook_decode_error(webhook: &str, error: &GoDecodeError) -> AdmissionRejection {
    AdmissionRejection::new(400, "", format!("admission webhook {webhook:?} denied the request: {error}"))
}

/// Returns the API server's error if etcd rejects the object because of its size.
pub fn too_large(error: FieldError) -> AdmissionRejection {
    AdmissionRejection {
        errors: vec![error],
        ..AdmissionRejection::new(500, "InternalError", super::size::TOO_LARGE_MESSAGE)
    }
}

/// Returns a 400 error of the API server.
pub fn bad_request(message: impl Into<String>) -> AdmissionRejection {
    AdmissionRejection::new(400, "BadRequest", message)
}
