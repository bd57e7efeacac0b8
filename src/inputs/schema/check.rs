//! Validates a tree against a schema and reports all errors.
//!
//! This module must never convert values. Readers run after the check and can rely on types, ranges and field names.

use super::check_together;
use super::field_type::{FieldClass, FieldKinds, FieldType, ObjectSchema};
use super::scalar::check_scalar_range;
use crate::schema::definitions::{kueue, root};
use crate::text::node::{MappingKey, NodeOrigin, YamlNode, YamlValue};
use crate::{text::diagnostic::DiagnosticReport, text::path::YamlPath};
use std::collections::BTreeMap;

/// Maximum number of errors. A file with more errors probably has another format.
const ERRORS_MAX: usize = 200;

/// Number of occurrences of each field that is not modelled, by its path without indexes.
pub type UnmodelledFields = BTreeMap<String, usize>;

/// Validates a tree against a schema and reports all errors.
pub fn check(
    node: &YamlNode, shape: &FieldType, path: &YamlPath, report: &mut DiagnosticReport,
    unmodelled: &mut UnmodelledFields,
) {
    if report.found.len() >= ERRORS_MAX {
        return;
    }
    match shape {
        FieldType::Any => {}
        FieldType::Object(object) => check_object(node, object, path, report, unmodelled),
        FieldType::Either(first, second) => {
            let chosen = if matches!(node.value, YamlValue::Map(_)) { second } else { first };
            check(node, chosen, path, report, unmodelled);
        }
        FieldType::Kinds(kinds) => check_kind(node, kinds, path, report, unmodelled),
        FieldType::List(item) | FieldType::NonEmpty(item) | FieldType::Pair(item) => match &node.value {
            YamlValue::Seq(items) => {
                length(node, items.len(), shape, path, report);
                for (i, node) in items.iter().enumerate() {
                    check(node, item, &path.index(i), report, unmodelled);
                }
            }
            _ => wrong_type(node, shape, path, report),
        },
        FieldType::Map(value) => match &node.value {
            YamlValue::Map(entries) => {
                for (key, node) in entries {
                    check(node, value, &path.key(&key.name), report, unmodelled);
                }
            }
            _ => wrong_type(node, shape, path, report),
        },
        _ => check_scalar(node, shape, path, report),
    }
}

fn length(node: &YamlNode, found: usize, shape: &FieldType, path: &YamlPath, report: &mut DiagnosticReport) {
    match shape {
        FieldType::NonEmpty(_) if found == 0 => {
            report.error(node.at, format!("{path} is empty: at least one element is required"));
        }
        FieldType::Pair(_) if found != 2 => {
            report.error(node.at, format!("{path} must have two elements, found {found}"));
        }
        _ => {}
    }
}

fn check_object(
    node: &YamlNode, object: &'static ObjectSchema, path: &YamlPath, report: &mut DiagnosticReport,
    unmodelled: &mut UnmodelledFields,
) {
    let YamlValue::Map(entries) = &node.value else {
        return wrong_type(node, &FieldType::Object(object), path, report);
    };
    for (key, value) in entries {
        if report.found.len() >= ERRORS_MAX {
            return;
        }
        let path = path.key(&key.name);
        let Some(field) = object.fields.iter().find(|f| f.name == key.name) else {
            unknown_field(key, object, &path, report);
            continue;
        };
        if value.is_null() {
            continue;
        }
        if field.class == FieldClass::NotModelled && !value.is_empty() {
            *unmodelled.entry(path.without_indexes()).or_default() += 1;
        }
        check(value, &field.shape, &path, report, unmodelled);
    }
    for field in object.fields.iter().filter(|f| f.required) {
        if node.get(field.name).is_none() {
            let message = if path.is_root() {
                format!("{} is required", field.name)
            } else {
                format!("{path}.{} is required", field.name)
            };
            let error = report.error(node.at, message);
            let example = field.written_example();
            let example = if example.is_empty() { field.doc } else { example };
            if !example.is_empty() {
                error.suggest(format!("{}: {example}", field.name));
            }
        }
    }
    check_together::check(node, object, path, report);
}

fn check_kind(
    node: &YamlNode, kinds: &'static FieldKinds, path: &YamlPath, report: &mut DiagnosticReport,
    unmodelled: &mut UnmodelledFields,
) {
    let legal = || kinds.names().collect::<Vec<_>>().join(", ");
    let Some(kind) = node.get("kind") else {
        if let Some(file) = kinds.file
            && (node.get("manifest").is_some() || !matches!(node.value, YamlValue::Map(_)))
        {
            return check_object(node, file, path, report, unmodelled);
        }
        let at = node.at;
        let message =
            format!("{} has no kind", if path.is_root() { "the object".to_owned() } else { path.to_string() });
        report.error(at, message).legal(legal());
        return;
    };
    let name = kind.as_str().unwrap_or("");
    let version = node.get("apiVersion").and_then(YamlNode::as_str).unwrap_or("");
    if kinds.of_kueue.contains(&name) && kueue::has_kind(version, name) {
        // The reader of Kueue's objects reports other versions.
        if let Some(object) = kueue::table(version, name) {
            check_object(node, object, path, report, unmodelled);
        }
        return;
    }
    if let Some(object) = kinds.objects.iter().find(|o| o.kind == name) {
        return check_object(node, object, path, report, unmodelled);
    }
    let message = match kind.as_str() {
        Some(name) => format!("kind {name} has no effect in the simulation"),
        None => format!("kind must be a string, found {}", kind.describe()),
    };
    report.error(kind.at, message).nearest(name, kinds.names()).legal(legal());
}

/// Returns the shortest path of a field of the JobSet with this name.
fn jobset_field(name: &str) -> Option<String> {
    let mut level: Vec<(String, &'static ObjectSchema)> = vec![(String::new(), root("JobSet")?)];
    // The manifest has fewer levels, and each one is searched before the next.
    for _ in 0..8 {
        let fields = level.iter().flat_map(|(path, object)| object.fields.iter().map(move |field| (path, field)));
        if let Some((path, _)) = fields.clone().find(|(path, field)| !path.is_empty() && field.name == name) {
            return Some(format!("{path}{name}"));
        }
        level =
            fields.filter_map(|(path, field)| inner_object(&field.shape, &format!("{path}{}", field.name))).collect();
    }
    None
}

/// Returns the object that a field or the items of its list contain, with the beginning of the paths of its fields.
fn inner_object(shape: &FieldType, path: &str) -> Option<(String, &'static ObjectSchema)> {
    match shape {
        FieldType::Object(object) => Some((format!("{path}."), *object)),
        FieldType::List(item) | FieldType::NonEmpty(item) => inner_object(item, &format!("{path}[0]")),
        _ => None,
    }
}

fn unknown_field(key: &MappingKey, object: &ObjectSchema, path: &YamlPath, report: &mut DiagnosticReport) {
    let complete = path.to_string();
    let parent = complete.strip_suffix(&key.name).unwrap_or("");
    let parent = parent.trim_end_matches('.');
    let place = match parent {
        "" => object.kind.to_owned(),
        parent => parent.to_owned(),
    };
    let names = object.fields.iter().map(|f| f.name);
    let error = report.error(key.at, format!("unknown field {:?} in {place}", key.name));
    if parent.is_empty()
        && key.at.origin == NodeOrigin::Set
        && let Some(field) = jobset_field(&key.name)
    {
        error.suggest(format!("did you mean {field:?}, a field of the JobSets?"));
        return;
    }
    error.nearest(&key.name, names.clone());
    if error.suggestion.is_none() {
        let names: Vec<&str> = names.take(25).collect();
        let more = if object.fields.len() > 25 { ", ..." } else { "" };
        error.legal(format!("{}{more}", names.join(", ")));
    }
}

fn wrong_type(node: &YamlNode, shape: &FieldType, path: &YamlPath, report: &mut DiagnosticReport) {
    let name = if path.is_root() { "the document".to_owned() } else { path.to_string() };
    let message = format!("{name} must be {}, found {}", shape.noun(), node.describe());
    let error = report.error(node.at, message);
    if matches!(shape, FieldType::Str | FieldType::Line) && !matches!(node.value, YamlValue::Seq(_) | YamlValue::Map(_))
    {
        error.suggest("put the value in quotes");
    }
}

fn check_scalar(node: &YamlNode, shape: &FieldType, path: &YamlPath, report: &mut DiagnosticReport) {
    let Some(outcome) = check_scalar_range(node, shape) else {
        return wrong_type(node, shape, path, report);
    };
    let Err(problem) = outcome else {
        return;
    };
    match shape {
        FieldType::Preset(names) => {
            let names = names();
            let result = node.as_str().unwrap_or("");
            let error = report.harmless(node.at, problem.to_string());
            error.nearest(result, names.iter().map(String::as_str));
            error.legal(names.join(", "));
        }
        FieldType::OneOf(legal) => {
            let result = node.as_str().unwrap_or("");
            let error = report.error(node.at, format!("{path} {problem}"));
            error.nearest(result, legal.iter().copied());
            error.legal(legal.join(", "));
        }
        FieldType::Int(..) | FieldType::Number(..) => {
            let legal = shape.noun();
            report.error(node.at, format!("{path} {problem}")).legal(legal);
        }
        _ => {
            report.error(node.at, format!("{path}: {problem}"));
        }
    }
}
