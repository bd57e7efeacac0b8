//! Field errors in the API server's words, collected and joined as it joins them.
//!
//! Must never decide whether something is wrong.

use crate::admission::Rejection;
use serde_json::Value;
use std::fmt::Write;

/// Where in an object: `spec.template.spec.containers[0].env[1].name`.
#[derive(Clone, Debug, Default)]
pub struct Path(String);

impl Path {
    pub fn new(name: &str) -> Path {
        Path(name.to_owned())
    }

    pub fn child(&self, name: &str) -> Path {
        if self.0.is_empty() {
            return Path::new(name);
        }
        Path(format!("{}.{name}", self.0))
    }

    pub fn index(&self, at: usize) -> Path {
        Path(format!("{}[{at}]", self.0))
    }

    pub fn key(&self, key: &str) -> Path {
        Path(format!("{}[{key}]", self.0))
    }
}

/// All errors of one object, in the order of the checks.
#[derive(Debug, Default)]
pub struct Errors {
    found: Vec<String>,
    /// The server runs without `--allow-privileged`.
    pub refuse_privileged: bool,
}

impl Errors {
    /// For a server that refuses privileged containers.
    pub fn unprivileged() -> Errors {
        Errors {
            refuse_privileged: true,
            ..Errors::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub fn append(&mut self, mut more: Errors) {
        self.found.append(&mut more.found);
    }

    fn add(&mut self, path: &Path, body: &str, detail: &str) {
        let colon = if detail.is_empty() { "" } else { ": " };
        self.found
            .push(format!("{}: {body}{colon}{detail}", path.0));
    }

    pub fn required(&mut self, path: &Path, detail: &str) {
        self.add(path, "Required value", detail);
    }

    pub fn forbidden(&mut self, path: &Path, detail: &str) {
        self.add(path, "Forbidden", detail);
    }

    pub fn invalid(&mut self, path: &Path, value: &Value, detail: &str) {
        self.invalid_raw(path, &shown(value), detail);
    }

    pub fn invalid_text(&mut self, path: &Path, value: &str, detail: &str) {
        self.invalid_raw(path, &quoted(value), detail);
    }

    /// With a value already in the server's notation.
    pub fn invalid_raw(&mut self, path: &Path, value: &str, detail: &str) {
        self.add(path, &format!("Invalid value: {value}"), detail);
    }

    /// The server leaves the value out.
    pub fn invalid_omitted(&mut self, path: &Path, detail: &str) {
        self.add(path, "Invalid value", detail);
    }

    pub fn unsupported(&mut self, path: &Path, value: &Value, supported: &[&str]) {
        let names: Vec<String> = supported.iter().map(|s| quoted(s)).collect();
        let detail = format!("supported values: {}", names.join(", "));
        self.add(
            path,
            &format!("Unsupported value: {}", shown(value)),
            &detail,
        );
    }

    pub fn duplicate(&mut self, path: &Path, value: &Value) {
        self.add(path, &format!("Duplicate value: {}", shown(value)), "");
    }

    pub fn not_found(&mut self, path: &Path, value: &str) {
        self.add(path, &format!("Not found: {}", quoted(value)), "");
    }

    pub fn not_found_with(&mut self, path: &Path, value: &str, detail: &str) {
        self.add(path, &format!("Not found: {}", quoted(value)), detail);
    }

    pub fn too_long(&mut self, path: &Path, most: usize) {
        self.add(
            path,
            "Too long",
            &format!("may not be more than {most} bytes"),
        );
    }

    pub fn too_many(&mut self, path: &Path, found: usize, most: usize) {
        let detail = format!("must have at most {most} items");
        self.add(path, &format!("Too many: {found}"), &detail);
    }

    /// One `Invalid value` for each message of a rule for names.
    pub fn all_invalid(&mut self, path: &Path, value: &str, messages: Vec<String>) {
        for message in messages {
            self.invalid_text(path, value, &message);
        }
    }

    /// 422 Invalid, or nothing. Equal messages are said once; several stand in brackets.
    pub fn into_rejection(self, kind: &str, name: &str) -> Result<(), Rejection> {
        let mut said: Vec<String> = Vec::new();
        for message in self.found {
            if !said.contains(&message) {
                said.push(message);
            }
        }
        let mut message = format!("{kind} {} is invalid: ", quoted(name));
        match said.as_slice() {
            [] => return Ok(()),
            [one] => message.push_str(one),
            many => {
                let _ = write!(message, "[{}]", many.join(", "));
            }
        }
        Err(Rejection {
            code: 422,
            reason: "Invalid".to_owned(),
            message,
        })
    }
}

/// A text as Go quotes it.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A value as the server prints it: numbers bare, texts quoted, the rest as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        other => other.to_string(),
    }
}
