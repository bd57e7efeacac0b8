//! Tests of `sim_api::admission::field`.

use sim_api::admission::field::*;
#[test]
fn texts_are_quoted_as_go_quotes_them() {
    for (text, expected) in [
        ("a b", "\"a b\""),
        ("a\"\\", "\"a\\\"\\\\\""),
        ("\n\t\u{1}\u{7f}", "\"\\n\\t\\x01\\x7f\""),
        ("caf\u{e9}", "\"caf\u{e9}\""),
        ("\u{a0}\u{200b}", "\"\\u00a0\\u200b\""),
    ] {
        assert_eq!(go_quote(text), expected);
    }
}

#[test]
fn an_error_without_a_field_may_still_have_a_place() {
    let nowhere = FieldError::internal("x");
    assert_eq!(
        (nowhere.object_path(), nowhere.clone().with_actual_path("a").object_path().to_owned()),
        ("", "a".to_owned())
    );
    assert_eq!(FieldError::new("b", FieldErrorKind::Required, "").object_path(), "b");
    assert_eq!(nowhere.with_actual_path("a").to_string(), "<nil>: Internal error: x");
}
