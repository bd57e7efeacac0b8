//! Unit tests of `sim_report::console::compare::values`.

use super::*;

#[test]
fn numbers_have_three_or_four_significant_digits() {
    for (metric, value, expected) in [
        ("end.t_s", 731.4, "731 s"),
        ("restartLatency_s.p50", -0.0831, "-0.0831 s"),
        ("restartLatency_s.p50", 0.25, "0.250 s"),
        ("restartLatency_s.p50", 0.0, "0 s"),
        ("ledger.idle", 36_000.0, "10"),
        ("ledger.idle", -5.4, "-0.00150"),
        ("restarts", 12_345.0, "12,345"),
        ("restarts", 12.345, "12.35"),
    ] {
        assert_eq!(format_metric_value(metric, value), expected, "{metric} {value}");
    }
}

#[test]
fn all_times_of_a_row_have_the_same_unit() {
    for (seconds, expected) in [
        ([1258.0, 5_220.0], ["0.349 h", "1.45 h"]),
        ([4_000.0, 5_220.0], ["1 h 7 min", "1 h 27 min"]),
        ([59.0, 631_560.0], ["59.0 s", "7 d 7 h"]),
        ([6.0, 7_200.0], ["6.00 s", "2 h 0 min"]),
        ([36.0, 7_200.0], ["0.0100 h", "2.00 h"]),
        ([12.0, 59.5], ["12.0 s", "59.5 s"]),
        ([0.0, 631_560.0], ["0 d", "7.31 d"]),
    ] {
        assert_eq!(format_metric_row("timeToComplete_s", seconds.map(Some)), expected.map(str::to_owned));
    }
    assert_eq!(format_metric_row("goodput", [Some(0.5), None]), ["0.500", "-"].map(str::to_owned));
}
