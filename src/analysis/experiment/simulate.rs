//! One run together with the results of all folds over its records.

use crate::metrics::{FoldedMetrics, MetricFolds, RunView};
use sim_api::spec::ScenarioSpec;
use sim_engine::SimulationInput;
use sim_engine::record::{RecordNames, RecordSink, RunOutcome};

/// A completed run with the results of the folds.
pub struct SimulatedReplication {
    /// The simulated scenario, with the random faults of this replication in its script.
    pub scenario: ScenarioSpec,
    /// Names for the ids and texts in its records.
    pub names: RecordNames,
    /// Outcome of the run.
    pub outcome: RunOutcome,
    /// Results of the folds.
    pub folded: FoldedMetrics,
}

impl SimulatedReplication {
    /// Returns a view of the run; `seed` is the seed of the run.
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

/// Runs one replication. Passes the records to the folds and to `more`, and returns `more`.
pub fn simulate_replication<S: RecordSink>(
    simulation: &mut SimulationInput, (seed, replication): (u64, u64), folds: MetricFolds, more: S,
) -> (SimulatedReplication, S) {
    let mut sink = (folds, more);
    let outcome = simulation.run(seed, replication, &mut sink);
    let names = simulation.names().clone();
    let folded = sink.0.finish(simulation.scenario(), &outcome, &names);
    let simulated = SimulatedReplication { scenario: simulation.scenario().clone(), names, outcome, folded };
    (simulated, sink.1)
}
