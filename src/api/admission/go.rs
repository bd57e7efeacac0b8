//! Round trip of objects through Go's structs: decoding, serialization and Go's error messages.
//!
//! Unknown fields are lost, and fields without `omitempty` get zero values. This module must not set defaults or
//! validate values.

mod error;

pub use super::go_text::{floats_to_integers, go_json, go_json_untyped, number_text};
use super::types::{FieldKind, JOBSET, SchemaField, SchemaType, StructType, tables};
pub use error::GoDecodeError;
use serde_json::{Map, Number, Value};
use sim_base::quantity;

/// Returns a JobSet after decoding and serialization by Go, or Go's first error.
pub fn round_trip_jobset(object: &Value) -> Result<Value, GoDecodeError> {
    round_trip(JOBSET, object)
}

/// Returns an object of any struct type in the tables after decoding and serialization by Go.
pub fn round_trip(name: &'static str, object: &Value) -> Result<Value, GoDecodeError> {
    round_trip_value(&SchemaType { name, kind: FieldKind::Struct(name) }, object)
}

/// Returns a value of the type of a field after decoding and serialization by Go; null if the tables do not contain the
/// field.
pub fn round_trip_field(of: &str, field: &str, value: &Value) -> Result<Value, GoDecodeError> {
    tables().struct_named(of).field(field).map_or(Ok(Value::Null), |field| round_trip_value(&field.ty, value))
}

fn round_trip_value(ty: &SchemaType, value: &Value) -> Result<Value, GoDecodeError> {
    let mut reader = GoReader::default();
    let read = reader.value(ty, value)?;
    match reader.first_error {
        Some(error) => Err(error),
        None => Ok(read.unwrap_or_else(|| zero_value(ty))),
    }
}

/// Returns a struct in the form of [`normalize`].
pub fn normalize_struct(name: &'static str, value: &Value) -> Value {
    normalize(&SchemaType { name, kind: FieldKind::Struct(name) }, value)
}

#[derive(Default)]
struct GoReader {
    /// First type error. Go continues to decode after a type error and reports the first one.
    first_error: Option<GoDecodeError>,
    /// Name of the Go struct that contains the current field. `path` is the path of the field in it.
    struct_name: &'static str,
    path: Vec<&'static str>,
}

/// Result of decoding a value. `Ok(None)` is a zero value or nil. `Err` stops decoding immediately.
type GoRead = Result<Option<Value>, GoDecodeError>;

impl GoReader {
    fn value(&mut self, ty: &SchemaType, value: &Value) -> GoRead {
        if value.is_null() && !matches!(ty.kind, FieldKind::Raw) {
            return Ok(None);
        }
        match (&ty.kind, value) {
            (FieldKind::Raw, _) => Ok(Some(value.clone())),
            (FieldKind::Quantity, _) => read_quantity(value).map(Some),
            (FieldKind::IntOrString, Value::String(_)) => Ok(Some(value.clone())),
            (FieldKind::IntOrString, Value::Number(n)) if integer(n, 32).is_some() => {
                Ok(integer(n, 32).map(Value::from))
            }
            (FieldKind::IntOrString, _) => Err(self.type_error(go_description(value, true), "int32")),
            (FieldKind::Time, Value::String(text)) => read_time(text).map(Some),
            (FieldKind::Time, _) => Err(self.type_error(go_description(value, false), "string")),
            (FieldKind::String, Value::String(_)) | (FieldKind::Bool, Value::Bool(_)) => Ok(Some(value.clone())),
            (FieldKind::Int(bits), Value::Number(n)) => match integer(n, *bits) {
                Some(i) => Ok(Some(i.into())),
                None => self.record_mismatch(go_description(value, true), ty),
            },
            (FieldKind::Struct(name), Value::Object(fields)) => {
                self.fields(tables().struct_named(name), fields).map(Some)
            }
            (FieldKind::List(item), Value::Array(items)) => self.list(item, items).map(Some),
            (FieldKind::Map(item), Value::Object(entries)) => self.map(item, entries).map(Some),
            _ => self.record_mismatch(go_description(value, false), ty),
        }
    }

    fn record_mismatch(&mut self, found: String, ty: &SchemaType) -> GoRead {
        let error = self.type_error(found, ty.name);
        self.first_error.get_or_insert(error);
        Ok(None)
    }

    fn type_error(&self, found: String, ty: &str) -> GoDecodeError {
        let expected = ty.to_owned();
        if self.path.is_empty() {
            return GoDecodeError::ValueType { found, expected };
        }
        GoDecodeError::FieldType { found, field: format!("{}.{}", self.struct_name, self.path.join(".")), expected }
    }

    fn fields(&mut self, table: &StructType, object: &Map<String, Value>) -> Result<Value, GoDecodeError> {
        let mut result: Vec<(usize, Value)> = Vec::new();
        for (key, value) in object {
            let Some(i) = table.fields.iter().position(|f| f.name == key) else {
                continue;
            };
            let field = &table.fields[i];
            let outer = std::mem::replace(&mut self.struct_name, table.name);
            self.path.push(field.name);
            let read = self.value(&field.ty, value)?;
            self.path.pop();
            self.struct_name = outer;
            result.extend(read.map(|v| (i, v)));
        }
        let mut written = Map::new();
        for (i, field) in table.fields.iter().enumerate() {
            let read = result.iter().find(|(k, _)| *k == i).map(|(_, v)| v.clone());
            if let Some(value) = write_field(field, read) {
                written.insert(field.name.to_owned(), value);
            }
        }
        Ok(Value::Object(written))
    }

    fn list(&mut self, item: &SchemaType, items: &[Value]) -> Result<Value, GoDecodeError> {
        let mut read = Vec::new();
        for value in items {
            read.push(self.value(item, value)?.unwrap_or_else(|| zero_value(item)));
        }
        Ok(Value::Array(read))
    }

    fn map(&mut self, item: &SchemaType, entries: &Map<String, Value>) -> Result<Value, GoDecodeError> {
        let mut read = Map::new();
        for (key, value) in entries {
            let value = self.value(item, value)?.unwrap_or_else(|| zero_value(item));
            read.insert(key.clone(), value);
        }
        Ok(Value::Object(read))
    }
}

/// Returns the value that Go serializes for a field, or `None` if Go omits the field.
fn write_field(field: &SchemaField, read: Option<Value>) -> Option<Value> {
    if field.pointer {
        return match read {
            None if !field.omit_empty => Some(Value::Null),
            other => other,
        };
    }
    let value = read.unwrap_or_else(|| zero_value(&field.ty));
    let empty = match (&field.ty.kind, &value) {
        (FieldKind::String, Value::String(s)) => s.is_empty(),
        (FieldKind::Bool, Value::Bool(b)) => !b,
        (FieldKind::Int(_), Value::Number(n)) => n.as_i64() == Some(0),
        (FieldKind::List(_) | FieldKind::Map(_), Value::Array(items)) => items.is_empty(),
        (FieldKind::List(_) | FieldKind::Map(_), Value::Object(entries)) => entries.is_empty(),
        (FieldKind::List(_) | FieldKind::Map(_), _) => true,
        _ => false,
    };
    let is_zero = field.omit_zero && value.is_null();
    let omitted = (field.omit_empty && empty) || is_zero;
    (!omitted).then_some(value)
}

/// Returns Go's zero value in serialized form.
pub fn zero_value(ty: &SchemaType) -> Value {
    match &ty.kind {
        FieldKind::String => "".into(),
        FieldKind::Bool => false.into(),
        FieldKind::Int(_) | FieldKind::IntOrString => 0.into(),
        FieldKind::Quantity => "0".into(),
        FieldKind::Time | FieldKind::Raw | FieldKind::List(_) | FieldKind::Map(_) => Value::Null,
        FieldKind::Struct(name) => {
            let fields = tables().struct_named(name).fields.iter();
            let written = fields.filter_map(|f| Some((f.name.to_owned(), write_field(f, None)?)));
            Value::Object(written.collect())
        }
    }
}

fn integer(number: &Number, bits: u32) -> Option<i64> {
    let complete: i64 = number_text(number).parse().ok()?;
    (bits == 64 || i32::try_from(complete).is_ok()).then_some(complete)
}

/// Returns Go's description of a JSON value, with the digits of a number if `digits` is set.
fn go_description(value: &Value, digits: bool) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(n) if digits => format!("number {}", number_text(n)),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

fn read_quantity(value: &Value) -> Result<Value, GoDecodeError> {
    let text = match value {
        Value::Number(n) => number_text(n),
        other => {
            let text = other.to_string();
            let inside = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
            inside.map(str::to_owned).unwrap_or(text)
        }
    };
    Ok(quantity::canonical(&text)?.into())
}

/// Returns the text if it has the format of RFC 3339.
fn read_time(text: &str) -> Result<Value, GoDecodeError> {
    let form = regex::Regex::new(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$");
    if form.is_ok_and(|f| f.is_match(text)) {
        return Ok(text.into());
    }
    Err(GoDecodeError::Time { text: text.to_owned() })
}

/// Returns a normalized form in which semantically equal objects are equal: empty lists and maps count as nil, and
/// quantities are compared by value.
pub fn normalize(ty: &SchemaType, value: &Value) -> Value {
    let filled = |value: &Value| match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        other => !other.is_null(),
    };
    match (&ty.kind, value) {
        (FieldKind::Quantity, Value::String(text)) => match quantity::parse(text) {
            Ok(quantity) => {
                let (digits, scale) = quantity.value();
                format!("{digits}e{scale}").into()
            }
            Err(_) => value.clone(),
        },
        (FieldKind::Struct(name), Value::Object(fields)) => {
            let known = tables().struct_named(name).fields.iter();
            let result = known.filter_map(|f| Some((f, fields.get(f.name)?)));
            let lists = |f: &SchemaField| matches!(f.ty.kind, FieldKind::List(_) | FieldKind::Map(_));
            let kept = result.filter(|(f, v)| !lists(f) || filled(v));
            kept.map(|(f, v)| (f.name.to_owned(), normalize(&f.ty, v))).collect()
        }
        (FieldKind::List(item), Value::Array(items)) => items.iter().map(|v| normalize(item, v)).collect(),
        (FieldKind::Map(item), Value::Object(entries)) => {
            let entries = entries.iter();
            entries.map(|(k, v)| (k.clone(), normalize(item, v))).collect()
        }
        _ => value.clone(),
    }
}
