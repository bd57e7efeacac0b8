//! Runs replications of one scenario; random faults are drawn for each of them.

use sim_api::spec::Scenario;
use sim_engine::faults;
use sim_engine::{CannotRun, Simulation};

/// A scenario prepared to be run any number of times.
pub struct Player {
    scenario: Scenario,
    /// The simulation of the last replication.
    simulation: Simulation,
}

impl Player {
    /// Creates a runner. Fails if an object of the scenario is invalid or can never be placed, independent of the
    /// faults.
    pub fn new(scenario: &Scenario) -> Result<Player, CannotRun> {
        Ok(Player {
            scenario: scenario.clone(),
            simulation: Simulation::new(&faults::drawn(scenario, scenario.seed, 0))?,
        })
    }

    /// Returns the simulation of one replication, with its random faults in the script.
    pub fn simulation(&mut self, seed: u64, replication: u64) -> &mut Simulation {
        if !self.scenario.fault_processes.is_empty() {
            let drawn = faults::drawn(&self.scenario, seed, replication);
            let built = Simulation::new(&drawn);
            self.simulation = built.expect("random faults make no room and take none");
        }
        &mut self.simulation
    }
}
