//! Kubernetes' rules for the names that only pods and Jobs have, with the sentences of its validation library.
//!
//! Must never shorten or repair a name.

pub use crate::admission::names::{
    dns1123_label, dns1123_subdomain, label_key as qualified_name, label_value,
};

const ENV_NAME: &str = "a valid environment variable name must consist only of printable ASCII characters other than '='";

/// What is wrong with a text; empty if nothing.
pub type Rule = fn(&str) -> Vec<String>;

fn at_most(text: &str, most: usize) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} characters"))
}

fn told(too_long: Option<String>, legal: bool, sentence: &str) -> Vec<String> {
    let illegal = (!legal).then(|| sentence.to_owned());
    too_long.into_iter().chain(illegal).collect()
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
