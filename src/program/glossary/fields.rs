//! Fields of scenarios, topologies, fleets and manifests, from the tables that also validate files.

use super::entry::GlossaryEntry;
use super::markdown::plain;
use sim_inputs::{FieldRow, field_rows};

/// The formats, and the documents that contain their fields.
const FORMATS: [(&str, &str); 5] = [
    ("JobSet", "a JobSet manifest"),
    ("Scenario", "a scenario"),
    ("Topology", "a topology"),
    ("Fleet", "a fleet"),
    ("Timing", "timing of a scenario"),
];

pub fn entries() -> Vec<GlossaryEntry> {
    let mut all = Vec::new();
    for (format, of) in FORMATS {
        let rows = field_rows(format);
        all.extend(rows.iter().map(|row| entry(format, of, row)));
    }
    all
}

fn entry(format: &str, of: &str, row: &FieldRow) -> GlossaryEntry {
    let mut facts = vec![("type".to_owned(), plain(&row.takes))];
    let mut fact = |name: &str, text: &str| {
        if !text.is_empty() && text != "none" {
            facts.push((name.to_owned(), plain(text)));
        }
    };
    fact("default", &row.default);
    fact("example", row.example);
    match row.also.as_slice() {
        [] => {}
        few @ [_] | few @ [_, _] | few @ [_, _, _] => fact("also at", &few.join(", ")),
        [first, many @ ..] => fact("also at", &format!("{first} and {} more", many.len())),
    }
    fact("constraints", &row.rules.join(" "));
    let modelled = if row.modelled { "" } else { "supported by Kubernetes, but not simulated" };
    let text = match (row.doc, modelled) {
        ("", "") => format!("field of {of}"),
        (doc, "") => plain(doc),
        ("", note) => note.to_owned(),
        (doc, note) => format!("{}; {note}", plain(doc)),
    };
    GlossaryEntry {
        word: row.path.clone(),
        aliases: row.also.clone(),
        kind: "field".to_owned(),
        of: of.to_owned(),
        text,
        facts,
        source: match format {
            "JobSet" => "docs/rules/api.md".to_owned(),
            _ => format!("docs/reference/{}.md", format.to_lowercase()),
        },
        ..GlossaryEntry::default()
    }
}
