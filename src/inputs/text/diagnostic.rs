//! The common format of input errors: position, message, legal values and a suggestion.
//!
//! This module must never decide whether an input is valid.

#![deny(missing_docs)]

use super::node::{NodeOrigin, SourcePosition};
use std::fmt;

/// A named text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// Name of the text in messages.
    pub file: String,
    /// Contents of the text.
    pub text: String,
}

/// One error in an input, with its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostic {
    /// File name, or another name of the text.
    pub file: String,
    /// 1-based line number; 0 refers to the whole file.
    pub line: u32,
    /// 1-based column number; 0 if `line` is 0.
    pub column: u32,
    /// Number of characters to underline.
    pub len: u32,
    /// Description of the error.
    pub message: String,
    /// Description of the legal values.
    pub legal: Option<String>,
    /// Suggested correction, if known.
    pub suggestion: Option<String>,
    /// Message of the API server, if it would refuse the object.
    pub server: Option<String>,
    /// Line of the text; long lines are cut around the error.
    pub snippet: String,
    /// Marks an object that is valid but that no node of the cluster could run.
    pub no_place: bool,
    /// Position of the error in `snippet`, in characters.
    pub offset: u32,
}

/// All errors found, in text order where positions are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Returns whether there are errors, and all of them only report that no node could run an object.
    pub fn is_only_no_place(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|d| d.no_place)
    }
}

/// Maximum number of errors printed; the rest is only counted.
const SHOWN_MAX: usize = 20;
/// Maximum number of errors of one kind that are all printed; of more, only the first `REPEATED_SHOWN`.
const REPEATED_MAX: usize = 5;
const REPEATED_SHOWN: usize = 2;
/// Maximum snippet length in characters; longer lines are cut around the error.
const SNIPPET_MAX: usize = 100;
/// Maximum message length in characters; longer messages are cut in the middle.
const MESSAGE_MAX: usize = 600;

impl Diagnostic {
    /// Creates an error about a whole file.
    pub fn of_file(file: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { file: file.to_owned(), message: shortened(message.into()), ..Diagnostic::default() }
    }

    /// Creates an error at a position in a text.
    pub fn at(source: &SourceText, at: SourcePosition, message: impl Into<String>) -> Diagnostic {
        let (snippet, offset) = snippet(&source.text, at);
        Diagnostic {
            file: source.file.clone(),
            line: at.line,
            column: at.column.max(1),
            len: at.len,
            message: shortened(message.into()),
            snippet,
            offset,
            ..Diagnostic::default()
        }
    }

    /// Sets the description of the legal values.
    pub fn legal(&mut self, legal: impl Into<String>) -> &mut Diagnostic {
        let legal = Some(legal.into()).filter(|l| !l.is_empty());
        self.legal = legal.map(shortened);
        self
    }

    /// Sets the suggested correction.
    pub fn suggest(&mut self, suggestion: impl Into<String>) -> &mut Diagnostic {
        self.suggestion = Some(shortened(suggestion.into()));
        self
    }

    /// Suggests the most similar known name, if there is a similar one.
    pub fn nearest<'a>(&mut self, found: &str, known: impl IntoIterator<Item = &'a str>) -> &mut Diagnostic {
        if let Some(name) = sim_base::suggest::nearest(found, known) {
            self.suggestion = Some(format!("did you mean {name:?}?"));
        }
        self
    }
}

/// Cuts a long message in the middle. Quoted input can have any length.
pub fn shortened(text: String) -> String {
    let Some((at, _)) = text.char_indices().nth(MESSAGE_MAX) else {
        return text;
    };
    let half = MESSAGE_MAX / 2;
    let start: String = text[..at].chars().take(half).collect();
    let mut end: Vec<char> = text.chars().rev().take(half).collect();
    end.reverse();
    format!("{start} ... {}", end.iter().collect::<String>())
}

/// Returns the line at a position, cut to a window around it, and the offset of the position in the result.
///
/// Only the text near the position is read, because a file that is one long line may have an error in each word.
fn snippet(text: &str, at: SourcePosition) -> (String, u32) {
    let Some(byte) = byte_of(text, at) else {
        return (String::new(), 0);
    };
    let in_line = |c: &char| *c != '\n';
    let mut before: Vec<char> = text[..byte].chars().rev().take(SNIPPET_MAX + 1).take_while(in_line).collect();
    let after = text[byte..].chars().take(SNIPPET_MAX + 1);
    let mut after: Vec<char> = after.take_while(in_line).collect();
    if after.last() == Some(&'\r') {
        after.pop();
    }
    let (mut prefix, mut suffix) = ("", "");
    if before.len() + after.len() > SNIPPET_MAX {
        if before.len() > SNIPPET_MAX / 2 {
            before.truncate(SNIPPET_MAX / 2);
            prefix = "...";
        }
        let room = SNIPPET_MAX - before.len();
        if after.len() > room {
            after.truncate(room);
            suffix = "...";
        }
    }
    let offset = (prefix.len() + before.len()) as u32;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let displayed: String = before.into_iter().rev().chain(after).map(clean).collect();
    (format!("{prefix}{displayed}{suffix}"), offset)
}

/// Returns the byte offset of a position. For files, the parser provides it.
fn byte_of(text: &str, at: SourcePosition) -> Option<usize> {
    let byte = at.byte as usize;
    if at.origin == NodeOrigin::File && byte > 0 && text.is_char_boundary(byte) {
        return Some(byte);
    }
    let skip = at.line.checked_sub(1)? as usize;
    let start: usize = text.split_inclusive('\n').take(skip).map(str::len).sum();
    let line = text[start..].lines().next()?;
    let column = at.column.saturating_sub(1) as usize;
    let inside = line.char_indices().nth(column).map(|(i, _)| i);
    Some(start + inside.unwrap_or(line.len()))
}

impl Diagnostic {
    /// Returns the error with its snippet cut to lines of at most `width` characters, around the position.
    pub fn fitted(&self, width: usize) -> Diagnostic {
        const ELLIPSIS: &str = "...";
        let gutter = self.line.to_string().len() + " | ".len();
        let room = width.saturating_sub(gutter).max(4 * ELLIPSIS.len());
        let length = self.snippet.chars().count();
        if length <= room {
            return self.clone();
        }
        let before = (self.offset as usize).saturating_sub(room / 3);
        let prefix = if before > 0 { ELLIPSIS } else { "" };
        let kept = room - prefix.len() - if length - before > room - prefix.len() { ELLIPSIS.len() } else { 0 };
        let text: String = self.snippet.chars().skip(before).take(kept).collect();
        let suffix = if length - before > kept { ELLIPSIS } else { "" };
        let offset = self.offset - before as u32 + prefix.len() as u32;
        Diagnostic { snippet: format!("{prefix}{text}{suffix}"), offset, ..self.clone() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        let number = if self.line > 0 { self.line.to_string() } else { String::new() };
        let gutter = " ".repeat(number.len().max(1));
        if self.line == 0 {
            if !self.file.is_empty() {
                write!(f, "\n{gutter}--> {}", self.file)?;
            }
            if let Some(suggestion) = &self.suggestion {
                write!(f, "\n{gutter} = {suggestion}")?;
            }
        } else {
            let (text, offset) = (&self.snippet, self.offset as usize);
            let room = text.chars().count().saturating_sub(offset).max(1);
            let carets = "^".repeat((self.len.max(1) as usize).min(room));
            write!(f, "\n{gutter}--> {}:{}:{}", self.file, self.line, self.column)?;
            write!(f, "\n{gutter} |\n{number} | {text}")?;
            write!(f, "\n{gutter} | {}{carets}", " ".repeat(offset))?;
            if let Some(suggestion) = &self.suggestion {
                write!(f, " {suggestion}")?;
            }
        }
        if let Some(legal) = &self.legal {
            write!(f, "\n{gutter} = legal: {legal}")?;
        }
        if let Some(server) = &self.server {
            write!(f, "\n{gutter} = API server message: {server}")?;
        }
        Ok(())
    }
}

/// Returns a message without its quoted parts and numbers: messages of one mistake in many places are then equal.
fn kind_of_mistake(message: &str) -> String {
    let unquoted = message.split('"').step_by(2).collect::<Vec<_>>().join("\"");
    unquoted.chars().filter(|c| !c.is_ascii_digit()).collect()
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds: Vec<(String, Vec<&Diagnostic>)> = Vec::new();
        for diagnostic in &self.0 {
            let kind = kind_of_mistake(&diagnostic.message);
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, own)) => own.push(diagnostic),
                None => kinds.push((kind, vec![diagnostic])),
            }
        }
        //  In text order: the first errors of each kind, and where errors are left out, their number.
        let is_counted = |own: &[&Diagnostic]| own.len() > REPEATED_MAX;
        let mut shown: Vec<(&Diagnostic, usize)> = Vec::new();
        for (_, own) in &kinds {
            let n = if is_counted(own) { REPEATED_SHOWN } else { own.len() };
            let left_out = own.len() - n;
            shown.extend(own[..n].iter().enumerate().map(|(i, d)| (*d, if i + 1 == n { left_out } else { 0 })));
        }
        let place = |d: &Diagnostic| self.0.iter().position(|own| std::ptr::eq(own, d));
        shown.sort_by_key(|(d, _)| place(d));
        for (i, (diagnostic, left_out)) in shown.iter().take(SHOWN_MAX).enumerate() {
            if i > 0 {
                write!(f, "\n\n")?;
            }
            write!(f, "{diagnostic}")?;
            if *left_out > 0 {
                write!(f, "\n... and {left_out} more of this kind")?;
            }
        }
        let more: usize = shown.iter().skip(SHOWN_MAX).map(|(_, left_out)| left_out + 1).sum();
        if more > 0 {
            write!(f, "\n\n... and {more} more")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Diagnostics {
        Diagnostics(vec![one])
    }
}

/// Collects the errors of one file and its overrides.
pub struct DiagnosticReport<'a> {
    /// The text of the file.
    pub source: &'a SourceText,
    /// The text of the overrides.
    pub overrides: &'a SourceText,
    /// The errors found so far.
    pub found: Vec<Diagnostic>,
    /// Number of errors that do not prevent further reading.
    harmless: usize,
}

impl<'a> DiagnosticReport<'a> {
    /// Creates a report without errors.
    pub fn new(source: &'a SourceText, overrides: &'a SourceText) -> DiagnosticReport<'a> {
        DiagnosticReport { source, overrides, found: Vec::new(), harmless: 0 }
    }

    /// Adds an error. The result can be used to add legal values or a suggestion.
    pub fn error(&mut self, at: SourcePosition, message: impl Into<String>) -> &mut Diagnostic {
        let source = match at.origin {
            NodeOrigin::File => self.source,
            NodeOrigin::Set => self.overrides,
        };
        self.found.push(Diagnostic::at(source, at, message));
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Adds an error that leaves all value types valid, so that readers can continue and find more errors.
    pub fn harmless(&mut self, at: SourcePosition, message: impl Into<String>) -> &mut Diagnostic {
        self.harmless += 1;
        self.error(at, message)
    }

    /// Returns whether readers can continue.
    pub fn is_readable(&self) -> bool {
        self.found.len() == self.harmless
    }

    /// Returns the original text at a position, within one line.
    pub fn written(&self, at: SourcePosition) -> Option<String> {
        let source = match at.origin {
            NodeOrigin::File => self.source,
            NodeOrigin::Set => self.overrides,
        };
        let rest = &source.text[byte_of(&source.text, at)?..];
        let line = rest.lines().next().unwrap_or("");
        Some(line.chars().take(at.len as usize).collect())
    }

    /// Returns whether there are no errors.
    pub fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns `Ok` if there are no errors; otherwise returns all errors in text order.
    pub fn finish(mut self) -> Result<(), Diagnostics> {
        if self.found.is_empty() {
            return Ok(());
        }
        self.found.sort_by_key(|d| (d.line, d.column));
        Err(Diagnostics(self.found))
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/inputs/text/diagnostic.rs"]
mod tests;
