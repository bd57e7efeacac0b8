//! Replications of one scenario on several threads. Replications differ only in their random numbers.

use super::{Scenario, SimulationError, SimulationOutcome};
use sim_analysis::experiment;
use sim_analysis::experiment::{ExperimentSubject, LimitSink, ReplicationLimits, SimulatedVariant, StopFlag};
use sim_analysis::metrics::MetricFolds;
use sim_engine::record::EndReason;
use sim_report::files::compare_tables;

/// Replications 0 to `n` − 1 of a scenario with one seed.
///
/// ```
/// use jobset_sim::{MeanEstimate, Replications, Scenario};
///
/// let scenario = Scenario::from_file("scenarios/first-steps.yaml")?;
/// let latencies = Replications::new(&scenario, 1, 8).run(|outcome| {
///     let restart = outcome.restarts().next();
///     restart.and_then(|r| r.latency()).map_or(0.0, |d| d.seconds())
/// })?;
/// let estimate = MeanEstimate::from_values(latencies).unwrap();
/// assert!(estimate.ci95[0] < estimate.mean && estimate.mean < estimate.ci95[1]);
/// # Ok::<(), jobset_sim::SimulationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Replications {
    scenario: Scenario,
    seed: u64,
    n: u64,
    threads: usize,
    limits: ReplicationLimits,
}

impl Replications {
    /// Creates `n` replications of a seed, with one thread per core.
    pub fn new(scenario: &Scenario, seed: u64, n: u64) -> Replications {
        Replications { scenario: scenario.clone(), seed, n, threads: 0, limits: ReplicationLimits::unlimited() }
    }

    /// Sets the number of threads, which does not affect results.
    pub fn threads(mut self, n: usize) -> Replications {
        self.threads = n;
        self
    }

    /// Returns a flag that stops all replications.
    pub fn stop_flag(&self) -> StopFlag {
        self.limits.flag.clone()
    }

    /// Runs the replications and returns the values of `keep` in the order of the replications. Stopped replications
    /// are omitted: [`SimulationOutcome::replication`] identifies an outcome.
    ///
    /// Wait reasons are not recorded, so `waited_for` of all restart pieces is `None`. Each replication has the same
    /// records as [`Simulation::run`](crate::Simulation::run) with its number.
    pub fn run<T: Send>(&self, keep: impl Fn(&SimulationOutcome) -> T + Sync) -> Result<Vec<T>, SimulationError> {
        let spec = self.scenario.spec();
        let (many, stop) = ((self.n, self.threads), &self.limits.flag);
        Ok(experiment::in_parallel(spec, many, stop, |player, i| {
            let simulation = player.simulation(self.seed, i);
            let folds = MetricFolds::new(simulation.scenario(), false).without_paths();
            let (key, limits) = ((self.seed, i), LimitSink::sink(&self.limits));
            let (replication, _) = experiment::simulate_replication(simulation, key, folds, limits);
            let outcome = SimulationOutcome::new(self.scenario.clone(), key, replication);
            (outcome.end_reason() != EndReason::Stopped).then(|| keep(&outcome))
        })?)
    }
}

/// Returns the table `replications.csv` of `jobset-sim compare`: all metrics of replications 0 to `n` − 1 of each
/// variant, with common random numbers. `threads` is the number of threads; 0 means one per core.
///
/// ```
/// use jobset_sim::{Scenario, compared};
///
/// let file = "scenarios/first-steps.yaml";
/// let recreate = Scenario::from_file(file)?;
/// let blocking = [("jobSets[0].restartStrategy", "BlockingRecreate")];
/// let blocking = Scenario::from_file_with(file, &blocking)?;
/// let rows = compared(&[("recreate", &recreate), ("blocking", &blocking)], (1, 3), 0)?;
/// assert_eq!(rows.lines().count(), 1 + 2 * 3);
/// # Ok::<(), jobset_sim::SimulationError>(())
/// ```
pub fn compared(
    variants: &[(&str, &Scenario)], (seed, n): (u64, u64), threads: usize,
) -> Result<String, SimulationError> {
    let mut replication = Vec::new();
    for (name, scenario) in variants {
        let subject = ExperimentSubject::from(scenario.spec().clone());
        let replications = subject.replicate((seed, 0..n), (threads, &ReplicationLimits::unlimited()), &|_| {})?;
        replication.push(SimulatedVariant {
            name: (*name).to_owned(),
            changes: Vec::new(),
            jobsets: subject.jobsets(),
            currency: subject.currency(),
            replications,
        });
    }
    let rows = compare_tables::replications(seed, &replication).csv();
    Ok(String::from_utf8_lossy(&rows).into_owned())
}
