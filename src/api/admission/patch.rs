//! Patches: merge patch (RFC 7386), JSON patch (RFC 6902) and server-side apply with force.
//!
//! This module is pure. It must not validate the result.

mod error;

pub use error::JsonPatchError;

use super::types::{FieldKind, JOBSET, SchemaRules, SchemaType, tables};
use serde_json::{Map, Value};

/// Applies a merge patch (RFC 7386).
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    if let Value::Object(object) = target {
        for (key, value) in fields {
            if value.is_null() {
                object.remove(key);
            } else {
                merge_patch(object.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
    }
}

/// Applies a JSON patch (RFC 6902).
pub fn json_patch(target: &mut Value, operations: &[Value]) -> Result<(), JsonPatchError> {
    for operation in operations {
        let path = operation["path"].as_str().ok_or(JsonPatchError::MissingPath)?;
        match operation["op"].as_str().unwrap_or("") {
            "add" => add(target, path, required_value(operation)?)?,
            "replace" => {
                let old = target.pointer_mut(path).ok_or(JsonPatchError::PathNotFound)?;
                *old = required_value(operation)?;
            }
            "remove" => {
                remove(target, path)?;
            }
            "move" => {
                let value = remove(target, source_path(operation)?)?;
                add(target, path, value)?;
            }
            "copy" => {
                let value = target.pointer(source_path(operation)?).ok_or(JsonPatchError::PathNotFound)?;
                let value = value.clone();
                add(target, path, value)?;
            }
            "test" => {
                let result = target.pointer(path).unwrap_or(&Value::Null);
                if *result != operation["value"] {
                    return Err(JsonPatchError::TestFailed);
                }
            }
            other => {
                let name = other.to_owned();
                return Err(JsonPatchError::UnknownOperation { name });
            }
        }
    }
    Ok(())
}

fn required_value(operation: &Value) -> Result<Value, JsonPatchError> {
    operation.get("value").cloned().ok_or(JsonPatchError::MissingValue)
}

fn source_path(operation: &Value) -> Result<&str, JsonPatchError> {
    operation["from"].as_str().ok_or(JsonPatchError::MissingSource)
}

/// Returns the parent of a path, and the last part of the path without escapes.
fn parent_and_key<'v>(target: &'v mut Value, path: &str) -> Result<(&'v mut Value, String), JsonPatchError> {
    let (parent, key) = path.rsplit_once('/').ok_or(JsonPatchError::PathNotFound)?;
    let key = key.replace("~1", "/").replace("~0", "~");
    let parent = target.pointer_mut(parent).ok_or(JsonPatchError::PathNotFound)?;
    Ok((parent, key))
}

fn add(target: &mut Value, path: &str, value: Value) -> Result<(), JsonPatchError> {
    if path.is_empty() {
        *target = value;
        return Ok(());
    }
    match parent_and_key(target, path)? {
        (Value::Object(fields), key) => {
            fields.insert(key, value);
        }
        (Value::Array(items), key) => {
            let index = match key.as_str() {
                "-" => items.len(),
                key => key.parse().map_err(|_| JsonPatchError::InvalidIndex)?,
            };
            if index > items.len() {
                return Err(JsonPatchError::IndexOutOfBounds);
            }
            items.insert(index, value);
        }
        _ => return Err(JsonPatchError::PathNotFound),
    }
    Ok(())
}

fn remove(target: &mut Value, path: &str) -> Result<Value, JsonPatchError> {
    let gone = match parent_and_key(target, path)? {
        (Value::Object(fields), key) => fields.remove(&key),
        (Value::Array(items), key) => {
            let index: usize = key.parse().map_err(|_| JsonPatchError::InvalidIndex)?;
            (index < items.len()).then(|| items.remove(index))
        }
        _ => None,
    };
    gone.ok_or(JsonPatchError::PathNotFound)
}

/// Implements forced server-side apply by a manager that owned no fields before. Applied values replace existing
/// ones, and nothing is removed.
pub fn apply(target: &mut Value, applied: &Value) {
    let root = SchemaType { name: JOBSET, kind: FieldKind::Struct(JOBSET) };
    apply_value(&root, &SchemaRules::default(), target, applied);
}

fn apply_value(ty: &SchemaType, rules: &SchemaRules, target: &mut Value, applied: &Value) {
    match (&ty.kind, target, applied) {
        (FieldKind::Struct(name), Value::Object(target), Value::Object(applied)) if !rules.atomic => {
            for (key, value) in applied {
                let field = tables().struct_named(name).field(key);
                match (field, target.get_mut(key)) {
                    (Some(field), Some(old)) => apply_value(&field.ty, &field.rules, old, value),
                    _ => {
                        target.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (FieldKind::Map(item), Value::Object(target), Value::Object(applied)) if !rules.atomic => {
            for (key, value) in applied {
                match target.get_mut(key) {
                    Some(old) => apply_value(item, &SchemaRules::default(), old, value),
                    None => {
                        target.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (FieldKind::List(item), Value::Array(target), Value::Array(applied)) if !rules.keys.is_empty() => {
            apply_list(item, rules, target, applied);
        }
        (_, target, applied) => *target = applied.clone(),
    }
}

/// Merges a keyed list. The result has the order of the applied list; an item that is not in it stays before the
/// item that followed it.
fn apply_list(item: &SchemaType, rules: &SchemaRules, target: &mut Vec<Value>, applied: &[Value]) {
    let key_of = |value: &Value| -> Vec<Value> {
        let default = |key: &str| match &item.kind {
            FieldKind::Struct(name) => {
                let field = tables().struct_named(name).field(key);
                field.and_then(|f| f.rules.default.clone())
            }
            _ => None,
        };
        let keys = rules.keys.iter();
        keys.map(|k| value.get(*k).cloned().or_else(|| default(k)).unwrap_or(Value::Null)).collect()
    };
    let new_keys: Vec<Vec<Value>> = applied.iter().map(key_of).collect();
    let mut old: Vec<Option<Value>> = std::mem::take(target).into_iter().map(Some).collect();
    let old_keys: Vec<Vec<Value>> = old.iter().flatten().map(key_of).collect();
    let mut passed = 0;
    for (value, key) in applied.iter().zip(&new_keys) {
        let Some(at) = old_keys.iter().position(|k| k == key) else {
            target.push(value.clone());
            continue;
        };
        for i in passed..at {
            if !new_keys.contains(&old_keys[i]) {
                target.extend(old[i].take());
            }
        }
        passed = passed.max(at);
        let mut merged = old[at].take().unwrap_or(Value::Null);
        apply_value(item, &SchemaRules::default(), &mut merged, value);
        target.push(merged);
    }
    target.extend(old.into_iter().flatten());
}
