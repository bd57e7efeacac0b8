//! The API server's validation of single values that several objects share.

use crate::{admission::error_list::ErrorList, admission::field::FieldPath};
use serde_json::Value;

/// Checks a field that has a default and a few allowed values.
pub fn check_one_of(object: &Value, name: &str, legal: &[&str], path: &FieldPath, errors: &mut ErrorList) {
    let value = &object[name];
    match value.as_str().unwrap_or("") {
        "" => errors.required(&path.child(name), ""),
        found if !legal.contains(&found) => errors.unsupported(&path.child(name), value, legal),
        _ => {}
    }
}

pub fn port_number(value: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if !value.as_i64().is_some_and(|port| (1..=65535).contains(&port)) {
        errors.invalid(path, value, "must be between 1 and 65535, inclusive");
    }
}

/// Checks a path inside a volume.
pub fn check_subpath(text: &str, path: &FieldPath, errors: &mut ErrorList) {
    if text.starts_with('/') {
        errors.invalid_text(path, text, "must be a relative path");
    }
    check_no_backsteps(text, path, errors);
}

/// Checks that a path does not leave its directory.
pub fn check_no_backsteps(text: &str, path: &FieldPath, errors: &mut ErrorList) {
    if text.split('/').any(|part| part == "..") {
        errors.invalid_text(path, text, "must not contain '..'");
    }
}

pub fn not_negative(value: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if value.as_i64().is_some_and(|v| v < 0) {
        errors.invalid(path, value, "must be greater than or equal to 0");
    }
}

pub fn user_id(id: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if id.as_i64().is_some_and(|id| !(0..=i64::from(i32::MAX)).contains(&id)) {
        errors.invalid(path, id, "must be between 0 and 2147483647, inclusive");
    }
}
