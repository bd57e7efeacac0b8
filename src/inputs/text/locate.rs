//! Maps the API server's field paths to positions in a text.
//!
//! This module must never decide what the error is.

use super::node::{SourcePosition, YamlNode};

/// A position found for a field path.
#[derive(Copy, Clone, Debug)]
pub struct SourcePlace<'n> {
    pub key: SourcePosition,
    pub node: &'n YamlNode,
    /// Whether the whole path was found. If false, the node is the nearest ancestor that exists.
    pub is_complete: bool,
}

/// Returns the field at a path such as `spec.replicatedJobs[0].replicas`, or its nearest ancestor. Returns `None` if
/// not even the first segment exists.
pub fn locate<'n>(root: &'n YamlNode, path: &str) -> Option<SourcePlace<'n>> {
    let (mut node, mut found, mut rest) = (root, None, path);
    while !rest.is_empty() {
        let Some((key, next, after)) = step(node, rest) else {
            break;
        };
        rest = after.strip_prefix('.').unwrap_or(after);
        node = next;
        found = Some(key);
    }
    let complete = rest.is_empty();
    found.map(|key| SourcePlace { key, node, is_complete: complete })
}

/// Follows one segment of the path. Returns the position of the segment, its node, and the rest of the path.
fn step<'n, 'p>(node: &'n YamlNode, rest: &'p str) -> Option<(SourcePosition, &'n YamlNode, &'p str)> {
    if let Some((inside, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        let item = inside.parse().ok().and_then(|i: usize| node.items().get(i));
        if let Some(item) = item {
            return Some((item.at, item, after));
        }
        let name = inside.trim_matches('"');
        let (key, value) = node.entries().iter().find(|(k, _)| k.name == name)?;
        return Some((key.at, value, after));
    }
    // Keys of labels and resources can contain dots and slashes, so the longest matching key is used.
    let fits = |name: &str| {
        let after = rest.strip_prefix(name)?;
        (after.is_empty() || after.starts_with(['.', '['])).then_some(after)
    };
    let all = node.entries().iter();
    let fitting = all.filter_map(|(key, value)| Some((key, value, fits(&key.name)?)));
    let (key, value, after) = fitting.max_by_key(|(key, ..)| key.name.len())?;
    Some((key.at, value, after))
}
