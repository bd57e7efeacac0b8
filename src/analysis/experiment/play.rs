//! One run with everything that is folded from its records.

use crate::metrics::{Folded, Folds, RunView};
use sim_api::spec::Scenario;
use sim_engine::Simulation;
use sim_engine::record::{Names, RunOutcome, Sink};

/// A finished run with what was folded from its records.
pub struct Played {
    /// What was played: random faults are in its script.
    pub scenario: Scenario,
    /// What the ids and texts of its records mean.
    pub names: Names,
    /// What the run left.
    pub outcome: RunOutcome,
    /// What the folds left.
    pub folded: Folded,
}

impl Played {
    /// Everything known about it; `seed` is the one it was played with.
    pub fn view<'a>(&'a self, seed: u64, not_modelled: &'a [String]) -> RunView<'a> {
        RunView {
            scenario: &self.scenario,
            names: &self.names,
            outcome: &self.outcome,
            folded: &self.folded,
            seed,
            not_modelled,
        }
    }
}

/// Plays one replication; the records go to the folds and to `more`, which comes back.
pub fn play<S: Sink>(
    simulation: &mut Simulation,
    (seed, replication): (u64, u64),
    folds: Folds,
    more: S,
) -> (Played, S) {
    let mut sink = (folds, more);
    let outcome = simulation.run(seed, replication, &mut sink);
    let names = simulation.names().clone();
    let folded = sink.0.finish(&outcome, &names);
    let played = Played {
        scenario: simulation.scenario().clone(),
        names,
        outcome,
        folded,
    };
    (played, sink.1)
}
