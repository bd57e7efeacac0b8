//! Runs at level `nodes` that mix random numbers of several replications, for the estimation of rare events.

use super::nodes::NodesExperiment;
use sim_base::Duration;
use sim_base::random::MixtureDistribution;
use sim_engine::record::TrainingPhase;
use sim_surrogate::nodes::NodesSimulator;

/// Runs mixtures of replications one after another, reusing memory.
pub struct MixedRuns<'c> {
    player: NodesSimulator<'c>,
    seed: u64,
}

/// Quantities of a run whose excess is a rare event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UnusableMetric {
    /// Number of restarts that count towards the limit.
    pub counted: u32,
    /// Time of the job without productive work.
    pub lost: Duration,
}

impl<'c> MixedRuns<'c> {
    /// Creates a runner for a prepared scenario.
    pub fn new(nodes: &'c NodesExperiment, seed: u64) -> MixedRuns<'c> {
        MixedRuns { player: nodes.player(), seed }
    }

    /// Runs with these random numbers.
    pub fn run(&mut self, numbers: MixtureDistribution) -> UnusableMetric {
        let outcome = self.player.run_until(self.seed, numbers, &|_| false).expect("the run is never stopped");
        let jobset = &outcome.jobsets[0];
        let spent = &jobset.training.spent_ns;
        let counts = spent[TrainingPhase::Productive as usize];
        UnusableMetric { counted: jobset.budget_used, lost: Duration(spent.iter().sum::<u64>() - counts) }
    }
}
