//! Validates a tree against a schema and reports all errors.
//!
//! This module must never convert values. Readers run after the check and can rely on types, ranges and field names.

use super::check_together;
use super::shape::{Class, Kinds, Object, Shape};
use crate::read;
use crate::text::diagnostic::Report;
use crate::text::node::{Key, Node, Value, render_f64};
use crate::text::path::Path;
use sim_base::{Duration, quantity};
use std::collections::BTreeMap;

/// Maximum number of errors. A file with more errors probably has another format.
const ERRORS_MAX: usize = 200;

/// Number of occurrences of each field that is not modelled, by its path without indexes.
pub type Unmodelled = BTreeMap<String, usize>;

/// Validates a tree against a schema and reports all errors.
pub fn check(
    node: &Node,
    shape: &Shape,
    path: &Path,
    report: &mut Report,
    unmodelled: &mut Unmodelled,
) {
    if report.found.len() >= ERRORS_MAX {
        return;
    }
    match shape {
        Shape::Any => {}
        Shape::Object(object) => check_object(node, object, path, report, unmodelled),
        Shape::Either(first, second) => {
            let chosen = if matches!(node.value, Value::Map(_)) {
                second
            } else {
                first
            };
            check(node, chosen, path, report, unmodelled);
        }
        Shape::Kinds(kinds) => check_kind(node, kinds, path, report, unmodelled),
        Shape::List(item) | Shape::NonEmpty(item) | Shape::Pair(item) => match &node.value {
            Value::Seq(items) => {
                length(node, items.len(), shape, path, report);
                for (i, node) in items.iter().enumerate() {
                    check(node, item, &path.index(i), report, unmodelled);
                }
            }
            _ => wrong_type(node, shape, path, report),
        },
        Shape::Map(value) => match &node.value {
            Value::Map(entries) => {
                for (key, node) in entries {
                    check(node, value, &path.key(&key.name), report, unmodelled);
                }
            }
            _ => wrong_type(node, shape, path, report),
        },
        _ => check_scalar(node, shape, path, report),
    }
}

fn length(node: &Node, found: usize, shape: &Shape, path: &Path, report: &mut Report) {
    match shape {
        Shape::NonEmpty(_) if found == 0 => {
            report.error(
                node.at,
                format!("{path} is empty: it needs one element at least"),
            );
        }
        Shape::Pair(_) if found != 2 => {
            report.error(node.at, format!("{path} takes two elements, not {found}"));
        }
        _ => {}
    }
}

fn check_object(
    node: &Node,
    object: &'static Object,
    path: &Path,
    report: &mut Report,
    unmodelled: &mut Unmodelled,
) {
    let Value::Map(entries) = &node.value else {
        return wrong_type(node, &Shape::Object(object), path, report);
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
        if field.class == Class::NotModelled && !value.is_empty() {
            *unmodelled.entry(path.without_indexes()).or_default() += 1;
        }
        check(value, &field.shape, &path, report, unmodelled);
    }
    for field in object.fields.iter().filter(|f| f.required) {
        if node.get(field.name).is_none() {
            let message = match path.is_root() {
                true => format!("{} is required", field.name),
                false => format!("{path}.{} is required", field.name),
            };
            let error = report.error(node.at, message);
            let example = field.written_example();
            let example = if example.is_empty() {
                field.doc
            } else {
                example
            };
            if !example.is_empty() {
                error.suggest(format!("{}: {example}", field.name));
            }
        }
    }
    check_together::check(node, object, path, report);
}

fn check_kind(
    node: &Node,
    kinds: &'static Kinds,
    path: &Path,
    report: &mut Report,
    unmodelled: &mut Unmodelled,
) {
    let legal = || kinds.names().collect::<Vec<_>>().join(", ");
    let Some(kind) = node.get("kind") else {
        if let Some(file) = kinds.file
            && (node.get("manifest").is_some() || !matches!(node.value, Value::Map(_)))
        {
            return check_object(node, file, path, report, unmodelled);
        }
        let at = node.at;
        let message = format!(
            "{} has no kind",
            if path.is_root() {
                "the object".to_owned()
            } else {
                path.to_string()
            }
        );
        report.error(at, message).legal(legal());
        return;
    };
    let name = kind.as_str().unwrap_or("");
    if let Some(object) = kinds.objects.iter().find(|o| o.kind == name) {
        return check_object(node, object, path, report, unmodelled);
    }
    let message = match kind.as_str() {
        Some(name) => format!("kind {name} has no effect in the simulation"),
        None => format!("kind must be a string, found {}", kind.describe()),
    };
    report
        .error(kind.at, message)
        .nearest(name, kinds.names())
        .legal(legal());
}

fn unknown_field(key: &Key, object: &Object, path: &Path, report: &mut Report) {
    let whole = path.to_string();
    let parent = whole.strip_suffix(&key.name).unwrap_or("");
    let parent = parent.trim_end_matches('.');
    let place = match parent {
        "" => object.kind.to_owned(),
        parent => parent.to_owned(),
    };
    let names = object.fields.iter().map(|f| f.name);
    let error = report.error(key.at, format!("unknown field {:?} in {place}", key.name));
    error.nearest(&key.name, names.clone());
    if error.suggestion.is_none() {
        let names: Vec<&str> = names.take(25).collect();
        let more = if object.fields.len() > 25 {
            ", ..."
        } else {
            ""
        };
        error.legal(format!("{}{more}", names.join(", ")));
    }
}

fn wrong_type(node: &Node, shape: &Shape, path: &Path, report: &mut Report) {
    let name = match path.is_root() {
        true => "the document".to_owned(),
        false => path.to_string(),
    };
    let message = format!("{name} must be {}, found {}", shape.noun(), node.describe());
    let error = report.error(node.at, message);
    if matches!(shape, Shape::Str | Shape::Line)
        && !matches!(node.value, Value::Seq(_) | Value::Map(_))
    {
        error.suggest("write it in quotes");
    }
}

fn check_scalar(node: &Node, shape: &Shape, path: &Path, report: &mut Report) {
    let Some(outcome) = scalar(node, shape) else {
        return wrong_type(node, shape, path, report);
    };
    let Err(problem) = outcome else {
        return;
    };
    match shape {
        Shape::Preset(names) => {
            let names = names();
            let found = node.as_str().unwrap_or("");
            let error = report.harmless(node.at, problem);
            error.nearest(found, names.iter().map(String::as_str));
            error.legal(names.join(", "));
        }
        Shape::OneOf(legal) => {
            let found = node.as_str().unwrap_or("");
            let error = report.error(node.at, format!("{path} {problem}"));
            error.nearest(found, legal.iter().copied());
            error.legal(legal.join(", "));
        }
        Shape::Int(..) | Shape::Number(..) => {
            let legal = shape.noun();
            report
                .error(node.at, format!("{path} {problem}"))
                .legal(legal);
        }
        _ => {
            report.error(node.at, format!("{path}: {problem}"));
        }
    }
}

/// Checks the range of a scalar. Returns a message if it is out of range, and `None` if it has the wrong type.
fn scalar(node: &Node, shape: &Shape) -> Option<Result<(), String>> {
    let text = || node.scalar_text().unwrap_or_default();
    let legal = |is: bool, found: String| if is { Ok(()) } else { Err(found) };
    Some(match (shape, &node.value) {
        (Shape::Bool, Value::Bool(_)) | (Shape::Str, Value::Str(_)) => Ok(()),
        (Shape::Line, Value::Str(found)) => {
            legal(!found.contains('\n'), "must be one line".to_owned())
        }
        (Shape::Version(_), Value::Str(_) | Value::Float(_) | Value::Int(_)) => Ok(()),
        (Shape::Preset(names), Value::Str(found)) => legal(
            names().contains(found),
            format!("there is no control plane preset {found:?}"),
        ),
        (Shape::Assignment, Value::Str(found)) => legal(
            found
                .split_once('=')
                .is_some_and(|(path, _)| !path.is_empty()),
            format!(
                "{} is not path=value, such as spec.replicatedJobs[0].replicas=2",
                node.describe()
            ),
        ),
        (Shape::Int(low, high), Value::Int(i)) => {
            legal((low..=high).contains(&i), format!("is {i}"))
        }
        (Shape::Number(low, high), Value::Int(_) | Value::Float(_)) => {
            let number = node.as_f64().unwrap_or(f64::NAN);
            // The comparison is false for NaN.
            let inside = number >= *low && number <= *high;
            legal(inside, format!("is {}", render_f64(number)))
        }
        (Shape::OneOf(names), Value::Str(found)) => legal(
            names.contains(&found.as_str()),
            format!("is {found:?}, which is not legal"),
        ),
        (Shape::Quantity, Value::Str(_) | Value::Int(_) | Value::Float(_)) => {
            quantity::parse_milli(&text()).map(|_| ())
        }
        (Shape::Amount, Value::Str(_) | Value::Int(_) | Value::Float(_)) => {
            quantity::parse_milli(&text())
                .and_then(|milli| legal(milli >= 0, "is negative".to_owned()))
        }
        (Shape::Duration, Value::Str(_) | Value::Int(_) | Value::Float(_)) => {
            text().parse::<Duration>().map(|_| ())
        }
        (Shape::Seconds, Value::Str(_) | Value::Int(_) | Value::Float(_)) => {
            read::seconds(node).map(|_| ())
        }
        _ => return None,
    })
}
