//! The API server's rules for the metadata of any object.
//!
//! Must never look into a spec.

use super::errors::{Errors, Path};
use super::names::{Rule, label_value, qualified_name};
use super::tree::{pairs, text};
use serde_json::Value;

const MOST_ANNOTATION_BYTES: usize = 256 * 1024;

/// Metadata of a namespaced object whose name follows `rule`.
pub fn object_meta(metadata: &Value, rule: Rule, errors: &mut Errors) {
    let path = Path::new("metadata");
    let (at, name) = (path.child("name"), text(metadata, "name"));
    if name.is_empty() {
        errors.required(&at, "name or generateName is required");
    } else {
        errors.all_invalid(&at, name, rule(name));
    }
    labels(&metadata["labels"], &path.child("labels"), errors);
    annotations(&metadata["annotations"], &path.child("annotations"), errors);
}

/// Labels of an object, a selector, or a node selector.
pub fn labels(labels: &Value, path: &Path, errors: &mut Errors) {
    for (key, value) in pairs(labels) {
        errors.all_invalid(path, key, qualified_name(key));
        let value = value.as_str().unwrap_or("");
        errors.all_invalid(path, value, label_value(value));
    }
}

/// Keys may have capitals in their prefix; values only have to be short enough together.
pub fn annotations(annotations: &Value, path: &Path, errors: &mut Errors) {
    let mut bytes = 0;
    for (key, value) in pairs(annotations) {
        errors.all_invalid(path, key, qualified_name(&key.to_lowercase()));
        bytes += key.len() + value.as_str().map_or(0, str::len);
    }
    if bytes > MOST_ANNOTATION_BYTES {
        errors.too_long(path, MOST_ANNOTATION_BYTES);
    }
}
