//! Errors about fields, in the words and the order of Kubernetes' field package, and the sentences around them.
//!
//! Must never decide what is an error.

use super::Rejection;
use std::fmt;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Required,
    Invalid,
    NotSupported,
    Duplicate,
    Forbidden,
    TooLong,
    TooMany,
    TypeInvalid,
    Internal,
}

impl Kind {
    pub fn words(self) -> &'static str {
        match self {
            Kind::Required => "Required value",
            Kind::Invalid | Kind::TypeInvalid => "Invalid value",
            Kind::NotSupported => "Unsupported value",
            Kind::Duplicate => "Duplicate value",
            Kind::Forbidden => "Forbidden",
            Kind::TooLong => "Too long",
            Kind::TooMany => "Too many",
            Kind::Internal => "Internal error",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// `<nil>` where the server names no field.
    pub path: String,
    pub kind: Kind,
    /// The value as the server prints it; None where it prints none.
    pub value: Option<String>,
    pub detail: String,
}

impl FieldError {
    pub fn new(path: impl Into<String>, kind: Kind, detail: impl Into<String>) -> FieldError {
        FieldError {
            path: path.into(),
            kind,
            value: None,
            detail: detail.into(),
        }
    }

    pub fn invalid(
        path: impl Into<String>,
        value: impl Into<String>,
        detail: impl Into<String>,
    ) -> FieldError {
        FieldError {
            value: Some(value.into()),
            ..FieldError::new(path, Kind::Invalid, detail)
        }
    }

    /// A plain Go error that the webhook wraps.
    pub fn internal(detail: impl Into<String>) -> FieldError {
        FieldError::new("<nil>", Kind::Internal, detail)
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.kind.words())?;
        if let Some(value) = &self.value {
            write!(f, ": {value}")?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// A Go string in quotes, as `%q` prints it.
pub fn quoted(text: &str) -> String {
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

/// Go's notion, as far as names are written: no control, no space but the common one, no format, no private use.
fn is_printable(c: char) -> bool {
    let unseen = matches!(
        c as u32,
        0xad | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xe000..=0xf8ff | 0xfeff | 0xfff9..=0xfffb
    );
    c == ' ' || !(c.is_control() || c.is_whitespace() || unseen)
}

/// One error as it is, several in brackets; equal sentences once.
fn aggregate(errors: &[FieldError]) -> String {
    let mut sentences: Vec<String> = Vec::new();
    for error in errors {
        let sentence = error.to_string();
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    match sentences.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

/// The 422 of the API server itself.
pub fn invalid(name: &str, errors: &[FieldError]) -> Rejection {
    Rejection {
        code: 422,
        reason: "Invalid".to_owned(),
        message: format!(
            "JobSet.jobset.x-k8s.io {} is invalid: {}",
            quoted(name),
            aggregate(errors)
        ),
    }
}

/// The 422 of the validating webhook.
pub fn denied(name: &str, errors: &[FieldError]) -> Rejection {
    let inner = invalid(name, errors);
    Rejection {
        message: format!(
            "admission webhook \"vjobset.kb.io\" denied the request: {}",
            inner.message
        ),
        ..inner
    }
}

/// The 400 of a webhook that could not read the object; it gives no reason.
pub fn unreadable(webhook: &str, error: &str) -> Rejection {
    Rejection {
        code: 400,
        reason: String::new(),
        message: format!("admission webhook {webhook:?} denied the request: {error}"),
    }
}

/// The API server's 400.
pub fn bad_request(message: impl Into<String>) -> Rejection {
    Rejection {
        code: 400,
        reason: "BadRequest".to_owned(),
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_go_quotes_them() {
        for (text, expected) in [
            ("a b", "\"a b\""),
            ("a\"\\", "\"a\\\"\\\\\""),
            ("\n\t\u{1}\u{7f}", "\"\\n\\t\\x01\\x7f\""),
            ("caf\u{e9}", "\"caf\u{e9}\""),
            ("\u{a0}\u{200b}", "\"\\u00a0\\u200b\""),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }

    #[test]
    fn several_errors_stand_in_brackets_and_equal_ones_once() {
        let one = FieldError::internal("x");
        let two = FieldError::invalid("a.b", "1", "y");
        let message = |errors: &[FieldError]| invalid("n", errors).message;
        let head = "JobSet.jobset.x-k8s.io \"n\" is invalid: ";
        assert_eq!(
            message(std::slice::from_ref(&one)),
            format!("{head}<nil>: Internal error: x")
        );
        assert_eq!(
            message(&[one.clone(), two, one]),
            format!("{head}[<nil>: Internal error: x, a.b: Invalid value: 1: y]")
        );
    }
}
