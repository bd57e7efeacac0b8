//! Values that the inputs set where a preset has a default.

use super::text::node::YamlNode;

/// Values that the inputs set where a preset has a default.
#[derive(Clone, Debug, Default)]
pub struct InputSettings {
    /// The document with `controlPlane` and `timing`, with overrides applied.
    pub(super) written: Option<YamlNode>,
    /// Fault presets used: index in `faultProcesses`, name, and rate multiplier.
    pub(super) faults: Vec<(usize, String, f64)>,
}

impl InputSettings {
    /// Extracts the settings from a document with overrides applied.
    pub(super) fn from_document(document: &YamlNode) -> InputSettings {
        let own = |key: &str| document.get(key).is_some();
        InputSettings {
            written: (own("controlPlane") || own("timing")).then(|| document.clone()),
            faults: presets_in(document, "faultProcesses"),
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<&YamlNode> {
        let keys: Vec<&str> = path.split('.').collect();
        self.written.as_ref()?.at_path(&keys)
    }
}

/// Returns the fault presets in a list of a document: index, name, and rate multiplier.
pub(super) fn presets_in(document: &YamlNode, list: &str) -> Vec<(usize, String, f64)> {
    let listed = document.get(list).map_or(&[][..], YamlNode::items);
    let of_preset = |(i, entry): (usize, &YamlNode)| {
        let name = entry.get("preset").and_then(YamlNode::as_str)?;
        let times = entry.get("times").and_then(YamlNode::as_f64).unwrap_or(1.0);
        Some((i, name.to_owned(), times))
    };
    listed.iter().enumerate().filter_map(of_preset).collect()
}
