//! Conversion of field errors to the messages of the API server and of webhooks.
//!
//! This module must not decide whether a value is valid.

use super::Rejection;
use super::field::{FieldError, quoted};
use std::collections::BTreeSet;

/// Joins the error messages, in brackets if there are several. Duplicate messages are removed.
fn aggregate(errors: &[FieldError]) -> String {
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
    sentences.retain(|sentence| said.insert(sentence.clone()));
    match sentences.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// Returns the API server's 422 error for an object of a kind such as `Job.batch`.
pub fn invalid_object(kind: &str, name: &str, errors: Vec<FieldError>) -> Rejection {
    let message = format!("{kind} {} is invalid: {}", quoted(name), aggregate(&errors));
    Rejection {
        code: 422,
        reason: "Invalid".to_owned(),
        message,
        errors,
    }
}

/// Returns the API server's 422 error for a JobSet.
pub fn invalid(name: &str, errors: Vec<FieldError>) -> Rejection {
    invalid_object("JobSet.jobset.x-k8s.io", name, errors)
}

/// Returns the 422 error of the validating webhook.
pub fn denied(name: &str, errors: Vec<FieldError>) -> Rejection {
    let inner = invalid(name, errors);
    Rejection {
        message: format!(
            "admission webhook \"vjobset.kb.io\" denied the request: {}",
            inner.message
        ),
        ..inner
    }
}

/// Returns the 400 error of a webhook that cannot decode the object. It has no reason.
pub fn unreadable(webhook: &str, error: &str) -> Rejection {
    Rejection::new(
        400,
        "",
        format!("admission webhook {webhook:?} denied the request: {error}"),
    )
}

/// Returns the API server's error if etcd rejects the object because of its size.
pub fn too_large(error: FieldError) -> Rejection {
    Rejection {
        errors: vec![error],
        ..Rejection::new(500, "InternalError", super::size::REFUSAL)
    }
}

/// Returns a 400 error of the API server.
pub fn bad_request(message: impl Into<String>) -> Rejection {
    Rejection::new(400, "BadRequest", message)
}
