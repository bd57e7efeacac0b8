//! Collapsed runs with numbers of several replications, and how much of something each of them had.

use super::collapsed::Collapsed;
use crate::reduced::CollapsedPlayer;
use sim_base::Duration;
use sim_base::random::Mixture;
use sim_engine::record::TrainingPhase;

/// Plays them one after another.
pub struct MixedRuns<'c> {
    player: CollapsedPlayer<'c>,
    seed: u64,
}

/// What a run had.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Had {
    /// Restarts that count towards the limit.
    pub counted: u32,
    /// Time of its job that was no work that counts.
    pub lost: Duration,
}

impl<'c> MixedRuns<'c> {
    /// Of a scenario that was measured.
    pub fn new(collapsed: &'c Collapsed, seed: u64) -> MixedRuns<'c> {
        MixedRuns {
            player: collapsed.player(),
            seed,
        }
    }

    /// The run with these numbers.
    pub fn run(&mut self, numbers: Mixture) -> Had {
        let outcome = self.player.run_mixed(self.seed, numbers);
        let spent = &outcome.training.spent_ns;
        let counts = spent[TrainingPhase::Productive as usize];
        Had {
            counted: outcome.restarts_count_towards_max,
            lost: Duration(spent.iter().sum::<u64>() - counts),
        }
    }
}
