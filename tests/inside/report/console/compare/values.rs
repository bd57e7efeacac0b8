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
