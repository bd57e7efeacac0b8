//! The tree that a text is parsed into. Every key and value has a position.
//!
//! This module must never interpret fields; that is the task of `shape` and the readers.

/// Position of a key or value: 1-based line and column in characters. Line 0 means unknown.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    pub line: u32,
    pub column: u32,
    pub len: u32,
    /// Offset in the text in bytes; 0 with `NodeOrigin::File` means that it has not been computed.
    pub byte: u32,
    pub origin: NodeOrigin,
}

/// The text that a position refers to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum NodeOrigin {
    #[default]
    File,
    /// The `path=value` overrides, one per line.
    Set,
}

#[derive(Clone, Debug, PartialEq)]
pub struct YamlNode {
    pub at: SourcePosition,
    pub value: YamlValue,
}

#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Seq(Vec<YamlNode>),
    /// Entries in text order; keys are unique.
    Map(Vec<(MappingKey, YamlNode)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingKey {
    pub name: String,
    pub at: SourcePosition,
}

impl YamlNode {
    /// Converts the tree to JSON, without positions.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            YamlValue::Null => Json::Null,
            YamlValue::Bool(b) => Json::from(*b),
            YamlValue::Int(i) => Json::from(*i),
            YamlValue::Float(f) => Json::from(*f),
            YamlValue::Str(text) => Json::from(text.as_str()),
            YamlValue::Seq(items) => items.iter().map(YamlNode::to_json).collect(),
            YamlValue::Map(entries) => entries
                .iter()
                .map(|(key, value)| (key.name.clone(), value.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// Converts JSON to a tree without positions.
    pub fn from_json(json: &serde_json::Value) -> YamlNode {
        use serde_json::Value as Json;
        let value = match json {
            Json::Null => YamlValue::Null,
            Json::Bool(b) => YamlValue::Bool(*b),
            Json::Number(n) => match n.as_i64() {
                Some(i) => YamlValue::Int(i),
                None => YamlValue::Float(n.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => YamlValue::Str(text.clone()),
            Json::Array(items) => YamlValue::Seq(items.iter().map(YamlNode::from_json).collect()),
            Json::Object(entries) => YamlValue::Map(
                entries
                    .iter()
                    .map(|(name, value)| {
                        let at = SourcePosition::default();
                        let name = name.clone();
                        (MappingKey { name, at }, YamlNode::from_json(value))
                    })
                    .collect(),
            ),
        };
        YamlNode::new(SourcePosition::default(), value)
    }

    pub fn new(at: SourcePosition, value: YamlValue) -> YamlNode {
        YamlNode { at, value }
    }

    /// Returns an empty mapping without a position.
    pub fn empty_map() -> YamlNode {
        YamlNode::new(SourcePosition::default(), YamlValue::Map(Vec::new()))
    }

    pub fn is_null(&self) -> bool {
        self.value == YamlValue::Null
    }

    /// Returns the value of a key. A null value counts as absent, as in the API server.
    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.entries().iter().find(|(k, _)| k.name == key).map(|(_, v)| v).filter(|v| !v.is_null())
    }

    /// Returns the value at the end of a chain of keys.
    pub fn at_path(&self, keys: &[&str]) -> Option<&YamlNode> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    pub fn entries(&self) -> &[(MappingKey, YamlNode)] {
        match &self.value {
            YamlValue::Map(entries) => entries,
            _ => &[],
        }
    }

    pub fn items(&self) -> &[YamlNode] {
        match &self.value {
            YamlValue::Seq(items) => items,
            _ => &[],
        }
    }

    /// Removes and returns the elements of the list `items`.
    pub fn take_items(&mut self) -> Vec<YamlNode> {
        let YamlValue::Map(entries) = &mut self.value else {
            return Vec::new();
        };
        let items = entries.iter_mut().find(|(key, _)| key.name == "items");
        match items.map(|(_, node)| &mut node.value) {
            Some(YamlValue::Seq(items)) => std::mem::take(items),
            _ => Vec::new(),
        }
    }

    /// Returns the size as compact JSON in bytes. Escape sequences are not counted.
    pub fn json_size(&self) -> usize {
        let text = |text: &str| text.len() + 2;
        match &self.value {
            YamlValue::Null => 4,
            YamlValue::Bool(b) => 5 - usize::from(*b),
            YamlValue::Int(_) | YamlValue::Float(_) => self.scalar_text().unwrap_or_default().len(),
            YamlValue::Str(s) => text(s),
            YamlValue::Seq(items) => {
                let sizes = items.iter().map(|item| item.json_size() + 1);
                1 + sizes.sum::<usize>().max(1)
            }
            YamlValue::Map(entries) => {
                let size = |(key, value): &(MappingKey, YamlNode)| text(&key.name) + value.json_size() + 2;
                1 + entries.iter().map(size).sum::<usize>().max(1)
            }
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Str(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self.value {
            YamlValue::Int(i) => Some(i),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self.value {
            YamlValue::Int(i) => Some(i as f64),
            YamlValue::Float(f) => Some(f),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            YamlValue::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// Returns a scalar as text. Numbers are formatted like a quantity or duration.
    pub fn scalar_text(&self) -> Option<String> {
        match &self.value {
            YamlValue::Str(text) => Some(text.clone()),
            YamlValue::Int(i) => Some(i.to_string()),
            YamlValue::Float(f) => Some(f.to_string()),
            _ => None,
        }
    }

    /// Returns whether the value is null, an empty list or an empty mapping.
    pub fn is_empty(&self) -> bool {
        match &self.value {
            YamlValue::Null => true,
            YamlValue::Seq(items) => items.is_empty(),
            YamlValue::Map(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// Describes the value for messages, for example `the string "x"` or `a list`.
    pub fn describe(&self) -> String {
        match &self.value {
            YamlValue::Null => "null".to_owned(),
            YamlValue::Bool(b) => format!("the boolean {b}"),
            YamlValue::Int(i) => format!("the integer {i}"),
            YamlValue::Float(f) => format!("the number {}", render_f64(*f)),
            YamlValue::Str(text) if text.chars().count() > 40 => "a long string".to_owned(),
            YamlValue::Str(text) => format!("the string {text:?}"),
            YamlValue::Seq(_) => "a list".to_owned(),
            YamlValue::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// Formats a number for messages. Numbers from 1e15 or below 1e-6 get an exponent.
pub fn render_f64(number: f64) -> String {
    let size = number.abs();
    if number.is_finite() && (size >= 1e15 || size > 0.0 && size < 1e-6) {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}
