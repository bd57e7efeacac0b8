//! Tests of `sim_analysis::planning::closed`.

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
        let found = ClosedForm::new(c, m);
        let found = [found.young_s, found.daly_s, found.exact_s];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-3, "{c} {m}: {found}, expected {expected}");
        }
    }
    assert_eq!(ClosedForm::new(0.0, 100.0).exact_s, 0.0);
}
