//! A tree with places to the JSON that a client sends.

use crate::manifest::node::{Node, Value};
use serde_json::{Map, Number};

pub fn of(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(b) => (*b).into(),
        Value::Int(i) => (*i).into(),
        Value::Float(f) => Number::from_f64(*f).map_or(serde_json::Value::Null, Into::into),
        Value::Str(text) => text.as_str().into(),
        Value::Seq(items) => items.iter().map(of).collect(),
        Value::Map(entries) => {
            let entry = |(key, node): &(_, Node)| (key_name(key), of(node));
            serde_json::Value::Object(entries.iter().map(entry).collect::<Map<_, _>>())
        }
    }
}

fn key_name(key: &crate::manifest::node::Key) -> String {
    key.name.clone()
}
