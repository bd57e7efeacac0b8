//! Tests of `sim_engine::event`.

use sim_engine::event::*;
#[test]
fn an_event_fits_into_sixteen_bytes_with_its_cause() {
    assert!(size_of::<(SimulationEvent, u32)>() <= 16, "{}", size_of::<SimulationEvent>());
}
