//! Kubernetes' naming rules for names, keys and values, with the original messages.
//!
//! This module is pure. Each function returns all messages that apply, or none for a valid name.

const DNS1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const DNS1123_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS1123: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const HTTP_PATH: &str = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
const HTTP_HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
const DNS1123_UNDERSCORE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const ENV_NAME: &str =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";
/// First message of `dns1035_label` for a long name. JobSet replaces it.
pub const TOO_LONG: &str = "must be no more than 63 characters";

/// A naming rule. It returns the error messages for a text, or none if the text is valid.
pub type NameRule = fn(&str) -> Vec<String>;

/// Returns the message without its examples and its regular expression.
pub fn without_examples(sentence: &str) -> &str {
    sentence.split_once(" (e.g. ").map_or(sentence, |(rule, _)| rule)
}

fn is_lower(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

/// Returns whether the text is non-empty and consists of lowercase letters, digits and inner dashes.
fn is_dns_label(text: &str) -> bool {
    text.starts_with(is_lower) && text.ends_with(is_lower) && text.chars().all(|c| is_lower(c) || c == '-')
}

fn is_dns_subdomain(text: &str) -> bool {
    text.split('.').all(is_dns_label)
}

fn is_qualified(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(edge) && text.ends_with(edge) && text.chars().all(|c| edge(c) || "-_.".contains(c))
}

pub fn dns1035_label(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > 63 {
        errors.push(TOO_LONG.to_owned());
    }
    if !(is_dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())) {
        errors.push(DNS1035.to_owned());
    }
    errors
}

pub fn dns1123_label(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > 63 {
        errors.push(TOO_LONG.to_owned());
    }
    if !is_dns_label(text) {
        let dots = is_dns_subdomain(text);
        let words = if dots { "must not contain dots" } else { DNS1123_LABEL };
        errors.push(words.to_owned());
    }
    errors
}

pub fn dns1123_subdomain(text: &str) -> Vec<String> {
    subdomain(text, "characters")
}

/// Checks a subdomain whose labels may contain underscores, as a resolver searches it.
pub fn dns1123_subdomain_with_underscore(text: &str) -> Vec<String> {
    let is_label = |label: &str| {
        let rest = label.strip_prefix('_').unwrap_or(label);
        let inner = |c: char| is_lower(c) || c == '-' || c == '_';
        rest.starts_with(is_lower) && rest.ends_with(is_lower) && rest.chars().all(inner)
    };
    naming_errors(length_error(text, 253), text.split('.').all(is_label), DNS1123_UNDERSCORE)
}

/// Checks the name of an HTTP header.
pub fn http_header(text: &str) -> Vec<String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-';
    naming_errors(None, !text.is_empty() && text.chars().all(legal), HTTP_HEADER)
}

fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > 253 {
        errors.push(format!("must be no more than 253 {unit}"));
    }
    if !is_dns_subdomain(text) {
        errors.push(DNS1123.to_owned());
    }
    errors
}

/// Checks a label key. Finalizers and annotation keys follow the same rule.
pub fn label_key(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                let prefixed = subdomain(prefix, "bytes").into_iter();
                errors.extend(prefixed.map(|e| format!("prefix part {e}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {LABEL_KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_qualified(name) {
        errors.push(format!("name part {LABEL_KEY}"));
    }
    errors
}

pub fn label_value(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if text.len() > 63 {
        errors.push("must be no more than 63 bytes".to_owned());
    }
    if !text.is_empty() && !is_qualified(text) {
        errors.push(LABEL_VALUE.to_owned());
    }
    errors
}

/// Checks a percentage such as `50%` (`IsValidPercent`).
pub fn percentage(text: &str) -> Vec<String> {
    const PERCENTAGE: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or \
                              '93%', regex used for validation is '[0-9]+%')";
    let digits = text.strip_suffix('%').unwrap_or("");
    let is_valid = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_valid { Vec::new() } else { vec![PERCENTAGE.to_owned()] }
}

/// Checks the path after the domain of a domain-prefixed path.
pub fn http_path(text: &str) -> Vec<String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
    naming_errors(None, !text.is_empty() && text.chars().all(legal), HTTP_PATH)
}

fn length_error(text: &str, most: usize) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} characters"))
}

fn naming_errors(too_long: Option<String>, legal: bool, sentence: &str) -> Vec<String> {
    let illegal = (!legal).then(|| sentence.to_owned());
    too_long.into_iter().chain(illegal).collect()
}

/// Checks the name of an environment variable by the relaxed rule of Kubernetes 1.34 and later.
pub fn env_name(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec!["environment variable name must be non-empty".to_owned()];
    }
    let printable = |c: char| (' '..='~').contains(&c) && c != '=';
    naming_errors(None, text.chars().all(printable), ENV_NAME)
}

/// Checks an IANA service name, as used for the name of a container port.
pub fn port_name(text: &str) -> Vec<String> {
    let mut result = Vec::new();
    if text.len() > 15 {
        result.push("must be no more than 15 characters".to_owned());
    }
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !text.chars().all(inner) {
        result.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.chars().any(|c| c.is_ascii_lowercase()) {
        result.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        result.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        result.push("must not begin or end with a hyphen".to_owned());
    }
    result
}

/// Checks a key of a ConfigMap or a Secret.
pub fn config_map_key(text: &str) -> Vec<String> {
    const SENTENCE: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut errors = naming_errors(length_error(text, 253), !text.is_empty() && text.chars().all(legal), SENTENCE);
    match text {
        "." => errors.push("must not be '.'".to_owned()),
        ".." => errors.push("must not be '..'".to_owned()),
        _ if text.starts_with("..") => errors.push("must not start with '..'".to_owned()),
        _ => {}
    }
    errors
}
