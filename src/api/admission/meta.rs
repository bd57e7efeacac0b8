//! Decoding and completion of metadata by the API server.
//!
//! This module is pure. It must not read the spec.

use super::go::{self, GoDecodeError};
use super::types::{FieldKind as TypeKind, SchemaType, StructType, tables};
use serde_json::{Map, Value};

const OBJECT_META: &str = "v1.ObjectMeta";
/// Fields that the server sets and a user cannot.
const SERVER_SET_FIELDS: [&str; 8] = [
    "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation",
    "managedFields", "resourceVersion",
];
/// Placeholder for the five random characters that the API server appends to `generateName`.
pub const GENERATED_SUFFIX: &str = "x7k2p";
/// Maximum length of the prefix, to which the API server truncates it so that the suffix fits.
const GENERATED_PREFIX_MAX: usize = 58;

/// Returns the metadata after decoding and serialization by Go, or Go's error.
pub fn round_trip_metadata(metadata: &Value) -> Result<Value, GoDecodeError> {
    go::round_trip(OBJECT_META, metadata)
}

/// Returns the paths of unknown metadata fields.
pub fn unknown_metadata_fields(metadata: &Value) -> Vec<String> {
    let mut result = Vec::new();
    if let Value::Object(fields) = metadata {
        unknown_fields(tables().struct_named(OBJECT_META), fields, "metadata", &mut result);
    }
    result
}

fn unknown_fields(table: &StructType, fields: &Map<String, Value>, path: &str, result: &mut Vec<String>) {
    for (key, value) in fields {
        let place = format!("{path}.{key}");
        match table.field(key) {
            Some(field) => unknown_fields_in_value(&field.ty, value, &place, result),
            None => result.push(place),
        }
    }
}

fn unknown_fields_in_value(ty: &SchemaType, value: &Value, path: &str, result: &mut Vec<String>) {
    match (&ty.kind, value) {
        (TypeKind::Struct(name), Value::Object(fields)) => {
            unknown_fields(tables().struct_named(name), fields, path, result);
        }
        (TypeKind::List(item), Value::Array(items)) => {
            for (i, value) in items.iter().enumerate() {
                unknown_fields_in_value(item, value, &format!("{path}[{i}]"), result);
            }
        }
        _ => {}
    }
}

/// Completes the metadata of a POST: removes fields that only the server sets, removes duplicate owners and sets the
/// namespace.
pub fn complete_metadata(metadata: &mut Map<String, Value>, namespace: &str) {
    for field in SERVER_SET_FIELDS {
        metadata.remove(field);
    }
    dedup_owners(metadata);
    metadata.insert("namespace".to_owned(), namespace.into());
}

/// Removes duplicate owner references.
pub fn dedup_owners(metadata: &mut Map<String, Value>) {
    if let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") {
        let mut kept: Vec<Value> = Vec::new();
        for owner in owners.drain(..) {
            if !kept.contains(&owner) {
                kept.push(owner);
            }
        }
        *owners = kept;
    }
}

/// Sets the name from `generateName`, with a fixed suffix.
pub fn generate_name(metadata: &mut Map<String, Value>) {
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or("");
    if text("name").is_empty() && !text("generateName").is_empty() {
        let name = generated_name(text("generateName"));
        metadata.insert("name".to_owned(), name.into());
    }
}

pub fn generated_name(prefix: &str) -> String {
    let mut end = prefix.len().min(GENERATED_PREFIX_MAX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{GENERATED_SUFFIX}", &prefix[..end])
}
