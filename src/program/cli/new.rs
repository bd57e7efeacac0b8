//! `new`: writes a scenario for a manifest, without questions.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{experiment_input, shipped_clusters::shipped_by_size};
use crate::cli::output;
use sim_analysis::metrics::{RestartFold, RestartOutcome};
use sim_api::spec::{ScenarioSpec, TopologySpec};
use sim_engine::SimulationInput;
use sim_inputs::{Diagnostics, FileTextError, LoadedScenario, SourceText, scaffold};
use sim_report::files::rundir::RunDir;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// Manifests: a file, a directory, or - for standard input (repeatable)
    #[arg(short = 'f', value_name = "FILE|DIR|-")]
    pub manifests: Vec<String>,
    /// Cluster: a file, or a name printed by `topology list` [default: the smallest shipped topology that fits, or
    /// one created for the manifests]
    #[arg(short = 't', value_name = "TOPOLOGY")]
    pub topology: Option<PathBuf>,
    /// Write the scenario and copies of its files to this new directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The manifest used if none is given.
const FIRST: &str = include_str!("../../../scenarios/manifests/exclusive-workers.yaml");

pub fn cli(args: &NewArgs) -> Result<(), CommandFailure> {
    if args.out.is_none() && args.manifests.iter().any(|path| path == "-") {
        bail!(
            "a scenario refers to its manifest by file name, and standard input has none: use --out DIR to save a copy"
        );
    }
    let sources = match (args.manifests.is_empty(), &args.out) {
        (true, None) => {
            bail!("no manifest given: use -f FILE, or --out DIR for a first scenario with its manifest");
        }
        (true, Some(_)) => vec![SourceText { file: "jobset.yaml".to_owned(), text: FIRST.to_owned() }],
        (false, _) => read(&args.manifests)?,
    };
    let chosen = choose(&sources, args.topology.as_deref())?;
    if let Err(why) = SimulationInput::new(&chosen.loaded.scenario) {
        output::note(&format!("warning: {why}"));
    }
    let paths: Vec<String> = match &args.out {
        None => sources.iter().map(|s| s.file.clone()).collect(),
        Some(_) => sources.iter().enumerate().map(copied).collect(),
    };
    let draft = |exit: Option<&scaffold::ExampleExit>| {
        scaffold::scenario(&scaffold::ScenarioDraft {
            scenario: &chosen.loaded.scenario,
            manifests: &paths,
            topology: match (&chosen.file, &args.out) {
                (Some(_), Some(_)) => Some("topology.yaml"),
                _ => chosen.name.as_deref(),
            },
            because: &chosen.because,
            exit,
        })
    };
    let exits = scaffold::example_exits(&chosen.loaded.scenario);
    let restarts = |exit: &&scaffold::ExampleExit| {
        let file = |name: &str| {
            let manifest = paths.iter().position(|path| path == name).map(|i| &sources[i]);
            let named = manifest.or(chosen.file.as_ref().filter(|_| name.ends_with("topology.yaml")));
            named.map_or_else(|| sim_inputs::file_text(Path::new(name)), |source| Ok(source.text.clone()))
        };
        has_restart(&draft(Some(exit)), &file)
    };
    let text = draft(exits.iter().find(restarts).or(exits.first()));
    let Some(out) = &args.out else {
        return output::result(&text);
    };
    let dir = RunDir::create(out)?;
    dir.write("scenario.yaml", text.as_bytes())?;
    for (path, source) in paths.iter().zip(&sources) {
        dir.write(path, source.text.as_bytes())?;
    }
    if let Some(file) = &chosen.file {
        dir.write("topology.yaml", file.text.as_bytes())?;
    }
    dir.commit()?;
    let displayed = out.join("scenario.yaml");
    output::notice(&format!("Try: jobset-sim run {}", displayed.display()));
    Ok(())
}

/// Returns the file name of a manifest's copy next to the scenario.
fn copied((i, source): (usize, &SourceText)) -> String {
    let name = Path::new(&source.file).file_name();
    let name = name.map(|n| n.to_string_lossy().into_owned());
    match name.filter(|n| n != sim_inputs::STDIN && n.contains('.')) {
        Some(name) if i == 0 => name,
        Some(name) => format!("{}-{name}", i + 1),
        None => "jobset.yaml".to_owned(),
    }
}

/// Reads the files that contain a JobSet or a part of one.
fn read(paths: &[String]) -> Result<Vec<SourceText>, CommandFailure> {
    let (sources, _, errors) = experiment_input::manifest_sources(paths);
    if !errors.is_empty() {
        return Err(Diagnostics(errors).into());
    }
    if paths.len() == 1 && sources.len() == 1 {
        return Ok(sources);
    }
    sim_inputs::read_sources(&sources, &[])?;
    let matters = sim_inputs::of_jobsets(&sources);
    let with = sources.into_iter().zip(matters);
    Ok(with.filter_map(|(source, of)| of.then_some(source)).collect())
}

/// The JobSets on a cluster, with the reason for the choice of the cluster.
struct ChosenCluster {
    loaded: LoadedScenario,
    /// Name of the topology in the scenario; `None` if the topology is written into the scenario.
    name: Option<String>,
    /// Topology file given with `-t`.
    file: Option<SourceText>,
    because: String,
}

fn choose(sources: &[SourceText], given: Option<&Path>) -> Result<ChosenCluster, CommandFailure> {
    let on = |topology: Option<TopologySpec>| {
        let manifests = sim_inputs::read_sources(sources, &[])?;
        sim_inputs::scenario_from_manifests(vec![manifests], topology, &Vec::new())
    };
    if let Some(path) = given {
        let (source, topology) = experiment_input::topology(path)?;
        let shipped = sim_inputs::topology_names().contains(&path.to_string_lossy().as_ref());
        return Ok(ChosenCluster {
            loaded: on(Some(topology))?,
            name: Some(path.to_string_lossy().into_owned()),
            file: (!shipped || path.exists()).then_some(source),
            because: "given with -t".to_owned(),
        });
    }
    let made = on(None)?;
    Ok(match smallest(&made.scenario, &on) {
        Some((name, loaded)) => ChosenCluster {
            loaded,
            name: Some(name.to_owned()),
            file: None,
            because: "the smallest shipped topology with the requested nodes".to_owned(),
        },
        None => ChosenCluster {
            loaded: made,
            name: None,
            file: None,
            because: "the smallest cluster that fits, created for these JobSets".to_owned(),
        },
    })
}

/// Loads the JobSets with a topology.
type LoadOnCluster<'o> = dyn Fn(Option<TopologySpec>) -> Result<LoadedScenario, Diagnostics> + 'o;

/// Returns the smallest shipped topology on which all pods fit at once; `None` if no pod selects nodes.
fn smallest(scenario: &ScenarioSpec, on: &LoadOnCluster<'_>) -> Option<(&'static str, LoadedScenario)> {
    if !names_nodes(scenario) {
        return None;
    }
    shipped_by_size().into_iter().find_map(|(name, topology)| {
        let loaded = on(Some(topology)).ok()?;
        all_at_once(&loaded.scenario).then_some((name, loaded))
    })
}

/// Returns whether all pods are placed at once if containers run indefinitely.
fn all_at_once(scenario: &ScenarioSpec) -> bool {
    let Ok(mut simulation) = SimulationInput::new(scenario) else {
        return false;
    };
    let mut sink = RestartFold::new(scenario).without_paths();
    simulation.run(scenario.seed, 0, &mut sink).blocked.is_empty()
}

/// Returns whether a scenario has a restart.
fn has_restart(text: &str, file: &dyn Fn(&str) -> Result<String, FileTextError>) -> bool {
    let source = SourceText { file: "scenario.yaml".to_owned(), text: text.to_owned() };
    let Ok(loaded) = sim_inputs::parse_scenario(&source, &[], file) else {
        return false;
    };
    let Ok(mut simulation) = SimulationInput::new(&loaded.scenario) else {
        return false;
    };
    let mut restarts = RestartFold::new(&loaded.scenario).without_paths();
    let outcome = simulation.run(loaded.scenario.seed, 0, &mut restarts);
    let restarts = restarts.finish(&outcome, simulation.names());
    restarts.iter().any(|r| r.ending == RestartOutcome::Ready)
}

/// Returns whether any pod selects nodes by label or has exclusive placement.
fn names_nodes(scenario: &ScenarioSpec) -> bool {
    let mut jobs = scenario.jobsets.iter().flat_map(|s| {
        let jobset = &s.jobset;
        let jobs = jobset.spec.replicated_jobs.iter();
        jobs.map(move |rj| (jobset, rj))
    });
    jobs.any(|(jobset, rj)| {
        let spec = &rj.template.template.spec;
        spec.restricts_nodes() || jobset.exclusive_key(rj).is_some()
    })
}
