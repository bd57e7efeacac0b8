//! Tests of `sim_analysis::experiment::metric`.

use sim_analysis::experiment::metric::*;
#[test]
fn only_productive_time_should_be_high() {
    for (metric, expected) in [
        ("ledger.productive", BetterDirection::Higher),
        ("train.goodput", BetterDirection::Higher),
        ("train.ettr", BetterDirection::Higher),
        ("lost_s", BetterDirection::Lower),
        ("ledger.idle", BetterDirection::Lower),
        ("nodeHours.productive_h", BetterDirection::Higher),
        ("lost_work_h", BetterDirection::Lower),
        ("lost_s.host", BetterDirection::Lower),
        ("restartLatency_s.p50", BetterDirection::Lower),
        ("cost.total", BetterDirection::Lower),
    ] {
        assert_eq!(better(metric), expected, "{metric}");
    }
}
