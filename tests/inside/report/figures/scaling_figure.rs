//! Unit tests of `sim_report::figures::scaling_figure`.

use super::super::restart_figure::tests::check;
use super::*;

#[test]
fn closed_form_equals_calibration_value() {
    for (n, rate, burst, expected) in
        [(5000.0, 50.0, 100.0, 98.0), (5000.0, 20.0, 30.0, 248.5), (5000.0, 500.0, 500.0, 9.0), (10.0, 20.0, 30.0, 0.0)]
    {
        assert_eq!(token_bucket(n, rate, burst), expected);
    }
}

#[test]
fn line_names_do_not_overlap() {
    let line = |i: u32| ScalingLine {
        name: format!("strategy number {i}"),
        points: vec![(100.0, 8.0), (1000.0, 60.0), (15_000.0, 400.0 + f64::from(i))],
        bars: vec![(1000.0, 50.0, 70.0)],
        is_closed_form: i == 3,
    };
    let lines: Vec<ScalingLine> = (0..4).map(line).collect();
    let names = ("Time to recover", "kill-process");
    check(&scaling(names, &ScalingAxes::NODES_TO_RECOVERY, &lines, &["jobset-sim".to_owned()], (1600, 900)));
}
