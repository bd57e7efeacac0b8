//! Unit tests of `sim_inputs::schema::reference`.

use super::super::check::{UnmodelledFields, check};
use super::*;
use crate::text::diagnostic::{DiagnosticReport, SourceText};
use crate::text::path::YamlPath;
use crate::text::yaml;

fn refused(text: &str, shape: &FieldType) -> Vec<String> {
    let source = SourceText { file: "x".to_owned(), text: text.to_owned() };
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(&source, &none);
    match yaml::parse(&source).as_deref() {
        Ok([node]) => check(node, shape, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new()),
        _ => return vec!["no document".to_owned()],
    }
    report.found.iter().map(|d| d.message.clone()).collect()
}

#[test]
fn every_field_says_what_it_is_and_its_default_and_example_are_legal() {
    let mut fields = 0;
    for (kind, ..) in PAGES {
        let mut sections = Vec::new();
        let object = root(kind).unwrap();
        sections.push(ReferenceSection { object, paths: vec![String::new()] });
        let mut at = 0;
        while at < sections.len() {
            let object = sections[at].object;
            for field in object.fields {
                let name = format!("{}.{}", object.kind, field.name);
                inner(&field.shape, name.clone(), &mut sections);
                assert!(!field.doc.is_empty(), "{name} has no words");
                let example = field.written_example();
                assert!(!example.is_empty(), "{name} has no example");
                for text in [example, field.default] {
                    let problems = refused(text, &field.shape);
                    assert!(text.is_empty() || problems.is_empty(), "{name}: {text}: {problems:?}");
                }
                fields += 1;
            }
            at += 1;
        }
    }
    assert!(fields > 100, "{fields}");
}

#[test]
fn the_versions_that_stand_in_are_those_of_the_model() {
    let of = |name: &str| {
        let fields = super::super::definitions::control_plane_fields();
        fields.iter().find(|f| f.name == name).unwrap().default
    };
    let default = crate::presets::DEFAULT_VERSION;
    let default = format!("\"{}.{}\"", default.major, default.minor);
    assert_eq!(of("kubernetes"), default);
    let newest = super::super::definitions::JOBSET.names().last().unwrap();
    assert_eq!(of("jobset"), format!("\"{newest}\""));
}
