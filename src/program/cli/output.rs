//! Writing to standard output and standard error, with colors, line width and progress.

use crate::cli::args::{ColorChoice, DisplayStyle, Verbosity};
use crate::cli::failure::CommandFailure;
use sim_analysis::format::{fitted, wrap};
use sim_base::escape::{for_terminal, to_ascii};
use sim_report::console::style::{Detail, WaterfallStyle};
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::sync::{Mutex, PoisonError};

/// Writes a result to standard output; control characters are escaped.
pub fn result(text: &str) -> Result<(), CommandFailure> {
    bytes(for_terminal(text, false).as_bytes())
}

/// Writes text that may contain the program's own color codes, wrapped to the width of the terminal.
pub fn styled(text: &str, style: &WaterfallStyle) -> Result<(), CommandFailure> {
    let text = if style.unicode { text.into() } else { to_ascii(text) };
    let text = fitted(&text, style.width);
    bytes(for_terminal(&text, style.color).as_bytes())
}

/// Writes text without colors, wrapped to the width of the terminal.
pub fn text(text: &str) -> Result<(), CommandFailure> {
    let style = WaterfallStyle { width: width(), ..WaterfallStyle::default() };
    styled(text, &style)
}

/// Writes bytes to standard output. A closed pipe, as after `head`, is not an error.
pub fn bytes(bytes: &[u8]) -> Result<(), CommandFailure> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(CommandFailure::Invalid(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

pub fn json(value: &impl serde::Serialize) -> Result<(), CommandFailure> {
    let mut text = serde_json::to_string_pretty(value).map_err(|e| CommandFailure::Internal(e.to_string()))?;
    text.push('\n');
    result(&text)
}

/// Writes a line to standard error. Write errors are ignored, because they cannot be reported.
pub fn notice(text: &str) {
    let _ = writeln!(stderr().lock(), "{}", for_terminal(text, false));
}

/// Writes a sentence to standard error, wrapped to several lines.
pub fn note(text: &str) {
    notice(&wrap(text, width() - 2).join("\n  "));
}

/// The progress line of a command. Several threads may update it in any order; it is removed when dropped.
pub struct ProgressLine<F> {
    printed: Mutex<u64>,
    quiet: bool,
    text: F,
}

impl<F: Fn(u64) -> String> ProgressLine<F> {
    pub fn new(quiet: bool, text: F) -> ProgressLine<F> {
        ProgressLine { printed: Mutex::new(0), quiet, text }
    }

    /// Shows the number unless a higher one is already shown.
    pub fn reach(&self, done: u64) {
        // The lock is held while the line is written, so that a lower number is never written after it.
        let mut highest = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if done > *highest && !self.quiet {
            *highest = done;
            progress(&(self.text)(done));
        }
    }
}

impl<F> Drop for ProgressLine<F> {
    fn drop(&mut self) {
        if !self.quiet {
            progress("");
        }
    }
}

/// Replaces the progress line if standard error is a terminal.
pub fn progress(text: &str) {
    if stderr().is_terminal() {
        let _ = write!(stderr().lock(), "\r\u{1b}[K{text}");
    }
}

pub fn style(look: &DisplayStyle) -> WaterfallStyle {
    let color = match look.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => stdout().is_terminal() && !no_color(),
    };
    WaterfallStyle { unicode: !look.ascii, color, width: width(), detail: Detail::Full }
}

/// Returns the style of a report that is a summary unless `--verbose` is set.
pub fn report_style(look: &DisplayStyle, verbosity: Verbosity) -> WaterfallStyle {
    let detail = if verbosity.verbose { Detail::Full } else { Detail::Brief };
    WaterfallStyle { detail, ..style(look) }
}

/// Returns whether `NO_COLOR` is set to a non-empty value; see <https://no-color.org>.
#[expect(clippy::disallowed_methods, reason = "affects colors only, not content")]
fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Returns the number of columns of text, clamped to 60 to 200: the environment variable `COLUMNS`, otherwise the width
/// of the terminal, otherwise the default width of `WaterfallStyle`.
fn width() -> usize {
    let columns = columns_variable().or_else(terminal_columns);
    columns.map_or(WaterfallStyle::default().width, |columns| columns.clamp(NARROWEST, WIDEST))
}

#[expect(clippy::disallowed_methods, reason = "affects the layout of text only")]
fn columns_variable() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|columns| *columns > 0)
}

#[cfg(any(unix, windows))]
fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0))
}

/// Returns `None`: browsers have no terminal.
#[cfg(not(any(unix, windows)))]
fn terminal_columns() -> Option<usize> {
    None
}

/// Tables need at least 60 columns, and lines longer than 200 are hard to read.
const NARROWEST: usize = 60;
const WIDEST: usize = 200;

#[cfg(test)]
#[path = "../../../tests/inside/program/cli/output.rs"]
mod tests;
