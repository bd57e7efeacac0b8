//! Many runs of one scenario that differ by chance alone, on several threads.

use super::{Error, Outcome, Scenario};
use sim_analysis::experiment;
use sim_analysis::experiment::{Limited, Limits, PlayedVariant, StopFlag, Subject};
use sim_analysis::metrics::Folds;
use sim_engine::record::EndReason;
use sim_report::files::compare_tables;

/// Replications 0 to `n` - 1 of a scenario under one seed.
///
/// ```
/// use jobset_sim::{Estimate, Replications, Scenario};
///
/// let scenario = Scenario::from_file("scenarios/first-steps.yaml")?;
/// let latencies = Replications::new(&scenario, 1, 8).run(|outcome| {
///     let restart = outcome.restarts().next();
///     restart.and_then(|r| r.latency()).map_or(0.0, |d| d.seconds())
/// })?;
/// let estimate = Estimate::of(latencies).unwrap();
/// assert!(estimate.ci95[0] < estimate.mean && estimate.mean < estimate.ci95[1]);
/// # Ok::<(), jobset_sim::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Replications {
    scenario: Scenario,
    seed: u64,
    n: u64,
    threads: usize,
    limits: Limits,
}

impl Replications {
    /// `n` replications of a seed, on as many threads as there are cores.
    pub fn new(scenario: &Scenario, seed: u64, n: u64) -> Replications {
        Replications {
            scenario: scenario.clone(),
            seed,
            n,
            threads: 0,
            limits: Limits::none(),
        }
    }

    /// On this many threads; results do not depend on it.
    pub fn threads(mut self, n: usize) -> Replications {
        self.threads = n;
        self
    }

    /// A flag that stops all of them.
    pub fn stop_flag(&self) -> StopFlag {
        self.limits.flag.clone()
    }

    /// Plays them, and keeps of each what `keep` makes of its outcome; in the order of the replications. Those that
    /// were stopped are left out: [`Outcome::replication`] says which one an outcome is.
    ///
    /// Who waited for what is not kept, so no piece of a restart has a `waited_for`. Each replication has the records
    /// of [`Simulation::run`](crate::Simulation::run) with its number.
    pub fn run<T: Send>(&self, keep: impl Fn(&Outcome) -> T + Sync) -> Result<Vec<T>, Error> {
        let spec = self.scenario.spec();
        let (many, stop) = ((self.n, self.threads), &self.limits.flag);
        Ok(experiment::in_parallel(spec, many, stop, |player, i| {
            let simulation = player.simulation(self.seed, i);
            let folds = Folds::new(simulation.scenario(), false).without_paths();
            let (key, limits) = ((self.seed, i), Limited::by(&self.limits));
            let (played, _) = experiment::play(simulation, key, folds, limits);
            let outcome = Outcome::new(self.scenario.clone(), key, played);
            (outcome.end_reason() != EndReason::Stopped).then(|| keep(&outcome))
        })?)
    }
}

/// The table `replications.csv` of `jobset-sim compare`: replications 0 to `n` - 1 of each variant under the same
/// random numbers, with every metric; on so many threads, 0 for one per core.
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
/// # Ok::<(), jobset_sim::Error>(())
/// ```
pub fn compared(
    variants: &[(&str, &Scenario)],
    (seed, n): (u64, u64),
    threads: usize,
) -> Result<String, Error> {
    let mut played = Vec::new();
    for (name, scenario) in variants {
        let subject = Subject::from(scenario.spec().clone());
        let replications = subject.replicate((seed, 0..n), (threads, &Limits::none()), &|_| {})?;
        played.push(PlayedVariant {
            name: (*name).to_owned(),
            changes: Vec::new(),
            jobsets: subject.jobsets(),
            replications,
        });
    }
    let rows = compare_tables::replications(seed, &played).csv();
    Ok(String::from_utf8_lossy(&rows).into_owned())
}
