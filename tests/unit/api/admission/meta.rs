//! Tests of `sim_api::admission::meta`.

use sim_api::admission::meta::*;
#[test]
fn a_generated_name_leaves_room_for_its_suffix() {
    assert_eq!(generated_name("gen-"), "gen-x7k2p");
    assert_eq!(generated_name(&"g".repeat(80)).len(), 63);
}
