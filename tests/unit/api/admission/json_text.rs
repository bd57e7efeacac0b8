//! Tests of `sim_api::admission::json_text`.

use sim_api::admission::json_text::*;
#[test]
fn the_last_of_equal_keys_counts_and_all_are_named() {
    let text = r#" {"a": 1, "b": [{"c": "x", "c": "y\u0041"}], "a": {"d": null}} "#;
    let (value, duplicates) = parse(text).unwrap();
    assert_eq!(value, serde_json::json!({"a": {"d": null}, "b": [{"c": "yA"}]}));
    let expected = ["duplicate field \"b[0].c\"", "duplicate field \"a\""];
    assert_eq!(duplicates, expected);
}

#[test]
fn what_is_not_json_has_gos_words() {
    for (text, expected) in [
        ("", "unexpected end of JSON input"),
        ("{\"a\": ", "unexpected end of JSON input"),
        ("{} x", "invalid character 'x' after top-level value"),
        ("{a: 1}", "invalid character 'a' looking for beginning of object key string"),
        ("{\"a\" 1}", "invalid character '1' after object key"),
        ("[1 2]", "invalid character '2' after array element"),
        ("kind: x", "invalid character 'k' looking for beginning of value"),
        ("-", "invalid character in numeric literal"),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
    }
    assert!(parse(&"[".repeat(100_000)).is_err());
}
