//! Short readers and writers for JSON trees whose types an API server has checked already.
//!
//! Must never tell an absent field from one with the wrong type: neither occurs in a stored object.

use serde_json::{Map, Value};
use sim_base::quantity;
use sim_base::quantity::Quantity;

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}

pub fn int(value: &Value, name: &str) -> Option<i64> {
    value[name].as_i64()
}

/// None where nothing was written.
pub fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => quantity::parse(text).ok(),
        Value::Number(number) => quantity::parse(&number.to_string()).ok(),
        _ => None,
    }
}

pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// Whether the field is there; an explicit null is as good as absent.
pub fn has(value: &Value, name: &str) -> bool {
    !value[name].is_null()
}

/// Pairs of an object, by key.
pub fn pairs(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The object at `name`, made if it is not there.
pub fn object<'a>(value: &'a mut Value, name: &str) -> &'a mut Map<String, Value> {
    as_object(object_field(value, name))
}

/// The value as an object; anything else is replaced by an empty one.
pub fn as_object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("it was made an object above"),
    }
}

/// The list at `name`, made if it is not there.
pub fn array<'a>(value: &'a mut Value, name: &str) -> &'a mut Vec<Value> {
    let field = object_field(value, name);
    if !field.is_array() {
        *field = Value::Array(Vec::new());
    }
    match field {
        Value::Array(items) => items,
        _ => unreachable!("it was made a list above"),
    }
}

fn object_field<'a>(value: &'a mut Value, name: &str) -> &'a mut Value {
    as_object(value).entry(name).or_insert(Value::Null)
}

/// Sets a field that is absent.
pub fn default(value: &mut Value, name: &str, to: impl Into<Value>) {
    let field = object_field(value, name);
    if field.is_null() {
        *field = to.into();
    }
}

/// Sets a text that is absent or empty.
pub fn default_text(value: &mut Value, name: &str, to: &str) {
    let field = object_field(value, name);
    if field.as_str().is_none_or(str::is_empty) {
        *field = to.into();
    }
}

/// Mutable items of a list, none if it is absent.
pub fn items<'a>(value: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    value
        .get_mut(name)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}
