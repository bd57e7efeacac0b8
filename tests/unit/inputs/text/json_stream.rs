//! Tests of `sim_inputs::text::json_stream`.

use serde::Deserialize;
use serde_json::{Value, json};
use sim_inputs::text::json_stream::*;
use std::io::Read;

/// Returns a few bytes at a time.
struct SlowReader<'t> {
    rest: &'t [u8],
    most: usize,
}

impl Read for SlowReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = buffer.len().min(self.most);
        self.rest.read(&mut buffer[..bytes])
    }
}

fn read<T: for<'de> Deserialize<'de>>(text: &str, most: usize) -> Option<T> {
    let mut stream = JsonStream::new(SlowReader { rest: text.as_bytes(), most });
    let value = T::deserialize(&mut stream).ok()?;
    stream.peek().ok()?.is_none().then_some(value)
}

/// A structure that ignores most fields of its input.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Part {
    name: String,
    list: Vec<Option<Part>>,
    kept: Option<f64>,
}

#[test]
fn values_are_equal_to_those_of_serde_json_for_each_size_of_the_parts() {
    let value = json!({
        "a": {"k:{\"type\":\"x\"}": ["]", "\\", "\\\"}", "{", ""], "e": {}, "l": []}, "name": "ä \"q\" \\ \u{1F600}\n",
        "list": [{"name": "x", "x": [[[1, -2.5e3]], true, null]}, null, {"kept": 1e-3, "list": []}],
        "kept": 18_446_744_073_709_551_615u64, "long": "0123456789".repeat(100),
    });
    for text in [value.to_string(), serde_json::to_string_pretty(&value).expect("JSON")] {
        for most in [1, 2, 3, 7, 8, 9, 64, 10_000] {
            assert_eq!(read::<Value>(&text, most).as_ref(), Some(&value), "{most}");
            let part: Part = serde_json::from_str(&text).expect("a part");
            assert_eq!(read::<Part>(&text, most), Some(part), "{most}");
        }
    }
}

#[test]
fn a_text_longer_than_a_part_is_read() {
    let long = "x\\\"".repeat(200_000);
    let text = format!("{{\"other\": \"{long}\", \"name\": \"{long}\"}}");
    let part: Part = read(&text, usize::MAX).expect("a part");
    assert_eq!(part.name.len(), 400_000);
}

#[test]
fn incomplete_and_wrong_texts_are_refused() {
    let deep = "[".repeat(100) + &"]".repeat(100);
    let cases = [
        "", "{", "{\"name\"", "{\"name\":", "{\"name\":\"a", "{\"name\":\"a\"", "{\"x\":[1,{}", "{\"x\":\"\\",
        "{name: a}", "{\"name\":7}", "{\"name\":\"a\" \"kept\":1}", "{\"kept\":-}", "[1 2]", "{\"name\":\"\\q\"}",
        "{\"name\":\"a\"}}", &deep,
    ];
    for text in cases {
        assert!(read::<Part>(text, 3).is_none(), "{text}");
    }
    assert!(read::<Value>(&deep, 3).is_none());
}
