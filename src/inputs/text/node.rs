//! The tree that a text is parsed into. Every key and value has a position.
//!
//! This module must never interpret fields; that is the task of `shape` and the readers.

/// Position of a key or value: 1-based line and column in characters. Line 0 means unknown.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
    pub len: u32,
    /// Offset in the text in bytes; 0 with `Origin::File` means that it has not been computed.
    pub byte: u32,
    pub origin: Origin,
}

/// The text that a position refers to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    File,
    /// The `path=value` overrides, one per line.
    Set,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub at: Pos,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Seq(Vec<Node>),
    /// Entries in text order; keys are unique.
    Map(Vec<(Key, Node)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub name: String,
    pub at: Pos,
}

impl Node {
    /// Converts the tree to JSON, without positions.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::from(*b),
            Value::Int(i) => Json::from(*i),
            Value::Float(f) => Json::from(*f),
            Value::Str(text) => Json::from(text.as_str()),
            Value::Seq(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => entries
                .iter()
                .map(|(key, value)| (key.name.clone(), value.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// Converts JSON to a tree without positions.
    pub fn from_json(json: &serde_json::Value) -> Node {
        use serde_json::Value as Json;
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => match n.as_i64() {
                Some(i) => Value::Int(i),
                None => Value::Float(n.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Str(text.clone()),
            Json::Array(items) => Value::Seq(items.iter().map(Node::from_json).collect()),
            Json::Object(entries) => Value::Map(
                entries
                    .iter()
                    .map(|(name, value)| {
                        let at = Pos::default();
                        let name = name.clone();
                        (Key { name, at }, Node::from_json(value))
                    })
                    .collect(),
            ),
        };
        Node::new(Pos::default(), value)
    }

    pub fn new(at: Pos, value: Value) -> Node {
        Node { at, value }
    }

    /// Returns an empty mapping without a position.
    pub fn empty_map() -> Node {
        Node::new(Pos::default(), Value::Map(Vec::new()))
    }

    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// Returns the value of a key. A null value counts as absent, as in the API server.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()
            .iter()
            .find(|(k, _)| k.name == key)
            .map(|(_, v)| v)
            .filter(|v| !v.is_null())
    }

    /// Returns the value at the end of a chain of keys.
    pub fn at_path(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    pub fn entries(&self) -> &[(Key, Node)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Seq(items) => items,
            _ => &[],
        }
    }

    /// Removes and returns the elements of the list `items`.
    pub fn take_items(&mut self) -> Vec<Node> {
        let Value::Map(entries) = &mut self.value else {
            return Vec::new();
        };
        let items = entries.iter_mut().find(|(key, _)| key.name == "items");
        match items.map(|(_, node)| &mut node.value) {
            Some(Value::Seq(items)) => std::mem::take(items),
            _ => Vec::new(),
        }
    }

    /// Returns the size as compact JSON in bytes. Escape sequences are not counted.
    pub fn json_size(&self) -> usize {
        let text = |text: &str| text.len() + 2;
        match &self.value {
            Value::Null => 4,
            Value::Bool(b) => 5 - usize::from(*b),
            Value::Int(_) | Value::Float(_) => self.scalar_text().unwrap_or_default().len(),
            Value::Str(s) => text(s),
            Value::Seq(items) => {
                let sizes = items.iter().map(|item| item.json_size() + 1);
                1 + sizes.sum::<usize>().max(1)
            }
            Value::Map(entries) => {
                let size = |(key, value): &(Key, Node)| text(&key.name) + value.json_size() + 2;
                1 + entries.iter().map(size).sum::<usize>().max(1)
            }
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self.value {
            Value::Int(i) => Some(i),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self.value {
            Value::Int(i) => Some(i as f64),
            Value::Float(f) => Some(f),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// Returns a scalar as text. Numbers are formatted like a quantity or duration.
    pub fn scalar_text(&self) -> Option<String> {
        match &self.value {
            Value::Str(text) => Some(text.clone()),
            Value::Int(i) => Some(i.to_string()),
            Value::Float(f) => Some(f.to_string()),
            _ => None,
        }
    }

    /// Returns whether the value is null, an empty list or an empty mapping.
    pub fn is_empty(&self) -> bool {
        match &self.value {
            Value::Null => true,
            Value::Seq(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// Describes the value for messages, for example `the string "x"` or `a list`.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(b) => format!("the boolean {b}"),
            Value::Int(i) => format!("the integer {i}"),
            Value::Float(f) => format!("the number {}", render_f64(*f)),
            Value::Str(text) if text.chars().count() > 40 => "a long string".to_owned(),
            Value::Str(text) => format!("the string {text:?}"),
            Value::Seq(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
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
