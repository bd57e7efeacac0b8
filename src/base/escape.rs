//! Sanitizes text from names, messages and files for its destination: a terminal, a table cell, Markdown, HTML.
//!
//! Uses the escapes of JSON, so that JSON remains valid and keeps its meaning.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes characters that move the cursor, change the terminal or the reading direction, as `\u001b` for example.
/// Line ends and tabs are kept; with `colors`, also color sequences (`ESC [ digits ; … m`).
pub fn for_terminal(text: &str, colors: bool) -> Cow<'_, str> {
    // Most cells of large tables are printable ASCII, which is tested without decoding characters.
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) || !text.contains(is_control) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_control) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let color = if colors { color_length(rest) } else { None };
        if let Some(length) = color {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some(c) = rest.chars().next() {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
            rest = &rest[c.len_utf8()..];
        }
    }
    out.push_str(rest);
    out.into()
}

/// Replaces all non-ASCII characters: signs by similar ASCII characters of the same width where possible, other
/// characters by escapes as in JSON.
pub fn to_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{0}'..='\u{7f}' => out.push(c),
            '−' | '–' | '—' | '·' => out.push('-'),
            '×' => out.push('x'),
            '±' => out.push_str("+-"),
            '≤' => out.push_str("<="),
            '≥' => out.push_str(">="),
            '→' => out.push_str("->"),
            '←' => out.push('<'),
            '…' => out.push_str("..."),
            '\u{a0}' => out.push(' '),
            '▲' => out.push('^'),
            '▼' => out.push('v'),
            '“' | '”' => out.push('"'),
            '‘' | '’' => out.push('\''),
            _ => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        }
    }
    out.into()
}

/// Text of a table cell that a spreadsheet does not interpret as a formula and a terminal not as a command: text that
/// begins like a formula and is not a number gets an apostrophe.
pub fn for_cell(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula && text.parse::<f64>().is_err() {
        format!("'{}", for_terminal(text, false)).into()
    } else {
        for_terminal(text, false)
    }
}

/// Escapes text for a line or cell of Markdown: no markup, HTML or links.
pub fn for_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in for_terminal(text, false).chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Escapes text between tags or in quoted attributes of HTML or SVG. Characters that XML does not allow are escaped
/// or replaced.
pub fn for_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in for_terminal(text, false).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// C0 except line end and tab, DEL, C1, the marks and overrides of the reading direction (Unicode Standard Annex 9),
/// and two separators that some terminals interpret as line ends.
fn is_control(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2066}'..='\u{2069}' => true,
        _ => false,
    }
}

/// Length of the color sequence at the beginning of `text`.
fn color_length(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[end..].starts_with('m').then_some(2 + end + 1)
}
