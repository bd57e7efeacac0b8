//! Terms of `docs/glossary.md`, which is written by hand.

use super::entry::GlossaryEntry;
use super::markdown::plain;

const PAGE: &str = include_str!("../../../docs/glossary.md");

/// Returns one entry per heading of the page. The other words of a heading are synonyms.
pub fn entries() -> Vec<GlossaryEntry> {
    let sections = PAGE.split("\n## ").skip(1);
    let sections = sections.filter_map(|section| section.split_once('\n'));
    sections.map(|(heading, text)| entry(heading, text)).collect()
}

fn entry(heading: &str, text: &str) -> GlossaryEntry {
    let mut terms = heading.split(", ").map(str::to_owned);
    GlossaryEntry {
        word: terms.next().unwrap_or_default(),
        aliases: terms.collect(),
        kind: "term".to_owned(),
        text: plain(text.trim()).replace('\n', " "),
        source: "docs/glossary.md".to_owned(),
        ..GlossaryEntry::default()
    }
}
