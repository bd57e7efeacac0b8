//! What plays the replications of one scenario: random faults are drawn for each of them.

use sim_api::spec::Scenario;
use sim_engine::faults;
use sim_engine::{CannotRun, Simulation};

/// A scenario ready to be played, as often as wanted.
pub struct Player {
    scenario: Scenario,
    /// With random faults: of the last replication.
    simulation: Simulation,
}

impl Player {
    /// Refuses what cannot exist or be placed, whatever the faults are.
    pub fn new(scenario: &Scenario) -> Result<Player, CannotRun> {
        Ok(Player {
            scenario: scenario.clone(),
            simulation: Simulation::new(&faults::drawn(scenario, scenario.seed, 0))?,
        })
    }

    /// The simulation of one replication, whose script holds the random faults.
    pub fn simulation(&mut self, seed: u64, replication: u64) -> &mut Simulation {
        if !self.scenario.fault_processes.is_empty() {
            let drawn = faults::drawn(&self.scenario, seed, replication);
            let built = Simulation::new(&drawn);
            self.simulation = built.expect("random faults make no room and take none");
        }
        &mut self.simulation
    }
}
