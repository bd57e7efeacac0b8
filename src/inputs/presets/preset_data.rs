//! Parses the embedded preset files of `src/inputs/presets/` and lists the control plane presets.

use crate::{read, text::diagnostic::SourceText, text::node::YamlNode, text::yaml};
use std::sync::LazyLock;

pub static CONTROL_PLANE: LazyLock<YamlNode> =
    LazyLock::new(|| document("control-plane.yaml", include_str!("control-plane.yaml")));

pub const DEFAULT_PRESET: &str = "scale-test";

/// Returns the names of the control plane presets, in the order of the file.
pub fn preset_names() -> Vec<String> {
    let presets = read::list(&CONTROL_PLANE, "presets");
    presets.iter().filter_map(|p| read::string(p, "name")).collect()
}

/// Parses an embedded file. Tests verify that every embedded file is valid.
pub fn document(file: &str, text: &str) -> YamlNode {
    let source = SourceText { file: file.to_owned(), text: text.to_owned() };
    let documents = yaml::parse(&source).unwrap_or_default();
    documents.into_iter().next().unwrap_or_else(YamlNode::empty_map)
}
