//! Simulates one run of a scenario with all pods and writes its run directory.

use crate::cli::inputs::fitting_topology::placed;
use crate::cli::inputs::{ExperimentInput, InputCopies, model_defaults};
use crate::cli::run::args::{RunArgs, TraceFormat};
use crate::{cli::failure::CommandFailure, cli::interrupt};
use sim_analysis::experiment;
use sim_analysis::experiment::{LimitSink, ReplicationLimits, SimulatedReplication};
use sim_analysis::metrics::restarts::restart;
use sim_analysis::metrics::{MetricFolds, RunView};
use sim_api::spec::{ModelLevel, ScenarioSpec};
use sim_engine::SimulationInput;
use sim_engine::record::EndReason;
use sim_inputs::LoadedScenario;
use sim_reliability::faults;
use sim_report::assumptions::provenance;
use sim_report::decisions::DecisionLog;
use sim_report::draw::chart;
use sim_report::figures::waterfall_figure;
use sim_report::files::rundir::RunDir;

/// A scenario, its seed, and the copies of its inputs for the run directory.
pub struct RunInput {
    pub scenario: ScenarioSpec,
    pub inputs: InputCopies,
    /// Objects of the manifests that are not simulated.
    pub skipped: Vec<String>,
    pub not_modelled: Vec<String>,
    pub level: ModelLevel,
    pub seed: u64,
}

impl RunInput {
    pub fn new(loaded: LoadedScenario, inputs: InputCopies, seed: u64) -> RunInput {
        RunInput {
            not_modelled: loaded.not_modelled(),
            level: loaded.experiment.level.unwrap_or(ModelLevel::Pods),
            skipped: loaded.skipped,
            scenario: loaded.scenario,
            inputs,
            seed,
        }
    }

    /// Creates the inputs of `run`.
    pub fn of_run(input: &ExperimentInput, loaded: LoadedScenario, args: &RunArgs) -> RunInput {
        let seed = args.input.seed.unwrap_or(loaded.scenario.seed);
        let options = input.options((seed, args.seeds));
        let inputs = input.scenario_copies(&loaded, &options);
        RunInput::new(loaded, inputs, seed)
    }
}

/// Builds the simulation of the first replication. Errors are input errors.
pub fn simulation(loaded: &RunInput) -> Result<SimulationInput, CommandFailure> {
    let scenario = faults::draw_faults(&loaded.scenario, loaded.seed, 0);
    // The inputs are already checked; pods that fit on no node are the remaining error.
    placed(&scenario)
}

/// A finished run with the results folded from its records.
pub struct FinishedRun {
    replication: SimulatedReplication,
    /// The decision log as text and as NDJSON, if `--trace decisions` is set.
    pub decisions: Option<(String, Vec<u8>)>,
}

impl FinishedRun {
    pub fn view<'a>(&'a self, loaded: &'a RunInput) -> RunView<'a> {
        self.replication.view(loaded.seed, &loaded.not_modelled)
    }
}

/// Simulates one run. With a directory, events are written during the run. Returns an error if a limit stops the run.
pub fn play(
    loaded: &RunInput, limits: &ReplicationLimits, dir: Option<&RunDir>,
    (trace, explains_placement): (TraceFormat, bool),
) -> Result<FinishedRun, CommandFailure> {
    let mut sim = simulation(loaded)?;
    sim.set_explains_placement(explains_placement);
    let events = match dir {
        Some(dir) if trace != TraceFormat::None => Some(dir.events()?),
        _ => None,
    };
    let folds = MetricFolds::new(sim.scenario(), dir.is_some());
    let request = trace == TraceFormat::Decisions;
    let log = request.then(|| DecisionLog::new(sim.scenario()));
    let more = (LimitSink::sink(limits), (events, log));
    let (replication, (_, (events, log))) = experiment::simulate_replication(&mut sim, (loaded.seed, 0), folds, more);
    if replication.outcome.end_reason == EndReason::Stopped {
        return Err(interrupt::failure("no results were kept"));
    }
    if let (Some(dir), Some(events)) = (dir, events) {
        dir.finish_events(events, &format!("{:016x}", replication.outcome.digest))?;
    }
    Ok(FinishedRun { decisions: log.map(|log| log.finish(&replication.outcome, &replication.names)), replication })
}

/// Writes the remaining files of the run directory and commits the directory. Returns its path.
pub fn keep(dir: RunDir, view: &RunView<'_>, loaded: &RunInput) -> Result<String, CommandFailure> {
    dir.write_run(view)?;
    if let Some(at) = restart::longest(view.restarts()) {
        let r = &view.restarts()[at];
        let foot = provenance::footer_lines(view, &[r], &model_defaults());
        let scene = waterfall_figure::waterfall(view, r, at + 1, &foot, chart::SLIDE);
        dir.write_svg("waterfall", &scene)?;
    }
    dir.write_inputs(&loaded.inputs.files, &loaded.inputs.command)?;
    Ok(dir.commit()?.display().to_string())
}
