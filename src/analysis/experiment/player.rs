//! Runs replications of one scenario; random faults are drawn for each of them.

use sim_api::spec::ScenarioSpec;
use sim_engine::{CannotRun, SimulationInput};
use sim_reliability::faults;

/// A scenario prepared to be run any number of times.
pub struct ExperimentRunner {
    scenario: ScenarioSpec,
    /// The simulation of the last replication.
    simulation: SimulationInput,
}

impl ExperimentRunner {
    /// Creates a runner. Fails if an object of the scenario is invalid or can never be placed, independent of the
    /// faults.
    pub fn new(scenario: &ScenarioSpec) -> Result<ExperimentRunner, CannotRun> {
        Ok(ExperimentRunner {
            scenario: scenario.clone(),
            simulation: SimulationInput::new(&faults::draw_faults(scenario, scenario.seed, 0))?,
        })
    }

    /// Returns the simulation of one replication, with its random faults in the script.
    pub fn simulation(&mut self, seed: u64, replication: u64) -> &mut SimulationInput {
        if !self.scenario.fault_processes.is_empty() {
            let drawn = faults::draw_faults(&self.scenario, seed, replication);
            let built = SimulationInput::new(&drawn);
            self.simulation = built.expect("random faults do not affect whether a scenario can run");
        }
        &mut self.simulation
    }
}
