//! Prints a JSON tree as a YAML document that parses to the same tree.

use serde_json::Value;

/// Prints an object as a document. The fields apiVersion, kind and metadata come first.
pub fn yaml(object: &Value) -> String {
    let mut out = String::new();
    let fields = object.as_object().into_iter().flatten();
    let rank = |key: &str| ["apiVersion", "kind", "metadata"].iter().position(|k| *k == key);
    let mut fields: Vec<(&String, &Value)> = fields.collect();
    fields.sort_by_key(|(key, _)| rank(key).unwrap_or(usize::MAX));
    for (key, value) in fields {
        entry(key, value, 0, &mut out);
    }
    out
}

fn entry(key: &str, value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    let key = scalar(&Value::from(key));
    out.push_str(&format!("{pad}{key}:"));
    nested(value, indent, out);
}

/// Prints the value of a key: scalars on the same line, other values below it.
fn nested(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            out.push('\n');
            for (key, value) in fields {
                entry(key, value, indent + 2, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            for value in items {
                item(value, indent, out);
            }
        }
        other => out.push_str(&format!(" {}\n", scalar(other))),
    }
}

fn item(value: &Value, indent: usize, out: &mut String) {
    let start = out.len();
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                entry(key, value, indent + 2, out);
            }
            // The first key follows the dash on the same line.
            out.replace_range(start + indent..start + indent + 1, "-");
        }
        other => {
            out.push_str(&" ".repeat(indent));
            out.push('-');
            nested(other, indent + 2, out);
        }
    }
}

/// Prints a scalar. Strings that YAML would parse as another type are quoted.
fn scalar(value: &Value) -> String {
    let Value::String(text) = value else {
        return value.to_string();
    };
    let first = |c: char| c.is_ascii_alphabetic() || "/_".contains(c);
    let inner = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let plain =
        text.starts_with(first) && text.chars().all(inner) && !words.contains(&text.to_ascii_lowercase().as_str());
    if plain { text.clone() } else { value.to_string() }
}
