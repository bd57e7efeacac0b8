//! Tests of `sim_analysis::metrics::nodes`.

use sim_analysis::metrics::nodes::*;
use sim_base::*;
use sim_engine::record::NodeReady;
#[test]
fn time_not_ready_is_summed_over_outages_and_ends_with_the_node() {
    let s = |n| SimTime::ZERO + Duration::from_secs(n);
    let transitions = vec![
        (s(10), NodeReady::Unknown),
        (s(15), NodeReady::False),
        (s(20), NodeReady::True),
        (s(30), NodeReady::Unknown),
    ];
    let mut row = NodeMetrics { transitions, ..NodeMetrics::default() };
    assert_eq!(row.not_ready(s(100)), Duration::from_secs(80));
    row.gone = s(40);
    assert_eq!(row.not_ready(s(100)), Duration::from_secs(20));
}
