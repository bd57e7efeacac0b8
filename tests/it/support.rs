//! Shared test functions: scenarios by name, recordings, generated clusters.

#[path = "../inside/cases.rs"]
mod cases;

pub use cases::{cases, runs_long_tests};
use sim_api::spec::ScenarioSpec;
use sim_engine::SimulationInput;
use std::io::Write;
use std::path::{Path, PathBuf};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the names of all shipped scenarios in order.
pub fn scenario_names() -> Vec<String> {
    // A Fleet has no pods, so there is no log of them; scenarios at level `nodes` have too many.
    let has_pods = |path: &&PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        !text.contains("\nkind: Fleet") && !text.contains("level: Nodes")
    };
    let mut names: Vec<String> = files(&root().join("scenarios"), "yaml")
        .iter()
        .filter(has_pods)
        .filter_map(|p| Some(p.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no scenarios");
    names
}

/// Returns the files of a directory with this extension, sorted by name; none if the directory is absent.
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

/// Reads a shipped scenario with overrides in the form of `--set`.
pub fn scenario(name: &str, sets: &[(&str, &str)]) -> ScenarioSpec {
    let path = root().join("scenarios").join(format!("{name}.yaml"));
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    match sim_inputs::read_scenario(&path, &sets) {
        Ok(loaded) => loaded.scenario,
        Err(errors) => panic!("{name}: {errors}"),
    }
}

/// Returns a simulation of the scenario. Random faults are drawn with the scenario's seed if they are not drawn yet.
pub fn simulation(scenario: &ScenarioSpec) -> SimulationInput {
    match SimulationInput::new(&sim_reliability::faults::draw_faults(scenario, scenario.seed, 0)) {
        Ok(simulation) => simulation,
        Err(problems) => panic!("{}: {}", scenario.name, problems),
    }
}

/// Parses a scenario and its `jobset.yaml` from text.
pub fn parse(scenario: &str, jobset: &str) -> Result<ScenarioSpec, String> {
    parse_with(scenario, &[("jobset.yaml", jobset)])
}

pub fn parse_with(scenario: &str, files: &[(&str, &str)]) -> Result<ScenarioSpec, String> {
    let source = sim_inputs::SourceText { file: "scenario.yaml".to_owned(), text: scenario.to_owned() };
    let loader = |name: &str| {
        let matching = files.iter().find(|(file, _)| *file == name);
        matching
            .map(|(_, text)| (*text).to_owned())
            .ok_or_else(|| sim_inputs::FileTextError::Loader { reason: format!("{name} does not exist") })
    };
    sim_inputs::parse_scenario(&source, &[], &loader)
        .map(|loaded| loaded.scenario)
        .map_err(|errors| format!("{errors}\n{scenario}\n{files:?}"))
}

/// Prints to standard error directly, because the test runner hides the output of tests that pass.
pub fn print_to_stderr(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Directory of the complete set of recordings, which may be missing.
pub const ALL_RECORDINGS: &str = "../shared/recordings";
/// Directory of the recordings in the repository, a part of the complete set.
pub const RECORDINGS: &str = "tests/recordings";

/// Returns the recordings that are not in the repository (`kind/name.json`), and omitted cases of recordings that
/// are (`kind/name.json id`).
pub fn omitted_recordings() -> Vec<&'static str> {
    include_str!("../recordings/left-out.txt").lines().collect()
}

/// Returns the directory of the recordings: the complete set, or the part in the repository. In the latter case,
/// prints once what is not tested.
pub fn recordings_folder() -> PathBuf {
    static SAID: std::sync::Once = std::sync::Once::new();
    let all = root().join(ALL_RECORDINGS);
    if all.is_dir() {
        return all;
    }
    SAID.call_once(|| {
        print_to_stderr(&format!(
            "NOT TESTED: {} recordings and cases that are not in the repository ({RECORDINGS}/left-out.txt)",
            omitted_recordings().len()
        ));
    });
    root().join(RECORDINGS)
}

/// The kinds of recordings, which are the folders below [`recordings_folder`].
pub const RECORDING_KINDS: [&str; 10] = [
    "decisions", "corner", "nodes", "cluster", "times", "admission", "scheduler/gang", "scheduler/single", "kueue",
    "kueue/live",
];

pub fn recordings(kind: &str) -> Vec<PathBuf> {
    let paths = files(&recordings_folder().join(kind), "json");
    assert!(!paths.is_empty(), "there are no recordings of the kind {kind}");
    paths
}

/// Returns the directory of JobSet's own examples, which are not in the repository. Prints a message and returns `None`
/// if the directory is missing.
pub fn examples(what: &str) -> Option<PathBuf> {
    let folder = root().join("../shared/corpus/jobset-examples");
    if folder.is_dir() {
        return Some(folder);
    }
    print_to_stderr(&format!("NOT TESTED: {what} (the examples of the JobSet project are missing)"));
    None
}

/// Returns the number in an environment variable, such as the number of seeds of a random search.
#[expect(clippy::disallowed_methods, reason = "a switch for developers, not an input of a run")]
pub fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {value:?}")))
}

/// Returns whether a test that simulates a scenario many times includes it: of those with thousands of pods, a long run
/// tries only the three strategies, and a quick run none.
pub fn is_tried(scenario: &ScenarioSpec) -> bool {
    let pods: u64 = scenario.jobsets.iter().map(|js| js.jobset.spec.pods()).sum();
    pods <= 1_000 || (runs_long_tests() && scenario.name.starts_with("restart-5000"))
}

/// Returns whether golden files are to be written instead of compared.
#[expect(clippy::disallowed_methods, reason = "a switch for developers, not an input of a run")]
pub fn updates_golden_files() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

/// Returns the first line in which a run differs from its golden log, with the two lines before it, or `None` if
/// they are equal.
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
