//! Tests of `sim_base::suggest`.

use sim_base::suggest::*;
#[test]
fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
    let known = ["parallelism", "completions", "InPlaceRestart", "Recreate"];
    for (result, meant) in [
        ("parallelsim", Some("parallelism")),
        ("Parallelism", Some("parallelism")),
        ("InPlace", Some("InPlaceRestart")),
        ("recrate", Some("Recreate")),
        ("banana", None),
        ("x", None),
    ] {
        assert_eq!(nearest(result, known), meant, "{result}");
    }
}
