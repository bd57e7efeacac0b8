//! Tests of `sim_analysis::sweep::range`.

use sim_analysis::sweep::range::*;
#[test]
fn a_range_is_of_whole_numbers_numbers_or_durations() {
    for (low, high, log, share, expected) in [
        ("0", "3", false, 0.0, "0"),
        ("0", "3", false, 0.24, "0"),
        ("0", "3", false, 0.26, "1"),
        ("0", "3", false, 0.999, "3"),
        ("1", "1000", true, 0.5, "31"),
        ("0.5", "2", false, 0.5, "1.25"),
        ("1e-3", "1e3", true, 0.5, "1"),
        ("5m", "2h", false, 0.5, "1h2m30s"),
        ("100ms", "2s", false, 0.5, "1.05s"),
        ("0", "10m", false, 0.5, "5m"),
    ] {
        let range = SweepRange::parse(low, high, log).unwrap();
        assert_eq!(range.at(share), expected, "{low}..{high} at {share}");
    }
}

#[test]
fn a_range_that_cannot_be_is_rejected() {
    for (low, high, log, part) in [
        ("4", "4", false, "empty"),
        ("2h", "5m", false, "empty"),
        ("0", "8", true, "above 0"),
        ("0s", "8s", true, "above 0"),
        ("-1", "8", true, "above 0"),
        ("NaN", "8", false, "not a range"),
        ("1", "inf", false, "not a range"),
        ("4Gi", "8Gi", false, "not a range"),
        ("", "8", false, "not a range"),
    ] {
        let error = SweepRange::parse(low, high, log).unwrap_err().to_string();
        assert!(error.contains(part), "{low}..{high}: {error}");
    }
}
