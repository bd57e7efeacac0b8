//! JSON values that stand one after the other in a text, as `kubectl get -w -o json` prints them.
//!
//! Must never guess: what is no JSON is an error at its line and column.

use serde_json::Value;

/// What is wrong with a text, and where: lines and columns begin with 1, line 0 is the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// More text than a watch of the largest JobSet prints in a day.
pub const TEXT_MAX: u64 = 1 << 30;

/// Whether a text is JSON, and not YAML, by its first character.
pub fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Gives each value to `take` in turn, with the line in which it ends; what `take` refuses is wrong at that place.
pub fn values(
    file: &str,
    text: &str,
    take: &mut dyn FnMut(Value) -> Result<(), String>,
) -> Result<(), Problem> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut begin = 0;
    while let Some(value) = stream.next() {
        let problem = |(line, column): (usize, usize), message: String| Problem {
            file: file.to_owned(),
            line,
            column,
            message,
        };
        let value = value.map_err(|e| {
            let what = match e.is_eof() {
                true => "the JSON ends in the middle of an object; a watch that was interrupted while it printed? \
                         Delete the last object"
                    .to_owned(),
                false => {
                    let text = e.to_string();
                    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |t| t.0);
                    format!("not JSON: {text}")
                }
            };
            problem((e.line(), e.column().max(1)), what)
        })?;
        take(value).map_err(|message| problem(place(text, begin), message))?;
        begin = stream.byte_offset();
    }
    Ok(())
}

/// Line and column of the first character at or after a byte that is no space.
fn place(text: &str, from: usize) -> (usize, usize) {
    let rest = &text[from..];
    let at = from + rest.len() - rest.trim_start().len();
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |last| last.chars().count());
    (line, column + 1)
}
