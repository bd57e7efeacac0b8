//! From field errors to the sentences of the API server and of webhooks.
//!
//! Must never decide what is an error.

use super::Rejection;
use super::field::{FieldError, quoted};
use std::collections::BTreeSet;

/// One error as it is, several in brackets; equal sentences once.
fn aggregate(errors: &[FieldError]) -> String {
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
    sentences.retain(|sentence| said.insert(sentence.clone()));
    match sentences.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// The 422 of the API server for an object of a kind (`Job.batch`).
pub fn invalid_object(kind: &str, name: &str, errors: Vec<FieldError>) -> Rejection {
    let message = format!("{kind} {} is invalid: {}", quoted(name), aggregate(&errors));
    Rejection {
        code: 422,
        reason: "Invalid".to_owned(),
        message,
        errors,
    }
}

/// The same for a JobSet.
pub fn invalid(name: &str, errors: Vec<FieldError>) -> Rejection {
    invalid_object("JobSet.jobset.x-k8s.io", name, errors)
}

/// The 422 of the validating webhook.
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

/// The 400 of a webhook that could not read the object; it gives no reason.
pub fn unreadable(webhook: &str, error: &str) -> Rejection {
    Rejection::new(
        400,
        "",
        format!("admission webhook {webhook:?} denied the request: {error}"),
    )
}

/// What the API server makes of etcd's refusal.
pub fn too_large(error: FieldError) -> Rejection {
    Rejection {
        errors: vec![error],
        ..Rejection::new(500, "InternalError", super::size::REFUSAL)
    }
}

/// The API server's 400.
pub fn bad_request(message: impl Into<String>) -> Rejection {
    Rejection::new(400, "BadRequest", message)
}
