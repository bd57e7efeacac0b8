//! Runs of the reduced model that mix random numbers of several replications, for the estimation of rare events.

use super::reduced::ReducedExperiment;
use sim_base::Duration;
use sim_base::random::MixtureDistribution;
use sim_engine::record::TrainingPhase;
use sim_surrogate::reduced::ReducedSimulator;

/// Runs mixtures of replications one after another, reusing memory.
pub struct MixedRuns<'c> {
    player: ReducedSimulator<'c>,
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
    /// Creates a runner for a measured scenario.
    pub fn new(reduced: &'c ReducedExperiment, seed: u64) -> MixedRuns<'c> {
        MixedRuns { player: reduced.player(), seed }
    }

    /// Runs with these random numbers.
    pub fn run(&mut self, numbers: MixtureDistribution) -> UnusableMetric {
        let outcome = self.player.run_mixed(self.seed, numbers);
        let spent = &outcome.training.spent_ns;
        let counts = spent[TrainingPhase::Productive as usize];
        UnusableMetric {
            counted: outcome.restarts_count_towards_max,
            lost: Duration(spent.iter().sum::<u64>() - counts),
        }
    }
}
