//! Gates, records and values of `diff` as text.

use crate::cli::failure::{CommandFailure, GATE_FAILED};
use crate::cli::output;
use serde_json::Value;
use sim_analysis::format::exact_seconds;
use sim_base::condition::FieldCondition;
use sim_base::escape::for_terminal;
use std::fmt::Write;

/// Checks the conditions and returns the exit code. Prints every condition that is true.
pub fn gate(conditions: &[FieldCondition], number: impl Fn(&str) -> f64) -> Result<u8, CommandFailure> {
    let mut failed = false;
    for condition in conditions {
        let value = number(&condition.name);
        let verdict = condition.evaluate(value, None)?;
        if verdict.failed {
            output::notice(&format!("--fail-if {condition}: the value is {value}"));
        }
        failed |= verdict.failed;
    }
    Ok(if failed { GATE_FAILED } else { 0 })
}

/// Formats a record or a decision as one line: number, time, kind, object, then the other members.
pub fn record_line(value: &Value) -> String {
    let Some(members) = value.as_object() else {
        return value.to_string();
    };
    let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default();
    let at = members.get("t_ns").and_then(Value::as_u64).unwrap_or(0);
    let kind = format!("{}{}", text("kind"), text("controller"));
    let number = members.get("seq").or(members.get("decision"));
    let number = number.map_or(String::new(), Value::to_string);
    let at = exact_seconds(u128::from(at));
    let mut line = format!("{number} {at}s {kind} {}", text("object"));
    const TOLD: [&str; 7] = ["seq", "decision", "t_ns", "cause", "kind", "controller", "object"];
    for (key, value) in members.iter().filter(|(key, _)| !TOLD.contains(&key.as_str())) {
        if value.as_str() != Some("") {
            let _ = write!(line, " {key}={value}");
        }
    }
    line
}

/// Cuts a text after 200 characters and escapes control characters; records may have hundreds of columns.
pub fn cut(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut listed: String = text.chars().take(LONGEST).collect();
    if text.chars().count() > LONGEST {
        listed.push_str("...");
    }
    for_terminal(&listed, false).into_owned()
}

pub fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => cut(text),
        other => cut(&other.to_string()),
    }
}
