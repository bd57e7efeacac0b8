//! Fields that state what happens to a cluster, such as failure rates: uncertainties, which cannot be chosen.

use crate::text::node::{YamlNode, YamlValue};
use crate::{text::diagnostic::SourceText, text::yaml};

/// Lists of faults in scenarios and Fleets, and other fields that describe nature.
const ROOTS: [&str; 5] = ["faultProcesses", "faults", "lemons", "timing", "seed"];
/// Fields of a fault that an operator chooses.
const CHOSEN: [&str; 4] = ["deletedAfter", "notice", "rolling", "detectedAfter"];

/// Returns whether the field at a path is an uncertainty. A parameter is one if all fields that it sets are; without
/// the text of the file it is not.
pub fn is_uncertain(text: Option<&SourceText>, path: &str) -> bool {
    let Some(name) = path.strip_prefix("parameters.") else {
        let root = path.split(['.', '[']).next().unwrap_or("");
        let is_chosen = |field: &str| CHOSEN.contains(&field.split('[').next().unwrap_or(field));
        return ROOTS.contains(&root) && !path.split('.').any(is_chosen);
    };
    let documents = text.and_then(|text| yaml::parse(text).ok()).unwrap_or_default();
    let mut uses = Vec::new();
    for document in &documents {
        find_uses(document, &format!("${{{name}}}"), "", &mut uses);
    }
    !uses.is_empty() && uses.iter().all(|path| is_uncertain(None, path))
}

/// Adds the paths of all values that contain a text.
fn find_uses(node: &YamlNode, wanted: &str, path: &str, found: &mut Vec<String>) {
    match &node.value {
        YamlValue::Map(entries) => {
            let separator = if path.is_empty() { "" } else { "." };
            entries
                .iter()
                .for_each(|(key, value)| find_uses(value, wanted, &format!("{path}{separator}{}", key.name), found));
        }
        YamlValue::Seq(items) => {
            items.iter().enumerate().for_each(|(i, item)| find_uses(item, wanted, &format!("{path}[{i}]"), found));
        }
        YamlValue::Str(text) if text.contains(wanted) => found.push(path.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/inputs/presets/uncertain.rs"]
mod tests;
