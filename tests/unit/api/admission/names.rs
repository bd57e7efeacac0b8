//! Tests of `sim_api::admission::names`.

use sim_api::admission::names::*;
#[test]
fn names_break_the_rules_that_kubernetes_says_they_break() {
    let long = "a".repeat(64);
    for (rule, text, expected) in [
        (dns1035_label as NameRule, "a-b", vec![]),
        (dns1035_label, "1a", vec!["a DNS-1035"]),
        (dns1035_label, "", vec!["a DNS-1035"]),
        (dns1035_label, &long, vec![TOO_LONG]),
        (dns1123_label, "a.b", vec!["must not contain dots"]),
        (dns1123_label, "-a", vec!["a lowercase RFC 1123 label"]),
        (dns1123_subdomain, "a.b", vec![]),
        (dns1123_subdomain, "a..b", vec!["a lowercase RFC 1123 subdomain"]),
        (label_key, "a.b/C_d", vec![]),
        (label_key, "", vec!["name part must be non-empty", "name part must consist"]),
        (label_key, "/a", vec!["prefix part must be non-empty"]),
        (label_key, "a/b/c", vec!["a valid label key must consist"]),
        (label_key, &long, vec!["name part must be no more than 63 bytes"]),
        (label_value, "", vec![]),
        (label_value, "-a", vec!["a valid label must"]),
        (label_value, &long, vec!["must be no more than 63 bytes"]),
    ] {
        let actual = rule(text);
        assert_eq!(actual.len(), expected.len(), "{text}: {actual:?}");
        for (actual, start) in actual.iter().zip(expected) {
            assert!(actual.starts_with(start), "{text}: {actual}");
        }
    }
}
