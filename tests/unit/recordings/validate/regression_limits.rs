//! Tests of `sim_recordings::validate::regression_limits`.

use sim_recordings::validate::regression_limits::*;
use sim_recordings::validate::result::{RestartError, ResultTotals, ValidationVerdicts};
#[test]
fn gates_fail_when_their_expression_is_true() {
    let totals = ResultTotals {
        decisions: Some(ValidationVerdicts {
            equal: 8,
            other_replay: 1,
            not_simulated: 1,
            ..ValidationVerdicts::default()
        }),
        restart: Some(RestartError { p50: 0.04, max: 0.1 }),
        ..ResultTotals::default()
    };
    for (text, failed) in [
        ("restart.error.p50 > 5%", false),
        ("restart.error.p50>3.9%", true),
        ("restart.error.max >= 0.1", true),
        ("restart.error.max < 10 %", false),
        ("decisions.different == 2", true),
        ("decisions.different <= 1", false),
        ("admission.different > 0", false),
    ] {
        let gate: ConformanceGate = text.parse().unwrap();
        assert_eq!(gate.check(&totals).unwrap().1, failed, "{text}");
    }
}

#[test]
fn what_is_not_a_gate_is_rejected_with_what_is_legal() {
    for (text, expected) in [
        ("", "no operator"),
        ("restart.error.p50", "no operator"),
        ("restart.error.p99 > 5%", "available: restart.error.p50, restart.error.max"),
        ("restart.error.p50 = 5%", "no such operator"),
        ("restart.error.p50 > five", "not a number"),
        ("restart.error.p50 > nan", "not a number"),
        ("restart.error.p50 > 5% and x", "not a number"),
        ("restart.error.p50 > +5%", "nothing to compare with"),
    ] {
        let error = text.parse::<ConformanceGate>().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_gate_on_restarts_needs_a_scored_restart() {
    let gate: ConformanceGate = "restart.error.max > 5%".parse().unwrap();
    let error = gate.check(&ResultTotals::default()).unwrap_err();
    assert!(error.to_string().contains("scored restart"), "{error}");
}
