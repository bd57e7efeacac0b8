//! Parsing of JSON text like the API server: the last of several equal keys counts, and strict validation reports
//! the others.
//!
//! This module must not interpret keys. The nesting depth is limited.

mod error;

pub use error::JsonSyntaxError;

use serde_json::{Map, Value};

const DEPTH_MAX: usize = 200;

/// Returns the value and a message `duplicate field "path"` for every repeated key, or Go's error.
pub fn parse(text: &str) -> Result<(Value, Vec<String>), JsonSyntaxError> {
    let mut parser = JsonParser { text, at: 0, duplicates: Vec::new() };
    let value = parser.value("", 0)?;
    parser.skip_whitespace();
    match parser.peek() {
        None => Ok((value, parser.duplicates)),
        Some(_) => Err(parser.unexpected("after top-level value")),
    }
}

struct JsonParser<'a> {
    text: &'a str,
    at: usize,
    duplicates: Vec<String>,
}

impl JsonParser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_whitespace(&mut self) {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.at += rest.len() - trimmed.len();
    }

    fn unexpected(&self, context: &'static str) -> JsonSyntaxError {
        match self.peek() {
            None => JsonSyntaxError::UnexpectedEnd,
            Some(found) => JsonSyntaxError::UnexpectedCharacter { found, context },
        }
    }

    /// Consumes the expected character, or returns an error that names the character found.
    fn expect_char(&mut self, wanted: char, context: &'static str) -> Result<(), JsonSyntaxError> {
        if self.peek() != Some(wanted) {
            return Err(self.unexpected(context));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    fn value(&mut self, path: &str, depth: usize) -> Result<Value, JsonSyntaxError> {
        if depth > DEPTH_MAX {
            return Err(JsonSyntaxError::DepthExceeded);
        }
        self.skip_whitespace();
        match self.peek() {
            Some('{') => self.object(path, depth),
            Some('[') => self.array(path, depth),
            Some('"') => self.string().map(Value::String),
            Some('-' | '0'..='9') => self.number(),
            Some('t' | 'f' | 'n') => self.parse_keyword(),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn object(&mut self, path: &str, depth: usize) -> Result<Value, JsonSyntaxError> {
        let mut fields = Map::new();
        self.at += 1;
        self.skip_whitespace();
        if self.peek() == Some('}') {
            self.at += 1;
            return Ok(Value::Object(fields));
        }
        loop {
            self.skip_whitespace();
            if self.peek() != Some('"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            if fields.contains_key(&key) {
                self.duplicates.push(format!("duplicate field {place:?}"));
            }
            self.skip_whitespace();
            self.expect_char(':', "after object key")?;
            let value = self.value(&place, depth + 1)?;
            fields.insert(key, value);
            self.skip_whitespace();
            if self.peek() == Some(',') {
                self.at += 1;
                continue;
            }
            self.expect_char('}', "after object key:value pair")?;
            return Ok(Value::Object(fields));
        }
    }

    fn array(&mut self, path: &str, depth: usize) -> Result<Value, JsonSyntaxError> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_whitespace();
        if self.peek() == Some(']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            let place = format!("{path}[{}]", items.len());
            items.push(self.value(&place, depth + 1)?);
            self.skip_whitespace();
            if self.peek() == Some(',') {
                self.at += 1;
                continue;
            }
            self.expect_char(']', "after array element")?;
            return Ok(Value::Array(items));
        }
    }

    fn string(&mut self) -> Result<String, JsonSyntaxError> {
        let rest = &self.text[self.at..];
        let mut escaped = false;
        for (i, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    self.at += i + 1;
                    return serde_json::from_str(&rest[..=i]).map_err(|_| JsonSyntaxError::InvalidEscape);
                }
                c if (c as u32) < 0x20 => {
                    return Err(JsonSyntaxError::UnexpectedCharacter { found: c, context: "in string literal" });
                }
                _ => {}
            }
        }
        Err(JsonSyntaxError::UnexpectedEnd)
    }

    fn number(&mut self) -> Result<Value, JsonSyntaxError> {
        let rest = &self.text[self.at..];
        let part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let number = serde_json::from_str(&rest[..end]);
        self.at += end;
        number.map_err(|_| JsonSyntaxError::InvalidNumber)
    }

    fn parse_keyword(&mut self) -> Result<Value, JsonSyntaxError> {
        let rest = &self.text[self.at..];
        let words = [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
        for (word, value) in words {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("in literal"))
    }
}
