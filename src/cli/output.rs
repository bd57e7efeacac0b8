//! Standard output, standard error, and how text looks on them.

use super::Failure;
use super::args::{Color, Look};
use crate::base::plain::for_terminal;
use crate::report::waterfall::Style;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

/// Writes a result.
pub fn result(text: &str) -> Result<(), Failure> {
    bytes(for_terminal(text, false).as_bytes())
}

/// Writes a result in which our own colors may be.
pub fn styled(text: &str, style: &Style) -> Result<(), Failure> {
    bytes(for_terminal(text, style.color).as_bytes())
}

/// A reader that has seen enough, such as `head`, is no error.
pub fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::Invalid(format!(
            "cannot write to standard output: {e}"
        ))),
        _ => Ok(()),
    }
}

pub fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text =
        serde_json::to_string_pretty(value).map_err(|e| Failure::Internal(e.to_string()))?;
    text.push('\n');
    result(&text)
}

/// Writes a line to standard error; nobody can be told if that fails.
pub fn notice(text: &str) {
    let _ = writeln!(stderr().lock(), "{}", for_terminal(text, false));
}

/// Replaces the progress line, on a terminal only.
pub fn progress(text: &str) {
    if stderr().is_terminal() {
        let _ = write!(stderr().lock(), "\r\u{1b}[K{text}");
    }
}

pub fn style(look: &Look) -> Style {
    let color = match look.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => stdout().is_terminal(),
    };
    Style {
        unicode: !look.ascii,
        color,
        ..Style::default()
    }
}
