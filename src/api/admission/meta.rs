//! Metadata: how the API server reads and completes it.
//!
//! Pure. Must never look at the spec.

use super::go;
use super::types::{Kind as TypeKind, Struct, Type, tables};
use serde_json::{Map, Value};

const OBJECT_META: &str = "v1.ObjectMeta";
/// What the server, not the user, decides.
const SYSTEM: [&str; 8] = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "generation",
    "managedFields",
    "resourceVersion",
];
/// Stands for the five random characters that the API server appends to `generateName`.
pub const GENERATED_SUFFIX: &str = "x7k2p";
/// The API server cuts the prefix to leave room for them.
const GENERATED_PREFIX_MAX: usize = 58;

/// The metadata as Go reads and writes it, or Go's error.
pub fn read(metadata: &Value) -> Result<Value, String> {
    go::read(OBJECT_META, metadata)
}

/// Fields that metadata does not have, with their paths.
pub fn unknown(metadata: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Value::Object(fields) = metadata {
        unknown_fields(tables().of(OBJECT_META), fields, "metadata", &mut found);
    }
    found
}

fn unknown_fields(
    table: &Struct,
    fields: &Map<String, Value>,
    path: &str,
    found: &mut Vec<String>,
) {
    for (key, value) in fields {
        let place = format!("{path}.{key}");
        match table.field(key) {
            Some(field) => unknown_in(&field.ty, value, &place, found),
            None => found.push(place),
        }
    }
}

fn unknown_in(ty: &Type, value: &Value, path: &str, found: &mut Vec<String>) {
    match (&ty.kind, value) {
        (TypeKind::Struct(name), Value::Object(fields)) => {
            unknown_fields(tables().of(name), fields, path, found);
        }
        (TypeKind::List(item), Value::Array(items)) => {
            for (i, value) in items.iter().enumerate() {
                unknown_in(item, value, &format!("{path}[{i}]"), found);
            }
        }
        _ => {}
    }
}

/// What a POST may not say is dropped, equal owners are one.
pub fn complete(metadata: &mut Map<String, Value>, namespace: &str) {
    for field in SYSTEM {
        metadata.remove(field);
    }
    dedup_owners(metadata);
    metadata.insert("namespace".to_owned(), namespace.into());
}

/// Equal owners count once.
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

/// The name that stands for a generated one.
pub fn generate_name(metadata: &mut Map<String, Value>) {
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or("");
    if text("name").is_empty() && !text("generateName").is_empty() {
        let name = generated(text("generateName"));
        metadata.insert("name".to_owned(), name.into());
    }
}

pub fn generated(prefix: &str) -> String {
    let mut end = prefix.len().min(GENERATED_PREFIX_MAX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{GENERATED_SUFFIX}", &prefix[..end])
}
