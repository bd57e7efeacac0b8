//! Round trip of objects through Go's structs: decoding, serialization and Go's error messages.
//!
//! Unknown fields are lost, and fields without `omitempty` get zero values. This module must not set defaults or
//! validate values.

pub use super::go_text::{number_text, whole_numbers, written, written_plain};
use super::types::{Field, JOBSET, Kind, Struct, Type, tables};
use serde_json::{Map, Number, Value};
use sim_base::quantity;

/// Returns a JobSet after decoding and serialization by Go, or Go's first error.
pub fn jobset(object: &Value) -> Result<Value, String> {
    read(JOBSET, object)
}

/// Returns an object of any struct type in the tables after decoding and serialization by Go.
pub fn read(name: &'static str, object: &Value) -> Result<Value, String> {
    let root = Type {
        name,
        kind: Kind::Struct(name),
    };
    let mut reader = Reader::default();
    let read = reader.value(&root, object)?;
    match reader.first {
        Some(error) => Err(error),
        None => Ok(read.unwrap_or_else(|| zero(&root))),
    }
}

#[derive(Default)]
struct Reader {
    /// First type error. Go continues to decode after a type error and reports the first one.
    first: Option<String>,
    /// Name of the Go struct that contains the current field. `path` is the path of the field in it.
    owner: &'static str,
    path: Vec<&'static str>,
}

/// Result of decoding a value. `Ok(None)` is a zero value or nil. `Err` stops decoding immediately.
type Read = Result<Option<Value>, String>;

impl Reader {
    fn value(&mut self, ty: &Type, value: &Value) -> Read {
        if value.is_null() && !matches!(ty.kind, Kind::Raw) {
            return Ok(None);
        }
        match (&ty.kind, value) {
            (Kind::Raw, _) => Ok(Some(value.clone())),
            (Kind::Quantity, _) => read_quantity(value).map(Some),
            (Kind::IntOrString, Value::String(_)) => Ok(Some(value.clone())),
            (Kind::IntOrString, Value::Number(n)) if integer(n, 32).is_some() => {
                Ok(integer(n, 32).map(Value::from))
            }
            (Kind::IntOrString, _) => Err(self.sentence(&described(value, true), "int32")),
            (Kind::Time, Value::String(text)) => read_time(text).map(Some),
            (Kind::Time, _) => Err(self.sentence(&described(value, false), "string")),
            (Kind::String, Value::String(_)) | (Kind::Bool, Value::Bool(_)) => {
                Ok(Some(value.clone()))
            }
            (Kind::Int(bits), Value::Number(n)) => match integer(n, *bits) {
                Some(i) => Ok(Some(i.into())),
                None => self.mismatch(&described(value, true), ty),
            },
            (Kind::Struct(name), Value::Object(fields)) => {
                self.fields(tables().of(name), fields).map(Some)
            }
            (Kind::List(item), Value::Array(items)) => self.list(item, items).map(Some),
            (Kind::Map(item), Value::Object(entries)) => self.map(item, entries).map(Some),
            _ => self.mismatch(&described(value, false), ty),
        }
    }

    fn mismatch(&mut self, found: &str, ty: &Type) -> Read {
        let sentence = self.sentence(found, ty.name);
        self.first.get_or_insert(sentence);
        Ok(None)
    }

    fn sentence(&self, found: &str, ty: &str) -> String {
        if self.path.is_empty() {
            return format!("json: cannot unmarshal {found} into Go value of type {ty}");
        }
        format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {ty}",
            self.owner,
            self.path.join(".")
        )
    }

    fn fields(&mut self, table: &Struct, object: &Map<String, Value>) -> Result<Value, String> {
        let mut found: Vec<(usize, Value)> = Vec::new();
        for (key, value) in object {
            let Some(i) = table.fields.iter().position(|f| f.name == key) else {
                continue;
            };
            let field = &table.fields[i];
            let outer = std::mem::replace(&mut self.owner, table.name);
            self.path.push(field.name);
            let read = self.value(&field.ty, value)?;
            self.path.pop();
            self.owner = outer;
            found.extend(read.map(|v| (i, v)));
        }
        let mut written = Map::new();
        for (i, field) in table.fields.iter().enumerate() {
            let read = found.iter().find(|(k, _)| *k == i).map(|(_, v)| v.clone());
            if let Some(value) = write_field(field, read) {
                written.insert(field.name.to_owned(), value);
            }
        }
        Ok(Value::Object(written))
    }

    fn list(&mut self, item: &Type, items: &[Value]) -> Result<Value, String> {
        let mut read = Vec::new();
        for value in items {
            read.push(self.value(item, value)?.unwrap_or_else(|| zero(item)));
        }
        Ok(Value::Array(read))
    }

    fn map(&mut self, item: &Type, entries: &Map<String, Value>) -> Result<Value, String> {
        let mut read = Map::new();
        for (key, value) in entries {
            let value = self.value(item, value)?.unwrap_or_else(|| zero(item));
            read.insert(key.clone(), value);
        }
        Ok(Value::Object(read))
    }
}

/// Returns the value that Go serializes for a field, or `None` if Go omits the field.
fn write_field(field: &Field, read: Option<Value>) -> Option<Value> {
    if field.pointer {
        return match read {
            None if !field.omit_empty => Some(Value::Null),
            other => other,
        };
    }
    let value = read.unwrap_or_else(|| zero(&field.ty));
    let empty = match (&field.ty.kind, &value) {
        (Kind::String, Value::String(s)) => s.is_empty(),
        (Kind::Bool, Value::Bool(b)) => !b,
        (Kind::Int(_), Value::Number(n)) => n.as_i64() == Some(0),
        (Kind::List(_) | Kind::Map(_), Value::Array(items)) => items.is_empty(),
        (Kind::List(_) | Kind::Map(_), Value::Object(entries)) => entries.is_empty(),
        (Kind::List(_) | Kind::Map(_), _) => true,
        _ => false,
    };
    let is_zero = field.omit_zero && value.is_null();
    let omitted = (field.omit_empty && empty) || is_zero;
    (!omitted).then_some(value)
}

/// Returns Go's zero value in serialized form.
pub fn zero(ty: &Type) -> Value {
    match &ty.kind {
        Kind::String => "".into(),
        Kind::Bool => false.into(),
        Kind::Int(_) | Kind::IntOrString => 0.into(),
        Kind::Quantity => "0".into(),
        Kind::Time | Kind::Raw | Kind::List(_) | Kind::Map(_) => Value::Null,
        Kind::Struct(name) => {
            let fields = tables().of(name).fields.iter();
            let written = fields.filter_map(|f| Some((f.name.to_owned(), write_field(f, None)?)));
            Value::Object(written.collect())
        }
    }
}

fn integer(number: &Number, bits: u32) -> Option<i64> {
    let whole: i64 = number_text(number).parse().ok()?;
    (bits == 64 || i32::try_from(whole).is_ok()).then_some(whole)
}

/// Returns Go's description of a JSON value, with the digits of a number if `digits` is set.
fn described(value: &Value, digits: bool) -> String {
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

fn read_quantity(value: &Value) -> Result<Value, String> {
    let text = match value {
        Value::Number(n) => number_text(n),
        other => {
            let text = other.to_string();
            let inside = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
            inside.map(str::to_owned).unwrap_or(text)
        }
    };
    let written = quantity::canonical(&text);
    written.map(Value::from).map_err(str::to_owned)
}

/// Returns the text if it has the format of RFC 3339. Go's error message is longer than the one returned here.
fn read_time(text: &str) -> Result<Value, String> {
    let form =
        regex::Regex::new(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$");
    if form.is_ok_and(|f| f.is_match(text)) {
        return Ok(text.into());
    }
    let layout = "2006-01-02T15:04:05Z07:00";
    Err(format!(
        "parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\""
    ))
}

/// Returns a normalized form in which semantically equal objects are equal: empty lists and maps count as nil, and
/// quantities are compared by value.
pub fn semantic(ty: &Type, value: &Value) -> Value {
    let filled = |value: &Value| match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        other => !other.is_null(),
    };
    match (&ty.kind, value) {
        (Kind::Quantity, Value::String(text)) => match quantity::parse(text) {
            Ok(quantity) => {
                let (digits, scale) = quantity.value();
                format!("{digits}e{scale}").into()
            }
            Err(_) => value.clone(),
        },
        (Kind::Struct(name), Value::Object(fields)) => {
            let known = tables().of(name).fields.iter();
            let found = known.filter_map(|f| Some((f, fields.get(f.name)?)));
            let lists = |f: &Field| matches!(f.ty.kind, Kind::List(_) | Kind::Map(_));
            let kept = found.filter(|(f, v)| !lists(f) || filled(v));
            kept.map(|(f, v)| (f.name.to_owned(), semantic(&f.ty, v)))
                .collect()
        }
        (Kind::List(item), Value::Array(items)) => {
            items.iter().map(|v| semantic(item, v)).collect()
        }
        (Kind::Map(item), Value::Object(entries)) => {
            let entries = entries.iter();
            entries
                .map(|(k, v)| (k.clone(), semantic(item, v)))
                .collect()
        }
        _ => value.clone(),
    }
}
