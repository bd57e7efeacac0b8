//! Reads JSON values that follow one another in a text, as printed by `kubectl get -w -o json`.
//!
//! Invalid JSON is an error with line and column; nothing is guessed.

use serde_json::Value;
use std::fmt;

/// An error in a text and its position. Lines and columns start at 1; line 0 means the whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextProblem {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// Maximum size of a text in bytes: more than a watch of the largest JobSet prints in a day.
pub const TEXT_MAX: u64 = 1 << 30;

/// Returns whether a text is JSON rather than YAML, judging by its first character.
pub fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Passes each value to `take` in turn. An error returned by `take` is reported at the start of that value.
pub fn for_each_value<E: fmt::Display>(
    file: &str, text: &str, take: &mut dyn FnMut(Value) -> Result<(), E>,
) -> Result<(), TextProblem> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut begin = 0;
    while let Some(value) = stream.next() {
        let problem = |(line, column): (usize, usize), message: String| TextProblem {
            file: file.to_owned(),
            line,
            column,
            message,
        };
        let value = value.map_err(|e| {
            let what = if e.is_eof() {
                "the JSON ends in the middle of an object; the watch may have been interrupted. \
                 Delete the last, incomplete object"
                    .to_owned()
            } else {
                let text = e.to_string();
                let text = text.rsplit_once(" at line ").map_or(text.as_str(), |t| t.0);
                format!("not JSON: {text}")
            };
            problem((e.line(), e.column().max(1)), what)
        })?;
        take(value).map_err(|error| problem(position(text, begin), error.to_string()))?;
        begin = stream.byte_offset();
    }
    Ok(())
}

/// Returns line and column of the first non-whitespace character at or after the byte `from`.
fn position(text: &str, from: usize) -> (usize, usize) {
    let rest = &text[from..];
    let at = from + rest.len() - rest.trim_start().len();
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count());
    (line, column + 1)
}
