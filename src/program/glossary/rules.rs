//! Rules of the model, from the pages of `docs/rules/`: list items that begin with a rule id, families of rules, and
//! numbered sections.

use super::entry::GlossaryEntry;
use super::markdown::{code_spans, plain};

macro_rules! page {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../docs/rules/", $name, ".md")))
    };
}

/// Names of the pages without `docs/rules/` and `.md`, and their texts.
pub const RULE_PAGES: [(&str, &str); 11] = [
    page!("api"),
    page!("calibration"),
    page!("corner"),
    page!("exclusive"),
    page!("failure"),
    page!("in-place"),
    page!("kubernetes"),
    page!("objects"),
    page!("policies"),
    page!("reconcile"),
    page!("recorded"),
];

pub fn entries() -> Vec<GlossaryEntry> {
    RULE_PAGES.iter().flat_map(|(name, text)| page_entries(name, text)).collect()
}

fn page_entries(name: &str, text: &str) -> Vec<GlossaryEntry> {
    let source = format!("docs/rules/{name}.md");
    let sections = text.split("\n#").skip(1);
    let mut entries = Vec::new();
    for section in sections {
        let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
        let heading = plain(heading.trim_start_matches('#').trim());
        let rules = section_rules(&heading, body, &source);
        entries.extend(section_entries(name, &heading, body, &rules, &source));
        entries.extend(rules);
    }
    entries
}

/// Returns the entries of the families that a heading such as `JOB, SVC: child objects` names, or the entry of a
/// numbered section such as `kubernetes.md 1.4`.
fn section_entries(page: &str, heading: &str, body: &str, rules: &[GlossaryEntry], source: &str) -> Vec<GlossaryEntry> {
    let introduction: Vec<&str> = body.lines().take_while(|l| !l.starts_with("- **")).collect();
    let text = plain(introduction.join(" ").trim());
    let families: Vec<&str> = heading.split(": ").next().unwrap_or("").split(", ").collect();
    let (words, kind) = if let Some(number) = section_number(heading) {
        (vec![format!("{page}.md {number}")], "section")
    } else if families.iter().all(|f| is_family(f)) {
        (families.into_iter().map(str::to_owned).collect(), "rules")
    } else {
        return Vec::new();
    };
    let ids: Vec<&str> = rules.iter().map(|e| e.word.as_str()).collect();
    let mut facts = Vec::new();
    if !ids.is_empty() {
        facts.push(("rules".to_owned(), ids.join(", ")));
    }
    let entry = |word: String| GlossaryEntry {
        word,
        kind: kind.to_owned(),
        text: format!("{heading}. {text}").trim_end().to_owned(),
        facts: facts.clone(),
        source: source.to_owned(),
        ..GlossaryEntry::default()
    };
    words.into_iter().map(entry).collect()
}

/// Returns the rules of a section. A rule is a list item of one or more lines that begins with its id.
fn section_rules(heading: &str, body: &str, source: &str) -> Vec<GlossaryEntry> {
    let mut rules: Vec<GlossaryEntry> = Vec::new();
    let mut is_rule_text = false;
    for line in body.lines() {
        let item = line.strip_prefix("- **").and_then(|l| l.split_once("**"));
        if let Some((id, text)) = item.filter(|(id, _)| is_rule_id(id)) {
            rules.push(GlossaryEntry {
                word: id.to_owned(),
                kind: "rule".to_owned(),
                of: heading.to_owned(),
                text: plain(text.trim_start_matches([':', ' ', '.'])),
                source: source.to_owned(),
                mentions: code_spans(text),
                ..GlossaryEntry::default()
            });
            is_rule_text = true;
        } else if is_rule_text
            && line.starts_with("  ")
            && let Some(rule) = rules.last_mut()
        {
            rule.text.push(' ');
            rule.text.push_str(&plain(line.trim()));
            rule.mentions.extend(code_spans(line));
        } else {
            is_rule_text = false;
        }
    }
    rules
}

/// Returns the number at the start of a heading, as in `1.4 When a Job is Failed or Complete`.
fn section_number(heading: &str) -> Option<&str> {
    let (number, _) = heading.split_once(' ')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    number.split('.').all(is_number).then_some(number)
}

fn is_family(word: &str) -> bool {
    (1..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase())
}

/// Returns whether a word is a rule id, such as `FP-7` or `COND-1e`.
pub fn is_rule_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(family, number)| {
        let number = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
        is_family(family) && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
#[path = "../../../tests/inside/program/glossary/rules.rs"]
mod tests;
