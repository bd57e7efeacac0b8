//! A decision as lines of label, text and rule id.

/// Number of names shown of a longer list.
pub const LISTED: usize = 4;

/// The title of a decision, with lines of label, text and rule id.
pub struct DecisionBlock {
    pub title: String,
    /// The decision as a single line with its rule id, for decisions that need no explanation.
    pub short: Option<(String, String)>,
    pub lines: Vec<(&'static str, String, String)>,
}

/// Joins the first names of a list and appends the number of omitted ones.
pub fn names(list: &[String]) -> String {
    let listed = list.iter().take(LISTED).map(String::as_str);
    let listed = listed.collect::<Vec<_>>().join(", ");
    match list.len().saturating_sub(LISTED) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

impl DecisionBlock {
    pub fn add_line(&mut self, label: &'static str, text: impl Into<String>, rule: &str) {
        self.lines.push((label, text.into(), rule.to_owned()));
    }
}
