//! Reads Gates files: the conditions under which `bench ttr --gates FILE` fails.

use super::files::read_source;
use super::schema::check::{UnmodelledFields, check};
use super::schema::definitions::common::API_VERSION;
use super::schema::field_type::{FieldType, ObjectSchema, STR_LIST, field};
use super::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use super::text::node::YamlNode;
use super::text::path::YamlPath;
use super::text::yaml;
use sim_base::condition::FieldCondition;

/// Field table of Gates files.
static GATES: ObjectSchema = ObjectSchema {
    kind: "Gates",
    fields: &[
        field("apiVersion", FieldType::OneOf(&[API_VERSION])).doc("API version of the file format."),
        field("kind", FieldType::OneOf(&["Gates"])).doc("Kind of the file."),
        field("gates", STR_LIST)
            .doc("Conditions. The command fails with exit code 5 if one is true. The syntax is that of `--fail-if`.")
            .required()
            .example("[\"ttr > +2%\", \"rows.stuck > 0\"]"),
    ],
};

/// Returns an error for a condition that cannot be checked.
pub type KnownGate<'k> = &'k dyn Fn(&FieldCondition) -> Result<(), String>;

/// Reads the conditions of a Gates file, in the order of the file.
pub fn read_gates(path: &std::path::Path, known: KnownGate<'_>) -> Result<Vec<FieldCondition>, Diagnostics> {
    parse_gates(&read_source(path)?, known)
}

/// Reads the conditions of a Gates file from its text.
pub fn parse_gates(source: &SourceText, known: KnownGate<'_>) -> Result<Vec<FieldCondition>, Diagnostics> {
    let mut documents = yaml::parse(source)?;
    if documents.len() != 1 {
        let n = documents.len();
        let message = format!("found {n} YAML documents; a Gates file must contain exactly one");
        return Err(Diagnostic::of_file(&source.file, message).into());
    }
    let node = documents.remove(0);
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(source, &none);
    let schema = FieldType::Object(&GATES);
    check(&node, &schema, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    let mut conditions = Vec::new();
    for item in node.get("gates").map_or(&[][..], YamlNode::items) {
        match item.as_str().unwrap_or_default().parse::<FieldCondition>() {
            Ok(condition) => {
                if let Err(text) = known(&condition) {
                    report.error(item.at, text.trim_start_matches("--fail-if "));
                }
                conditions.push(condition);
            }
            Err(error) if item.as_str().is_some() => {
                let text = error.to_string();
                report.error(item.at, text.trim_start_matches("--fail-if "));
            }
            Err(_) => {}
        }
    }
    report.finish()?;
    Ok(conditions)
}
