//! The inputs of a command: a scenario, manifests or a Fleet. Every file is read once and can be loaded with
//! different overrides.

use crate::cli::args::{FieldOverride, InputArgs};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::input_copies::{InputCopies, copy_manifests, copy_scenario, result_options};
use crate::cli::inputs::{fail, fitting_topology, node_level};
use crate::{cli::inputs::fail::FailFlags, cli::output};
use sim_analysis::experiment::ExperimentSubject;
use sim_api::spec::{ExperimentSpec, ModelLevel, SubmittedJobSet, TopologySpec};
use sim_inputs::{
    Diagnostic, Diagnostics, FileTextError, LoadedFleet, LoadedScenario, NotedTopology, SourceText, strategy,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Root fields of JobSets that `--set` overrides with `-f`; all other paths are fields of the scenario.
const OF_JOBSETS: [&str; 2] = ["spec", "metadata"];

/// Reason why a variant has no seed of its own.
const COMMON_SEED: &str = "all variants, points and candidates are simulated with the same random numbers, so that \
     they meet the same faults; set the seed with --seed and the number of replications with --seeds";

/// Inputs with the overrides that apply to every load.
pub struct ExperimentInput {
    source: InputSource,
    sets: Vec<FieldOverride>,
    fails: Vec<FailFlags>,
    level: Option<ModelLevel>,
    /// Whether the program has chosen level `nodes`.
    chose_nodes: bool,
    /// Seed of the inputs without further overrides.
    seed: OnceLock<u64>,
}

enum InputSource {
    Scenario {
        source: SourceText,
        /// Contents of the files that the scenario refers to, by name; read at first use.
        texts: Mutex<BTreeMap<String, Result<String, FileTextError>>>,
    },
    Manifests {
        sources: Vec<SourceText>,
        /// Other files in the same directories, which are not read.
        not_tried: Vec<String>,
        topology: Option<Box<(SourceText, TopologySpec)>>,
    },
    Fleet(SourceText),
}

/// The name of a variant, a point or a candidate, and its overrides.
pub type PlannedInputs = (String, Result<Vec<FieldOverride>, CommandFailure>);

/// Inputs with all overrides applied.
pub enum LoadedInput {
    Pods(Box<LoadedScenario>),
    Fleet(Box<LoadedFleet>),
}

impl LoadedInput {
    /// Returns the currency of the costs; empty for a Fleet.
    pub fn currency(&self) -> &str {
        match self {
            LoadedInput::Pods(loaded) => &loaded.scenario.topology.currency,
            LoadedInput::Fleet(_) => "",
        }
    }
}

impl ExperimentInput {
    /// Reads all input files.
    pub fn read(args: &InputArgs) -> Result<ExperimentInput, CommandFailure> {
        let source = args.scenario.as_deref().map(sim_inputs::read_source);
        let source = match source.transpose()? {
            Some(source) if sim_inputs::is_fleet(&source) => {
                if !args.fails.is_empty() {
                    return Err(needs_pods("--fail"));
                }
                if args.level.is_some() {
                    return Err(needs_pods("--level"));
                }
                InputSource::Fleet(source)
            }
            Some(source) => InputSource::Scenario { source, texts: Mutex::default() },
            None => InputSource::manifests(args)?,
        };
        let (sets, fails, level) = (args.sets.clone(), args.fails.clone(), args.level());
        Ok(ExperimentInput { source, sets, fails, level, chose_nodes: false, seed: OnceLock::new() })
    }

    /// Loads the inputs of a planning command. If neither the user nor the file chooses a level of detail, it is
    /// `nodes`, unless that level does not support the inputs.
    pub fn load_for_planning(&mut self, quiet: bool) -> Result<LoadedInput, CommandFailure> {
        let loaded = self.load(&[])?;
        match &loaded {
            LoadedInput::Pods(pods) if self.level.is_none() && pods.experiment.level.is_none() => {
                self.level = Some(ModelLevel::Nodes);
                self.chose_nodes = true;
            }
            _ => return Ok(loaded),
        }
        self.leaves_nodes(&mut std::iter::once((String::new(), Ok(Vec::new()))), quiet);
        self.load(&[])
    }

    /// Returns to level `pods` if the program has chosen level `nodes` and this does not support one of these inputs.
    /// Returns whether it did; then the inputs have to be loaded again.
    pub fn leaves_nodes(&mut self, all: &mut dyn Iterator<Item = PlannedInputs>, quiet: bool) -> bool {
        if !self.chose_nodes {
            return false;
        }
        // Overrides that cannot be loaded are errors later.
        let mut refused = all.filter_map(|(name, sets)| {
            let LoadedInput::Pods(loaded) = self.load(&sets.ok()?).ok()? else { return None };
            let why = node_level::why_not(&loaded.scenario).into_iter().next()?;
            let with = if name.is_empty() { name } else { format!(" with {name}") };
            Some(format!("level pods, because level nodes does not support these inputs{with}: {why}"))
        });
        let refused = refused.next();
        if let Some(why) = &refused {
            (self.level, self.chose_nodes) = (Some(ModelLevel::Pods), false);
            if !quiet {
                output::note(why);
            }
        }
        refused.is_some()
    }

    /// Loads the inputs with `more` overrides: those of a variant, a point or a candidate. Refuses overrides
    /// that cannot have an effect there.
    pub fn load(&self, more: &[FieldOverride]) -> Result<LoadedInput, CommandFailure> {
        for (path, value) in more {
            self.check_effect(path, value)?;
        }
        let loaded = self.load_unchecked(more)?;
        let seed = loaded.seed();
        if *self.seed.get_or_init(|| seed) != seed && !more.is_empty() {
            let names: Vec<String> = more.iter().map(|(path, value)| format!("{path}={value}")).collect();
            bail!("{} changes the seed: {COMMON_SEED}", names.join(", "));
        }
        Ok(loaded)
    }

    /// Returns an error if a field has no effect in a variant, a point or a candidate.
    pub fn check_effect(&self, path: &str, value: &str) -> Result<(), CommandFailure> {
        let mut names = path.split(['.', '[']);
        let (first, second) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        let of_jobsets = matches!(self.source, InputSource::Manifests { .. }) && OF_JOBSETS.contains(&first);
        let reason = match (first, second) {
            _ if of_jobsets => return Ok(()),
            ("seed", _) => COMMON_SEED,
            ("experiment", "level") => return Ok(()),
            ("experiment", _) => "the experiment is that of the unchanged inputs; set it with --set",
            ("metadata" | "apiVersion" | "kind", _) => "it only names the inputs",
            _ => return Ok(()),
        };
        bail!("{path}={value} has no effect: {reason}")
    }

    fn load_unchecked(&self, more: &[FieldOverride]) -> Result<LoadedInput, CommandFailure> {
        let sets: Vec<FieldOverride> = self.sets.iter().chain(more).cloned().collect();
        if let InputSource::Fleet(source) = &self.source {
            let loaded = sim_inputs::parse_fleet(source, &sets)?;
            return Ok(LoadedInput::Fleet(Box::new(loaded)));
        }
        let mut loaded = self.source.load(&sets)?;
        fail::add(&self.fails, &mut loaded.scenario)?;
        if let Some(level) = self.level {
            loaded.experiment.level = Some(level);
        }
        Ok(LoadedInput::Pods(Box::new(loaded)))
    }

    /// Loads the inputs of a command that simulates every pod.
    pub fn pods(&self, more: &[FieldOverride], command: &str) -> Result<LoadedScenario, CommandFailure> {
        match self.load(more)? {
            LoadedInput::Pods(_) if self.level == Some(ModelLevel::Nodes) => {
                bail!("{command} needs a run with pods: remove --level nodes")
            }
            LoadedInput::Pods(loaded) => Ok(*loaded),
            LoadedInput::Fleet(_) => {
                let file = self.text().map_or("", |source| source.file.as_str());
                bail!("{file} is a Fleet; {command} needs a Scenario")
            }
        }
    }

    /// Returns the source of the scenario or Fleet; `None` for manifests.
    pub fn text(&self) -> Option<&SourceText> {
        match &self.source {
            InputSource::Scenario { source, .. } | InputSource::Fleet(source) => Some(source),
            InputSource::Manifests { .. } => None,
        }
    }

    /// Returns the command-line options that affect results.
    pub fn options(&self, seeds: (u64, Option<u64>)) -> String {
        result_options((&self.sets, &self.fails), seeds, self.level)
    }

    /// Returns copies of the inputs for an output directory, and the `run` command that repeats the run from there.
    /// `more` is appended to its options.
    pub fn copies(&self, loaded: &LoadedInput, seeds: (u64, Option<u64>), more: &str) -> InputCopies {
        let options = self.options(seeds) + more;
        match loaded {
            LoadedInput::Pods(loaded) => self.scenario_copies(loaded, &options),
            LoadedInput::Fleet(loaded) => copy_scenario(&loaded.inputs, &options),
        }
    }

    /// Returns copies of the inputs of a scenario; `options` is appended to the command.
    pub fn scenario_copies(&self, loaded: &LoadedScenario, options: &str) -> InputCopies {
        let InputSource::Manifests { sources, topology, .. } = &self.source else {
            return copy_scenario(&loaded.inputs, options);
        };
        let file = |source: &SourceText| (source.file.clone(), source.text.clone());
        let presets = loaded.inputs.iter();
        let presets = presets.filter(|(name, _)| sim_inputs::is_preset_file(name));
        copy_manifests(
            sources.iter().map(file).collect(),
            topology.as_ref().map(|given| file(&given.0)),
            presets.cloned().collect(),
            options,
        )
    }
}

impl InputSource {
    /// Reads manifests and their topology; reports all errors together.
    fn manifests(args: &InputArgs) -> Result<InputSource, CommandFailure> {
        let (sources, not_tried, mut errors) = manifest_sources(&args.manifests);
        let topology = match args.topology.as_deref().map(topology).transpose() {
            Ok(topology) if errors.is_empty() => topology,
            result => {
                let (_, of_jobsets) = sim_inputs::split_sets(&args.sets, &OF_JOBSETS);
                let parsed = sim_inputs::read_sources(&sources, &of_jobsets);
                errors.extend(parsed.err().map_or(Vec::new(), |Diagnostics(e)| e));
                errors.extend(result.err().map_or(Vec::new(), |Diagnostics(e)| e));
                return Err(Diagnostics(errors).into());
            }
        };
        Ok(InputSource::Manifests { sources, not_tried, topology: topology.map(Box::new) })
    }

    fn load(&self, sets: &[FieldOverride]) -> Result<LoadedScenario, Diagnostics> {
        match self {
            InputSource::Scenario { source, texts } => {
                let base = Path::new(&source.file).parent().unwrap_or(Path::new(""));
                let loader = |name: &str| {
                    let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
                    let read = || sim_inputs::file_text(&base.join(name));
                    texts.entry(name.to_owned()).or_insert_with(read).clone()
                };
                sim_inputs::parse_scenario(source, sets, &loader)
            }
            InputSource::Manifests { sources, not_tried, topology } => {
                let (sets, of_jobsets) = sim_inputs::split_sets(sets, &OF_JOBSETS);
                let mut manifests = sim_inputs::read_sources(sources, &of_jobsets)?;
                manifests.not_tried.clone_from(not_tried);
                let topology = topology.as_ref().map(|given| given.1.clone());
                let given = topology.as_ref().map(|topology| topology.name.clone());
                let load = |topology, sets: &[FieldOverride]| {
                    sim_inputs::scenario_from_manifests(vec![manifests.clone()], topology, sets)
                };
                load(topology, &sets).map_err(|mut errors| {
                    if let Some(given) = given {
                        // Overrides of the given topology do not apply to another one.
                        let (sets, _) = sim_inputs::split_sets(&sets, &["topology"]);
                        fitting_topology::suggest(&mut errors, &given, |other| Some(load(other, &sets).ok()?.scenario));
                    }
                    errors
                })
            }
            InputSource::Fleet(_) => unreachable!("`ExperimentInput::load` handles a Fleet"),
        }
    }
}

/// Reads files and directories of manifests. Returns the contents, the files that were left out, and errors.
pub fn manifest_sources(paths: &[String]) -> (Vec<SourceText>, Vec<String>, Vec<Diagnostic>) {
    let (mut sources, mut not_tried, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        match sim_inputs::manifest_sources(path) {
            Ok((read, left_out)) => {
                sources.extend(read);
                not_tried.extend(left_out);
            }
            Err(Diagnostics(e)) => errors.extend(e),
        }
    }
    (sources, not_tried, errors)
}

/// Reads a topology. Prints notes about Nodes that are left out of an imported list, because no report contains them.
pub fn topology(path: &Path) -> Result<(SourceText, TopologySpec), Diagnostics> {
    let source = sim_inputs::topology_source(path)?;
    let NotedTopology { topology, notes, conversion } = sim_inputs::read_noting(&source)?;
    if let Some(command) = conversion {
        let file = &source.file;
        output::note(&format!(
            "note: {file} is a list of Nodes; to edit the topology made of it, write it with `{command}`"
        ));
    }
    for note in notes {
        output::note(&format!("note: {note}"));
    }
    Ok((source, topology))
}

/// Returns the error for an option that does not apply to a Fleet.
pub fn needs_pods(option: &str) -> CommandFailure {
    let text = format!("{option} needs a scenario with pods; this file is a Fleet, which has no pods");
    CommandFailure::Invalid(text)
}

impl LoadedInput {
    /// Returns the default seed of all random numbers.
    pub fn seed(&self) -> u64 {
        match self {
            LoadedInput::Pods(loaded) => loaded.scenario.seed,
            LoadedInput::Fleet(loaded) => loaded.fleet.seed,
        }
    }

    /// Returns the level of detail, for reports.
    pub fn level_name(&self) -> &'static str {
        match self {
            LoadedInput::Pods(loaded) if loaded.experiment.level == Some(ModelLevel::Nodes) => "nodes",
            LoadedInput::Pods(_) => "pods",
            LoadedInput::Fleet(_) => "fleet",
        }
    }

    /// Returns the name for reports.
    pub fn name(&self) -> &str {
        match self {
            LoadedInput::Pods(loaded) => &loaded.scenario.name,
            LoadedInput::Fleet(loaded) => &loaded.fleet.name,
        }
    }

    /// Returns the subject of replications. Measures the delays of restarts for level `nodes`.
    pub fn subject(&self) -> Result<ExperimentSubject, CommandFailure> {
        Ok(match self {
            LoadedInput::Pods(loaded) if loaded.experiment.level == Some(ModelLevel::Nodes) => {
                ExperimentSubject::Nodes(node_level::measured(&loaded.scenario, true)?)
            }
            LoadedInput::Pods(loaded) => ExperimentSubject::Pods {
                scenario: Box::new(loaded.scenario.clone()),
                not_modelled: loaded.not_modelled(),
            },
            LoadedInput::Fleet(loaded) => ExperimentSubject::Fleet(Box::new(loaded.fleet.clone())),
        })
    }

    /// Returns the `experiment` of the file.
    pub fn experiment(&self) -> &ExperimentSpec {
        match self {
            LoadedInput::Pods(loaded) => &loaded.experiment,
            LoadedInput::Fleet(loaded) => &loaded.experiment,
        }
    }

    pub fn jobsets(&self) -> &[SubmittedJobSet] {
        match self {
            LoadedInput::Pods(loaded) => &loaded.scenario.jobsets,
            LoadedInput::Fleet(_) => &[],
        }
    }

    /// Adds the fields that a restart strategy requires, if the overrides set one.
    pub fn with_companions(&self, sets: &[FieldOverride]) -> Result<Vec<FieldOverride>, CommandFailure> {
        let changes = strategy::with_companions(sets, self.jobsets())?;
        Ok(changes.into_iter().map(|c| (c.path, c.value)).collect())
    }

    /// Returns the contradictions of the inputs.
    pub fn contradictions(&self) -> Vec<String> {
        match self {
            LoadedInput::Pods(loaded) => loaded.scenario.contradictions(),
            LoadedInput::Fleet(loaded) => loaded.fleet.contradictions(),
        }
    }

    /// Prints the composition of a generated cluster, the objects of the manifests that are not simulated, and what the
    /// model ignores.
    pub fn print_notices(&self, quiet: bool) {
        let LoadedInput::Pods(loaded) = self else { return };
        if quiet {
            return;
        }
        if let Some(composition) = loaded.scenario.topology.composition() {
            output::notice(&format!("cluster generated for the JobSets: {composition}"));
        }
        if !loaded.skipped.is_empty() {
            output::notice(&format!("not simulated: {}", loaded.skipped.join(", ")));
        }
        note_not_modelled(&loaded.not_modelled());
    }
}

/// Prints what the model ignores of the inputs, for commands and formats whose output does not contain it.
pub fn note_not_modelled(all: &[String]) {
    if !all.is_empty() {
        output::note(&format!("not modelled: {}", all.join(", ")));
    }
}
