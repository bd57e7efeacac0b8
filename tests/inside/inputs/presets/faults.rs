//! Unit tests of `sim_inputs::presets::faults`.

use super::*;
use crate::schema::definitions::rate::NAMES;

#[test]
fn every_number_of_a_preset_has_a_source_and_a_confidence_and_shares_are_all_there() {
    let presets = read::list(&FAULTS, "presets");
    let names: Vec<String> = presets.iter().filter_map(|p| read::string(p, "name")).collect();
    assert_eq!(names, NAMES);
    for preset in presets {
        let causes = read::list(preset, "causes").iter();
        let shares: f64 = causes.filter_map(|c| read::number(c, "share")).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{preset:?}");
    }
    let all = assumptions();
    assert_eq!(all.len(), 2 + 9 + 8 + 7);
    for a in all {
        assert!(!a.value.is_empty() && a.source.len() > 10, "{a:?}");
        let levels = ["documented", "measured", "derived", "unverified"];
        assert!(levels.contains(&a.confidence.as_str()), "{a:?}");
    }
}
