//! The situations of upstream's integration and end-to-end tests as scenarios, each against its golden log.
//!
//! `scenarios/upstream/*.yaml`; the line `# rules:` lists the rules that a scenario covers. Must never grow: a
//! situation consists of a few pods.

mod outcomes;
mod pods;
mod situations;
mod unit;

use crate::support;
use sim_testkit::golden::GoldenLog;
use std::path::Path;

const LINES_MAX: usize = 140;

fn transcript(path: &Path) -> Result<String, String> {
    transcript_with(path, &[])
}

/// Returns the golden log of a scenario with overrides in the form of `--set`.
fn transcript_with(path: &Path, sets: &[(String, String)]) -> Result<String, String> {
    let loaded = sim_inputs::read_scenario(path, sets).map_err(|e| e.to_string())?;
    let scenario = loaded.scenario;
    let mut simulation = sim_engine::SimulationInput::new(&scenario).map_err(|e| e.to_string())?;
    let mut golden = GoldenLog::new();
    let outcome = simulation.run(scenario.seed, 0, &mut golden);
    Ok(golden.finish(&outcome))
}

#[test]
fn every_situation_of_upstreams_tests_matches_its_golden_log() {
    let dir = support::root().join("scenarios/upstream");
    let mut wrong = Vec::new();
    let scenarios = support::files(&dir, "yaml");
    assert!(scenarios.len() >= 60, "{} scenarios", scenarios.len());
    for path in &scenarios {
        let file = path.file_name().unwrap_or_default().display().to_string();
        let log = path.with_extension("log");
        let now = match transcript(path) {
            Ok(now) => now,
            Err(problem) => {
                wrong.push(format!("{file}: {problem}"));
                continue;
            }
        };
        if support::updates_golden_files() {
            std::fs::write(&log, &now).expect("a golden log can be written");
        }
        let golden = std::fs::read_to_string(&log).unwrap_or_default();
        wrong.extend(support::first_difference(&file, &golden, &now));
        if now.lines().count() > LINES_MAX {
            wrong.push(format!("{file}: more than {LINES_MAX} lines"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
