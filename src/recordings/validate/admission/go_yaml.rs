//! Errors of Go's YAML parser (`go.yaml.in/yaml/v2`, `parser.fail`), which the API server quotes.

use sim_inputs::Diagnostics;

/// Component of Go's parser that reports an error. It determines the line.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Stage {
    /// Reports the line of the character, counted from 1.
    Scanner,
    /// Reports the line of the token, counted from 0.
    Parser,
    /// Reports the line of the scalar or, if that is the first, the next one, where the character is.
    PlainScalar,
}

/// Parts of messages of the YAML crate, and the message of Go's parser.
const MESSAGES: [(&str, &str, Stage); 15] = [
    ("found a tab", "found a tab character that violates indentation", Stage::PlainScalar),
    ("unexpected character", CANNOT_START, Stage::Scanner),
    ("cannot start any token", CANNOT_START, Stage::Scanner),
    ("tabs disallowed", CANNOT_START, Stage::Scanner),
    ("mapping values are not allowed", "mapping values are not allowed in this context", Stage::Scanner),
    ("simple key expected", "could not find expected ':'", Stage::Scanner),
    ("unknown escape character", "found unknown escape character", Stage::Scanner),
    ("unclosed quote", "found unexpected end of stream", Stage::Scanner),
    ("end of stream", "found unexpected end of stream", Stage::Scanner),
    ("expected key", "did not find expected key", Stage::Parser),
    ("expected '-' indicator", "did not find expected '-' indicator", Stage::Parser),
    ("expected node content", "did not find expected node content", Stage::Parser),
    ("unclosed bracket '{'", FLOW_MAPPING, Stage::Parser),
    ("expected ',' or '}'", FLOW_MAPPING, Stage::Parser),
    ("unclosed bracket '['", "did not find expected ',' or ']'", Stage::Parser),
];
const CANNOT_START: &str = "found character that cannot start any token";
const FLOW_MAPPING: &str = "did not find expected ',' or '}'";

/// Returns the message of Go's parser for the first error. The line is omitted for an error in the first line.
pub fn go_yaml_error(errors: &Diagnostics) -> String {
    let Some(first) = errors.0.first() else {
        return "yaml: ".to_owned();
    };
    let known = MESSAGES.iter().find(|(part, ..)| first.message.contains(part));
    let Some((_, message, stage)) = known else {
        return format!("yaml: {}", first.message);
    };
    let line = match stage {
        Stage::Scanner if first.line < 2 => 0,
        Stage::Scanner => first.line,
        Stage::PlainScalar => first.line.max(2),
        Stage::Parser => first.line.saturating_sub(1),
    };
    match line {
        0 => format!("yaml: {message}"),
        line => format!("yaml: line {line}: {message}"),
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/admission/go_yaml.rs"]
mod tests;
