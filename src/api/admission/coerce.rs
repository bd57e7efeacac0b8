//! Schema-based changes that the API server makes before validation: it removes unknown fields and nulls and sets
//! defaults.
//!
//! This module must not return errors. Validation reports values of the wrong type.

use super::types::{FieldKind, JOBSET, SchemaType, StructType, tables};
use serde_json::{Map, Value};

/// Fields of the root object that the schema does not describe.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

fn root_type() -> SchemaType {
    SchemaType { name: JOBSET, kind: FieldKind::Struct(JOBSET) }
}

/// Removes fields that the schema does not define. Returns their paths, sorted like the server's list.
pub fn prune(object: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    prune_value(Some(&root_type()), object, "", &mut unknown);
    unknown.sort();
    unknown
}

/// Removes the fields of a struct that its schema does not define. Returns their paths, sorted.
pub fn prune_struct(name: &'static str, value: &mut Value, path: &str) -> Vec<String> {
    let mut unknown = Vec::new();
    prune_value(Some(&SchemaType { name, kind: FieldKind::Struct(name) }), value, path, &mut unknown);
    unknown.sort();
    unknown
}

/// Removes all fields outside the metadata, for an object of a version without a schema.
pub fn prune_all(object: &mut Value) -> Vec<String> {
    let Value::Object(fields) = object else {
        return Vec::new();
    };
    let unknown = |key: &String| !META.contains(&key.as_str());
    let unknown: Vec<String> = fields.keys().filter(|k| unknown(k)).cloned().collect();
    fields.retain(|key, _| !unknown.contains(key));
    unknown
}

fn child_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn prune_value(ty: Option<&SchemaType>, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => prune_fields(ty, fields, path, unknown),
        Value::Array(items) => {
            let item = match ty.map(|t| &t.kind) {
                Some(FieldKind::List(item)) => Some(item.as_ref()),
                _ => None,
            };
            for (i, value) in items.iter_mut().enumerate() {
                prune_value(item, value, &format!("{path}[{i}]"), unknown);
            }
        }
        _ => {}
    }
}

fn prune_fields(ty: Option<&SchemaType>, fields: &mut Map<String, Value>, path: &str, unknown: &mut Vec<String>) {
    let (table, item) = match ty.map(|t| &t.kind) {
        Some(FieldKind::Struct(name)) => (Some(tables().struct_named(name)), None),
        Some(FieldKind::Map(item)) => (None, Some(item.as_ref())),
        _ => (None, None),
    };
    let is_root = path.is_empty();
    fields.retain(|key, value| {
        if is_root && META.contains(&key.as_str()) {
            return true;
        }
        let field = table.and_then(|t| t.field(key)).filter(|f| !f.rules.unknown);
        let inner = field.map(|f| &f.ty).or(item);
        let place = child_path(path, key);
        match inner {
            Some(inner) => prune_value(Some(inner), value, &place, unknown),
            None => unknown.push(place),
        }
        inner.is_some()
    });
}

/// Removes null fields, except for fields with a default, which replaces the null later.
pub fn prune_nulls(object: &mut Value) {
    prune_nulls_in(Some(&root_type()), object);
}

fn prune_nulls_in(ty: Option<&SchemaType>, value: &mut Value) {
    match value {
        Value::Object(fields) => fields.retain(|key, value| {
            let (inner, default) = match ty.map(|t| &t.kind) {
                Some(FieldKind::Struct(name)) => {
                    let field = tables().struct_named(name).field(key);
                    let default = field.is_some_and(|f| f.rules.default.is_some());
                    (field.map(|f| &f.ty), default)
                }
                Some(FieldKind::Map(item)) => (Some(item.as_ref()), false),
                _ => (None, false),
            };
            let is_dropped = value.is_null() && inner.is_some() && !default;
            if !is_dropped {
                prune_nulls_in(inner, value);
            }
            !is_dropped
        }),
        Value::Array(items) => {
            let item = match ty.map(|t| &t.kind) {
                Some(FieldKind::List(item)) => Some(item.as_ref()),
                _ => None,
            };
            items.iter_mut().for_each(|value| prune_nulls_in(item, value));
        }
        _ => {}
    }
}

/// Sets the CRD's defaults in fields that are missing or null.
pub fn default(object: &mut Value) {
    if let Value::Object(fields) = object {
        default_fields(tables().struct_named(JOBSET), fields, true);
    }
}

/// Sets the CRD's defaults in a struct that is not the root object.
pub fn default_struct(name: &str, value: &mut Value) {
    if let Value::Object(fields) = value {
        default_fields(tables().struct_named(name), fields, false);
    }
}

fn default_fields(table: &StructType, fields: &mut Map<String, Value>, is_root: bool) {
    for field in &table.fields {
        let absent = fields.get(field.name).is_none_or(Value::is_null);
        if let Some(default) = field.rules.default.as_ref().filter(|_| absent) {
            fields.insert(field.name.to_owned(), default.clone());
        }
    }
    for (key, value) in fields {
        let field = table.field(key);
        if let Some(field) = field.filter(|f| !(is_root && f.name == "metadata")) {
            default_value(&field.ty, value);
        }
    }
}

fn default_value(ty: &SchemaType, value: &mut Value) {
    match (&ty.kind, value) {
        (FieldKind::Struct(name), Value::Object(fields)) => {
            default_fields(tables().struct_named(name), fields, false);
        }
        (FieldKind::List(item), Value::Array(items)) => {
            items.iter_mut().for_each(|value| default_value(item, value));
        }
        (FieldKind::Map(item), Value::Object(entries)) => {
            entries.values_mut().for_each(|value| default_value(item, value));
        }
        _ => {}
    }
}
