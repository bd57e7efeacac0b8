//! Checks the rules between the fields of one object (`shapes::together`).

use super::definitions::together::{FieldConstraint, together};
use super::field_type::ObjectSchema;
use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode, text::path::YamlPath};

/// Reports violations of the rules of the object's kind. Objects with unknown fields are skipped, because a
/// misspelled field may be the missing one.
pub fn check(node: &YamlNode, object: &ObjectSchema, path: &YamlPath, report: &mut DiagnosticReport) {
    let place = if path.is_root() { object.kind.to_owned() } else { path.to_string() };
    let known = |name: &str| object.fields.iter().any(|f| f.name == name);
    if node.entries().iter().any(|(key, _)| !known(&key.name)) {
        return;
    }
    for rule in together(object.kind) {
        one(node, rule, &place, report);
    }
}

fn one(node: &YamlNode, rule: &FieldConstraint, place: &str, report: &mut DiagnosticReport) {
    let has = |name: &&str| node.get(name).is_some();
    match rule {
        FieldConstraint::One { what, of } => {
            if !needs(node, what, of, place, report) {
                return;
            }
            let given = node.entries().iter().filter(|(_, value)| !value.is_null());
            let mut given = given.filter(|(key, _)| of.contains(&key.name.as_str()));
            if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
                not_both(&first.name, &second.name, second.at, place, report);
            }
        }
        FieldConstraint::Some { what, of } => {
            needs(node, what, of, place, report);
        }
        FieldConstraint::NotBoth(first, second) => {
            if let (true, Some(at)) = (has(first), node.get(second)) {
                not_both(first, second, at.at, place, report);
            }
        }
        FieldConstraint::OneSet(sets) => {
            let complete = |set: &&&[&str]| set.iter().all(has);
            let given: usize = sets.iter().flat_map(|set| *set).filter(|n| has(n)).count();
            if sets.iter().find(complete).is_none_or(|set| set.len() != given) {
                let sets: Vec<String> = sets.iter().map(|s| format!("{{{}}}", s.join(", "))).collect();
                report.error(node.at, format!("{place} requires {}", sets.join(" or ")));
            }
        }
        FieldConstraint::Needs(this, other, else_) => {
            if let (Some(at), false) = (node.get(this), has(other)) {
                let error = report.harmless(at.at, format!("{place}: {this} requires {other}: {else_}"));
                error.suggest(format!("add {other}"));
            }
        }
        FieldConstraint::Replaces(this, others, called) => {
            for (key, value) in node.entries() {
                if has(this) && !value.is_null() && others.contains(&key.name.as_str()) {
                    let message = format!("{place}.{} has no effect with {called}", key.name);
                    report.harmless(key.at, message);
                }
            }
        }
    }
}

/// Checks that at least one of the fields is set, and reports an error if none is.
fn needs(node: &YamlNode, what: &str, of: &[&str], place: &str, report: &mut DiagnosticReport) -> bool {
    if of.iter().any(|name| node.get(name).is_some()) {
        return true;
    }
    let error = report.harmless(node.at, format!("{place} requires {what}"));
    error.legal(of.join(", "));
    false
}

fn not_both(
    first: &str, second: &str, at: crate::text::node::SourcePosition, place: &str, report: &mut DiagnosticReport,
) {
    report.harmless(at, format!("{place} must not set both {first} and {second}"));
}
