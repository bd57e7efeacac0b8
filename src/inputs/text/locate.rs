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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::text::yaml;

    #[test]
    fn a_path_leads_to_the_nearest_place_that_was_written() {
        let text = "spec:\n  jobs:\n  - name: a\n  - name: b\n    n: 1\n  labels:\n    x.y/z: 1\n    x: {y: 2}\n";
        let source = Source {
            file: "x".into(),
            text: text.into(),
        };
        let root = yaml::parse(&source).unwrap().remove(0);
        let found = |path| locate(&root, path).map(|p| (p.key.line, p.whole));
        assert_eq!(found("spec.jobs[1].n"), Some((5, true)));
        assert_eq!(found("spec.jobs[0].n"), Some((3, false)));
        assert_eq!(found("spec.jobs[7].n"), Some((2, false)));
        assert_eq!(found("spec.labels.x.y/z"), Some((7, true)));
        assert_eq!(found("spec.labels[x.y/z]"), Some((7, true)));
        assert_eq!(found("spec.labels.x.y"), Some((8, true)));
        assert_eq!(found("status"), None);
    }
}
