//! What several tests need: scenarios by name, recordings if they are there, a generated cluster.

use jobset_sim::engine::Simulation;
use jobset_sim::manifest;
use jobset_sim::spec::Scenario;
use std::path::{Path, PathBuf};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names of all shipped scenarios, in order.
pub fn scenario_names() -> Vec<String> {
    let mut names: Vec<String> = files(&root().join("scenarios"), "yaml")
        .iter()
        .filter_map(|p| Some(p.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no scenarios");
    names
}

/// Files of a directory with this extension, by name; none if the directory is absent.
pub fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

/// A shipped scenario with overrides as `--set` takes them.
pub fn scenario(name: &str, sets: &[(&str, &str)]) -> Scenario {
    let path = root().join("scenarios").join(format!("{name}.yaml"));
    let sets: Vec<(String, String)> = sets
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    match manifest::read_scenario(&path, &sets) {
        Ok(loaded) => loaded.scenario,
        Err(errors) => panic!("{name}: {errors}"),
    }
}

pub fn simulation(scenario: &Scenario) -> Simulation {
    match Simulation::new(scenario) {
        Ok(simulation) => simulation,
        Err(problems) => panic!("{}: {}", scenario.name, problems.join("; ")),
    }
}

/// A scenario from texts: its own, and that of `jobset.yaml`.
pub fn parse(scenario: &str, jobset: &str) -> Result<Scenario, String> {
    let source = manifest::Source {
        file: "scenario.yaml".to_owned(),
        text: scenario.to_owned(),
    };
    let loader = |name: &str| match name {
        "jobset.yaml" => Ok(jobset.to_owned()),
        other => Err(format!("{other} does not exist")),
    };
    manifest::parse_scenario(&source, &[], &loader)
        .map(|loaded| loaded.scenario)
        .map_err(|errors| format!("{errors}\n{scenario}\n{jobset}"))
}

/// The recordings of one kind; none, with a message, if they are not beside the project.
pub fn recordings(kind: &str) -> Vec<PathBuf> {
    let dir = root().join("../shared/recordings").join(kind);
    let found = files(&dir, "json");
    if found.is_empty() {
        println!("skipped: no recordings in {}", dir.display());
    }
    found
}

/// Whether golden files are to be written instead of compared.
#[expect(
    clippy::disallowed_methods,
    reason = "a switch for developers, not an input of a run"
)]
pub fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

/// The first line in which a run differs from its golden log, with the two before it; `None`: they are equal.
pub fn first_difference(file: &str, golden: &str, now: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (golden.lines().collect(), now.lines().collect());
    if old == new {
        return None;
    }
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let line = |of: &[&str]| of.get(same).copied().unwrap_or("(end)").to_owned();
    let before = new[same.saturating_sub(2)..same].join("\n  ");
    let (old, new) = (line(&old), line(&new));
    let at = same + 1;
    Some(format!("{file}:{at}\n  {before}\n- {old}\n+ {new}"))
}
