//! Tests of `sim_report::draw::scene`.

use sim_report::draw::scene::*;
#[test]
fn ticks_are_round_and_end_before_the_maximum() {
    assert_eq!(ticks(126.0, 6), [0.0, 50.0, 100.0]);
    assert_eq!(ticks(9.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0]);
    assert_eq!(ticks(0.0, 5), [0.0]);
    let labels: Vec<String> = ticks(0.011, 5).into_iter().map(tick_label).collect();
    assert_eq!(labels, ["0", "0.005", "0.01"]);
}
