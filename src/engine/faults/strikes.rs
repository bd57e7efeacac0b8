//! Chosen faults instead of drawn ones: what they would do, to see what comes of them.

use super::entities::Process;
use super::found::{Found, Struck};
use super::spares::Units;
use super::{Fault, Faults, spares};
use sim_api::spec::RandomFaults;
use sim_base::random::Draws;
use sim_base::{CellId, Duration, NodeId};

/// One fault of an entity of a process.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Strike {
    /// Which process.
    pub process: usize,
    /// Which of its entities.
    pub entity: usize,
    /// Since the run began.
    pub at: Duration,
    /// When its repair is over, since the run began.
    pub end: Option<Duration>,
}

impl Faults {
    /// The processes, in the order of the scenario.
    pub fn processes(&self) -> impl Iterator<Item = &RandomFaults> {
        self.processes.iter().map(|process| &process.spec)
    }

    /// How many entities a process has.
    pub fn entities(&self, process: usize) -> usize {
        self.processes[process].entities.len()
    }

    /// The nodes of an entity; none of a pod.
    pub fn nodes_of(&self, process: usize, entity: usize) -> &[NodeId] {
        &self.processes[process].entities[entity].nodes
    }

    /// The nodes of a cell, in their order.
    pub fn nodes_in(&self, cell: CellId) -> &[NodeId] {
        self.cells.nodes(cell)
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Nodes that are spares at the start, by units: who is first takes over first.
    pub fn spare_units(&self) -> impl Iterator<Item = &[NodeId]> {
        self.spares.iter().flat_map(Units::spare)
    }

    /// All of them, in the order of nodes.
    pub fn spare_nodes(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.spare_units().flatten().copied().collect();
        nodes.sort_unstable();
        nodes
    }

    /// How many units of spares one fault hits at most.
    pub fn most_units_hit(&self) -> usize {
        let entities = self.processes.iter().flat_map(|process| &process.entities);
        let hit = |units: &Units| entities.map(|entity| units.hit(&entity.cells)).max();
        self.spares.as_ref().and_then(hit).unwrap_or(0)
    }

    /// What these faults do to cells until `stop`, and with `spares` what the spares do then. Here those take over at
    /// once: whoever asks wants to know what is left when there is a place.
    pub fn struck(&self, strikes: &[Strike], spares: bool, stop: Duration) -> Vec<Fault> {
        let mut found = Found::default();
        let mut draws = Draws::new(0, 0);
        for strike in strikes {
            let process: &Process = &self.processes[strike.process];
            let struck = Struck {
                cause: strike.process as u32,
                process,
                entity: &process.entities[strike.entity],
                occurrence: 0,
                start: strike.at,
                end: strike.end,
            };
            found.add(&struck, &mut draws);
        }
        let (faults, _) = found.script(&self.processes, stop);
        match self.spares.as_ref().filter(|_| spares) {
            Some(units) => spares::join(units, Duration::ZERO, faults, stop).0,
            None => faults,
        }
    }
}
