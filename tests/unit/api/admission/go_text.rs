//! Tests of `sim_api::admission::go_text`.

use serde_json::Number;
use sim_api::admission::go_text::*;
#[test]
fn numbers_are_written_as_go_writes_them() {
    for (text, expected) in [
        ("2.0", "2"),
        ("1e2", "100"),
        ("1e21", "1e+21"),
        ("1e-7", "1e-7"),
        ("0.5", "0.5"),
        ("18446744073709551615", "18446744073709552000"),
    ] {
        let number: Number = serde_json::from_str(text).unwrap();
        assert_eq!(number_text(&number), expected);
    }
}
