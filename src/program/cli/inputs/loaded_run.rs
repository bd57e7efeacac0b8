//! One run with the data for charts and reports, from a run directory, a scenario or manifests.

use crate::cli::args::{FieldOverride, InputArgs};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{experiment_input::ExperimentInput, fitting_topology::placed, stored_run};
use sim_analysis::experiment::{SimulatedReplication, simulate_replication};
use sim_analysis::metrics::node_states::NodeStates;
use sim_analysis::metrics::occupancy::NodeOccupancy;
use sim_analysis::metrics::open_metrics::{MetricsDetail, ScrapedMetrics};
use sim_analysis::metrics::queue_lengths::QueuedWork;
use sim_analysis::metrics::record_buffer;
use sim_analysis::metrics::record_buffer::RetainedMetrics;
use sim_analysis::metrics::{MetricFolds, RestartBlocker, RunView};
use sim_base::{Duration, SimTime};
use sim_engine::SimulationInput;
use sim_inputs::LoadedScenario;
use sim_reliability::faults;
use sim_report::timeline;

/// Maximum number of samples of an OpenMetrics text; more samples exceed a gigabyte.
const SAMPLES: u64 = 10_000_000;
/// Maximum number of samples with the default scrape interval: about 20 megabytes.
const DEFAULT_SAMPLES: u64 = 200_000;
/// Scrape interval, unless it gives too many samples.
pub const DEFAULT_SCRAPE: Duration = Duration::from_secs(15);
/// Approximate number of series of queues, rate limiters and requests.
const CONTROL_PLANE_SERIES: u64 = 300;

pub struct LoadedRun {
    loaded: LoadedScenario,
    /// Names and contents of all input files.
    pub files: Vec<FieldOverride>,
    /// What the model ignores of the inputs.
    pub not_modelled: Vec<String>,
    replication: SimulatedReplication,
    pub witness: RestartBlocker,
    pub pods: NodeOccupancy,
    pub queued: QueuedWork,
    simulation: SimulationInput,
    seed: u64,
    /// Overrides of the run, those stored in its directory included.
    pub sets: Vec<FieldOverride>,
    /// Additional time window of the charts over time.
    pub window: Option<(SimTime, SimTime)>,
    /// Command-line arguments that repeat the run.
    words: String,
}

impl LoadedRun {
    /// Simulates the run. `command` is the subcommand named in error messages.
    pub fn simulate(args: &InputArgs, command: &str) -> Result<LoadedRun, CommandFailure> {
        LoadedRun::simulate_window(args, command, None)
    }

    /// Simulates the run, with data for charts over an additional time window.
    pub fn simulate_window(
        args: &InputArgs, command: &str, window: Option<(Duration, Duration)>,
    ) -> Result<LoadedRun, CommandFailure> {
        let resolved = stored_run::resolved(args)?;
        let given = ExperimentInput::read(&resolved)?;
        let loaded = given.pods(&[], command)?;
        let seed = resolved.seed.unwrap_or(loaded.scenario.seed);
        let scenario = faults::draw_faults(&loaded.scenario, seed, 0);
        let mut simulation = placed(&scenario)?;
        let folds = MetricFolds::new(&scenario, false);
        let (replication, witness) = simulate_replication(&mut simulation, (seed, 0), folds, RestartBlocker::default());
        let run = replication.view(seed, &[]);
        let end = replication.outcome.end;
        if let Some((from, _)) = window
            && SimTime::ZERO + from >= end
        {
            bail!("--window: the run ends at {end}");
        }
        let window = window.map(|(from, to)| (SimTime::ZERO + from, (SimTime::ZERO + to).min(end)));
        let moments = timeline::moments(&run, window);
        let close = timeline::highlighted_restarts(&run).into_iter();
        let snapshots: Vec<_> = close.flat_map(|(_, r)| [r.start, r.end]).collect();
        let nodes = replication.names.nodes.len();
        // The instants to observe are known only after the first run.
        let pods = NodeOccupancy::new(moments.clone(), &snapshots, nodes);
        let mut both = (pods, QueuedWork::new(moments));
        simulation.run(seed, 0, &mut both);
        both.0.finish();
        Ok(LoadedRun {
            not_modelled: loaded.not_modelled(),
            files: given.scenario_copies(&loaded, "").files,
            loaded,
            replication,
            witness,
            pods: both.0,
            queued: both.1,
            simulation,
            seed,
            sets: resolved.sets.clone(),
            window,
            words: resolved.words() + &given.options((seed, None)),
        })
    }

    /// Runs the simulation again and returns all records and tickets.
    pub fn kept(&mut self) -> Result<RetainedMetrics, CommandFailure> {
        if self.replication.outcome.records > record_buffer::MOST {
            let (n, most) = (self.replication.outcome.records, record_buffer::MOST);
            bail!("the run has {n} records, more than the {most} of a trace; shorten the run (stop.at)");
        }
        let mut kept = RetainedMetrics::default();
        self.simulation.run(self.seed, 0, &mut kept);
        Ok(kept)
    }

    /// Runs the simulation again and returns the states of each node between two instants.
    pub fn states(&mut self, segment: (SimTime, SimTime)) -> NodeStates {
        let mut states = NodeStates::new(segment, self.replication.names.nodes.len());
        self.simulation.run(self.seed, 0, &mut states);
        states
    }

    /// Runs the simulation again and returns the Job on each node at an instant.
    pub fn occupants(&mut self, at: SimTime) -> NodeOccupancy {
        let mut occupants = NodeOccupancy::new(Vec::new(), &[at], self.replication.names.nodes.len());
        self.simulation.run(self.seed, 0, &mut occupants);
        occupants.finish();
        occupants
    }

    /// Runs the simulation again and returns metrics scraped at the given interval. Returns an error if there are
    /// too many samples. Without an interval, the default one is multiplied until there are few.
    pub fn scraped(
        &mut self, every: Option<Duration>, detail: MetricsDetail,
    ) -> Result<(ScrapedMetrics, Duration), CommandFailure> {
        let end = self.replication.outcome.end;
        let nodes = self.replication.names.nodes.len() as u64;
        let jobsets = self.replication.scenario.jobsets.iter();
        let pods: u64 = jobsets.map(|j| j.jobset.spec.pods()).sum();
        let series = match detail {
            MetricsDetail::JobSets => CONTROL_PLANE_SERIES + 50 * self.replication.scenario.jobsets.len() as u64,
            MetricsDetail::Pods => CONTROL_PLANE_SERIES + 5 * pods + 3 * nodes,
        };
        let samples = |every: Duration| (end.0 / every.0.max(1) + 2).saturating_mul(series);
        let wanted = every.unwrap_or(DEFAULT_SCRAPE);
        let larger = |most: u64| Duration(wanted.0.saturating_mul(samples(wanted).div_ceil(most).max(1)));
        if every.is_some() && samples(wanted) > SAMPLES {
            bail!(
                "--scrape {wanted}: about {} million samples exceed the limit; increase the interval, e.g. --scrape {}",
                samples(wanted) / 1_000_000,
                larger(SAMPLES)
            );
        }
        let every = every.unwrap_or_else(|| larger(DEFAULT_SAMPLES));
        let n = end.0 / every.0.max(1) + 2;
        let mut at: Vec<SimTime> = (0..n - 1).map(|i| SimTime(i * every.0)).collect();
        at.retain(|at| *at < end);
        at.push(end);
        let mut scraped = ScrapedMetrics::new(at, self.replication.names.jobsets.len(), nodes as usize, detail);
        self.simulation.run(self.seed, 0, &mut scraped);
        scraped.finish();
        Ok((scraped, every))
    }

    pub fn view(&self) -> RunView<'_> {
        self.replication.view(self.seed, &self.not_modelled)
    }

    pub fn skipped(&self) -> &[String] {
        &self.loaded.skipped
    }

    /// Returns the command-line arguments that repeat the run, including all overrides and the seed. The paths of a run
    /// directory point to its inputs.
    pub fn words(&self) -> &str {
        &self.words
    }
}
