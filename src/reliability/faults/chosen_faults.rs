//! Chosen faults instead of random ones, to measure their effect.

use super::drawn_faults::{AffectedPods, LocatedPods};
use super::entities::EntityProcess;
use super::spares::SpareUnits;
use super::{FaultModel, InjectedFault, spares};
use sim_api::spec::RandomFaults;
use sim_base::random::DrawSequence;
use sim_base::{CellId, Duration, NodeId};

/// One fault of an entity of a process.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ChosenFault {
    /// Index of the process.
    pub process: usize,
    /// Index of the entity in the process.
    pub entity: usize,
    /// Time since the start of the run.
    pub at: Duration,
    /// End of the repair, since the start of the run.
    pub end: Option<Duration>,
}

impl FaultModel {
    /// The fault processes, in the order of the scenario.
    pub fn processes(&self) -> impl Iterator<Item = &RandomFaults> {
        self.processes.iter().map(|process| &process.spec)
    }

    /// Number of entities of a process.
    pub fn entity_count(&self, process: usize) -> usize {
        self.processes[process].entities.len()
    }

    /// The nodes of an entity; empty for a pod.
    pub fn entity_nodes(&self, process: usize, entity: usize) -> &[NodeId] {
        &self.processes[process].entities[entity].nodes
    }

    /// The nodes of a cell, in order.
    pub fn cell_nodes(&self, cell: CellId) -> &[NodeId] {
        self.cells.nodes(cell)
    }

    /// Number of cells.
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// Nodes that are spares at the start, by unit, in the order of their use.
    pub fn spare_units(&self) -> impl Iterator<Item = &[NodeId]> {
        self.spares.iter().flat_map(SpareUnits::spare_units)
    }

    /// All spare nodes, sorted.
    pub fn spare_nodes(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.spare_units().flatten().copied().collect();
        nodes.sort_unstable();
        nodes
    }

    /// Maximum number of spare units that one fault affects.
    pub fn max_units_affected(&self) -> usize {
        let entities = self.processes.iter().flat_map(|process| &process.entities);
        let hit = |units: &SpareUnits| entities.map(|entity| units.count_affected(&entity.cells)).max();
        self.spares.as_ref().and_then(hit).unwrap_or(0)
    }

    /// The effect of these faults on cells until `stop` and, with `spares`, the actions of spares. Spares take over
    /// without delay here, because the caller needs the remaining capacity after the replacement.
    pub fn fault_effects(&self, strikes: &[ChosenFault], spares: bool, stop: Duration) -> Vec<InjectedFault> {
        let mut found = LocatedPods::default();
        let mut draws = DrawSequence::new(0, 0);
        for strike in strikes {
            let process: &EntityProcess = &self.processes[strike.process];
            let affected = AffectedPods {
                cause: strike.process as u32,
                process,
                entity: &process.entities[strike.entity],
                occurrence: 0,
                start: strike.at,
                end: strike.end,
            };
            found.add(&affected, &mut draws);
        }
        let (faults, _) = found.into_script(&self.processes, stop);
        match self.spares.as_ref().filter(|_| spares) {
            Some(units) => spares::add_spare_actions(units, Duration::ZERO, faults, stop).0,
            None => faults,
        }
    }
}
