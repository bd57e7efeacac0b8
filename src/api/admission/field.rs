//! Errors of single fields: path, kind, value and message.
//!
//! This module must not decide whether a value is valid and must not depend on the kind of object.

use serde_json::Value;
use std::fmt;

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldErrorKind {
    Required,
    #[default]
    Invalid,
    NotSupported,
    NotFound,
    Duplicate,
    Forbidden,
    TooLong,
    TooMany,
    TypeInvalid,
    Internal,
    /// The field is unknown. Strict decoding reports it; no validation rule does.
    Unknown,
}

impl FieldErrorKind {
    pub fn description(self) -> &'static str {
        match self {
            FieldErrorKind::Required => "Required value",
            FieldErrorKind::Invalid | FieldErrorKind::TypeInvalid => "Invalid value",
            FieldErrorKind::NotSupported => "Unsupported value",
            FieldErrorKind::NotFound => "Not found",
            FieldErrorKind::Duplicate => "Duplicate value",
            FieldErrorKind::Forbidden => "Forbidden",
            FieldErrorKind::TooLong => "Too long",
            FieldErrorKind::TooMany => "Too many",
            FieldErrorKind::Internal => "Internal error",
            FieldErrorKind::Unknown => "Unknown field",
        }
    }
}

/// Path of a field in an object, e.g. `spec.template.spec.containers[0].env[1].name`.
#[derive(Clone, Debug, Default)]
pub struct FieldPath(String);

impl FieldPath {
    pub fn new(name: &str) -> FieldPath {
        FieldPath(name.to_owned())
    }

    pub fn child(&self, name: &str) -> FieldPath {
        if self.0.is_empty() {
            return FieldPath::new(name);
        }
        FieldPath(format!("{}.{name}", self.0))
    }

    pub fn index(&self, at: usize) -> FieldPath {
        FieldPath(format!("{}[{at}]", self.0))
    }

    pub fn key(&self, key: &str) -> FieldPath {
        FieldPath(format!("{}[{key}]", self.0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldError {
    /// Path as printed by the server, or `<nil>` if the server prints none.
    pub path: String,
    pub kind: FieldErrorKind,
    /// Value as printed by the server, or `None` if the server prints none.
    pub value: Option<String>,
    pub detail: String,
    /// Actual path in the object, if the server prints a different path or none.
    pub actual_path: Option<String>,
    /// Allowed values, if known. The server does not print them.
    pub legal: Vec<String>,
    /// Additional advice. The server does not print it.
    pub hint: Option<String>,
}

impl FieldError {
    pub fn new(path: impl Into<String>, kind: FieldErrorKind, detail: impl Into<String>) -> FieldError {
        FieldError { path: path.into(), kind, detail: detail.into(), ..FieldError::default() }
    }

    pub fn invalid(path: impl Into<String>, value: impl Into<String>, detail: impl Into<String>) -> FieldError {
        FieldError { value: Some(value.into()), ..FieldError::new(path, FieldErrorKind::Invalid, detail) }
    }

    /// Returns an error for a plain Go error that the webhook wraps.
    pub fn internal(detail: impl Into<String>) -> FieldError {
        FieldError::new("<nil>", FieldErrorKind::Internal, detail)
    }

    pub fn with_actual_path(mut self, place: impl Into<String>) -> FieldError {
        self.actual_path = Some(place.into());
        self
    }

    pub fn with_legal_values(mut self, legal: impl IntoIterator<Item = impl Into<String>>) -> FieldError {
        self.legal = legal.into_iter().map(Into::into).collect();
        self
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> FieldError {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the path in the object. Empty means the whole object.
    pub fn object_path(&self) -> &str {
        match &self.actual_path {
            Some(place) => place,
            None if self.path == "<nil>" => "",
            None => &self.path,
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.kind.description())?;
        if let Some(value) = &self.value {
            write!(f, ": {value}")?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// Formats a value like the server: strings in quotes, other values as JSON.
pub fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => go_quote(text),
        other => other.to_string(),
    }
}

/// Quotes a string like Go's `%q`.
pub fn go_quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c if !is_printable(c) && c as u32 > 0xffff => {
                out.push_str(&format!("\\U{:08x}", c as u32));
            }
            c if !is_printable(c) => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Approximates Go's `strconv.IsPrint` for the characters that occur in names: control, format, private-use and
/// whitespace characters other than the space are not printable.
fn is_printable(c: char) -> bool {
    let unseen = matches!(
        c as u32,
        0xad | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xe000..=0xf8ff | 0xfeff | 0xfff9..=0xfffb
    );
    c == ' ' || !(c.is_control() || c.is_whitespace() || unseen)
}
