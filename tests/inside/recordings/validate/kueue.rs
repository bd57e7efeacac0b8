//! Unit tests of `sim_recordings::validate::kueue`.

use super::*;
use crate::validate::result::ValidationVerdict;
use std::path::Path;

/// Prints the first difference of each recording of the complete set.
#[test]
#[ignore = "a report, not a test"]
fn report_of_all_recordings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings/kueue");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("the recordings").filter_map(Result::ok).collect();
    paths.sort_by_key(|entry| entry.path());
    let (mut equal, mut total) = (0, 0);
    for entry in paths.iter().filter(|entry| entry.path().extension().is_some_and(|e| e == "json")) {
        let text = std::fs::read_to_string(entry.path()).expect("a recording");
        let file = read(&text).expect("a story");
        let name = entry.file_name().to_string_lossy().into_owned();
        let result = validate(&name, &file);
        total += 1;
        if result.verdict() == Some(ValidationVerdict::Equal) {
            equal += 1;
            continue;
        }
        println!("{name}: {:?}", result.not_simulated);
        for d in result.differences.iter().flatten().take(4) {
            println!("  {}\n    recorded  {}\n    simulated {}", d.path, d.recorded, d.simulated);
        }
    }
    println!("{equal} of {total} equal");
}
