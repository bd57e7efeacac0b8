//! One look for all errors of inputs: place, line, what is wrong, what is legal, a suggestion.
//!
//! Must never decide whether something is wrong.

#![deny(missing_docs)]

use super::node::{Origin, Pos};
use std::fmt;

/// A named text.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// What errors call it.
    pub file: String,
    /// All of it.
    pub text: String,
}

/// One error of an input, with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, or what else the text is called.
    pub file: String,
    /// 1-based; 0: the whole file.
    pub line: u32,
    /// 1-based; 0 with `line`.
    pub column: u32,
    /// How many characters are wrong.
    pub len: u32,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub legal: Option<String>,
    /// What may have been meant.
    pub suggestion: Option<String>,
    /// The API server's sentence, where it would refuse the object, too.
    pub server: Option<String>,
    /// The line of the text; of a long one what is around the error.
    pub snippet: String,
    /// Nothing is wrong with the text: no node of the cluster could take it.
    pub no_place: bool,
    /// Where in `snippet` the error begins, in characters.
    pub offset: u32,
}

/// All errors found, in the order of the text where it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Whether all that is wrong is that no node of the cluster could take it.
    pub fn is_only_no_place(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|d| d.no_place)
    }
}

/// More errors than this are counted, not shown.
const SHOWN_MAX: usize = 20;
/// Longer lines are cut around the error.
const SNIPPET_MAX: usize = 100;
/// Longer sentences are cut in their middle.
const MESSAGE_MAX: usize = 600;

impl Diagnostic {
    /// An error of a file as a whole.
    pub fn of_file(file: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            file: file.to_owned(),
            message: shortened(message.into()),
            ..Diagnostic::default()
        }
    }

    /// An error at a place of a text.
    pub fn at(source: &Source, at: Pos, message: impl Into<String>) -> Diagnostic {
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

    /// Says what would be right.
    pub fn legal(&mut self, legal: impl Into<String>) -> &mut Diagnostic {
        let legal = Some(legal.into()).filter(|l| !l.is_empty());
        self.legal = legal.map(shortened);
        self
    }

    /// Says what may have been meant.
    pub fn suggest(&mut self, suggestion: impl Into<String>) -> &mut Diagnostic {
        self.suggestion = Some(shortened(suggestion.into()));
        self
    }

    /// Suggests the nearest of the known names, if one is near.
    pub fn nearest<'a>(
        &mut self,
        found: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> &mut Diagnostic {
        if let Some(name) = super::suggest::nearest(found, known) {
            self.suggestion = Some(format!("did you mean {name:?}?"));
        }
        self
    }
}

/// Longer messages keep their start and their end: what they quote may be of any length.
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

/// The line at a place, cut to a window around it, and the offset of the place in that. Looks at no more of the text
/// than it needs: a file of one long line may have an error in each word.
fn snippet(text: &str, at: Pos) -> (String, u32) {
    let Some(byte) = byte_of(text, at) else {
        return (String::new(), 0);
    };
    let in_line = |c: &char| *c != '\n';
    let mut before: Vec<char> = text[..byte]
        .chars()
        .rev()
        .take(SNIPPET_MAX + 1)
        .take_while(in_line)
        .collect();
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
    let shown: String = before.into_iter().rev().chain(after).map(clean).collect();
    (format!("{prefix}{shown}{suffix}"), offset)
}

/// Where in the text a place is; the parser has said so for files.
fn byte_of(text: &str, at: Pos) -> Option<usize> {
    let byte = at.byte as usize;
    if at.origin == Origin::File && byte > 0 && text.is_char_boundary(byte) {
        return Some(byte);
    }
    let skip = at.line.checked_sub(1)? as usize;
    let start: usize = text.split_inclusive('\n').take(skip).map(str::len).sum();
    let line = text[start..].lines().next()?;
    let column = at.column.saturating_sub(1) as usize;
    let inside = line.char_indices().nth(column).map(|(i, _)| i);
    Some(start + inside.unwrap_or(line.len()))
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        let number = if self.line > 0 {
            self.line.to_string()
        } else {
            String::new()
        };
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
            write!(
                f,
                "\n{gutter}--> {}:{}:{}",
                self.file, self.line, self.column
            )?;
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
            write!(f, "\n{gutter} = the API server would say: {server}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().take(SHOWN_MAX).enumerate() {
            if i > 0 {
                write!(f, "\n\n")?;
            }
            write!(f, "{diagnostic}")?;
        }
        let more = self.0.len().saturating_sub(SHOWN_MAX);
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
pub struct Report<'a> {
    /// The text.
    pub source: &'a Source,
    /// What `--set` says.
    pub overrides: &'a Source,
    /// The errors so far.
    pub found: Vec<Diagnostic>,
    /// How many of them keep no reader from finding more.
    harmless: usize,
}

impl<'a> Report<'a> {
    /// Nothing found yet.
    pub fn new(source: &'a Source, overrides: &'a Source) -> Report<'a> {
        Report {
            source,
            overrides,
            found: Vec::new(),
            harmless: 0,
        }
    }

    /// One more error; what it returns can be told more.
    pub fn error(&mut self, at: Pos, message: impl Into<String>) -> &mut Diagnostic {
        let source = match at.origin {
            Origin::File => self.source,
            Origin::Set => self.overrides,
        };
        self.found.push(Diagnostic::at(source, at, message));
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// An error after which every value still has its type: readers may go on and find more.
    pub fn harmless(&mut self, at: Pos, message: impl Into<String>) -> &mut Diagnostic {
        self.harmless += 1;
        self.error(at, message)
    }

    /// Whether readers may go on.
    pub fn is_readable(&self) -> bool {
        self.found.len() == self.harmless
    }

    /// The text as written at a place of one line.
    pub fn written(&self, at: Pos) -> Option<String> {
        let source = match at.origin {
            Origin::File => self.source,
            Origin::Set => self.overrides,
        };
        let rest = &source.text[byte_of(&source.text, at)?..];
        let line = rest.lines().next().unwrap_or("");
        Some(line.chars().take(at.len as usize).collect())
    }

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// `Ok` if nothing was found, else everything in the order of the text.
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
