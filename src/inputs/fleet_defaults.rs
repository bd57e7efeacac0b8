//! Lists the values that a Fleet depends on: every number and duration, whether set or default, and the fault presets.
//!
//! A Fleet has no control plane and no kubelets, so their defaults do not apply.

use super::effective_defaults::{EffectiveDefault, of_fault_presets};
use super::fleet::LoadedFleet;
use super::presets::render;
use super::schema::definitions::fleet::FLEET;
use super::schema::field_type::{FieldSchema, FieldType, ObjectSchema};
use super::text::node::YamlNode;

/// Fields that do not affect the model: metadata and experiment settings.
const NOT_OF_THE_MODEL: [&str; 6] = ["metadata", "parameters", "experiment", "prices", "seed", "description"];

/// Returns every value that the Fleet uses.
pub fn effective_fleet_defaults(loaded: &LoadedFleet) -> Vec<EffectiveDefault> {
    let mut all = Vec::new();
    walk(&FLEET, &loaded.written, "", &mut all);
    of_fault_presets(&loaded.presets(), "faults", &mut all);
    all
}

fn walk(object: &'static ObjectSchema, node: &YamlNode, path: &str, all: &mut Vec<EffectiveDefault>) {
    let fields = object.fields.iter();
    for field in fields.filter(|f| !(path.is_empty() && NOT_OF_THE_MODEL.contains(&f.name))) {
        let path = match path {
            "" => field.name.to_owned(),
            path => format!("{path}.{}", field.name),
        };
        value(field, &field.shape, node.get(field.name), &path, all);
    }
}

fn value(
    field: &FieldSchema, shape: &FieldType, written: Option<&YamlNode>, path: &str, all: &mut Vec<EffectiveDefault>,
) {
    match (shape, written) {
        (FieldType::Object(object), Some(node)) => walk(object, node, path, all),
        (FieldType::List(item) | FieldType::NonEmpty(item), Some(node)) => {
            for (i, node) in node.items().iter().enumerate() {
                value(field, item, Some(node), &format!("{path}[{i}]"), all);
            }
        }
        (FieldType::Either(_, FieldType::Object(object)), Some(node)) if !node.entries().is_empty() => {
            match object.kind {
                // A distribution counts as a single value.
                "Distribution" => all.push(EffectiveDefault::given(path, render(node))),
                _ => walk(object, node, path, all),
            }
        }
        (FieldType::Object(_) | FieldType::List(_) | FieldType::NonEmpty(_) | FieldType::Map(_), _) => {}
        (FieldType::Bool | FieldType::Str | FieldType::Line | FieldType::OneOf(_) | FieldType::Assignment, _) => {}
        (_, Some(node)) => {
            let text = render(node);
            if number(&text) {
                all.push(EffectiveDefault::given(path, text));
            }
        }
        (_, None) if number(field.default) => all.push(EffectiveDefault::by_default(path, field.default)),
        (_, None) => {}
    }
}

/// Returns whether a text is a number, a duration or a distribution.
fn number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || "{[.".contains(c))
}
