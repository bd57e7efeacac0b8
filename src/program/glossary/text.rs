//! Prints the entries for a term, or a list of all terms.

use super::entry::GlossaryEntry;
use super::find::TermLookup;
use super::glossary::Glossary;
use serde_json::{Value, json};
use sim_analysis::format::wrap;
use sim_report::console::waterfall::WaterfallStyle;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum number of entries that are printed in full; of others only the titles.
const FULL: usize = 8;
const LISTED: usize = 30;

pub fn format_term(result: &TermLookup<'_>, style: &WaterfallStyle) -> String {
    let mut out = String::new();
    let displayed = match result.entries.len() {
        n if n <= FULL + 2 => n,
        _ => FULL,
    };
    for entry in &result.entries[..displayed] {
        format_one(&mut out, entry, style);
    }
    effects(&mut out, result, style);
    let rest = result.entries[displayed..].iter().map(|e| title(e));
    format_list(&mut out, "Other meanings", rest.collect(), style);
    if !result.rules.is_empty() {
        let _ = writeln!(out, "{}", style.bold("Rules"));
        for rule in &result.rules {
            write_labelled(&mut out, &format!("  {:<8}", rule.word), &rule.text, style);
        }
        out.push('\n');
    }
    let also = result.also.iter().map(|w| (*w).to_owned()).collect();
    format_list(&mut out, "See also", also, style);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// Prints the examples of effects of the found terms.
fn effects(out: &mut String, result: &TermLookup, style: &WaterfallStyle) {
    let mut displayed: Vec<&str> = Vec::new();
    let words = result.entries.iter().map(|e| e.word.as_str());
    let words = std::iter::once(result.asked.as_str()).chain(words);
    for effect in words.flat_map(super::effects::for_parameter) {
        if displayed.contains(&effect.word) {
            continue;
        }
        displayed.push(effect.word);
        let _ = writeln!(out, "{}", style.bold(&format!("Effect of {}", effect.word)));
        for line in &effect.lines {
            let _ = writeln!(out, "  {line}");
        }
        write_labelled(out, "  from ", effect.command, style);
        out.push('\n');
    }
}

fn title(entry: &GlossaryEntry) -> String {
    let mut words = vec![entry.word.as_str()];
    if entry.is_term() {
        words.extend(entry.aliases.iter().map(String::as_str));
    }
    let words = words.join(", ");
    match entry.of.as_str() {
        "" => format!("{words} ({})", entry.kind),
        of => format!("{words} ({}: {of})", entry.kind),
    }
}

fn format_one(out: &mut String, entry: &GlossaryEntry, style: &WaterfallStyle) {
    let lines = wrap(&title(entry), style.width - 2);
    let _ = writeln!(out, "{}", style.bold(&lines.join("\n  ")));
    write_labelled(out, "  ", &entry.text, style);
    for (name, text) in &entry.facts {
        write_labelled(out, &format!("  {name}: "), text, style);
    }
    write_labelled(out, "  from ", &entry.source, style);
    out.push('\n');
}

/// Prints a label and a text, wrapped to the width of the terminal.
fn write_labelled(out: &mut String, lead: &str, text: &str, style: &WaterfallStyle) {
    let hanging = 4.max(lead.chars().take_while(|c| *c == ' ').count() + 2);
    let held = lead.replace(' ', "\u{a0}");
    let lines = wrap(&format!("{held}{text}"), style.width - hanging);
    let between = format!("\n{}", " ".repeat(hanging));
    let _ = writeln!(out, "{}", lines.join(&between));
}

fn format_list(out: &mut String, title: &str, mut words: Vec<String>, style: &WaterfallStyle) {
    if words.is_empty() {
        return;
    }
    let more = words.len().saturating_sub(LISTED);
    words.truncate(LISTED);
    let mut text = words.join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    let _ = writeln!(out, "{}", style.bold(title));
    write_labelled(out, "  ", &text, style);
    out.push('\n');
}

pub fn found_json(request: &str, result: &TermLookup<'_>) -> Value {
    let rule = |e: &&GlossaryEntry| json!({"id": e.word, "text": e.text, "source": e.source});
    json!({
        "schema": "jobset-sim/explain/v1",
        "word": request,
        "entries": result.entries,
        "rules": result.rules.iter().map(rule).collect::<Vec<_>>(),
        "also": result.also,
    })
}

fn names<'e>(entries: impl Iterator<Item = &'e GlossaryEntry>) -> Vec<String> {
    entries.map(|e| e.word.clone()).collect()
}

/// Prints an overview: commands, files, terms, rules, and the number of terms of each kind.
pub fn overview(book: &Glossary, style: &WaterfallStyle) -> String {
    let of = |kind: &str| names(book.entries.iter().filter(|e| e.kind == kind));
    let mut out = String::from("explain TERM explains a term of the output or the inputs.\n\n");
    let mut part = |name: &str, words: Vec<String>| {
        write_labelled(&mut out, &format!("{name:<10} "), &words.join(", "), style);
    };
    let commands = |e: &&GlossaryEntry| e.kind == "command" && e.of.is_empty();
    part("commands", names(book.entries.iter().filter(commands)));
    let files = |e: &&GlossaryEntry| e.kind == "file";
    part("files", names(book.entries.iter().filter(files)));
    part("terms", of("term"));
    part("rules", of("rules"));
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in book.entries.iter() {
        *kinds.entry(&entry.kind).or_default() += 1;
    }
    let kinds = kinds.iter().map(|(kind, n)| format!("{kind} {n}"));
    part("kinds", kinds.collect());
    out.push_str("\nexplain --list prints all terms; explain --list --kind KIND prints those of one kind.\n");
    out
}

/// Prints one line per term.
pub fn list(entries: &[&GlossaryEntry], style: &WaterfallStyle) -> String {
    let mut out = String::new();
    for entry in entries {
        let line = format!("{}: {}", title(entry), entry.text);
        let _ = if line.chars().count() > style.width {
            writeln!(out, "{}...", line.chars().take(style.width - 3).collect::<String>())
        } else {
            writeln!(out, "{line}")
        };
    }
    out
}
