//! Tests of `sim_analysis::planning::range`.

use sim_analysis::planning::range::*;
#[test]
fn a_range_has_numbers_or_durations_and_is_not_empty() {
    let read = |text: &str| text.parse::<ParameterRange>();
    let mtbf = read("a[0].mtbf=10d..40d").unwrap();
    assert_eq!((mtbf.path.as_str(), mtbf.low, mtbf.unit), ("a[0].mtbf", 864_000.0, RangeUnit::Seconds));
    assert_eq!(mtbf.written(0.25), "250ms");
    let complete = read("parameters.spares=0..8").unwrap();
    assert_eq!((complete.written(complete.at(0.5)), complete.unit), ("4".to_owned(), RangeUnit::Whole));
    let rate = read("rate=0.8..10").unwrap();
    assert!(rate.is_log() && (rate.at(0.5) - 8f64.sqrt()).abs() < 1e-9);
    for (text, message) in [
        ("a=1", "no range"),
        ("a=4..1", "the range is empty"),
        ("a=1..1", "the range is empty"),
        ("a=x..2", "neither a number nor a duration"),
        ("a=1..2h", "different units"),
        ("=1..2", "no path"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}
