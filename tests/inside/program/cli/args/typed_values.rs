//! Unit tests of `jobset_sim::cli::args::typed_values`.

use super::*;

fn sets(text: &str) -> Vec<FieldOverride> {
    parse_variant(text).unwrap().sets
}

#[test]
fn a_variant_is_a_name_and_fields() {
    let parsed = parse_variant("two: a.b=1, c=[x, {y: 'z, u'}], d=e=f").unwrap();
    assert_eq!(parsed.name, "two");
    let field = |p: &str, v: &str| (p.to_owned(), v.to_owned());
    let expected = [field("a.b", "1"), field("c", "[x, {y: 'z, u'}]"), field("d", "e=f")];
    assert_eq!(parsed.sets, expected);
    assert_eq!(parse_variant("a.b=1").unwrap().name, "a.b=1");
    assert_eq!(sets("x: a[\"k,l\"]=2"), [field("a[\"k,l\"]", "2")]);
    for wrong in ["", "x:", "x: y", "baseline: a=1", "x: =1"] {
        assert!(parse_variant(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_precision_is_a_share_or_a_number() {
    let until = |text: &str| parse_until(text).map(|u| (u.metric, u.precision));
    let metric = || "goodput.p50".to_owned();
    let share = Ok((metric(), TargetPrecision::Relative(0.002)));
    assert_eq!(until("goodput.p50 ±0.2%"), share);
    assert_eq!(until("goodput.p50 +- 3"), Ok((metric(), TargetPrecision::Absolute(3.0))));
    for wrong in ["goodput", "±1%", "x ±", "x ±0%", "x ±-1", "x ±NaN"] {
        assert!(until(wrong).is_err(), "{wrong:?}");
    }
}
