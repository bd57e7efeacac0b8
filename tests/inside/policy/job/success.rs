//! Unit tests of `sim_policy::job::success`.

use super::*;

#[test]
fn the_rules_of_a_success_policy() {
    let rule = |indexes: &str, count: Option<u32>| JobSuccessRule {
        succeeded_indexes: (!indexes.is_empty()).then(|| indexes.to_owned()),
        succeeded_count: count,
    };
    for (indexes, count, succeeded, expected, sentence) in [
        ("0", None, &[0][..], true, "the leader is enough"),
        ("0", None, &[1, 2][..], false, "others are not"),
        ("0-2", None, &[0, 1][..], false, "all of a range"),
        ("0-2", None, &[0, 1, 2, 5][..], true, "a whole range and more"),
        ("0-2", Some(2), &[1, 2][..], true, "two of a range"),
        ("0-2", Some(2), &[0, 5, 6][..], false, "two, but not of the range"),
        ("", Some(2), &[5, 6][..], true, "any two"),
        ("", Some(3), &[5, 6][..], false, "two are not three"),
        ("0,9-20", None, &[0][..], true, "indexes beyond the completions are cut off"),
        ("9", None, &[0][..], false, "a rule of which nothing is left is never met"),
    ] {
        let got = satisfied(&rule(indexes, count), succeeded, 8);
        assert_eq!(got, expected, "{sentence}");
    }
}

#[test]
fn intervals_are_read_as_the_api_writes_them() {
    assert_eq!(intervals("0-2,3,5,7-99", 10), [(0, 3), (5, 5), (7, 9)]);
    assert_eq!(intervals("", 10), []);
    assert_eq!(intervals("x,4", 10), [(4, 4)]);
}
