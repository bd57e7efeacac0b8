//! Collects the field errors of one object, in the order of the checks.
//!
//! This module must not decide whether a value is valid.

use super::Rejection;
use super::errors::invalid_object;
use super::field::{FieldError, Kind, Path, quoted, shown};
use super::names::Rule;
use serde_json::Value;

/// Collected errors of one object.
#[derive(Debug, Default)]
pub struct Errors {
    pub found: Vec<FieldError>,
    /// Whether the server rejects privileged containers, as it does without `--allow-privileged`.
    pub refuse_privileged: bool,
}

impl Errors {
    /// Returns an empty list for a server that rejects privileged containers.
    pub fn unprivileged() -> Errors {
        Errors {
            refuse_privileged: true,
            ..Errors::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub fn append(&mut self, mut more: Errors) {
        self.found.append(&mut more.found);
    }

    fn add(
        &mut self,
        path: &Path,
        kind: Kind,
        value: Option<String>,
        detail: &str,
    ) -> &mut FieldError {
        let error = FieldError::new(path.as_str(), kind, detail);
        self.found.push(FieldError { value, ..error });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    pub fn required(&mut self, path: &Path, detail: &str) {
        self.add(path, Kind::Required, None, detail);
    }

    pub fn forbidden(&mut self, path: &Path, detail: &str) {
        self.add(path, Kind::Forbidden, None, detail);
    }

    pub fn invalid(&mut self, path: &Path, value: &Value, detail: &str) {
        self.invalid_raw(path, &shown(value), detail);
    }

    pub fn invalid_text(&mut self, path: &Path, value: &str, detail: &str) {
        self.invalid_raw(path, &quoted(value), detail);
    }

    /// Adds an error with a value that is already formatted like the server's output.
    pub fn invalid_raw(&mut self, path: &Path, value: &str, detail: &str) {
        self.add(path, Kind::Invalid, Some(value.to_owned()), detail);
    }

    /// Adds an error without a value, for checks where the server omits it.
    pub fn invalid_omitted(&mut self, path: &Path, detail: &str) {
        self.add(path, Kind::Invalid, None, detail);
    }

    pub fn unsupported(&mut self, path: &Path, value: &Value, supported: &[&str]) {
        let names: Vec<String> = supported.iter().map(|s| quoted(s)).collect();
        let detail = format!("supported values: {}", names.join(", "));
        let error = self.add(path, Kind::NotSupported, Some(shown(value)), &detail);
        error.legal = supported.iter().map(|s| (*s).to_owned()).collect();
    }

    pub fn duplicate(&mut self, path: &Path, value: &Value) {
        self.add(path, Kind::Duplicate, Some(shown(value)), "");
    }

    pub fn not_found(&mut self, path: &Path, value: &str) {
        self.not_found_with(path, value, "");
    }

    pub fn not_found_with(&mut self, path: &Path, value: &str, detail: &str) {
        self.add(path, Kind::NotFound, Some(quoted(value)), detail);
    }

    pub fn too_long(&mut self, path: &Path, most: usize) {
        let detail = format!("may not be more than {most} bytes");
        self.add(path, Kind::TooLong, None, &detail);
    }

    pub fn too_many(&mut self, path: &Path, found: usize, most: usize) {
        let detail = format!("must have at most {most} items");
        self.add(path, Kind::TooMany, Some(found.to_string()), &detail);
    }

    /// Adds one `Invalid value` error for each message of a naming rule.
    pub fn all_invalid(&mut self, path: &Path, value: &str, messages: Vec<String>) {
        for message in messages {
            self.invalid_text(path, value, &message);
        }
    }

    /// Adds errors whose reported path is the parent `path`, while `place` is the actual position.
    pub fn all_invalid_at(
        &mut self,
        path: &Path,
        place: &Path,
        value: &str,
        messages: Vec<String>,
    ) {
        for message in messages {
            let error = FieldError::invalid(path.as_str(), quoted(value), message);
            self.found.push(error.at(place.as_str()));
        }
    }

    pub fn named_at(&mut self, path: &Path, place: &Path, value: &str, rule: Rule) {
        self.all_invalid_at(path, place, value, rule(value));
    }

    pub fn named(&mut self, path: &Path, value: &str, rule: Rule) {
        self.all_invalid(path, value, rule(value));
    }

    /// Returns a 422 Invalid error if there are any field errors.
    pub fn into_rejection(self, kind: &str, name: &str) -> Result<(), Rejection> {
        match self.found.is_empty() {
            true => Ok(()),
            false => Err(invalid_object(kind, name, self.found)),
        }
    }
}
