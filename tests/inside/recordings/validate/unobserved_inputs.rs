//! Unit tests of `sim_recordings::validate::unobserved_inputs`.

use super::super::read::tests::example;
use super::*;

#[test]
fn nodes_are_replayed_with_evenly_spread_heartbeat_phases() {
    let recording = example(|j| j["kind"] = "nodes".into());
    let shifts: Vec<f64> = candidates(&recording).iter().map(|r| r.heartbeat_shift.seconds()).collect();
    assert_eq!(shifts, [0.0, 2.0, 4.0, 6.0, 8.0]);
}
