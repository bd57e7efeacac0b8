//! Reads JSON from a file in parts. Values that the caller ignores are skipped without being checked.
//!
//! A dump of a cluster has several 100 MB, of which an import needs a few percent. This module must not explain errors:
//! after an error the caller reads the whole text with `serde_json`, whose messages have positions.

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::Read;
use std::ops::Range;

/// Bytes that are read at a time; more if a text is longer.
const PART: usize = 1 << 18;
/// Maximum depth of nested values that are read.
const DEPTH_MAX: usize = 64;

/// The JSON values of a reader.
pub struct JsonStream<R> {
    reader: R,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    depth: usize,
}

/// The text cannot be read in parts.
#[derive(Debug)]
pub struct JsonStreamError;

impl fmt::Display for JsonStreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text is not JSON of the expected form")
    }
}

impl std::error::Error for JsonStreamError {}

impl de::Error for JsonStreamError {
    fn custom<T: fmt::Display>(_: T) -> JsonStreamError {
        JsonStreamError
    }
}

impl<R: Read> JsonStream<R> {
    pub fn new(reader: R) -> JsonStream<R> {
        JsonStream { reader, buffer: vec![0; PART], at: 0, end: 0, depth: 0 }
    }

    /// Returns the next byte after white space without consuming it; `None` at the end of the text.
    pub fn peek(&mut self) -> Result<Option<u8>, JsonStreamError> {
        loop {
            while self.at < self.end {
                match self.buffer[self.at] {
                    b'\n' => self.at += 1 + count_spaces(&self.buffer[self.at + 1..self.end]),
                    b' ' | b'\t' | b'\r' => self.at += 1,
                    byte => return Ok(Some(byte)),
                }
            }
            if !self.read_more()? {
                return Ok(None);
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonStreamError> {
        match self.peek()? {
            Some(next) if next == byte => self.at += 1,
            _ => return Err(JsonStreamError),
        }
        Ok(())
    }

    /// Moves the unread bytes to the start of the buffer and reads more. Returns false at the end of the text.
    fn read_more(&mut self) -> Result<bool, JsonStreamError> {
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        let bytes = self.reader.read(&mut self.buffer[self.end..]).map_err(|_| JsonStreamError)?;
        self.end += bytes;
        Ok(bytes > 0)
    }

    /// Consumes a text. Returns its range in the buffer, without the quotes.
    fn text(&mut self) -> Result<Range<usize>, JsonStreamError> {
        self.expect(b'"')?;
        loop {
            if let Some(length) = text_length(&self.buffer[self.at..self.end]) {
                let start = self.at;
                self.at += length + 1;
                return Ok(start..start + length);
            }
            if !self.read_more()? {
                return Err(JsonStreamError);
            }
        }
    }

    /// Consumes a number or a word, which ends before a byte that cannot belong to it.
    fn scalar(&mut self) -> Result<Range<usize>, JsonStreamError> {
        self.peek()?;
        loop {
            let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte);
            let length = self.buffer[self.at..self.end].iter().position(is_end);
            if length.is_none() && self.read_more()? {
                continue;
            }
            let (start, length) = (self.at, length.unwrap_or(self.end - self.at));
            self.at += length;
            return if length > 0 { Ok(start..start + length) } else { Err(JsonStreamError) };
        }
    }

    /// Consumes a value of any size.
    fn skip(&mut self) -> Result<(), JsonStreamError> {
        match self.peek()? {
            Some(b'"') => self.text().map(drop),
            Some(b'{' | b'[') => self.skip_nested(),
            _ => self.scalar().map(drop),
        }
    }

    /// Consumes an object or an array by counting brackets outside of texts.
    fn skip_nested(&mut self) -> Result<(), JsonStreamError> {
        let mut depth = 0u64;
        loop {
            let bytes = &self.buffer[self.at..self.end];
            let mut at = 0;
            while let Some(byte) = bytes.get(at) {
                match byte {
                    b'"' => match text_length(&bytes[at + 1..]) {
                        Some(length) => at += length + 2,
                        None => break,
                    },
                    b'\n' => at += 1 + count_spaces(&bytes[at + 1..]),
                    b'{' | b'[' => {
                        depth += 1;
                        at += 1;
                    }
                    b'}' | b']' => {
                        depth -= 1;
                        at += 1;
                        if depth == 0 {
                            self.at += at;
                            return Ok(());
                        }
                    }
                    _ => at += 1,
                }
            }
            self.at += at;
            if !self.read_more()? {
                return Err(JsonStreamError);
            }
        }
    }

    /// Reads an object or an array, whose first byte is the next one.
    fn nested<T>(
        &mut self, read: impl FnOnce(&mut JsonStream<R>) -> Result<T, JsonStreamError>,
    ) -> Result<T, JsonStreamError> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(JsonStreamError);
        }
        let value = read(self);
        self.depth -= 1;
        value
    }
}

/// Bytes that are compared at a time.
const WORD: usize = 8;
const ONES: u64 = u64::from_le_bytes([1; WORD]);
const HIGH: u64 = u64::from_le_bytes([128; WORD]);

/// Returns a word in which the lowest set bit is in the first byte that is zero in the argument.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGH
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (words, _) = bytes.as_chunks::<WORD>();
    words.iter().map(|word| u64::from_le_bytes(*word))
}

/// Returns the number of spaces at the start.
fn count_spaces(bytes: &[u8]) -> usize {
    let spaces = u64::from_le_bytes([b' '; WORD]);
    let whole = words(bytes).take_while(|word| *word == spaces).count() * WORD;
    whole + bytes[whole..].iter().take_while(|byte| **byte == b' ').count()
}

/// Returns the number of bytes before the closing quote; `None` if there is none.
fn text_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let next = at + quote_or_escape(&bytes[at..])?;
        if bytes[next] == b'"' {
            return Some(next);
        }
        at = next + 2;
        if at > bytes.len() {
            return None;
        }
    }
}

fn quote_or_escape(bytes: &[u8]) -> Option<usize> {
    let (quotes, escapes) = (ONES * u64::from(b'"'), ONES * u64::from(b'\\'));
    for (at, word) in words(bytes).enumerate() {
        let found = zero_bytes(word ^ quotes) | zero_bytes(word ^ escapes);
        if found != 0 {
            return Some(at * WORD + found.trailing_zeros() as usize / 8);
        }
    }
    let rest = bytes.len() / WORD * WORD;
    let found = bytes[rest..].iter().position(|byte| [b'"', b'\\'].contains(byte))?;
    Some(rest + found)
}

impl<'de, R: Read> Deserializer<'de> for &mut JsonStream<R> {
    type Error = JsonStreamError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonStreamError> {
        match self.peek()?.ok_or(JsonStreamError)? {
            b'{' => self.nested(|stream| visitor.visit_map(JsonEntries { stream, is_first: true })),
            b'[' => self.nested(|stream| visitor.visit_seq(JsonEntries { stream, is_first: true })),
            b'"' => {
                let text = self.text()?;
                let bytes = &self.buffer[text.clone()];
                if bytes.contains(&b'\\') {
                    let quoted = [b"\"", bytes, b"\""].concat();
                    return visitor.visit_string(serde_json::from_slice(&quoted).map_err(|_| JsonStreamError)?);
                }
                visitor.visit_str(std::str::from_utf8(bytes).map_err(|_| JsonStreamError)?)
            }
            _ => {
                let scalar = self.scalar()?;
                match &self.buffer[scalar] {
                    b"null" => visitor.visit_unit(),
                    b"true" => visitor.visit_bool(true),
                    b"false" => visitor.visit_bool(false),
                    number => {
                        let number: serde_json::Number = serde_json::from_slice(number).map_err(|_| JsonStreamError)?;
                        number.deserialize_any(visitor).map_err(|_| JsonStreamError)
                    }
                }
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonStreamError> {
        if self.peek()? != Some(b'n') {
            return visitor.visit_some(self);
        }
        self.skip()?;
        visitor.visit_none()
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonStreamError> {
        self.skip()?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier
    }
}

/// The rest of an object or an array.
struct JsonEntries<'s, R> {
    stream: &'s mut JsonStream<R>,
    is_first: bool,
}

impl<R: Read> JsonEntries<'_, R> {
    /// Consumes the comma before the next entry, or the closing bracket. Returns whether there is a next entry.
    fn advance(&mut self, closing: u8) -> Result<bool, JsonStreamError> {
        if self.stream.peek()? == Some(closing) {
            self.stream.at += 1;
            return Ok(false);
        }
        if !std::mem::replace(&mut self.is_first, false) {
            self.stream.expect(b',')?;
        }
        Ok(true)
    }
}

impl<'de, R: Read> MapAccess<'de> for JsonEntries<'_, R> {
    type Error = JsonStreamError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, JsonStreamError> {
        if !self.advance(b'}')? {
            return Ok(None);
        }
        if self.stream.peek()? != Some(b'"') {
            return Err(JsonStreamError);
        }
        seed.deserialize(&mut *self.stream).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, JsonStreamError> {
        self.stream.expect(b':')?;
        seed.deserialize(&mut *self.stream)
    }
}

impl<'de, R: Read> SeqAccess<'de> for JsonEntries<'_, R> {
    type Error = JsonStreamError;

    fn next_element_seed<E: DeserializeSeed<'de>>(&mut self, seed: E) -> Result<Option<E::Value>, JsonStreamError> {
        if !self.advance(b']')? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.stream).map(Some)
    }
}
