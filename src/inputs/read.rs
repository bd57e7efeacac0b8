//! Functions that read values of a checked node. A value of the wrong type is treated as absent, because the check
//! has reported it.

mod error;

pub use error::SecondsError;

use super::text::node::{YamlNode, YamlValue};
use sim_base::{Duration, quantity};
use std::collections::BTreeMap;

pub fn string(node: &YamlNode, key: &str) -> Option<String> {
    node.get(key).and_then(YamlNode::as_str).map(str::to_owned)
}

pub fn boolean(node: &YamlNode, key: &str) -> Option<bool> {
    node.get(key).and_then(YamlNode::as_bool)
}

pub fn integer(node: &YamlNode, key: &str) -> Option<i64> {
    node.get(key).and_then(YamlNode::as_int)
}

pub fn u32_of(node: &YamlNode, key: &str) -> Option<u32> {
    integer(node, key).and_then(|i| u32::try_from(i).ok())
}

pub fn i32_of(node: &YamlNode, key: &str) -> Option<i32> {
    integer(node, key).and_then(|i| i32::try_from(i).ok())
}

pub fn number(node: &YamlNode, key: &str) -> Option<f64> {
    node.get(key).and_then(YamlNode::as_f64)
}

pub fn duration(node: &YamlNode, key: &str) -> Option<Duration> {
    node.get(key)?.scalar_text()?.parse().ok()
}

pub fn list<'n>(node: &'n YamlNode, key: &str) -> &'n [YamlNode] {
    node.get(key).map_or(&[], YamlNode::items)
}

pub fn strings(node: &YamlNode, key: &str) -> Vec<String> {
    list(node, key).iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

pub fn i32s(node: &YamlNode, key: &str) -> Vec<i32> {
    list(node, key).iter().filter_map(|item| item.as_int().and_then(|i| i32::try_from(i).ok())).collect()
}

pub fn string_map(node: &YamlNode, key: &str) -> BTreeMap<String, String> {
    let entries = node.get(key).map_or(&[][..], YamlNode::entries);
    entries.iter().filter_map(|(k, v)| Some((k.name.clone(), v.as_str()?.to_owned()))).collect()
}

/// Reads a map from resource names to quantities, in thousandths.
pub fn quantities(node: &YamlNode, key: &str) -> BTreeMap<String, i64> {
    let entries = node.get(key).map_or(&[][..], YamlNode::entries);
    entries
        .iter()
        .filter_map(|(k, v)| {
            let milli = quantity::parse_milli(&v.scalar_text()?).ok()?;
            Some((k.name.clone(), milli))
        })
        .collect()
}

/// Reads a map from names to quantities, in billionths.
pub fn billionths(node: &YamlNode, key: &str) -> BTreeMap<String, i128> {
    let entries = node.get(key).map_or(&[][..], YamlNode::entries).iter();
    let read = |value: &YamlNode| quantity::parse(&value.scalar_text()?).ok()?.scaled(9);
    entries.filter_map(|(key, value)| Some((key.name.clone(), read(value)?))).collect()
}

/// Reads a duration or a plain number of seconds, in seconds.
pub fn seconds(node: &YamlNode) -> Result<f64, SecondsError> {
    const LONGEST_S: f64 = 1e9;
    match &node.value {
        YamlValue::Str(text) => Ok(text.parse::<Duration>()?.seconds()),
        YamlValue::Int(_) | YamlValue::Float(_) => {
            let number = node.as_f64().unwrap_or(f64::NAN);
            if (0.0..=LONGEST_S).contains(&number) { Ok(number) } else { Err(SecondsError::OutOfRange { number }) }
        }
        _ => Err(SecondsError::NotDuration { found: node.describe() }),
    }
}
