//! One word in one place, with its meaning.

use serde::Serialize;

/// One word in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub word: String,
    /// What it is: column, key, field, rule, condition ...
    pub kind: String,
    /// In which file, format or section.
    pub of: String,
    /// What it means, as plain text.
    pub text: String,
    /// What else is known: name and value.
    pub facts: Vec<(String, String)>,
    /// Where it is written down.
    pub source: String,
    /// The same under other paths.
    #[serde(skip)]
    pub aliases: Vec<String>,
    /// Other words in its text that are code.
    #[serde(skip)]
    pub mentions: Vec<String>,
}

impl Entry {
    /// Whether it is the line of a rule itself.
    pub fn is_rule(&self) -> bool {
        self.kind == "rule" && self.source.starts_with("docs/rules/")
    }
}

/// A paragraph, which explains words that no table has.
pub const PASSAGE: &str = "passage";
