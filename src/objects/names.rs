//! Kubernetes' rules for names, label keys and label values, with the sentences of its validation library.
//!
//! Must never shorten or repair a name.

const LABEL_1123: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_1123: &str = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
pub const ENV_NAME: &str = "a valid environment variable name must consist only of printable ASCII characters other than '='";

/// What is wrong with a text; empty if nothing.
pub type Rule = fn(&str) -> Vec<String>;

pub fn at_most(text: &str, most: usize) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} bytes"))
}

fn lower_part(text: &str) -> bool {
    let outer = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(outer) && text.ends_with(outer) && text.chars().all(|c| outer(c) || c == '-')
}

fn any_part(text: &str) -> bool {
    let outer = |c: char| c.is_ascii_alphanumeric();
    let inner = |c: char| outer(c) || "-_.".contains(c);
    text.starts_with(outer) && text.ends_with(outer) && text.chars().all(inner)
}

fn told(too_long: Option<String>, legal: bool, sentence: &str) -> Vec<String> {
    let illegal = (!legal).then(|| sentence.to_owned());
    too_long.into_iter().chain(illegal).collect()
}

pub fn dns1123_label(text: &str) -> Vec<String> {
    let dotted = text.split('.').all(lower_part);
    let sentence = if dotted {
        "must not contain dots"
    } else {
        LABEL_1123
    };
    told(at_most(text, 63), lower_part(text), sentence)
}

pub fn dns1123_subdomain(text: &str) -> Vec<String> {
    let legal = text.split('.').all(lower_part);
    told(at_most(text, 253), legal, SUBDOMAIN_1123)
}

pub fn label_value(text: &str) -> Vec<String> {
    let legal = text.is_empty() || any_part(text);
    told(at_most(text, 63), legal, LABEL_VALUE)
}

/// A label key, a resource name, a condition type: an optional DNS prefix and a name.
pub fn qualified_name(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                found.push("prefix part must be non-empty".to_owned());
            } else {
                let wrong = dns1123_subdomain(prefix);
                found.extend(wrong.into_iter().map(|m| format!("prefix part {m}")));
            }
            name
        }
        _ => {
            let suffix =
                " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a qualified name {QUALIFIED}{suffix}")];
        }
    };
    if name.is_empty() {
        found.push("name part must be non-empty".to_owned());
    }
    if let Some(long) = at_most(name, 63) {
        found.push(format!("name part {long}"));
    }
    if !any_part(name) {
        found.push(format!("name part {QUALIFIED}"));
    }
    found
}

/// The relaxed rule of Kubernetes 1.34 and later.
pub fn env_name(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec!["environment variable name must be non-empty".to_owned()];
    }
    let printable = |c: char| (' '..='~').contains(&c) && c != '=';
    told(None, text.chars().all(printable), ENV_NAME)
}

/// An IANA service name: the name of a container port.
pub fn port_name(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.len() > 15 {
        found.push("must be no more than 15 characters".to_owned());
    }
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !text.chars().all(inner) {
        found.push(
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned(),
        );
    }
    if !text.chars().any(|c| c.is_ascii_lowercase()) {
        found.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        found.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        found.push("must not begin or end with a hyphen".to_owned());
    }
    found
}

/// `managedBy` and the names of typed conditions: `example.com/controller`.
pub fn domain_prefixed_path(text: &str) -> Vec<String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
    match text.split_once('/') {
        Some((domain, path)) if !domain.is_empty() && !path.is_empty() => {
            let mut found = dns1123_subdomain(domain);
            if !path.chars().all(legal) {
                found.push(format!(
                    "Invalid path (regex used for validation is '{HTTP_PATH}')"
                ));
            }
            found
        }
        _ => vec!["must be a domain-prefixed path (such as \"acme.io/foo\")".to_owned()],
    }
}

const HTTP_PATH: &str = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+";

/// A key of a ConfigMap or a Secret.
pub fn config_map_key(text: &str) -> Vec<String> {
    const SENTENCE: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut found = told(
        at_most(text, 253),
        !text.is_empty() && text.chars().all(legal),
        SENTENCE,
    );
    match text {
        "." => found.push("must not be '.'".to_owned()),
        ".." => found.push("must not be '..'".to_owned()),
        _ if text.starts_with("..") => found.push("must not start with '..'".to_owned()),
        _ => {}
    }
    found
}
