//! Every shipped scenario against its golden log: each change of a prediction appears in review as a difference of
//! times.
//!
//! `UPDATE_GOLDEN=1 cargo test --test it golden` writes the logs.

use crate::support;
use sim_testkit::golden::GoldenLog;
use std::path::PathBuf;

fn log_of(name: &str) -> PathBuf {
    support::root().join("scenarios").join(format!("{name}.log"))
}

/// Returns the transcript of one run with the scenario's own seed.
fn transcript(name: &str) -> String {
    let scenario = support::scenario(name, &[]);
    let mut simulation = support::simulation(&scenario);
    let mut golden = GoldenLog::new();
    let outcome = simulation.run(scenario.seed, 0, &mut golden);
    golden.finish(&outcome)
}

#[test]
fn every_scenario_matches_its_golden_log() {
    let mut different = Vec::new();
    for name in support::scenario_names() {
        let now = transcript(&name);
        let path = log_of(&name);
        if support::updates_golden_files() {
            std::fs::write(&path, &now).expect("a golden log can be written");
            continue;
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        let file = format!("scenarios/{name}.log");
        different.extend(support::first_difference(&file, &golden, &now));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
