//! Accessors for JSON trees whose types the API server has already checked.
//!
//! The accessors do not distinguish a missing field from a field of the wrong type, which does not occur in a stored
//! object.

use serde_json::{Map, Value};
use sim_base::quantity;
use sim_base::quantity::Quantity;

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}

pub fn int(value: &Value, name: &str) -> Option<i64> {
    value[name].as_i64()
}

/// Returns the quantity, or `None` if the value is missing.
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

/// Returns whether the field exists and is not null.
pub fn has_value(value: &Value, name: &str) -> bool {
    !value[name].is_null()
}

/// Returns the entries of an object, sorted by key.
pub fn pairs(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Returns the object at `name`. Creates it if it is missing.
pub fn object_mut<'a>(value: &'a mut Value, name: &str) -> &'a mut Map<String, Value> {
    as_object(object_field(value, name))
}

/// Returns the value as an object. A value of a different type is replaced by an empty object.
pub fn as_object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the value was replaced by an object above"),
    }
}

/// Returns the list at `name`. Creates it if it is missing.
pub fn array_mut<'a>(value: &'a mut Value, name: &str) -> &'a mut Vec<Value> {
    let field = object_field(value, name);
    if !field.is_array() {
        *field = Value::Array(Vec::new());
    }
    match field {
        Value::Array(items) => items,
        _ => unreachable!("the value was replaced by a list above"),
    }
}

fn object_field<'a>(value: &'a mut Value, name: &str) -> &'a mut Value {
    as_object(value).entry(name).or_insert(Value::Null)
}

/// Sets the field if it is missing.
pub fn set_default(value: &mut Value, name: &str, to: impl Into<Value>) {
    let field = object_field(value, name);
    if field.is_null() {
        *field = to.into();
    }
}

/// Sets the text field if it is missing or empty.
pub fn set_default_text(value: &mut Value, name: &str, to: &str) {
    let field = object_field(value, name);
    if field.as_str().is_none_or(str::is_empty) {
        *field = to.into();
    }
}

/// Returns the items of a list mutably, or none if the list is missing.
pub fn items_mut<'a>(value: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}
