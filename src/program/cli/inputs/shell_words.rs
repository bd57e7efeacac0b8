//! Quoting and splitting of shell command lines.

use std::fmt::Display;

pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Formats an option with each of its values, quoted for a shell.
pub fn options<V: Display>(name: &str, values: impl IntoIterator<Item = V>) -> String {
    let option = |value: V| format!(" --{name} {}", quoted(&value.to_string()));
    values.into_iter().map(option).collect()
}

/// Splits a line into words, up to a comment. Supports the single quotes and backslashes that `quoted` writes.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '#' if word.is_none() => break,
            ' ' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/inputs/shell_words.rs"]
mod tests;
