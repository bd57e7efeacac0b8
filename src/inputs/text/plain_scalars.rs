//! The types of plain scalars as kubectl resolves them (`go.yaml.in/yaml/v2`, resolve.go), where the YAML crate
//! resolves them otherwise.

use super::node::{SourcePosition, YamlNode, YamlValue};

/// The spellings of booleans and of null; others, such as `oN`, are strings.
const WORDS: [&str; 26] = [
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No", "NO", "false",
    "False", "FALSE", "off", "Off", "OFF", "~", "null", "Null", "NULL",
];
const INFINITE: [&str; 9] = [".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"];

/// Resolves the plain scalars of documents again that are in `text`.
pub fn resolve(documents: &mut [YamlNode], text: &str) {
    documents.iter_mut().for_each(|node| resolve_node(node, text));
}

fn resolve_node(node: &mut YamlNode, text: &str) {
    let value = match &mut node.value {
        YamlValue::Seq(items) => return resolve(items, text),
        YamlValue::Map(entries) => return entries.iter_mut().for_each(|(_, node)| resolve_node(node, text)),
        YamlValue::Bool(_) | YamlValue::Null => {
            written(node.at, text).filter(|word| !word.is_empty() && !WORDS.contains(word)).map(string)
        }
        // A number that is too large is a string, such as the hash 45e7812.
        YamlValue::Float(number) if number.is_infinite() => {
            written(node.at, text).filter(|word| !INFINITE.contains(word)).map(string)
        }
        YamlValue::Str(word)
            if word.contains('_') && word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') =>
        {
            Some(&*word).filter(|word| written(node.at, text) == Some(word)).and_then(|word| number(word))
        }
        _ => None,
    };
    if let Some(value) = value {
        node.value = value;
    }
}

fn string(word: &str) -> YamlValue {
    YamlValue::Str(word.to_owned())
}

/// The text of a scalar, with its quotes.
fn written(at: SourcePosition, text: &str) -> Option<&str> {
    let start = at.byte as usize;
    let end = text.get(start..)?.char_indices().nth(at.len as usize).map_or(text.len(), |(end, _)| start + end);
    text.get(start..end).filter(|word| !word.starts_with(['"', '\'', '*', '!', '&']))
}

/// Reads a number with underscores, which do not count.
fn number(word: &str) -> Option<YamlValue> {
    let plain = word.replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let radix = |prefix: &str, radix| {
        let digits = digits.strip_prefix(prefix).filter(|digits| digits.starts_with(|c: char| c.is_digit(radix)))?;
        i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
    };
    let decimal = (!digits.starts_with('0') || digits == "0").then(|| plain.parse().ok()).flatten();
    let whole = radix("0x", 16).or_else(|| radix("0b", 2)).or_else(|| radix("0o", 8)).or_else(|| radix("0", 8));
    if let Some(whole) = decimal.or(whole) {
        return Some(YamlValue::Int(whole));
    }
    let is_float = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c));
    plain.parse().ok().filter(|number: &f64| is_float && number.is_finite()).map(YamlValue::Float)
}

#[cfg(test)]
#[path = "../../../tests/inside/inputs/text/plain_scalars.rs"]
mod tests;
