//! Renders the table of traps as a document, as a list, and as an explanation of one trap.

use super::trap::LintTrap;
use super::trap_table;
use std::fmt::Write;

const HEAD: &str = include_str!("docs/head.md");
const TAIL: &str = include_str!("docs/tail.md");

/// Returns the complete text of `docs/lint.md`.
pub fn markdown() -> String {
    let mut out = HEAD.to_owned();
    for (theme, traps) in trap_table::themes() {
        let _ = writeln!(out, "\n## {theme}\n");
        for trap in traps {
            let _ = writeln!(
                out,
                "### `{}`\n\n{}: {}. Rules {}; seen in {}.\n\n{}\n\n*Fix:* {}\n",
                trap.name,
                capital(trap.severity.as_str()),
                escaped(&trap.title),
                trap.rules.join(", "),
                trap.check.needs(),
                escaped(&trap.consequence),
                escaped(&trap.fix)
            );
        }
    }
    out.push_str(TAIL);
    out
}

/// Returns the list of traps for a terminal, with one line per trap.
pub fn list() -> String {
    let mut out = String::new();
    for (theme, traps) in trap_table::themes() {
        let _ = writeln!(out, "{theme}");
        for trap in traps {
            let severity = trap.severity.as_str();
            let _ = writeln!(out, "  {:<33} {severity:<8} {}", trap.name, trap.title);
        }
    }
    out
}

/// Returns the full description of one trap.
pub fn explain(trap: &LintTrap) -> String {
    format!(
        "{} ({}): {}\n\n  then   {}\n  fix    {}\n  rules  {}\n  needs  {}\n",
        trap.name,
        trap.severity.as_str(),
        trap.title,
        trap.consequence,
        trap.fix,
        trap.rules.join(", "),
        trap.check.needs()
    )
}

/// Escapes `<`, which would begin an HTML tag in Markdown.
fn escaped(text: &str) -> String {
    text.replace('<', "\\<")
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
