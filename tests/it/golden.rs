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

/// A run with the scenario's own seed.
struct GoldenRun {
    transcript: String,
    /// Digest, number of records and end, as in `digests.txt`.
    row: String,
}

fn play(name: &str) -> GoldenRun {
    let scenario = support::scenario(name, &[]);
    let mut simulation = support::simulation(&scenario);
    let mut golden = GoldenLog::new();
    let outcome = simulation.run(scenario.seed, 0, &mut golden);
    let (digest, records, end) = (outcome.digest, outcome.records, outcome.end);
    let row = format!("{name:<32} {digest:016x} {records:>6} {end}\n");
    GoldenRun { transcript: golden.finish(&outcome), row }
}

#[test]
fn every_scenario_matches_its_golden_log_and_digest() {
    let mut different = Vec::new();
    let mut compare = |path: PathBuf, file: &str, now: &str| {
        if support::updates_golden_files() {
            std::fs::write(&path, now).expect("a golden file can be written");
            return;
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        different.extend(support::first_difference(file, &golden, now));
    };
    let mut table = String::from("# Scenario, digest, records, virtual end; UPDATE_GOLDEN=1 writes it.\n");
    for name in support::scenario_names() {
        let run = play(&name);
        table += &run.row;
        compare(log_of(&name), &format!("scenarios/{name}.log"), &run.transcript);
    }
    let digests = "tests/it/golden/digests.txt";
    compare(support::root().join(digests), digests, &table);
    assert!(different.is_empty(), "{}", different.join("\n"));
}
