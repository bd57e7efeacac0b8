//! A glossary entry.

use serde::Serialize;

/// A term with its meaning in one context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GlossaryEntry {
    pub word: String,
    /// Kind of the term: column, key, field, rule, condition ...
    pub kind: String,
    /// File, format or section in which the term has this meaning.
    pub of: String,
    /// Meaning as plain text.
    pub text: String,
    /// Additional facts as names and values.
    pub facts: Vec<(String, String)>,
    /// File or command that documents the term.
    pub source: String,
    /// Other paths of the same field, or synonyms of a term.
    #[serde(skip)]
    pub aliases: Vec<String>,
    /// Code spans in the text other than the term.
    #[serde(skip)]
    pub mentions: Vec<String>,
}

impl GlossaryEntry {
    /// Returns whether the entry is a term of `docs/glossary.md`, whose aliases are synonyms.
    pub fn is_term(&self) -> bool {
        self.kind == "term"
    }

    /// Returns whether the entry is a rule of `docs/rules/`.
    pub fn is_rule(&self) -> bool {
        self.kind == "rule"
    }
}
