//! Kubernetes' rules for names, label keys and label values (`apimachinery/pkg/util/validation`).

/// A DNS-1123 label: lower case letters, digits and `-`, an alphanumeric at both ends, at most 63.
pub fn dns1123_label(text: &str) -> Result<(), String> {
    at_most(text, 63)?;
    dns_part(text)
}

/// A DNS-1035 label: as DNS-1123, but it starts with a letter.
pub fn dns1035_label(text: &str) -> Result<(), String> {
    dns1123_label(text)?;
    if text.starts_with(|c: char| c.is_ascii_lowercase()) {
        Ok(())
    } else {
        Err("the name must start with a lower case letter".to_owned())
    }
}

/// A DNS-1123 subdomain: parts joined by dots, at most 253 characters together.
pub fn dns1123_subdomain(text: &str) -> Result<(), String> {
    at_most(text, 253)?;
    text.split('.').try_for_each(dns_part)
}

fn at_most(text: &str, max: usize) -> Result<(), String> {
    match text.len() {
        len if len > max => Err(format!("{len} characters; at most {max} are legal")),
        _ => Ok(()),
    }
}

fn dns_part(text: &str) -> Result<(), String> {
    let outer = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let inner = |c: char| outer(c) || c == '-';
    if text.chars().all(inner) && text.starts_with(outer) && text.ends_with(outer) {
        return Ok(());
    }
    Err("a name consists of lower case letters, digits and '-', and starts and ends with a letter or digit".to_owned())
}

/// A label key: an optional DNS subdomain and `/`, then at most 63 letters, digits, `-`, `_`, `.`.
pub fn label_key(text: &str) -> Result<(), String> {
    let name = match text.split_once('/') {
        Some((prefix, name)) => {
            dns1123_subdomain(prefix).map_err(|_| format!("{prefix:?} is not a DNS name"))?;
            name
        }
        None => text,
    };
    if name.is_empty() {
        return Err("the name part is empty".to_owned());
    }
    label_value(name)
}

/// A label value: empty, or at most 63 letters, digits, `-`, `_`, `.`, an alphanumeric at both ends.
pub fn label_value(text: &str) -> Result<(), String> {
    at_most(text, 63)?;
    let inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    if text.chars().all(inner) && edge(text.chars().next()) && edge(text.chars().last()) {
        return Ok(());
    }
    Err(
        "letters, digits, '-', '_' and '.' are legal, with a letter or digit at both ends"
            .to_owned(),
    )
}

/// API-17: the name of a failure policy rule.
pub fn rule_name(text: &str) -> Result<(), String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_,:".contains(c);
    let first = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let last = text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if text.len() <= 128 && first && last && text.chars().all(inner) {
        return Ok(());
    }
    Err("1 to 128 letters, digits, '_', ',' and ':', starting with a letter and ending with a letter, digit or '_'".to_owned())
}

/// VAL-4: `managedBy` is a domain-prefixed path of at most 63 characters.
pub fn domain_prefixed_path(text: &str) -> Result<(), String> {
    at_most(text, 63)?;
    let legal = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
    match text.split_once('/') {
        Some((domain, path))
            if dns1123_subdomain(domain).is_ok() && !path.is_empty() && path.chars().all(legal) =>
        {
            Ok(())
        }
        _ => Err("a domain and a path are legal, such as example.com/controller".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_kubernetes_rules() {
        type Rule = fn(&str) -> Result<(), String>;
        let long = "a".repeat(64);
        let cases: [(Rule, &str, bool); 22] = [
            (dns1035_label, "train-workers-0", true),
            (dns1035_label, "0train", false),
            (dns1035_label, "Train", false),
            (dns1035_label, "train-", false),
            (dns1035_label, "", false),
            (dns1035_label, &long, false),
            (dns1123_label, "0train", true),
            (dns1123_subdomain, "a.b.c", true),
            (dns1123_subdomain, "a..b", false),
            (dns1123_subdomain, &long, true),
            (label_key, "cloud.google.com/gke-nodepool", true),
            (label_key, "pool", true),
            (label_key, "a b", false),
            (label_key, "x.y/", false),
            (label_value, "", true),
            (label_value, "4x4", true),
            (label_value, "-x", false),
            (label_value, &long, false),
            (rule_name, "failurePolicyRule0", true),
            (rule_name, "0rule", false),
            (rule_name, "a:", false),
            (domain_prefixed_path, "example.com/x", true),
        ];
        for (rule, text, legal) in cases {
            assert_eq!(rule(text).is_ok(), legal, "{text:?}");
        }
        for text in ["example", "example.com/", "example.com/a b"] {
            assert!(domain_prefixed_path(text).is_err(), "{text:?}");
        }
    }
}
