//! Files and standard input to a scenario; the only part of the program that knows both paths and the reader.
//!
//! What a run directory keeps is what was read: nothing is read twice.

use super::Inputs;
use super::fail;
use crate::cli::Failure;
use crate::cli::args::RunArgs;
use crate::cli::inputs;
use crate::cli::output;
use sim_api::spec::{Level, Scenario, Topology};
use sim_inputs::{Diagnostics, LoadedScenario, Source};
use std::path::Path;

/// What of a JobSet `--set` reaches with `-f`; all else is for the run.
pub const OF_JOBSETS: [&str; 2] = ["spec", "metadata"];

/// What a run needs.
pub struct Loaded {
    pub scenario: Scenario,
    pub inputs: Inputs,
    /// Objects of the manifests that are not simulated.
    pub skipped: Vec<String>,
    pub not_modelled: Vec<String>,
    /// What the file says of it.
    pub level: Level,
    pub seed: u64,
}

/// The text of a scenario file, read once.
pub fn source(path: &Path) -> Result<Source, Failure> {
    sim_inputs::read_source(path).map_err(invalid)
}

/// `source`: the scenario's text, if one was given.
pub fn run(args: &RunArgs, source: Option<&Source>) -> Result<Loaded, Failure> {
    match args.play.scenario.as_deref().zip(source) {
        Some((path, source)) => {
            let loaded = sim_inputs::parse_scenario_of(source, path, &args.play.sets);
            let mut loaded = loaded.map_err(invalid)?;
            fail::add(&args.play.fails, &mut loaded.scenario)?;
            let seed = args.play.seed.unwrap_or(loaded.scenario.seed);
            let tail = inputs::tail(&args.play.sets, &args.play.fails, seed, args.seeds);
            let tail = tail + &inputs::level(args.play.level());
            let inputs = inputs::of_scenario(&loaded.inputs, &tail);
            Ok(finish(loaded, inputs, seed))
        }
        None => from_manifests(args),
    }
}

fn from_manifests(args: &RunArgs) -> Result<Loaded, Failure> {
    let (sets, of_jobsets) = sim_inputs::split_sets(&args.play.sets, &OF_JOBSETS);
    let (mut sources, mut not_tried, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for path in &args.play.manifests {
        match sim_inputs::manifest_sources(path) {
            Ok((read, left_out)) => {
                sources.extend(read);
                not_tried.extend(left_out);
            }
            Err(Diagnostics(e)) => errors.extend(e),
        }
    }
    let mut manifests = match sim_inputs::read_sources(&sources, &of_jobsets) {
        Ok(manifests) if errors.is_empty() => manifests,
        read => {
            errors.extend(read.err().map_or(Vec::new(), |Diagnostics(e)| e));
            return Err(invalid(Diagnostics(errors)));
        }
    };
    manifests.not_tried = not_tried;
    let (copy, topology) = match &args.play.topology {
        Some(path) => {
            let (source, topology) = topology(path)?;
            (Some((source.file, source.text)), Some(topology))
        }
        None => (None, None),
    };
    let mut loaded =
        sim_inputs::scenario_from_manifests(vec![manifests], topology, &sets).map_err(invalid)?;
    fail::add(&args.play.fails, &mut loaded.scenario)?;
    let seed = args.play.seed.unwrap_or(loaded.scenario.seed);
    let tail = inputs::tail(&args.play.sets, &args.play.fails, seed, args.seeds);
    let tail = tail + &inputs::level(args.play.level());
    let files = sources.into_iter().map(|source| (source.file, source.text));
    let inputs = inputs::of_manifests(files.collect(), copy, presets(&loaded), &tail);
    Ok(finish(loaded, inputs, seed))
}

/// Preset files that were named.
pub fn presets(loaded: &LoadedScenario) -> Vec<(String, String)> {
    let presets = loaded
        .inputs
        .iter()
        .filter(|(name, _)| sim_inputs::is_preset_file(name));
    presets.cloned().collect()
}

pub fn finish(loaded: LoadedScenario, inputs: Inputs, seed: u64) -> Loaded {
    Loaded {
        not_modelled: loaded.not_modelled(),
        level: loaded.experiment.level,
        skipped: loaded.skipped,
        scenario: loaded.scenario,
        inputs,
        seed,
    }
}

/// What of a list of Nodes is left out is told at once: no report says it.
pub fn topology(path: &Path) -> Result<(Source, Topology), Failure> {
    let source = sim_inputs::topology_source(path).map_err(invalid)?;
    let (topology, notes) = sim_inputs::read_noting(&source).map_err(invalid)?;
    for note in notes {
        output::note(&format!("note: {note}"));
    }
    Ok((source, topology))
}

pub fn invalid(errors: Diagnostics) -> Failure {
    match errors.is_only_no_place() {
        true => Failure::CannotBePlaced(errors.to_string()),
        false => Failure::Invalid(errors.to_string()),
    }
}
