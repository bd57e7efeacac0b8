//! Tests of `sim_analysis::experiment::metric`.

use sim_analysis::experiment::metric::*;
#[test]
fn only_productive_time_should_be_high() {
    for (metric, expected) in [
        ("ledger.productive", Better::Higher),
        ("train.goodput", Better::Higher),
        ("train.ettr", Better::Higher),
        ("lost_s", Better::Lower),
        ("ledger.idle", Better::Lower),
        ("nodeHours.productive_h", Better::Higher),
        ("lost_work_h", Better::Lower),
        ("lost_s.host", Better::Lower),
        ("restartLatency_s.p50", Better::Lower),
        ("cost.total", Better::Lower),
    ] {
        assert_eq!(better(metric), expected, "{metric}");
    }
}
