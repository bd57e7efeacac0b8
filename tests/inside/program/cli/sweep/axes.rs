//! Unit tests of `jobset_sim::cli::sweep::axes`.

use super::*;

fn values(text: &str) -> Vec<String> {
    match parse_grid(text).unwrap().axis.target {
        SweepTarget::Values(values) => values,
        range => panic!("{range:?}"),
    }
}

#[test]
fn an_axis_is_a_path_and_its_values_or_a_range() {
    assert_eq!(values("a.b = 1, 2,4"), ["1", "2", "4"]);
    assert_eq!(values("a=[1, 2],{b: 'x, y'}"), ["[1, 2]", "{b: 'x, y'}"]);
    for wrong in ["a", "=1", "a=", "a=1,,2", "a=1,"] {
        assert!(parse_grid(wrong).is_err(), "{wrong:?}");
    }
    let range = parse_range("parameters.i=5m..2h:log").unwrap().axis;
    let (low, high) = ("5m".to_owned(), "2h".to_owned());
    assert_eq!(range.target, SweepTarget::Range { low, high, log: true });
    for wrong in ["a", "a=1", "a=2..1", "a=0..4:log", "a=1..2:cubic", "=1..2", "a=x..y"] {
        assert!(parse_range(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_shard_is_named_or_comes_from_the_engine() {
    assert_eq!(parse_shard("auto"), Ok(ShardArg::Auto(None)));
    assert_eq!(parse_shard("auto/8"), Ok(ShardArg::Auto(Some(8))));
    assert!(matches!(parse_shard("1/8"), Ok(ShardArg::This(_))));
    for wrong in ["auto/0", "auto8", "3/2", ""] {
        assert!(parse_shard(wrong).is_err(), "{wrong:?}");
    }
}
