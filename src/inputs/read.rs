//! Functions that read values of a checked node. A value of the wrong type is treated as absent, because the check
//! has reported it.

use super::text::node::{Node, Value};
use sim_base::{Duration, quantity};
use std::collections::BTreeMap;

pub fn string(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::as_str).map(str::to_owned)
}

pub fn boolean(node: &Node, key: &str) -> Option<bool> {
    node.get(key).and_then(Node::as_bool)
}

pub fn integer(node: &Node, key: &str) -> Option<i64> {
    node.get(key).and_then(Node::as_int)
}

pub fn u32_of(node: &Node, key: &str) -> Option<u32> {
    integer(node, key).and_then(|i| u32::try_from(i).ok())
}

pub fn i32_of(node: &Node, key: &str) -> Option<i32> {
    integer(node, key).and_then(|i| i32::try_from(i).ok())
}

pub fn number(node: &Node, key: &str) -> Option<f64> {
    node.get(key).and_then(Node::as_f64)
}

pub fn duration(node: &Node, key: &str) -> Option<Duration> {
    node.get(key)?.scalar_text()?.parse().ok()
}

pub fn list<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).map_or(&[], Node::items)
}

pub fn strings(node: &Node, key: &str) -> Vec<String> {
    list(node, key)
        .iter()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

pub fn i32s(node: &Node, key: &str) -> Vec<i32> {
    list(node, key)
        .iter()
        .filter_map(|item| item.as_int().and_then(|i| i32::try_from(i).ok()))
        .collect()
}

pub fn string_map(node: &Node, key: &str) -> BTreeMap<String, String> {
    let entries = node.get(key).map_or(&[][..], Node::entries);
    entries
        .iter()
        .filter_map(|(k, v)| Some((k.name.clone(), v.as_str()?.to_owned())))
        .collect()
}

/// Reads a map from resource names to quantities, in thousandths.
pub fn quantities(node: &Node, key: &str) -> BTreeMap<String, i64> {
    let entries = node.get(key).map_or(&[][..], Node::entries);
    entries
        .iter()
        .filter_map(|(k, v)| {
            let milli = quantity::parse_milli(&v.scalar_text()?).ok()?;
            Some((k.name.clone(), milli))
        })
        .collect()
}

/// Reads a duration or a plain number of seconds, in seconds.
pub fn seconds(node: &Node) -> Result<f64, String> {
    const LONGEST_S: f64 = 1e9;
    match &node.value {
        Value::Str(text) => text.parse::<Duration>().map(Duration::seconds),
        Value::Int(_) | Value::Float(_) => {
            let number = node.as_f64().unwrap_or(f64::NAN);
            if (0.0..=LONGEST_S).contains(&number) {
                Ok(number)
            } else {
                Err(format!("{number} is not a number of seconds from 0 to 1e9"))
            }
        }
        _ => Err(format!("{} is not a time", node.describe())),
    }
}
