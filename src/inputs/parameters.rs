//! Named parameters: `${name}` in a jobset-sim file is replaced by the value of that name under `parameters`.
//!
//! Files without `parameters` are left unchanged, so that `${HOME}` in a container's command is preserved there.

use super::text::diagnostic::DiagnosticReport;
use super::text::node::{MappingKey, NodeOrigin, YamlNode, YamlValue};
use sim_base::suggest::nearest;
use std::collections::BTreeMap;

const KEY: &str = "parameters";

/// Replaces `${name}` by the parameter values. Unknown and unused names are errors. Names from the file may be
/// unused if `sets` overrides a field, because that field may have used them.
pub fn substitute(node: &mut YamlNode, sets: &[(String, String)], report: &mut DiagnosticReport) {
    let mut values: BTreeMap<String, (YamlNode, bool)> = BTreeMap::new();
    let Some(parameters) = node.get(KEY) else {
        return;
    };
    for (key, value) in parameters.entries() {
        if matches!(value.value, YamlValue::Map(_) | YamlValue::Seq(_) | YamlValue::Null) {
            let message =
                format!("parameters.{} is {}; a parameter must be a single value", key.name, value.describe());
            report.error(value.at, message);
        }
        values.insert(key.name.clone(), (value.clone(), false));
    }
    let places: Vec<_> = parameters.entries().iter().map(|(key, _)| key.clone()).collect();
    if let YamlValue::Map(entries) = &mut node.value {
        for (_, value) in entries.iter_mut().filter(|(key, _)| key.name != KEY) {
            walk(value, &mut values, report);
        }
    }
    let overridden = sets.iter().any(|(path, _)| !path.starts_with(KEY));
    let unused = |key: &&MappingKey| values.get(&key.name).is_some_and(|(_, used)| !used);
    let of_file = |key: &MappingKey| key.at.origin == NodeOrigin::File;
    for key in places.iter().filter(unused).filter(|key| !(overridden && of_file(key))) {
        let message = format!("unused parameter: no field of this file contains ${{{}}}", key.name);
        let others: Vec<&str> = values.iter().filter(|(_, (_, used))| *used).map(|(n, _)| n.as_str()).collect();
        let meant = nearest(&key.name, others).map(str::to_owned);
        let error = report.error(key.at, message);
        if let Some(meant) = meant {
            error.suggest(format!("did you mean {meant:?}?"));
        }
    }
}

fn walk(node: &mut YamlNode, values: &mut BTreeMap<String, (YamlNode, bool)>, report: &mut DiagnosticReport) {
    match &mut node.value {
        YamlValue::Seq(items) => items.iter_mut().for_each(|item| walk(item, values, report)),
        YamlValue::Map(entries) => entries.iter_mut().for_each(|(_, value)| walk(value, values, report)),
        YamlValue::Str(text) if text.contains("${") => {
            let text = std::mem::take(text);
            node.value = put(&text, node, values, report);
        }
        _ => {}
    }
}

/// Substitutes the parameters in a text. A text that is exactly one parameter takes the type of its value; otherwise
/// the values are inserted into the text.
fn put(
    text: &str, node: &YamlNode, values: &mut BTreeMap<String, (YamlNode, bool)>, report: &mut DiagnosticReport,
) -> YamlValue {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let Some(end) = rest[at..].find('}') else {
            break;
        };
        let name = &rest[at + 2..at + end];
        match values.get_mut(name) {
            Some((value, used)) => {
                *used = true;
                if text.len() == end + 1 {
                    return value.value.clone();
                }
                out.push_str(&value.scalar_text().unwrap_or_default());
            }
            None => {
                let meant = nearest(name, values.keys().map(String::as_str)).map(str::to_owned);
                let error = report.error(node.at, format!("parameter {name:?} does not exist"));
                if let Some(meant) = meant {
                    error.suggest(format!("did you mean ${{{meant}}}?"));
                }
            }
        }
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    YamlValue::Str(out)
}
