//! Collects the field errors of one object, in the order of the checks.
//!
//! This module must not decide whether a value is valid.

use super::AdmissionRejection;
use super::errors::invalid_object;
use super::field::{FieldError, FieldErrorKind, FieldPath, format_value, go_quote};
use super::names::NameRule;
use serde_json::Value;

/// Collected errors of one object.
#[derive(Debug, Default)]
pub struct ErrorList {
    pub errors: Vec<FieldError>,
    /// Whether the server rejects privileged containers, as it does without `--allow-privileged`.
    pub refuse_privileged: bool,
}

impl ErrorList {
    /// Returns an empty list for a server that rejects privileged containers.
    pub fn unprivileged() -> ErrorList {
        ErrorList { refuse_privileged: true, ..ErrorList::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub fn append(&mut self, mut more: ErrorList) {
        self.errors.append(&mut more.errors);
    }

    fn add(&mut self, path: &FieldPath, kind: FieldErrorKind, value: Option<String>, detail: &str) -> &mut FieldError {
        let error = FieldError::new(path.as_str(), kind, detail);
        self.errors.push(FieldError { value, ..error });
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    pub fn required(&mut self, path: &FieldPath, detail: &str) {
        self.add(path, FieldErrorKind::Required, None, detail);
    }

    pub fn forbidden(&mut self, path: &FieldPath, detail: &str) {
        self.add(path, FieldErrorKind::Forbidden, None, detail);
    }

    pub fn invalid(&mut self, path: &FieldPath, value: &Value, detail: &str) {
        self.invalid_raw(path, &format_value(value), detail);
    }

    pub fn invalid_text(&mut self, path: &FieldPath, value: &str, detail: &str) {
        self.invalid_raw(path, &go_quote(value), detail);
    }

    /// Adds an error with a value that is already formatted like the server's output.
    pub fn invalid_raw(&mut self, path: &FieldPath, value: &str, detail: &str) {
        self.add(path, FieldErrorKind::Invalid, Some(value.to_owned()), detail);
    }

    /// Adds an error without a value, for checks where the server omits it.
    pub fn invalid_omitted(&mut self, path: &FieldPath, detail: &str) {
        self.add(path, FieldErrorKind::Invalid, None, detail);
    }

    pub fn unsupported(&mut self, path: &FieldPath, value: &Value, supported: &[&str]) {
        let names: Vec<String> = supported.iter().map(|s| go_quote(s)).collect();
        let detail = format!("supported values: {}", names.join(", "));
        let error = self.add(path, FieldErrorKind::NotSupported, Some(format_value(value)), &detail);
        error.legal = supported.iter().map(|s| (*s).to_owned()).collect();
    }

    pub fn duplicate(&mut self, path: &FieldPath, value: &Value) {
        self.add(path, FieldErrorKind::Duplicate, Some(format_value(value)), "");
    }

    /// Adds an error with a value that is already formatted like the server's output.
    pub fn duplicate_raw(&mut self, path: &FieldPath, value: &str, detail: &str) {
        self.add(path, FieldErrorKind::Duplicate, Some(value.to_owned()), detail);
    }

    pub fn not_found(&mut self, path: &FieldPath, value: &str) {
        self.not_found_with(path, value, "");
    }

    pub fn not_found_with(&mut self, path: &FieldPath, value: &str, detail: &str) {
        self.add(path, FieldErrorKind::NotFound, Some(go_quote(value)), detail);
    }

    pub fn too_long(&mut self, path: &FieldPath, most: usize) {
        let detail = format!("may not be more than {most} bytes");
        self.add(path, FieldErrorKind::TooLong, None, &detail);
    }

    pub fn too_many(&mut self, path: &FieldPath, found: usize, most: usize) {
        let items = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {items}");
        self.add(path, FieldErrorKind::TooMany, Some(found.to_string()), &detail);
    }

    /// Adds one `Invalid value` error for each message of a naming rule.
    pub fn all_invalid(&mut self, path: &FieldPath, value: &str, messages: Vec<String>) {
        for message in messages {
            self.invalid_text(path, value, &message);
        }
    }

    /// Adds errors whose reported path is the parent `path`, while `place` is the actual position.
    pub fn all_invalid_at(&mut self, path: &FieldPath, place: &FieldPath, value: &str, messages: Vec<String>) {
        for message in messages {
            let error = FieldError::invalid(path.as_str(), go_quote(value), message);
            self.errors.push(error.with_actual_path(place.as_str()));
        }
    }

    pub fn check_name_at(&mut self, path: &FieldPath, place: &FieldPath, value: &str, rule: NameRule) {
        self.all_invalid_at(path, place, value, rule(value));
    }

    pub fn check_name(&mut self, path: &FieldPath, value: &str, rule: NameRule) {
        self.all_invalid(path, value, rule(value));
    }

    /// Returns a 422 Invalid error if there are any field errors.
    pub fn into_rejection(self, kind: &str, name: &str) -> Result<(), AdmissionRejection> {
        if self.errors.is_empty() { Ok(()) } else { Err(invalid_object(kind, name, self.errors)) }
    }
}
