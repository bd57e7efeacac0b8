//! Names of several runs in a chart: what differs between them, and nothing else.

use crate::cli::args::{FieldOverride, InputArgs};
use crate::{cli::failure::CommandFailure, cli::inputs::LoadedRun, cli::plot::args::PlotArgs, cli::plot::one::chosen};
use sim_analysis::experiment::ExperimentSubject;
use sim_analysis::metrics::RestartMetrics;
use sim_api::spec::ScenarioSpec;
use sim_report::metric_label::parameter_name;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A property of a run: its value as text in a name.
type Property = (String, String);

/// Returns the names of the runs whose restarts are shown. `shown` is parallel to `runs`.
pub fn of_restarts(args: &PlotArgs, runs: &[LoadedRun], shown: &[&RestartMetrics]) -> Vec<String> {
    let properties = |((one, restart), path): ((&LoadedRun, &&RestartMetrics), &PathBuf)| {
        let run = one.view();
        let mut all = vec![("strategy".to_owned(), run.strategy(restart).to_owned())];
        all.extend(run_properties((run.scenario, run.seed), &one.sets));
        all.extend(identity(&run.scenario.name, path));
        all
    };
    let all: Vec<Vec<Property>> = runs.iter().zip(shown).zip(&args.runs).map(properties).collect();
    differing(&all)
}

/// Returns the names of the lines that runs of several sizes form: strategy and preset, as far as they differ.
pub fn series(runs: &[LoadedRun], args: &PlotArgs) -> Result<Vec<String>, CommandFailure> {
    let mut all = Vec::new();
    for one in runs {
        let run = one.view();
        let strategy = run.strategy(chosen(args, &run)?.1).to_owned();
        all.push((strategy, run.scenario.control_plane.preset.clone()));
    }
    let is_common = all.iter().all(|(_, preset)| *preset == all[0].1);
    let name = |(strategy, preset)| if is_common { strategy } else { format!("{strategy}, {preset}") };
    Ok(all.into_iter().map(name).collect())
}

/// Returns the properties of a subject of replications.
pub fn of_subject(subject: &ExperimentSubject, play: &InputArgs, path: &Path) -> Vec<Property> {
    let mut all = Vec::new();
    if let Some(scenario) = subject.scenario() {
        let strategies = scenario.jobsets.iter().map(|j| j.jobset.spec.strategy().as_str());
        let strategies: BTreeSet<&str> = strategies.collect();
        all.push(("strategy".to_owned(), strategies.into_iter().collect::<Vec<_>>().join(" and ")));
        all.extend(run_properties((scenario, play.seed.unwrap_or(subject.seed())), &play.sets));
    }
    all.extend(identity(subject.name(), path));
    all
}

/// Returns preset, size, seed and overrides of a run.
fn run_properties((scenario, seed): (&ScenarioSpec, u64), sets: &[FieldOverride]) -> Vec<Property> {
    let nodes = scenario.topology.nodes();
    let known = ["controlPlane.preset", "strategy"];
    let is_other = |(path, _): &&FieldOverride| {
        !known.contains(&path.as_str()) && !path.ends_with("estartStrategy") && path != "seed"
    };
    let others = sets.iter().filter(is_other);
    let mut all = vec![
        ("preset".to_owned(), scenario.control_plane.preset.clone()),
        ("nodes".to_owned(), format!("{nodes} nodes")),
        ("seed".to_owned(), format!("seed {seed}")),
    ];
    all.extend(others.map(|(path, value)| (path.clone(), format!("{} {value}", parameter_name(path)))));
    all
}

/// Returns the properties that name a run if all others are equal.
fn identity(scenario: &str, path: &Path) -> [Property; 2] {
    let file = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    [(SCENARIO.to_owned(), scenario.to_owned()), (FILE.to_owned(), file)]
}

const SCENARIO: &str = "scenario";
const FILE: &str = "file";

/// Returns a name per run from the properties that differ. The scenario, the file and a number are added in this order
/// as far as they are needed to distinguish runs. A single run is named after its first property.
pub fn differing(runs: &[Vec<Property>]) -> Vec<String> {
    if let [one] = runs {
        return vec![one.first().map_or(String::new(), |(_, value)| value.clone())];
    }
    let value = |run: &[Property], key: &str| run.iter().find(|(own, _)| own == key).map(|(_, value)| value.clone());
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in runs.iter().flatten() {
        let differs = runs.iter().any(|run| value(run, key) != value(&runs[0], key));
        if differs && !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let (last, first): (Vec<&str>, Vec<&str>) = keys.into_iter().partition(|key| [SCENARIO, FILE].contains(key));
    let names = |keys: &[&str]| -> Vec<String> {
        let of = |run: &Vec<Property>| keys.iter().filter_map(|key| value(run, key)).collect::<Vec<_>>().join(", ");
        runs.iter().map(of).collect()
    };
    let is_distinct = |names: &[String]| (0..names.len()).all(|i| !names[..i].contains(&names[i]));
    let mut used = first;
    for key in last {
        if is_distinct(&names(&used)) {
            break;
        }
        used.push(key);
    }
    let mut names = names(&used);
    if !is_distinct(&names) {
        for (i, name) in (1..).zip(&mut names) {
            *name = if name.is_empty() { format!("run {i}") } else { format!("{i}: {name}") };
        }
    }
    for name in names.iter_mut().filter(|name| name.is_empty()) {
        *name = "unchanged".to_owned();
    }
    names
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/plot/labels.rs"]
mod tests;
