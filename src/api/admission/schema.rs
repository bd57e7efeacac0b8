//! Validation by the CRD's schema: types, ranges, enums, required fields and unique keys.
//!
//! This module is pure. It must not check combinations of fields, which CEL and the webhook do.

use super::field::{FieldError, FieldErrorKind as ErrorKind, go_quote};
use super::go::{go_json_untyped, number_text};
use super::schema_unique::unique;
use super::types::{FieldKind, JOBSET, SchemaRules, SchemaType, StructType, tables};
use serde_json::{Map, Value};

/// Format of a quantity in the CRD. It is slightly stricter than Go's parser.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";
const DATE_TIME: &str = r"^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$";

/// Returns all errors of the object. Values that are equal in `old` are not validated again.
pub fn errors(object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let root = SchemaType { name: JOBSET, kind: FieldKind::Struct(JOBSET) };
    check_value(&root, &SchemaRules::default(), "", object, old, &mut errors);
    let was_unique = old.is_none_or(|old| {
        let mut before = Vec::new();
        unique(&root, &[], "", old, &mut before);
        before.is_empty()
    });
    if was_unique {
        unique(&root, &[], "", object, &mut errors);
    }
    errors
}

pub fn status_errors(status: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(field) = tables().struct_named(JOBSET).field("status") {
        check_value(&field.ty, &field.rules, "status", status, old, &mut errors);
        unique(&field.ty, &[], "status", status, &mut errors);
    }
    errors
}

/// Returns all errors of a struct at a path.
pub fn struct_errors(name: &'static str, path: &str, value: &Value) -> Vec<FieldError> {
    let ty = SchemaType { name, kind: FieldKind::Struct(name) };
    let mut errors = Vec::new();
    check_value(&ty, &SchemaRules::default(), path, value, None, &mut errors);
    unique(&ty, &[], path, value, &mut errors);
    errors
}

/// Returns the first error for which server-side apply fails to parse the object.
pub fn first_apply_error(object: &Value) -> Option<String> {
    let root = SchemaType { name: JOBSET, kind: FieldKind::Struct(JOBSET) };
    let mut result = Vec::new();
    check_value(&root, &SchemaRules::default(), "", object, None, &mut result);
    result.retain(|e| e.kind == ErrorKind::TypeInvalid);
    unique(&root, &[], "", object, &mut result);
    let first = result.into_iter().next()?;
    let value = first.value.unwrap_or_default();
    Some(match first.kind {
        ErrorKind::Duplicate => format!(".{}: duplicate entries for key {value}", first.path),
        _ => format!(".{}: unexpected type {value}", first.path),
    })
}

/// Returns whether the errors prevent the evaluation of the CEL rules.
pub fn blocks_cel(errors: &[FieldError]) -> bool {
    use ErrorKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    let blocking = [NotSupported, Required, TooLong, TooMany, TypeInvalid];
    errors.iter().any(|e| blocking.contains(&e.kind))
}

/// Returns the error that the server reports instead of the skipped CEL rules.
pub fn rules_not_checked() -> FieldError {
    let words = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    FieldError::invalid("<nil>", "null", words)
}

type SchemaErrors = Vec<FieldError>;

fn check_value(
    ty: &SchemaType, rules: &SchemaRules, path: &str, value: &Value, old: Option<&Value>, errors: &mut SchemaErrors,
) {
    if old == Some(value) {
        return;
    }
    if let Some(wanted) = wrong_type(ty, value) {
        errors.push(type_error(path, wanted, json_type(value)));
    }
    match (&ty.kind, value) {
        (FieldKind::Struct(name), Value::Object(fields)) => {
            check_fields(tables().struct_named(name), path, fields, old, errors);
        }
        (FieldKind::Map(item), Value::Object(entries)) => {
            for (key, value) in entries {
                let old = old.and_then(|o| o.get(key));
                check_value(item, &SchemaRules::default(), &format!("{path}.{key}"), value, old, errors);
            }
        }
        (FieldKind::List(item), Value::Array(items)) => {
            for (i, value) in items.iter().enumerate() {
                let old = old.and_then(|o| item_with_same_key(&rules.keys, value, o));
                check_value(item, &SchemaRules::default(), &format!("{path}[{i}]"), value, old, errors);
            }
            check_length(rules, path, items.len(), errors);
        }
        (_, Value::String(text)) => check_text(ty, rules, path, text, errors),
        (_, Value::Number(_)) => check_number(ty, rules, path, value, errors),
        _ => {}
    }
    check_enum(rules, path, value, errors);
}

/// Returns the item of the old keyed list with the same key. Returns `None` for lists without keys.
fn item_with_same_key<'a>(keys: &[&str], value: &Value, old: &'a Value) -> Option<&'a Value> {
    let same = |o: &&Value| keys.iter().all(|k| o.get(k) == value.get(k));
    old.as_array().filter(|_| !keys.is_empty())?.iter().find(same)
}

fn check_fields(
    table: &StructType, path: &str, fields: &Map<String, Value>, old: Option<&Value>, errors: &mut SchemaErrors,
) {
    for field in table.fields.iter().filter(|f| !f.rules.unknown) {
        let place = match path {
            "" => field.name.to_owned(),
            path => format!("{path}.{}", field.name),
        };
        match fields.get(field.name) {
            // The metadata of the root object has separate checks.
            Some(Value::Object(_)) if place == "metadata" => {}
            Some(value) => {
                let old = old.and_then(|o| o.get(field.name));
                check_value(&field.ty, &field.rules, &place, value, old, errors);
            }
            None if field.rules.required => {
                errors.push(FieldError::new(place, ErrorKind::Required, ""));
            }
            None => {}
        }
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the expected type if the value has a different one.
fn wrong_type(ty: &SchemaType, value: &Value) -> Option<&'static str> {
    let complete = |v: &Value| v.as_f64().is_some_and(|f| f.fract() == 0.0);
    let (wanted, fits) = match ty.kind {
        FieldKind::String | FieldKind::Time => ("string", value.is_string()),
        FieldKind::Bool => ("boolean", value.is_boolean()),
        FieldKind::Int(_) => ("integer", complete(value)),
        FieldKind::Quantity | FieldKind::IntOrString => ("integer,string", value.is_string() || complete(value)),
        FieldKind::List(_) => ("array", value.is_array()),
        FieldKind::Map(_) | FieldKind::Struct(_) => ("object", value.is_object()),
        FieldKind::Raw => ("", true),
    };
    (!fits).then_some(wanted)
}

fn type_error(path: &str, wanted: &str, found: &str) -> FieldError {
    FieldError {
        kind: ErrorKind::TypeInvalid,
        ..FieldError::invalid(
            path,
            go_quote(found),
            format!("{path} in body must be of type {wanted}: {}", go_quote(found)),
        )
    }
}

fn check_length(rules: &SchemaRules, path: &str, length: usize, errors: &mut SchemaErrors) {
    if let Some(most) = rules.max_items.filter(|most| length > *most) {
        let words = format!("must have at most {most} items");
        errors.push(FieldError { value: Some(length.to_string()), ..FieldError::new(path, ErrorKind::TooMany, words) });
    }
}

fn check_text(ty: &SchemaType, rules: &SchemaRules, path: &str, text: &str, errors: &mut SchemaErrors) {
    let chars = text.chars().count();
    let pattern = match ty.kind {
        FieldKind::Quantity => Some(QUANTITY),
        _ => rules.pattern,
    };
    let matches = |p: &str| regex::Regex::new(p).is_ok_and(|r| r.is_match(text));
    let mut wrong = |words: String| errors.push(FieldError::invalid(path, go_quote(text), words));
    if let Some(most) = rules.max_length.filter(|most| chars > *most) {
        let words = format!("may not be more than {most} bytes");
        errors.push(FieldError::new(path, ErrorKind::TooLong, words));
    } else if let Some(least) = rules.min_length.filter(|least| chars < *least) {
        wrong(format!("{path} in body should be at least {least} chars long"));
    } else if let Some(pattern) = pattern.filter(|p| !matches(p)) {
        wrong(format!("{path} in body should match '{pattern}'"));
    } else if ty.kind == FieldKind::Time && !matches(DATE_TIME) {
        errors.push(type_error(path, "date-time", text));
    }
}

fn check_number(ty: &SchemaType, rules: &SchemaRules, path: &str, value: &Value, errors: &mut SchemaErrors) {
    let Value::Number(number) = value else {
        return;
    };
    let text = number_text(number);
    let fits = match ty.kind {
        FieldKind::Int(32) => text.parse::<i32>().is_ok(),
        FieldKind::Int(_) => text.parse::<i64>().is_ok(),
        _ => true,
    };
    if !fits {
        let form = match (ty.name, &ty.kind) {
            ("int", _) => "type integer (default format)",
            (_, FieldKind::Int(32)) => "type integer with format int32",
            _ => "type integer with format int64",
        };
        let words = format!("Checked value must be of {form} in {path}");
        errors.push(FieldError::invalid("<nil>", "\"\"", words).with_actual_path(path));
    }
    let least = rules.minimum.filter(|least| number.as_f64().is_some_and(|n| n < *least as f64));
    if let Some(least) = least {
        let words = format!("{path} in body should be greater than or equal to {least}");
        errors.push(FieldError::invalid(path, text, words));
    }
}

fn check_enum(rules: &SchemaRules, path: &str, value: &Value, errors: &mut SchemaErrors) {
    let known = |text: &str| rules.values.contains(&text);
    if rules.values.is_empty() || value.as_str().is_some_and(known) {
        return;
    }
    let values: Vec<String> = rules.values.iter().map(|v| go_quote(v)).collect();
    let result = match value {
        Value::String(text) => go_quote(text),
        other => go_json_untyped(other),
    };
    errors.push(FieldError {
        value: Some(result),
        ..FieldError::new(path, ErrorKind::NotSupported, format!("supported values: {}", values.join(", ")))
            .with_legal_values(rules.values.iter().copied())
    });
}
