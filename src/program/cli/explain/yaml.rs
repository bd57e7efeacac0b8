//! Formats JSON trees as YAML in the style of kubectl: keys in order, lists not indented, strings quoted only where
//! needed.
//!
//! Reading the output again must return the same values.

use serde_json::Value;
use std::fmt::Write;

/// Formats one document without its leading `---`.
pub fn yaml(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

fn block(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(fields) => {
            for (k, (key, value)) in fields.iter().enumerate() {
                // The first key of a list item is on the same line as the dash.
                if k > 0 || !out.ends_with("- ") {
                    indent(out, depth);
                }
                let _ = write!(out, "{}:", scalar(key));
                nested(out, value, depth);
            }
        }
        Value::Array(items) => {
            for item in items {
                indent(out, depth);
                out.push_str("- ");
                match item {
                    Value::Object(fields) if !fields.is_empty() => block(out, item, depth + 1),
                    _ => {
                        let _ = writeln!(out, "{}", flow(item));
                    }
                }
            }
        }
        _ => {
            let _ = writeln!(out, "{}", flow(value));
        }
    }
}

/// Writes the value of a key.
fn nested(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            out.push('\n');
            block(out, value, depth + 1);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            block(out, value, depth);
        }
        Value::String(text) if is_block(text) => block_text(out, text, depth + 1),
        _ => {
            let _ = writeln!(out, " {}", flow(value));
        }
    }
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Formats a value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// Returns whether a string can be a block scalar: it has several lines and a block scalar preserves it.
fn is_block(text: &str) -> bool {
    let plain = |c: char| c == '\n' || (!c.is_control() && c != '\u{feff}');
    text.contains('\n')
        && text.chars().all(plain)
        && !text.starts_with([' ', '\n'])
        && !text.ends_with("\n\n")
        && text.lines().all(|line| !line.ends_with(' '))
}

fn block_text(out: &mut String, text: &str, depth: usize) {
    let keep = if text.ends_with('\n') { "" } else { "-" };
    let _ = writeln!(out, " |{keep}");
    for line in text.lines() {
        if !line.is_empty() {
            indent(out, depth);
        }
        let _ = writeln!(out, "{line}");
    }
}

/// Returns the string unquoted if no YAML reader could misinterpret it, else quoted.
fn scalar(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./ @%+=(),".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let number = text.parse::<f64>().is_ok();
    if starts && !word && !number && text.chars().all(safe) && !text.ends_with(' ') {
        return text.to_owned();
    }
    Value::from(text).to_string()
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/explain/yaml.rs"]
mod tests;
