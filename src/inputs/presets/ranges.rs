//! Published ranges of input values as data (`ranges.yaml`), for the fields that are present in a scenario or Fleet.

use super::preset_data::document;
use crate::read;
use crate::text::diagnostic::SourceText;
use crate::text::node::YamlNode;
use crate::text::yaml;

const RANGES: &str = include_str!("ranges.yaml");

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
    let root = document("ranges.yaml", RANGES);
    let mut all = Vec::new();
    for entry in read::list(&root, "ranges") {
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

/// Returns the paths of the fields that match a pattern.
fn matching_values(file: &YamlNode, pattern: &str, entry: &YamlNode) -> Vec<String> {
    let Some((list, field)) = pattern.split_once("[*].") else {
        let keys = pattern.replace("[0]", ".0");
        let there = at(file, &keys).filter(|node| !node.is_null());
        return there.map(|_| pattern.to_owned()).into_iter().collect();
    };
    let items = file.get(list).map_or(&[][..], YamlNode::items);
    let key = read::string(entry, "of");
    let always = read::boolean(entry, "always").unwrap_or(false);
    let has = |item: &YamlNode| {
        let kind = key.as_deref().is_none_or(|key| item.get(key).is_some());
        kind && (always || item.get(field).is_some())
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

fn range(file: &YamlNode, path: String, entry: &YamlNode) -> SourcedRange {
    let keys = path.replace('[', ".").replace(']', "");
    let written = at(file, &keys).and_then(YamlNode::as_str).unwrap_or("");
    let parameter = written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let nodes = read::boolean(entry, "ofNodes").unwrap_or(false);
    let nodes = nodes.then(|| read::number(file, "nodes").unwrap_or(0.0));
    let bound = |key: &str| match nodes {
        Some(nodes) => format!("{}", (nodes * read::number(entry, key).unwrap_or(0.0)).round()),
        None => entry.get(key).and_then(YamlNode::scalar_text).unwrap_or_default(),
    };
    let (low, high) = (bound("low"), bound("high"));
    let displayed = match read::strings(entry, "shown").as_slice() {
        [low, high] => [low.clone(), high.clone()],
        _ => [low.clone(), high.clone()],
    };
    SourcedRange {
        path: parameter.map_or(path.clone(), |name| format!("parameters.{name}")),
        low,
        high,
        shown: displayed,
        source: read::string(entry, "source").unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_fields_that_a_file_has_and_each_has_a_source() {
        let text = "nodes: 50\nparameters: {s: 3}\nspares: {nodes: \"${s}\"}\njob: {recovery: 5m}\n\
            faults: [{preset: rsc}, {cause: x, mtbf: 3d}]\nrepair: {stages: [{takes: 1h}]}\n";
        let source = SourceText { file: "f.yaml".to_owned(), text: text.to_owned() };
        let all = sourced(&source);
        let paths: Vec<&str> = all.iter().map(|r| r.path.as_str()).collect();
        let expected = ["faults[0].per1000NodeDays", "job.recovery", "repair.stages[0].takes", "parameters.s"];
        assert_eq!(paths, expected);
        assert_eq!((all[3].low.as_str(), all[3].high.as_str()), ("0", "5"));
        let root = document("ranges.yaml", RANGES);
        for entry in read::list(&root, "ranges") {
            let source = read::string(entry, "source").unwrap_or_default();
            let named = ["FAIL-", "CKPT-", "INIT-", "REP-", "NODE-"].iter().any(|id| source.contains(id));
            assert!(named, "{source}");
            let levels = ["documented", "derived", "unverified"];
            let confidence = read::string(entry, "confidence").unwrap_or_default();
            assert!(levels.contains(&confidence.as_str()), "{source}");
        }
    }
}
