//! Generates reference pages of the jobset-sim file formats in Markdown, from the tables that the checker uses.

use super::definitions::root;
use super::definitions::together::{FieldConstraint, together};
use super::field_type::{FieldClass, FieldSchema, FieldType, ObjectSchema};
use crate::presets::preset_data::DEFAULT_PRESET;
use crate::presets::{PresetAssumption, assumptions};
use std::fmt::Write;

/// Formats with a reference page: kind, description, and path of the object in a scenario.
const PAGES: [(&str, &str, &str); 4] = [
    ("Scenario", "All inputs of a run in one file", ""),
    ("Topology", "The nodes of a cluster and the networks that connect them", ""),
    ("Fleet", "One synchronous job on identical nodes that fail and are repaired, without a control plane", ""),
    ("Timing", "The field `timing` of a scenario: delays that override the timing profile", "timing"),
];

/// Returns the reference page of a format; `None` if the format has no page.
pub fn markdown(kind: &str) -> Option<String> {
    let (_, what, prefix) = PAGES.iter().find(|(page, ..)| *page == kind)?;
    let object = root(kind)?;
    let command = format!("jobset-sim schema {} --format md", kind.to_lowercase());
    let mut page = format!(
        "# {kind}\n\n{what}. `{command}` prints this page. It is generated from the tables that\n\
         validate files (`src/inputs/schema/definitions/`).\n"
    );
    let assumptions = assumptions();
    for section in &sections(object, prefix) {
        section.write(&assumptions, &mut page);
    }
    Some(page)
}

pub struct FieldRow {
    /// Path from the root of the format. `[]` is a list element, `KEY` a key chosen by the user.
    pub path: String,
    /// Other paths with the same field of the same object.
    pub also: Vec<String>,
    /// Description of the legal values.
    pub takes: String,
    pub default: String,
    pub doc: &'static str,
    pub example: &'static str,
    /// Rules between this field and other fields of the same object.
    pub rules: Vec<String>,
    pub modelled: bool,
}

/// Returns the fields of a format, including formats without a page.
pub fn fields(kind: &str) -> Vec<FieldRow> {
    let prefix = PAGES.iter().find(|(page, ..)| *page == kind);
    let Some(object) = root(kind) else {
        return Vec::new();
    };
    let assumptions = assumptions();
    let sections = sections(object, prefix.map_or("", |(.., prefix)| prefix));
    sections.iter().flat_map(|s| s.rows(&assumptions)).collect()
}

/// Returns the objects of a format, each once.
fn sections(object: &'static ObjectSchema, prefix: &str) -> Vec<ReferenceSection> {
    let mut sections = vec![ReferenceSection { object, paths: vec![prefix.to_owned()] }];
    let mut at = 0;
    while at < sections.len() {
        let (object, path) = (sections[at].object, sections[at].paths[0].clone());
        for field in object.fields {
            inner(&field.shape, joined(&path, field.name), &mut sections);
        }
        at += 1;
    }
    sections
}

/// An object with all paths at which it can occur.
struct ReferenceSection {
    object: &'static ObjectSchema,
    paths: Vec<String>,
}

fn joined(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// Adds the objects that a value may contain. Kubernetes API objects and objects with a page of their own are omitted.
fn inner(shape: &FieldType, path: String, sections: &mut Vec<ReferenceSection>) {
    match shape {
        FieldType::Object(object) if PAGES.iter().any(|(page, ..)| *page == object.kind) => {}
        FieldType::Object(object) => match sections.iter_mut().find(|s| s.object.kind == object.kind) {
            Some(known) => known.paths.push(path),
            None => sections.push(ReferenceSection { object, paths: vec![path] }),
        },
        FieldType::List(item) | FieldType::NonEmpty(item) | FieldType::Pair(item) => {
            inner(item, format!("{path}[]"), sections);
        }
        FieldType::Map(value) => inner(value, format!("{path}.KEY"), sections),
        FieldType::Either(first, second) => {
            inner(first, path.clone(), sections);
            inner(second, path, sections);
        }
        FieldType::Kinds(kinds) => {
            if let Some(object) = kinds.file {
                inner(&FieldType::Object(object), path, sections);
            }
        }
        _ => {}
    }
}

impl ReferenceSection {
    fn rows(&self, assumptions: &[PresetAssumption]) -> Vec<FieldRow> {
        let row = |field: &FieldSchema| {
            let path = joined(&self.paths[0], field.name);
            let rules = together(self.object.kind).iter();
            let rules = rules.filter(|rule| rule.names(field.name)).map(words);
            FieldRow {
                also: self.paths[1..].iter().map(|p| joined(p, field.name)).collect(),
                takes: kind_of(&field.shape),
                default: if one_of(self.object, field.name) {
                    "required unless an alternative is set".to_owned()
                } else {
                    default(field, &path, assumptions)
                },
                doc: field.doc,
                example: field.written_example(),
                rules: rules.collect(),
                modelled: field.class != FieldClass::NotModelled,
                path,
            }
        };
        self.object.fields.iter().map(row).collect()
    }

    fn write(&self, assumptions: &[PresetAssumption], page: &mut String) {
        let path = &self.paths[0];
        if let (false, [first, more @ ..]) = (path.is_empty(), self.paths.as_slice()) {
            let _ = write!(page, "\n## `{first}`\n");
            let more: Vec<String> = more.iter().map(|p| format!("`{p}`")).collect();
            if !more.is_empty() {
                let _ = write!(page, "\nThe same fields are available at {}.\n", more.join(", "));
            }
        }
        page.push_str("\n| path | type | default | meaning | example |\n|---|---|---|---|---|\n");
        for row in self.rows(assumptions) {
            let cells =
                [format!("`{}`", row.path), row.takes, row.default, row.doc.to_owned(), format!("`{}`", row.example)];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(page, "| {} |", cells.join(" | "));
        }
        for rule in together(self.object.kind) {
            let _ = write!(page, "\n{}\n", words(rule));
        }
    }
}

fn kind_of(shape: &FieldType) -> String {
    let link = |object: &ObjectSchema| {
        if PAGES.iter().any(|(page, ..)| *page == object.kind) {
            format!("[{}]({}.md)", object.kind, object.kind.to_lowercase())
        } else {
            "a mapping".to_owned()
        }
    };
    match shape {
        FieldType::OneOf([only]) => format!("`{only}`"),
        FieldType::Object(object) => link(object),
        FieldType::Either(first, FieldType::Object(object)) => {
            format!("{}, or {}", first.noun(), link(object))
        }
        FieldType::Kinds(kinds) => format!("an object of kind {}", kinds.names().collect::<Vec<_>>().join(", ")),
        FieldType::List(item) | FieldType::NonEmpty(item) => match item {
            FieldType::Kinds(_) => format!("a list, each element {}", kind_of(item)),
            _ => shape.noun(),
        },
        FieldType::Map(value) => format!("a mapping of names to {}", value.noun()),
        _ => shape.noun(),
    }
}

/// Returns whether the field belongs to a group of which at least one is required.
fn one_of(object: &ObjectSchema, name: &str) -> bool {
    together(object.kind).iter().any(|rule| match rule {
        FieldConstraint::One { of, .. } | FieldConstraint::Some { of, .. } => of.contains(&name),
        FieldConstraint::OneSet(sets) => sets.iter().any(|set| set.contains(&name)),
        FieldConstraint::NotBoth(..) | FieldConstraint::Needs(..) | FieldConstraint::Replaces(..) => false,
    })
}

fn default(field: &FieldSchema, path: &str, assumptions: &[PresetAssumption]) -> String {
    if field.required {
        return "required".to_owned();
    }
    if !field.default.is_empty() {
        return format!("`{}`", field.default);
    }
    if !field.otherwise.is_empty() {
        return field.otherwise.to_owned();
    }
    let value = |id: &str| assumptions.iter().find(|a| a.id == id).map(|a| &a.value);
    if let Some(value) = value(path) {
        return format!("`{value}`");
    }
    let of_preset = path.strip_prefix("controlPlane.");
    let of_preset = of_preset.and_then(|rest| value(&format!("controlPlane.{DEFAULT_PRESET}.{rest}")));
    match of_preset {
        Some(value) => format!("from the preset (`{value}` in {DEFAULT_PRESET})"),
        None if matches!(field.shape, FieldType::Object(_)) => "the defaults of its fields".to_owned(),
        None => "none".to_owned(),
    }
}

fn words(rule: &FieldConstraint) -> String {
    let list = |of: &[&str]| of.iter().map(|f| format!("`{f}`")).collect::<Vec<_>>().join(", ");
    match rule {
        FieldConstraint::One { what, of } => {
            format!("Exactly one of these fields is required ({what}): {}.", list(of))
        }
        FieldConstraint::Some { what, of } => {
            format!("At least one of these fields is required ({what}): {}.", list(of))
        }
        FieldConstraint::NotBoth(first, second) => {
            format!("`{first}` and `{second}` are mutually exclusive.")
        }
        FieldConstraint::OneSet(sets) => {
            let sets: Vec<String> = sets.iter().map(|set| list(set)).collect();
            format!("Exactly one of these sets of fields is required: {}.", sets.join(", or "))
        }
        FieldConstraint::Needs(this, other, _) => format!("`{this}` requires `{other}`."),
        FieldConstraint::Replaces(this, others, _) => {
            format!("With `{this}`, these fields are rejected, because they would have no effect: {}.", list(others))
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/inputs/schema/reference.rs"]
mod tests;
