//! Paths into a tree of nodes, for messages and for `path=value` overrides.
//!
//! An override may create any key. The schema check that follows reports unknown keys.

use super::diagnostic::{Diagnostic, Diagnostics, SourceText};
use super::node::{MappingKey, NodeOrigin, SourcePosition, YamlNode, YamlValue};
use super::override_error::{OverrideError, SegmentError};
use super::yaml;
use std::fmt;

/// Maximum number of segments in an override path. No format is nested this deeply.
const DEPTH_MAX: usize = 64;

/// Path segment in an override that selects every element of a list.
const EACH: &str = "*";

/// A place in a tree, linked from the leaf to the root.
#[derive(Copy, Clone)]
pub struct YamlPath<'p> {
    parent: Option<&'p YamlPath<'p>>,
    segment: PathSegment<'p>,
}

#[derive(Copy, Clone, PartialEq)]
pub enum PathSegment<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> YamlPath<'p> {
    pub const ROOT: YamlPath<'static> = YamlPath { parent: None, segment: PathSegment::Root };

    pub fn key(&'p self, key: &'p str) -> YamlPath<'p> {
        YamlPath { parent: Some(self), segment: PathSegment::Key(key) }
    }

    pub fn index(&'p self, index: usize) -> YamlPath<'p> {
        YamlPath { parent: Some(self), segment: PathSegment::Index(index) }
    }

    pub fn is_root(&self) -> bool {
        self.segment == PathSegment::Root
    }

    /// Returns the path without list indexes, for example `spec.replicatedJobs[].replicas`.
    pub fn without_indexes(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, false);
        text
    }

    fn write(&self, text: &mut String, indexes: bool) {
        if let Some(parent) = self.parent {
            parent.write(text, indexes);
        }
        match self.segment {
            PathSegment::Root => {}
            PathSegment::Index(i) if indexes => text.push_str(&format!("[{i}]")),
            PathSegment::Index(_) => text.push_str("[]"),
            PathSegment::Key(key) if key.contains(['.', '[', '/']) => {
                text.push_str(&format!("[{key:?}]"));
            }
            PathSegment::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
        }
    }
}

impl fmt::Display for YamlPath<'_> {
    /// Formats the path, for example as `spec.replicatedJobs[1].replicas`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text, true);
        f.write_str(&text)
    }
}

/// First segment of override paths that set fields of one JobSet only: `jobSet.NAME.spec.suspend`.
const ONE_JOBSET: &str = "jobSet.";

/// Returns the override path of a field of one JobSet.
pub fn jobset_path(name: &str, field: &str) -> String {
    format!("{ONE_JOBSET}{name}.{field}")
}

/// Splits a path of [`jobset_path`] into the name of the JobSet and the field; `None` for other paths.
pub fn of_one_jobset(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix(ONE_JOBSET)?.split_once('.')
}

/// Returns the name by which override paths address a JobSet: its name after the overrides of all JobSets. Overrides
/// that cannot be applied have no effect on it.
pub fn addressed_name(node: &YamlNode, source: &SourceText, sets: &[PathSetting]) -> Option<String> {
    let name = |node: &YamlNode| node.at_path(&["metadata", "name"]).and_then(YamlNode::as_str).map(str::to_owned);
    let may_rename = |(path, _): &PathSetting| path.split(['.', '[']).next() == Some("metadata");
    if !sets.iter().any(may_rename) {
        return name(node);
    }
    let mut renamed = node.clone();
    _ = apply_sets_to(&mut renamed, None, source, sets);
    name(&renamed)
}

/// Returns an error for each override of a JobSet that does not exist. `sets_name` names the overrides in errors.
pub fn unknown_jobsets<'n>(
    sets_name: &str, sets: &[PathSetting], names: impl Iterator<Item = &'n str>,
) -> Vec<Diagnostic> {
    let names: Vec<&str> = names.collect();
    let source = overrides_source(sets_name, sets);
    let mut found = Vec::new();
    let mut line = 1;
    for (path, value) in sets {
        if let Some((name, _)) = of_one_jobset(path).filter(|(name, _)| !names.contains(name)) {
            let mut error = Diagnostic::at(&source, position(line, path), format!("JobSet {name:?} does not exist"));
            error.legal(names.join(", "));
            found.push(error);
        }
        line += lines_of(path, value);
    }
    found
}

/// Returns the position of an override path in the text of `overrides_source`.
fn position(line: u32, path: &str) -> SourcePosition {
    SourcePosition { line, column: 1, len: path.chars().count() as u32, byte: 0, origin: NodeOrigin::Set }
}

fn lines_of(path: &str, value: &str) -> u32 {
    1 + (path.matches('\n').count() + value.matches('\n').count()) as u32
}

/// Splits the overrides into those of the scenario and those of the JobSets. The latter have a path that begins with
/// one of `roots`, or with the name of one JobSet.
pub fn split_sets(sets: &[PathSetting], roots: &[&str]) -> (Vec<PathSetting>, Vec<PathSetting>) {
    let of_jobsets = |(path, _): &PathSetting| {
        let root = path.split(['.', '[']).next().unwrap_or("");
        roots.contains(&root) || of_one_jobset(path).is_some()
    };
    let (jobsets, rest) = sets.iter().cloned().partition(of_jobsets);
    (rest, jobsets)
}

/// An override as a pair of path and value.
pub type PathSetting = (String, String);

/// Returns the overrides as a text with one override per line, so that errors can quote them.
pub fn overrides_source(name: &str, sets: &[(String, String)]) -> SourceText {
    let lines: Vec<String> = sets.iter().map(|(p, v)| format!("{p}={v}")).collect();
    SourceText { file: name.to_owned(), text: lines.join("\n") }
}

/// Applies all overrides in order. Their positions refer to the text of `overrides_source`.
pub fn apply_sets(node: &mut YamlNode, source: &SourceText, sets: &[(String, String)]) -> Result<(), Diagnostics> {
    apply_sets_to(node, None, source, sets)
}

/// Applies the overrides of all JobSets, and those of the JobSet `name`, to a JobSet.
pub fn apply_sets_to(
    node: &mut YamlNode, name: Option<&str>, source: &SourceText, sets: &[(String, String)],
) -> Result<(), Diagnostics> {
    let mut result = Vec::new();
    let mut line = 1;
    for (path, value) in sets {
        let start = position(line, path);
        let field = match of_one_jobset(path) {
            Some((of, field)) => (Some(of) == name).then_some(field),
            None => Some(path.as_str()),
        };
        match parse_value(source, value, start) {
            Ok(value) => {
                if let Some(field) = field
                    && let Err(error) = set_path(node, field, value, start)
                {
                    result.push(Diagnostic::at(source, start, error.to_string()));
                }
            }
            Err(error) => result.extend(error.0),
        }
        line += lines_of(path, value);
    }
    if result.is_empty() { Ok(()) } else { Err(Diagnostics(result)) }
}

/// Parses one YAML value, with positions relative to the overrides text.
fn parse_value(source: &SourceText, text: &str, start: SourcePosition) -> Result<YamlNode, Diagnostics> {
    let alone = SourceText { file: source.file.clone(), text: text.to_owned() };
    let mut documents = yaml::parse(&alone)?;
    if documents.len() > 1 {
        let message = format!("{text:?} contains several YAML documents");
        return Err(Diagnostic::at(source, start, message).into());
    }
    let mut value = documents.pop().unwrap_or_else(|| YamlNode::new(start, YamlValue::Null));
    shift(&mut value, start);
    Ok(value)
}

fn shift(node: &mut YamlNode, start: SourcePosition) {
    move_pos(&mut node.at, start);
    match &mut node.value {
        YamlValue::Seq(items) => items.iter_mut().for_each(|item| shift(item, start)),
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                move_pos(&mut key.at, start);
                shift(value, start);
            }
        }
        _ => {}
    }
}

fn move_pos(at: &mut SourcePosition, start: SourcePosition) {
    if at.origin == NodeOrigin::Set {
        return;
    }
    if at.line <= 1 {
        at.column += start.len + 1;
    }
    at.line = at.line.max(1) + start.line - 1;
    at.origin = NodeOrigin::Set;
}

/// Sets `value` at `path`. Missing keys are created, and a list may grow by one element at its end.
///
/// Examples of paths: `controlPlane.preset`, `jobSets[0].submitAt`, `jobSets.0.submitAt`,
/// `metadata.annotations["a.b/c"]`. The segment `*` selects every element of a list: `spec.replicatedJobs.*.replicas`.
pub fn set_path(node: &mut YamlNode, path: &str, value: YamlNode, at: SourcePosition) -> Result<(), OverrideError> {
    let path = path.to_owned();
    let Some(segments) = split(&path) else {
        return Err(OverrideError::InvalidPath { path });
    };
    set_below(node, &segments, &value, at).map_err(|reason| OverrideError::CannotSet { path, reason })
}

fn set_below(node: &mut YamlNode, path: &[String], value: &YamlNode, at: SourcePosition) -> Result<(), SegmentError> {
    let Some((segment, rest)) = path.split_first() else {
        *node = value.clone();
        return Ok(());
    };
    match &mut node.value {
        YamlValue::Seq(items) if segment == EACH && items.is_empty() => Err(SegmentError::EmptyList),
        YamlValue::Seq(items) if segment == EACH => {
            let mut all = items.iter_mut();
            all.try_for_each(|item| set_below(item, rest, value, at))
        }
        _ => set_below(descend(node, segment, at)?, rest, value, at),
    }
}

fn descend<'n>(node: &'n mut YamlNode, segment: &str, at: SourcePosition) -> Result<&'n mut YamlNode, SegmentError> {
    if node.is_null() {
        let value = if segment == "0" { YamlValue::Seq(Vec::new()) } else { YamlValue::Map(Vec::new()) };
        *node = YamlNode::new(at, value);
    }
    let result = node.describe();
    match &mut node.value {
        YamlValue::Seq(items) => {
            let count = items.len();
            let index = segment.parse::<usize>().ok().filter(|i| *i <= count);
            let index =
                index.ok_or_else(|| SegmentError::InvalidIndex { segment: segment.to_owned(), length: count })?;
            if index == count {
                items.push(YamlNode::new(at, YamlValue::Null));
            }
            Ok(&mut items[index])
        }
        YamlValue::Map(entries) => {
            let index = entries.iter().position(|(k, _)| k.name == segment);
            let index = index.unwrap_or_else(|| {
                let name = segment.to_owned();
                entries.push((MappingKey { name, at }, YamlNode::new(at, YamlValue::Null)));
                entries.len() - 1
            });
            Ok(&mut entries[index].1)
        }
        _ => Err(SegmentError::NotCollection { segment: segment.to_owned(), found: result }),
    }
}

/// Returns the segments of a path, or `None` if the path is invalid.
fn split(path: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix("[\"") {
            let (key, tail) = tail.split_once("\"]")?;
            segments.push(key.to_owned());
            rest = tail;
        } else if let Some(tail) = rest.strip_prefix('[') {
            let (index, tail) = tail.split_once(']')?;
            index.parse::<usize>().ok()?;
            segments.push(index.to_owned());
            rest = tail;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            segments.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = match rest.strip_prefix('.') {
            Some("") => return None,
            Some(tail) => tail,
            None => rest,
        };
    }
    (1..=DEPTH_MAX).contains(&segments.len()).then_some(segments)
}
