//! Tests of `sim_analysis::format`.

use sim_analysis::format::*;
use sim_base::*;
#[test]
fn seconds_have_three_figures() {
    for (ms, text) in [
        (0, "0.00 s"),
        (930, "0.93 s"),
        (9_996, "10.0 s"),
        (99_960, "100 s"),
        (3_599_000, "3599 s"),
        (3_599_900, "1 h 0 min"),
        (21_600_000, "6 h 0 min"),
        (359_000_000, "99 h 43 min"),
        (359_980_000, "4 d 4 h"),
        (86_400_000 * 45 + 3_690_000, "45 d 1 h"),
    ] {
        assert_eq!(seconds(Duration::from_millis(ms)), text);
    }
}

#[test]
fn precise_seconds_have_three_digits_in_a_suitable_unit() {
    for (nanos, text) in [
        (0, "0 s"),
        (1_234, "1.23 us"),
        (99_960, "0.100 ms"),
        (999_600, "1.00 ms"),
        (82_345_000, "82.3 ms"),
        (99_960_000, "0.100 s"),
        (999_600_000, "1.00 s"),
        (12_345_000_000, "12.3 s"),
        (7_200_000_000_000, "2 h 0 min"),
    ] {
        assert_eq!(precise_seconds(Duration(nanos)), text);
    }
}

#[test]
fn exact_seconds_lose_nothing() {
    for (nanos, text) in [(0, "0"), (1, "0.000000001"), (83_730_000_000, "83.73"), (5_000_000_000, "5")] {
        assert_eq!(exact_seconds(nanos), text);
    }
    assert_eq!(exact_time(SimTime::NEVER), "");
}

#[test]
fn long_lines_are_broken_and_what_is_typed_stays_whole() {
    assert_eq!(fitted("a\n", 4), "a\n");
    assert_eq!(fitted("  one two three\nx", 10), "  one two\n     three\nx");
    assert_eq!(fitted("averylongword b c", 6), "averylongword\n   b c");
    assert_eq!(fitted("averylongword", 6), "averylongword");
    assert_eq!(fitted("--set a=b --set c=d", 6), "--set a=b --set c=d");
    let red = "\u{1b}[31mone\u{1b}[0m two";
    assert_eq!(fitted(red, 7), red, "color codes have no width");
    assert_eq!(fitted(red, 6), "\u{1b}[31mone\u{1b}[0m\n   two");
}

#[test]
fn text_is_wrapped_at_spaces() {
    assert_eq!(wrap("one two three", 8), ["one two", "three"]);
    assert_eq!(wrap("", 8), Vec::<String>::new());
    assert_eq!(wrap("every 1 s)", 8), ["every", "1 s)"]);
    assert_eq!(wrap("about 97 % of it", 8), ["about", "97 % of", "it"]);
}
