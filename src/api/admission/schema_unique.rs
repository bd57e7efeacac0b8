//! Uniqueness of keys in the keyed lists of the CRD's schema.
//!
//! This module is pure. It must not check the values of items.

use super::field::{FieldError, FieldErrorKind as ErrorKind, go_quote};
use super::go::go_json_untyped;
use super::types::{FieldKind, SchemaType, tables};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type UniqueErrors = Vec<FieldError>;

/// Checks that keyed lists contain no key twice. The error names the second item.
pub fn unique(ty: &SchemaType, keys: &[&'static str], path: &str, value: &Value, errors: &mut UniqueErrors) {
    match (&ty.kind, value) {
        (FieldKind::Struct(name), Value::Object(fields)) => {
            for (key, value) in fields {
                let place = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                let field = tables().struct_named(name).field(key);
                if let Some(field) = field.filter(|_| place != "metadata") {
                    unique(&field.ty, &field.rules.keys, &place, value, errors);
                }
            }
        }
        (FieldKind::Map(item), Value::Object(entries)) => {
            for (key, value) in entries {
                unique(item, &[], &format!("{path}[{key}]"), value, errors);
            }
        }
        (FieldKind::List(item), Value::Array(items)) => {
            unique_keys(keys, path, items, errors);
            for (i, value) in items.iter().enumerate() {
                unique(item, &[], &format!("{path}[{i}]"), value, errors);
            }
        }
        _ => {}
    }
}

fn unique_keys(keys: &[&str], path: &str, items: &[Value], errors: &mut UniqueErrors) {
    if keys.is_empty() {
        return;
    }
    let other = |v: &Value| !v.is_null() && !v.is_object();
    if let Some(i) = items.iter().position(other) {
        let words = "must be an object for an array of list-type map";
        let value = match &items[i] {
            Value::String(text) => go_quote(text),
            other => go_json_untyped(other),
        };
        errors.push(FieldError::invalid(format!("{path}[{i}]"), value, words));
        return;
    }
    let key_of = |item: &Value| -> Map<String, Value> {
        let key = keys.iter().filter_map(|k| Some(((*k).to_owned(), item.get(k)?.clone())));
        key.collect()
    };
    // Keys are compared by their serialized text, which is equal for equal keys.
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for (i, key) in items.iter().map(key_of).enumerate() {
        let before = seen.entry(Value::Object(key.clone()).to_string()).or_default();
        *before += 1;
        if *before == 2 {
            errors.push(FieldError {
                value: Some(go_json_untyped(&Value::Object(key.clone()))),
                ..FieldError::new(format!("{path}[{i}]"), ErrorKind::Duplicate, "")
                    .with_actual_path(format!("{path}[{i}].{}", keys[0]))
            });
        }
    }
}
