//! Unit tests of `sim_report::rundiff`.

use super::*;

#[test]
fn cause_chain_is_read_from_line_starts() {
    assert_eq!(cause(br#"{"seq":7,"t_ns":5,"cause":3,"kind":"X"}"#), 3);
    assert_eq!(cause(br#"{"seq":7,"t_ns":5,"cause":null}"#), NO_CAUSE);
    assert_eq!(cause(b"no record"), NO_CAUSE);
    assert_eq!(cause_chain(3, &[NO_CAUSE, 0, 0, 1]), [3, 1, 0]);
    assert_eq!(cause_chain(9, &[NO_CAUSE, 0]), Vec::<u32>::new());
    assert_eq!(cause_chain(1, &[0, 1]), [1], "the chain ends at a record that is its own cause");
}

#[test]
fn differing_numbers_are_reported_with_their_path() {
    let a = serde_json::json!({"x": 1, "list": [{"name": "train", "n": 2}], "same": "y", "jobs": [1]});
    let b = serde_json::json!({"x": 1.5, "list": [{"name": "train", "n": 3}, 4], "same": "y", "new": true});
    let mut result = Vec::new();
    diff_values(&a, &b, "", &mut result);
    let names: Vec<&str> = result.iter().map(|m| m.metric.as_str()).collect();
    assert_eq!(names, ["list.train.n", "list.1", "x", "new"]);
}
