//! Runs replications of one scenario; random faults are drawn for each of them.

use sim_api::spec::Scenario;
use sim_engine::faults;
use sim_engine::{CannotRun, Simulation};

/// A scenario prepared to be run any number of times.
pub struct Player {
    scenario: Scenario,
    /// With random faults, that of the last replication.
    simulation: Simulation,
}

impl Player {
    /// Fails if a part of the scenario cannot exist or be placed, whatever the faults.
    pub fn new(scenario: &Scenario) -> Result<Player, CannotRun> {
        Ok(Player {
            scenario: scenario.clone(),
            simulation: Simulation::new(&faults::drawn(scenario, scenario.seed, 0))?,
        })
    }

    /// The simulation of one replication, with the random faults in its script.
    pub fn simulation(&mut self, seed: u64, replication: u64) -> &mut Simulation {
        if !self.scenario.fault_processes.is_empty() {
            let drawn = faults::drawn(&self.scenario, seed, replication);
            let built = Simulation::new(&drawn);
            self.simulation = built.expect("random faults make no room and take none");
        }
        &mut self.simulation
    }
}
