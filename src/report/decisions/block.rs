//! The lines of a decision: label, text and the id of the rule.

/// Names shown of a longer list.
pub const LISTED: usize = 4;

/// Title and lines: label, text, rule id.
pub struct Block {
    pub title: String,
    /// All of it in one line, with its rule, where there is nothing to explain.
    pub short: Option<(String, String)>,
    pub lines: Vec<(&'static str, String, String)>,
}

/// The first few of a list.
pub fn names(list: &[String]) -> String {
    let shown = list.iter().take(LISTED).map(String::as_str);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match list.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl Block {
    pub fn add(&mut self, label: &'static str, text: impl Into<String>, rule: &str) {
        self.lines.push((label, text.into(), rule.to_owned()));
    }
}
