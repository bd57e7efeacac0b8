//! The examples of the JobSet project, unmodified, each run to its natural end and compared with a golden log.
//!
//! Skipped with a message if the directory of the examples is missing. The examples must never be changed.

use crate::support;
use serde::Deserialize;
use sim_testkit::golden::GoldenLog;
use std::path::{Path, PathBuf};

const SCRIPTS: &str = include_str!("corpus/scripts.yaml");
const TOPOLOGY: &str = include_str!("corpus/topology.yaml");
const SCRIPT: &str = "containers: [{startAfter: 1s, runFor: 60s, stopAfter: 1s}]\nstop: {at: 1h}\n";
/// Maximum length of a golden log in lines, so that it remains readable.
const LINES_MAX: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    file: String,
    script: Option<String>,
}

fn examples() -> Vec<Example> {
    serde_yaml::from_str(SCRIPTS).unwrap_or_else(|e| panic!("scripts.yaml: {e}"))
}

fn transcript(dir: &Path, example: &Example) -> Result<String, String> {
    let jobset = std::fs::read_to_string(dir.join(&example.file)).map_err(|e| e.to_string())?;
    let script = example.script.as_deref().unwrap_or(SCRIPT);
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: corpus}}\ntopology:\n{TOPOLOGY}\
         jobSets: [{{manifest: jobset.yaml}}]\n{script}"
    );
    let scenario = support::parse(&scenario, &jobset)?;
    let mut simulation = sim_engine::SimulationInput::new(&scenario).map_err(|e| e.to_string())?;
    let mut golden = GoldenLog::new();
    let outcome = simulation.run(scenario.seed, 0, &mut golden);
    Ok(golden.finish(&outcome))
}

/// Returns the path of an example's log: `depends-on.depends-on.log` for `depends-on/depends-on.yaml`.
fn log_of(file: &str) -> PathBuf {
    let name = file.trim_end_matches(".yaml").replace('/', ".");
    let dir = support::root().join("tests/it/corpus");
    dir.join(format!("{name}.log"))
}

#[test]
fn every_example_matches_its_golden_log() {
    let Some(dir) = support::examples("the golden logs of the examples") else {
        return;
    };
    let mut wrong = Vec::new();
    for example in examples() {
        let now = match transcript(&dir, &example) {
            Ok(now) => now,
            Err(problem) => {
                wrong.push(format!("{}: {problem}", example.file));
                continue;
            }
        };
        if support::updates_golden_files() {
            std::fs::write(log_of(&example.file), &now).expect("a golden log can be written");
        }
        let golden = std::fs::read_to_string(log_of(&example.file)).unwrap_or_default();
        wrong.extend(support::first_difference(&example.file, &golden, &now));
        if now.lines().count() > LINES_MAX {
            wrong.push(format!("{}: more than {LINES_MAX} lines", example.file));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns whether the file has a JobSet of its own, not one inside another object's text.
fn has_jobset(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().any(|line| line == "kind: JobSet")
}

#[test]
fn every_example_with_a_jobset_is_simulated() {
    let Some(dir) = support::examples("whether each example has a script") else {
        return;
    };
    let (mut folders, mut result) = (vec![dir.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        folders.extend(entries.filter_map(|e| Some(e.ok()?.path()).filter(|p| p.is_dir())));
        let files = support::files(&folder, "yaml").into_iter();
        result.extend(files.filter(|p| has_jobset(p)).map(|p| {
            let file = p.strip_prefix(&dir).unwrap_or(&p);
            file.display().to_string()
        }));
    }
    result.sort();
    let mut trials: Vec<String> = examples().into_iter().map(|e| e.file).collect();
    trials.sort();
    assert_eq!(trials, result);
}
