//! The values that the inputs set where a preset has a default.

use super::text::node::Node;

/// What the inputs say where a preset has a default.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `controlPlane` and `timing` as they are written, with the overrides.
    pub(super) written: Option<Node>,
    /// Presets of faults: the place in `faultProcesses`, the name, and how many times its rate.
    pub(super) faults: Vec<(usize, String, f64)>,
}

impl Settings {
    /// Of a document with its overrides.
    pub(super) fn of(document: &Node) -> Settings {
        let own = |key: &str| document.get(key).is_some();
        Settings {
            written: (own("controlPlane") || own("timing")).then(|| document.clone()),
            faults: presets_in(document, "faultProcesses"),
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<&Node> {
        let keys: Vec<&str> = path.split('.').collect();
        self.written.as_ref()?.at_path(&keys)
    }
}

/// Presets of faults in a list of a document: the place, the name, and how many times its rate.
pub(super) fn presets_in(document: &Node, list: &str) -> Vec<(usize, String, f64)> {
    let listed = document.get(list).map_or(&[][..], Node::items);
    let of_preset = |(i, entry): (usize, &Node)| {
        let name = entry.get("preset").and_then(Node::as_str)?;
        let times = entry.get("times").and_then(Node::as_f64).unwrap_or(1.0);
        Some((i, name.to_owned(), times))
    };
    listed.iter().enumerate().filter_map(of_preset).collect()
}
