//! From the API server's field paths to places in a text.
//!
//! Must never decide what is wrong there.

use super::node::{Node, Pos};

/// Where a path leads.
#[derive(Copy, Clone, Debug)]
pub struct Place<'n> {
    /// Where the name of the field was written; of a list's item, the item.
    pub key: Pos,
    pub node: &'n Node,
    /// The end of the path, not an ancestor of what was not written.
    pub whole: bool,
}

/// The field at `spec.replicatedJobs[0].replicas`, or its nearest ancestor; `None` if not even the first part was
/// written.
pub fn locate<'n>(root: &'n Node, path: &str) -> Option<Place<'n>> {
    let (mut node, mut found, mut rest) = (root, None, path);
    while !rest.is_empty() {
        let Some((key, next, after)) = step(node, rest) else {
            break;
        };
        rest = after.strip_prefix('.').unwrap_or(after);
        node = next;
        found = Some(key);
    }
    let whole = rest.is_empty();
    found.map(|key| Place { key, node, whole })
}

/// One part of the path: where it was written, its node, what is left of the path.
fn step<'n, 'p>(node: &'n Node, rest: &'p str) -> Option<(Pos, &'n Node, &'p str)> {
    if let Some((inside, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        let item = inside.parse().ok().and_then(|i: usize| node.items().get(i));
        if let Some(item) = item {
            return Some((item.at, item, after));
        }
        let name = inside.trim_matches('"');
        let (key, value) = node.entries().iter().find(|(k, _)| k.name == name)?;
        return Some((key.at, value, after));
    }
    // Keys of labels and resources have dots and slashes themselves: the longest key that fits is meant.
    let fits = |name: &str| {
        let after = rest.strip_prefix(name)?;
        (after.is_empty() || after.starts_with(['.', '['])).then_some(after)
    };
    let all = node.entries().iter();
    let fitting = all.filter_map(|(key, value)| Some((key, value, fits(&key.name)?)));
    let (key, value, after) = fitting.max_by_key(|(key, ..)| key.name.len())?;
    Some((key.at, value, after))
}
