//! Serialization of numbers and objects like Go's JSON package.
//!
//! This module must not parse text or validate values.

use super::types::{FieldKind, SchemaType, tables};
use serde_json::{Number, Value};

/// Formats a number like Go, without an exponent between 1e-6 and 1e21.
pub fn number_text(number: &Number) -> String {
    let beyond = number.is_u64() && number.as_i64().is_none();
    match number.as_f64() {
        Some(f) if number.is_f64() || beyond => {
            if f != 0.0 && (f.abs() < 1e-6 || f.abs() >= 1e21) {
                let text = format!("{f:e}");
                match text.split_once('e') {
                    Some((m, e)) if !e.starts_with('-') => format!("{m}e+{e}"),
                    _ => text,
                }
            } else {
                format!("{f}")
            }
        }
        _ => number.to_string(),
    }
}

/// Replaces whole floating-point numbers such as `2.0` by integers, as after a round trip through Go.
pub fn floats_to_integers(value: &mut Value) {
    match value {
        Value::Number(n) if n.is_f64() => {
            if let Ok(integer) = number_text(n).parse::<i64>() {
                *value = integer.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(floats_to_integers),
        Value::Object(fields) => fields.values_mut().for_each(floats_to_integers),
        _ => {}
    }
}

/// Serializes a value of a known type like Go's JSON package, with fields in the order of the struct.
pub fn go_json(ty: &SchemaType, value: &Value) -> String {
    let mut out = String::new();
    write_go(Some(ty), value, &mut out);
    out
}

/// Serializes a value of unknown type like a Go map, with sorted keys.
pub fn go_json_untyped(value: &Value) -> String {
    let mut out = String::new();
    write_go(None, value, &mut out);
    out
}

fn write_go(ty: Option<&SchemaType>, value: &Value, out: &mut String) {
    match (ty.map(|t| &t.kind), value) {
        (Some(FieldKind::Struct(name)), Value::Object(fields)) => {
            let table = tables().struct_named(name);
            let known = table.fields.iter();
            let ordered = known.filter_map(|f| Some((f.name, &f.ty, fields.get(f.name)?)));
            write_enclosed('{', '}', ordered, out, |(name, ty, value), out| {
                write_string(name, out);
                out.push(':');
                write_go(Some(ty), value, out);
            });
        }
        (kind, Value::Object(entries)) => {
            let item = match kind {
                Some(FieldKind::Map(item)) => Some(item.as_ref()),
                _ => None,
            };
            write_enclosed('{', '}', entries.iter(), out, |(key, value), out| {
                write_string(key, out);
                out.push(':');
                write_go(item, value, out);
            });
        }
        (kind, Value::Array(items)) => {
            let item = match kind {
                Some(FieldKind::List(item)) => Some(item.as_ref()),
                _ => None,
            };
            write_enclosed('[', ']', items.iter(), out, |value, out| {
                write_go(item, value, out);
            });
        }
        (_, Value::String(text)) => write_string(text, out),
        (_, Value::Number(n)) => out.push_str(&number_text(n)),
        (_, other) => out.push_str(&other.to_string()),
    }
}

fn write_enclosed<T>(
    open: char, close: char, items: impl Iterator<Item = T>, out: &mut String, mut write: impl FnMut(T, &mut String),
) {
    out.push(open);
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(close);
}

/// Writes a string. Go also escapes characters that could end an HTML script element.
fn write_string(text: &str, out: &mut String) {
    for c in Value::from(text).to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => out.push(c),
        }
    }
}
