//! The glossary: all terms in one list.

use super::entry::GlossaryEntry;
use super::{fields, output_terms, rules, terms};
use sim_lint::trap_table;

/// The glossary, with all entries in the order of their sources.
pub struct Glossary {
    pub entries: Vec<GlossaryEntry>,
}

impl Glossary {
    /// Builds the glossary. `more` contains the commands and options of the program.
    pub fn new(more: Vec<GlossaryEntry>) -> Glossary {
        let mut entries = more;
        entries.extend(terms::entries());
        entries.extend(output_terms::entries());
        entries.extend(rules::entries());
        entries.extend(fields::entries());
        entries.extend(assumptions());
        entries.extend(traps());
        entries.retain(|e| !e.word.is_empty() && !e.text.is_empty());
        Glossary { entries }
    }

    /// Returns the rule with an id. For the id of a part, such as `COND-1e`, returns the whole rule.
    pub fn rule(&self, id: &str) -> Option<&GlossaryEntry> {
        let rule_id = id.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let mut rules = self.entries.iter().filter(|e| e.is_rule());
        rules.find(|e| e.word == rule_id)
    }
}

fn assumptions() -> Vec<GlossaryEntry> {
    let entry = |a: sim_inputs::PresetAssumption| GlossaryEntry {
        text: format!("default of the model: {}", a.value),
        facts: vec![("source".to_owned(), a.source), ("confidence".to_owned(), a.confidence)],
        kind: "assumption".to_owned(),
        source: if a.id.starts_with("timing.") {
            "src/inputs/presets/timing.yaml".to_owned()
        } else {
            "src/inputs/presets/control-plane.yaml".to_owned()
        },
        word: a.id,
        ..GlossaryEntry::default()
    };
    sim_inputs::assumptions().into_iter().map(entry).collect()
}

fn traps() -> Vec<GlossaryEntry> {
    let entry = |(theme, trap): (&str, &sim_lint::LintTrap)| GlossaryEntry {
        word: trap.name.to_owned(),
        kind: "trap".to_owned(),
        of: format!("lint, {theme}"),
        text: format!("{}: {}", trap.severity.as_str(), trap.title),
        facts: [("consequence", trap.consequence.as_str()), ("fix", &trap.fix), ("needs", trap.check.needs())]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into_iter()
            .chain([("rules".to_owned(), trap.rules.join(", "))])
            .collect(),
        source: "docs/lint.md".to_owned(),
        ..GlossaryEntry::default()
    };
    let themes = trap_table::themes().iter();
    let all = themes.flat_map(|(theme, traps)| traps.iter().map(move |t| (theme.as_str(), t)));
    all.map(entry).collect()
}
