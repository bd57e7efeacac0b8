//! Expands Kubernetes lists to their items.

use super::text::node::{YamlNode, YamlValue};
use super::text::path;

/// Fills in `apiVersion` and `kind` of an item from its typed list, such as `JobSetList`. Items may omit them.
pub fn adopt(item: &mut YamlNode, version: &str, kind: &str, list: &mut YamlNode) {
    if kind.is_empty() || item.get("kind").is_some() {
        return;
    }
    for (key, value) in [("apiVersion", version), ("kind", kind)] {
        let value = YamlValue::Str(value.to_owned());
        let value = YamlNode::new(item.at, value);
        if path::set_path(item, key, value, list.at).is_err() {
            return;
        }
    }
}

/// Replaces every list among the documents by its items.
pub fn unlisted(documents: Vec<YamlNode>) -> Vec<YamlNode> {
    let mut objects = Vec::new();
    for mut document in documents {
        let text = |key: &str| document.get(key).and_then(YamlNode::as_str).unwrap_or("");
        let (kind, version) = (text("kind").to_owned(), text("apiVersion").to_owned());
        let Some(kind) = kind.strip_suffix("List") else {
            objects.push(document);
            continue;
        };
        let mut items = document.take_items();
        for item in &mut items {
            adopt(item, &version, kind, &mut document);
        }
        objects.extend(unlisted(items));
    }
    objects
}
