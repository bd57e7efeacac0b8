//! Tests of `sim_analysis::planning::closed_form`.

use sim_analysis::planning::closed_form::*;
#[test]
fn intervals_are_those_of_the_calibration_table() {
    // reference 6.2: C and M; then the intervals of Young, Daly, and the exact one.
    for (c, m, expected) in [
        (10.0, 3600.0, [268.328, 261.703, 261.7033]),
        (60.0, 3600.0, [657.267, 617.876, 617.8906]),
        (300.0, 6480.0, [1971.801, 1776.873, 1777.0820]),
        (40.0, 28_440.0, [1508.377, 1481.828, 1481.8286]),
    ] {
        let actual = ClosedForm::new(c, m);
        let actual = [actual.young_s, actual.daly_s, actual.exact_s];
        for (actual, expected) in actual.iter().zip(expected) {
            assert!((actual - expected).abs() < 1e-3, "{c} {m}: {actual}, expected {expected}");
        }
    }
    assert_eq!(ClosedForm::new(0.0, 100.0).exact_s, 0.0);
}
