//! Uniqueness of keys in the keyed lists of the CRD's schema.
//!
//! This module is pure. It must not check the values of items.

use super::field::{FieldError, Kind as ErrorKind, quoted};
use super::go::written_plain;
use super::types::{Kind, Type, tables};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Errors = Vec<FieldError>;

/// Checks that keyed lists contain no key twice. The error names the second item.
pub fn unique(ty: &Type, keys: &[&'static str], path: &str, value: &Value, errors: &mut Errors) {
    match (&ty.kind, value) {
        (Kind::Struct(name), Value::Object(fields)) => {
            for (key, value) in fields {
                let place = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                let field = tables().of(name).field(key);
                if let Some(field) = field.filter(|_| place != "metadata") {
                    unique(&field.ty, &field.rules.keys, &place, value, errors);
                }
            }
        }
        (Kind::Map(item), Value::Object(entries)) => {
            for (key, value) in entries {
                unique(item, &[], &format!("{path}[{key}]"), value, errors);
            }
        }
        (Kind::List(item), Value::Array(items)) => {
            unique_keys(keys, path, items, errors);
            for (i, value) in items.iter().enumerate() {
                unique(item, &[], &format!("{path}[{i}]"), value, errors);
            }
        }
        _ => {}
    }
}

fn unique_keys(keys: &[&str], path: &str, items: &[Value], errors: &mut Errors) {
    if keys.is_empty() {
        return;
    }
    let other = |v: &Value| !v.is_null() && !v.is_object();
    if let Some(i) = items.iter().position(other) {
        let words = "must be an object for an array of list-type map";
        let value = match &items[i] {
            Value::String(text) => quoted(text),
            other => written_plain(other),
        };
        errors.push(FieldError::invalid(format!("{path}[{i}]"), value, words));
        return;
    }
    let key_of = |item: &Value| -> Map<String, Value> {
        let key = keys
            .iter()
            .filter_map(|k| Some(((*k).to_owned(), item.get(k)?.clone())));
        key.collect()
    };
    // Keys are compared by their serialized text, which is equal for equal keys.
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for (i, key) in items.iter().map(key_of).enumerate() {
        let before = seen
            .entry(Value::Object(key.clone()).to_string())
            .or_default();
        *before += 1;
        if *before == 2 {
            errors.push(FieldError {
                value: Some(written_plain(&Value::Object(key.clone()))),
                ..FieldError::new(format!("{path}[{i}]"), ErrorKind::Duplicate, "")
                    .at(format!("{path}[{i}].{}", keys[0]))
            });
        }
    }
}
