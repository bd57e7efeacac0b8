//! Published ranges of input values as data (`ranges.yaml`), for the fields that are present in a scenario or Fleet.

use super::preset_data::document;
use crate::{read, text::diagnostic::SourceText, text::node::YamlNode, text::yaml};
use std::sync::LazyLock;

static RANGES: LazyLock<YamlNode> = LazyLock::new(|| document("ranges.yaml", include_str!("ranges.yaml")));

/// A field of an input file with the published range of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedRange {
    /// Path of the field as used by `--set`. If the field is a parameter, the path of the parameter.
    pub path: String,
    /// Lower end of the range, as written in an input file.
    pub low: String,
    /// Upper end of the range, as written in an input file.
    pub high: String,
    /// The low and high ends as displayed. `ranges.yaml` can give shorter texts for them.
    pub shown: [String; 2],
    pub source: String,
}

/// Returns the published ranges for the fields present in a text. Returns none if the text cannot be parsed.
pub fn sourced(text: &SourceText) -> Vec<SourcedRange> {
    let Ok(documents) = yaml::parse(text) else {
        return Vec::new();
    };
    let Some(file) = documents.first() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for entry in read::list(&RANGES, "ranges") {
        for pattern in read::strings(entry, "paths") {
            for path in matching_values(file, &pattern, entry) {
                let range = range(file, path, entry);
                if !all.iter().any(|known: &SourcedRange| known.path == range.path) {
                    all.push(range);
                }
            }
        }
    }
    all
}

/// Returns the fields of a text that a study should vary, but that have no published range.
pub fn without_range(text: &SourceText) -> Vec<String> {
    let covered: Vec<String> = sourced(text).into_iter().map(|range| range.path).collect();
    let Ok(documents) = yaml::parse(text) else {
        return Vec::new();
    };
    let Some(file) = documents.first() else {
        return Vec::new();
    };
    let mut all: Vec<String> = Vec::new();
    for pattern in read::strings(&RANGES, "named") {
        let found = match file.get(&pattern).map(YamlNode::entries) {
            Some(entries) => entries.iter().map(|(key, _)| format!("{pattern}.{}", key.name)).collect(),
            None => matching_values(file, &pattern, &RANGES),
        };
        let own = found.into_iter().map(|path| parameter_path(file, &path).unwrap_or(path));
        for path in own.filter(|path| !covered.contains(path)).collect::<Vec<_>>() {
            if !all.contains(&path) {
                all.push(path);
            }
        }
    }
    all
}

/// Returns the paths of the fields that match a pattern.
fn matching_values(file: &YamlNode, pattern: &str, entry: &YamlNode) -> Vec<String> {
    let Some((list, field)) = pattern.split_once("[*].") else {
        let keys = pattern.replace("[0]", ".0");
        let there = at(file, &keys).filter(|node| !node.is_null());
        return there.map(|_| pattern.to_owned()).into_iter().collect();
    };
    let items = at(file, list).map_or(&[][..], YamlNode::items);
    let keys = read::strings(entry, "of");
    let without = read::string(entry, "without");
    let always = read::boolean(entry, "always").unwrap_or(false);
    let has = |item: &YamlNode| {
        let kind = keys.is_empty() || keys.iter().any(|key| item.get(key).is_some());
        let other = without.as_deref().is_some_and(|key| item.get(key).is_some());
        kind && !other && (always || item.get(field).is_some())
    };
    let with = items.iter().enumerate().filter(|(_, item)| has(item));
    with.map(|(i, _)| format!("{list}[{i}].{field}")).collect()
}

fn at<'n>(file: &'n YamlNode, keys: &str) -> Option<&'n YamlNode> {
    keys.split('.').try_fold(file, |node, key| match key.parse::<usize>() {
        Ok(index) => node.items().get(index),
        Err(_) => node.get(key),
    })
}

/// Returns the path of the parameter that a field is set to; `None` if it is set to a value.
fn parameter_path(file: &YamlNode, path: &str) -> Option<String> {
    let keys = path.replace('[', ".").replace(']', "");
    let written = at(file, &keys).and_then(YamlNode::as_str)?;
    let name = written.strip_prefix("${")?.strip_suffix('}')?;
    Some(format!("parameters.{name}"))
}

fn range(file: &YamlNode, path: String, entry: &YamlNode) -> SourcedRange {
    let parameter = parameter_path(file, &path);
    let path = parameter.unwrap_or(path);
    let of = |key: &str| read::boolean(entry, key).unwrap_or(false);
    let value = at(file, &path.replace('[', ".").replace(']', ""));
    let default = entry.get("default");
    let is_whole = value.and_then(YamlNode::as_int).is_some() && default.is_none();
    let value = value.or(default).and_then(YamlNode::as_f64).unwrap_or(0.0);
    let bound = |key: &str| {
        let factor = read::number(entry, key).unwrap_or(0.0);
        match (of("ofNodes"), of("relative")) {
            (true, _) => format!("{}", (read::number(file, "nodes").unwrap_or(0.0) * factor).round()),
            (_, true) if is_whole => format!("{}", (value * factor).ceil()),
            (_, true) => format!("{}", value * factor),
            _ => entry.get(key).and_then(YamlNode::scalar_text).unwrap_or_default(),
        }
    };
    let (low, high) = (bound("low"), bound("high"));
    let displayed = match read::strings(entry, "shown").as_slice() {
        [low, high] => [low.clone(), high.clone()],
        _ => [low.clone(), high.clone()],
    };
    SourcedRange { path, low, high, shown: displayed, source: read::string(entry, "source").unwrap_or_default() }
}

#[cfg(test)]
#[path = "../../../tests/inside/inputs/presets/ranges.rs"]
mod tests;
