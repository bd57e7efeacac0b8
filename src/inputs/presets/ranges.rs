//! Published ranges of input values as data (`ranges.yaml`), for the fields that are present in a scenario or Fleet.

use super::preset_data::document;
use crate::text::node::{YamlNode, YamlValue};
use crate::{read, text::diagnostic::SourceText, text::yaml};
use sim_base::Duration;
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
    /// True if the field is chosen, and not an uncertainty.
    pub is_decision: bool,
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
        let mut found: Vec<String> = Vec::new();
        for pattern in read::strings(entry, "paths") {
            for path in matching_values(file, &pattern, entry) {
                let item = path.rsplit_once('.').map_or("", |(item, _)| item).to_owned();
                if is_too_small(file, &path, entry) || is_first_only(entry) && found.contains(&item) {
                    continue;
                }
                found.push(item);
                let range = range(file, path, entry);
                if !all.iter().any(|known: &SourcedRange| known.path == range.path) {
                    all.push(range);
                }
            }
        }
    }
    all
}

fn is_first_only(entry: &YamlNode) -> bool {
    read::boolean(entry, "firstOf").unwrap_or(false)
}

/// Returns whether the value of a field is below the least value of an entry.
fn is_too_small(file: &YamlNode, path: &str, entry: &YamlNode) -> bool {
    let value = at(file, &path.replace('[', ".").replace(']', "")).and_then(YamlNode::as_f64);
    read::number(entry, "least").zip(value).is_some_and(|(least, value)| value < least)
}

/// Returns whether the field at a path is chosen, and not an uncertainty, whatever else an entry requires.
pub fn is_decision(path: &str) -> bool {
    let mut entries = read::list(&RANGES, "ranges").iter();
    entries.any(|entry| {
        let patterns = read::strings(entry, "paths");
        read::boolean(entry, "decision").unwrap_or(false) && patterns.iter().any(|pattern| is_of(path, pattern))
    })
}

/// Returns whether a path is one of a pattern with `[*]` for indexes.
fn is_of(path: &str, pattern: &str) -> bool {
    let mut rest = path;
    for (nth, part) in pattern.split("[*]").enumerate() {
        if nth > 0 {
            let Some((index, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
                return false;
            };
            if index.parse::<usize>().is_err() {
                return false;
            }
            rest = after;
        }
        let Some(after) = rest.strip_prefix(part) else { return false };
        rest = after;
    }
    rest.is_empty()
}

/// Returns the paths of all inputs of a text that have no published range: numbers, durations and distributions. A
/// field that is set to a parameter is that parameter.
pub fn without_range(text: &SourceText) -> Vec<String> {
    let ranges = sourced(text);
    let Ok(documents) = yaml::parse(text) else {
        return Vec::new();
    };
    let Some(file) = documents.first() else {
        return Vec::new();
    };
    let skipped = read::strings(&RANGES, "skipped");
    let mut all = Vec::new();
    find_inputs(file, "", &skipped, &mut all);
    let rates = read::strings(&RANGES, "rates");
    let is_covered = |path: &String| {
        let is_rate = path.rsplit_once('.').is_some_and(|(item, key)| {
            rates.iter().any(|rate| rate == key)
                && rates.iter().any(|rate| ranges.iter().any(|range| range.path == format!("{item}.{rate}")))
        });
        is_rate || ranges.iter().any(|range| range.path == *path)
    };
    all.retain(|path| !is_covered(path));
    all
}

/// Returns the paths that a list of overrides sets to a number or a duration.
fn overridden(set: &YamlNode) -> Vec<String> {
    let YamlValue::Seq(items) = &set.value else { return Vec::new() };
    let path = |item: &YamlNode| {
        let YamlValue::Str(text) = &item.value else { return None };
        let (path, value) = text.split_once('=')?;
        let is_number = value.parse::<f64>().is_ok() || value.parse::<Duration>().is_ok();
        is_number.then(|| path.to_owned())
    };
    items.iter().filter_map(path).collect()
}

/// Adds the paths of all numbers, durations and distributions.
fn find_inputs(node: &YamlNode, path: &str, skipped: &[String], found: &mut Vec<String>) {
    const DISTRIBUTIONS: [&str; 6] = ["uniform", "logNormal", "exponential", "weibull", "gamma", "empirical"];
    match &node.value {
        YamlValue::Map(entries) if entries.iter().any(|(key, _)| DISTRIBUTIONS.contains(&key.name.as_str())) => {
            found.push(path.to_owned());
        }
        YamlValue::Map(entries) => {
            let separator = if path.is_empty() { "" } else { "." };
            for (_, value) in entries.iter().filter(|(key, _)| key.name == "set") {
                found.extend(overridden(value));
            }
            for (key, value) in entries.iter().filter(|(key, _)| !skipped.contains(&key.name)) {
                find_inputs(value, &format!("{path}{separator}{}", key.name), skipped, found);
            }
        }
        YamlValue::Seq(items) => {
            items.iter().enumerate().for_each(|(i, item)| find_inputs(item, &format!("{path}[{i}]"), skipped, found));
        }
        YamlValue::Int(_) | YamlValue::Float(_) => found.push(path.to_owned()),
        YamlValue::Str(text) if text.parse::<Duration>().is_ok() => found.push(path.to_owned()),
        _ => {}
    }
}

/// Returns the paths of the fields that match a pattern.
fn matching_values(file: &YamlNode, pattern: &str, entry: &YamlNode) -> Vec<String> {
    let Some((list, field)) = pattern.split_once("[*].") else {
        let keys = pattern.replace("[0]", ".0");
        let list = pattern.split_once("[0]").and_then(|(list, _)| at(file, list));
        if read::boolean(entry, "only").unwrap_or(false) && list.is_some_and(|list| list.items().len() > 1) {
            return Vec::new();
        }
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
    let source = read::string(entry, "source").unwrap_or_default();
    SourcedRange { path, low, high, shown: displayed, source, is_decision: of("decision") }
}

#[cfg(test)]
#[path = "../../../tests/inside/inputs/presets/ranges.rs"]
mod tests;
