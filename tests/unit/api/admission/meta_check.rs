//! Tests of `sim_api::admission::meta_check`.

use serde_json::json;
use sim_api::admission::meta_check::*;
#[test]
fn metadata_is_judged_in_the_servers_words() {
    for (metadata, expected) in [
        (json!({"name": "a.b"}), vec![]),
        (json!({}), vec!["metadata.name: Required value: name or generateName is required"]),
        (json!({"name": "A"}), vec!["metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain"]),
        (json!({"name": "gen-x", "generateName": "gen-"}), vec![]),
        (
            json!({"name": "a", "labels": {"a b": "c d"}}),
            vec![
                "metadata.labels: Invalid value: \"a b\": name part",
                "metadata.labels: Invalid value: \"c d\": a valid",
            ],
        ),
        (
            json!({"name": "a", "annotations": {"a": "x".repeat(262_144)}}),
            vec!["metadata.annotations: Too long: may not be more than 262144 bytes"],
        ),
        (
            json!({"name": "a", "ownerReferences": [{"name": "x", "kind": "y", "uid": "", "apiVersion": ""}]}),
            vec![
                "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty",
                "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
            ],
        ),
        (
            json!({"name": "a", "finalizers": ["a b"]}),
            vec!["metadata.finalizers: Invalid value: \"a b\": name part must consist"],
        ),
    ] {
        let actual: Vec<String> = create_errors(&metadata).iter().map(ToString::to_string).collect();
        assert_eq!(actual.len(), expected.len(), "{actual:?}");
        assert!(actual.iter().zip(&expected).all(|(f, e)| f.starts_with(e)), "{actual:?}");
    }
}
