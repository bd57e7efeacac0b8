//! Spare nodes: cordoned until other nodes are lost, and used in whole units. A repaired unit becomes a spare or
//! returns to its place.

use super::cells::FaultCells;
use super::fault::{FaultOperation, FaultScope, InjectedFault, SPARE};
use sim_api::spec::NodeSpares;
use sim_base::{CellId, Duration, NodeId};
use sim_policy::topology::ClusterBuilder;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The units of a cluster, before any loss.
pub struct SpareUnits {
    spec: NodeSpares,
    /// Nodes that are replaced together, and their cells.
    nodes: Vec<Vec<NodeId>>,
    cells: Vec<Vec<CellId>>,
    units: Vec<SpareUnit>,
    unit_of_cell: Vec<usize>,
}

impl SpareUnits {
    /// The nodes of each unit, in the order of their first nodes.
    pub fn unit_nodes(spec: &NodeSpares, cluster: &ClusterBuilder) -> Vec<Vec<NodeId>> {
        let mut sets: Vec<Vec<NodeId>> = Vec::new();
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        for (i, name) in cluster.names.iter().enumerate() {
            let node = NodeId(i as u32);
            let unit = spec.unit.as_ref().and_then(|key| cluster.label(node, key));
            let unit = unit.unwrap_or_else(|| name.clone());
            let at = *named.entry(unit).or_insert(sets.len());
            if at == sets.len() {
                sets.push(Vec::new());
            }
            sets[at].push(node);
        }
        sets
    }

    /// Creates the units found by `sets`; every cell is in one unit.
    pub fn new(
        (spec, nodes): (&NodeSpares, Vec<Vec<NodeId>>), cells: &FaultCells, cluster: &ClusterBuilder,
    ) -> SpareUnits {
        let is_spare = |node: &NodeId| cluster.label(*node, &spec.key).as_ref() == Some(&spec.value);
        let mut of_cell = vec![0; cells.len()];
        let mut all = Vec::new();
        for (unit, nodes) in nodes.iter().enumerate() {
            let within = cells.cells_in(nodes);
            within.iter().for_each(|cell| of_cell[cell.ix()] = unit);
            all.push(within);
        }
        let unit = |nodes: &Vec<NodeId>| SpareUnit { spare: nodes.iter().any(is_spare), ..SpareUnit::default() };
        SpareUnits {
            spec: spec.clone(),
            units: nodes.iter().map(unit).collect(),
            nodes,
            cells: all,
            unit_of_cell: of_cell,
        }
    }

    /// Delay from a loss until a spare takes over.
    pub fn take_over_delay(&self) -> Duration {
        self.spec.take_over
    }

    /// The nodes of each unit that is a spare at the start, in the order of their use.
    pub fn spare_units(&self) -> impl Iterator<Item = &[NodeId]> {
        let units = self.units.iter().zip(&self.nodes);
        let spare = units.filter(|(unit, _)| unit.spare);
        spare.map(|(_, nodes)| nodes.as_slice())
    }

    /// Number of units that contain any of these cells.
    pub fn count_affected(&self, cells: &[CellId]) -> usize {
        let units: BTreeSet<usize> = cells.iter().map(|cell| self.unit_of_cell[cell.ix()]).collect();
        units.len()
    }
}

/// Adds the actions of spares to these faults, in order of time. The flag is true if a spare arrives after the end of
/// the run.
pub fn add_spare_actions(
    units: &SpareUnits, take_over: Duration, faults: Vec<InjectedFault>, stop: Duration,
) -> (Vec<InjectedFault>, bool) {
    let (more, later) = spare_actions(units, take_over, &faults, stop);
    let mut all = faults;
    all.extend(more);
    // Stable sort: at one instant, returns precede units that become spares again.
    all.sort_by_key(|fault| fault.at);
    (without_uncordoned_spares(&all), later)
}

/// Removes the uncordoning of drained units that return as spares, because no pod may be placed there.
fn without_uncordoned_spares(all: &[InjectedFault]) -> Vec<InjectedFault> {
    let mut kept = Vec::with_capacity(all.len());
    for instant in all.chunk_by(|a, b| a.at == b.at) {
        let is_spare = |fault: &InjectedFault| {
            let closes = |other: &InjectedFault| {
                (other.target, other.operation, other.cause) == (fault.target, FaultOperation::Cordon, SPARE)
            };
            fault.operation == FaultOperation::Uncordon && fault.cause != SPARE && instant.iter().any(closes)
        };
        kept.extend(instant.iter().filter(|fault| !is_spare(fault)));
    }
    kept
}

fn spare_actions(
    units: &SpareUnits, take_over: Duration, faults: &[InjectedFault], stop: Duration,
) -> (Vec<InjectedFault>, bool) {
    let mut pool = SpareNodes {
        spec: &units.spec,
        take_over,
        cells: &units.cells,
        unit_of_cell: &units.unit_of_cell,
        units: units.units.clone(),
        free: (0..units.units.len()).filter(|at| units.units[*at].spare).collect(),
        stop,
        waiting: VecDeque::new(),
        activating: BTreeSet::new(),
        script: Vec::new(),
    };
    for unit in 0..pool.units.len() {
        if pool.units[unit].spare {
            pool.apply_to_unit(Duration::ZERO, unit, FaultOperation::Cordon);
        }
    }
    for fault in faults {
        pool.activate_due(fault.at);
        if let FaultScope::Cell(cell) = fault.target {
            pool.observe_fault(fault.at, cell, fault.operation);
        }
    }
    pool.activate_due(stop);
    (pool.script, !pool.activating.is_empty())
}

/// State of nodes that are replaced together.
#[derive(Clone, Default)]
struct SpareUnit {
    /// Cordoned and unused.
    spare: bool,
    /// Lost cells, each with the kind of loss: machine lost, or drained.
    lost: BTreeSet<(CellId, bool)>,
    /// The unit that replaces it.
    replacement: Option<usize>,
}

struct SpareNodes<'a> {
    spec: &'a NodeSpares,
    take_over: Duration,
    cells: &'a [Vec<CellId>],
    stop: Duration,
    units: Vec<SpareUnit>,
    /// Spares without a loss.
    free: BTreeSet<usize>,
    unit_of_cell: &'a [usize],
    /// Units that were lost while no spare was available, in order of their loss.
    waiting: VecDeque<usize>,
    /// Spares that are being activated, by the time of their activation.
    activating: BTreeSet<(Duration, usize)>,
    script: Vec<InjectedFault>,
}

impl SpareNodes<'_> {
    fn cordon_cell(&mut self, at: Duration, cell: CellId) {
        self.script.push(InjectedFault {
            at,
            target: FaultScope::Cell(cell),
            operation: FaultOperation::Cordon,
            cause: SPARE,
        });
    }

    /// Applies an action to all nodes of a unit.
    fn apply_to_unit(&mut self, at: Duration, unit: usize, does: FaultOperation) {
        for cell in &self.cells[unit] {
            self.script.push(InjectedFault { at, target: FaultScope::Cell(*cell), operation: does, cause: SPARE });
        }
    }

    /// Activates the spares due until `now`.
    fn activate_due(&mut self, now: Duration) {
        while let Some(&(at, unit)) = self.activating.first() {
            if at > now || at > self.stop {
                return;
            }
            self.activating.pop_first();
            self.apply_to_unit(at, unit, FaultOperation::Uncordon);
        }
    }

    fn observe_fault(&mut self, now: Duration, cell: CellId, does: FaultOperation) {
        let (lost, drained) = match does {
            FaultOperation::Crash | FaultOperation::Partition => (true, false),
            FaultOperation::Drain => (true, true),
            FaultOperation::Return | FaultOperation::New => (false, false),
            FaultOperation::Uncordon => (false, true),
            _ => return,
        };
        let unit = self.unit_of_cell[cell.ix()];
        if lost { self.lose_cell(now, (cell, drained), unit) } else { self.restore_cell(now, (cell, drained), unit) }
    }

    fn lose_cell(&mut self, now: Duration, what: (CellId, bool), unit: usize) {
        let row = &mut self.units[unit];
        let first = row.lost.is_empty();
        row.lost.insert(what);
        self.free.remove(&unit);
        let row = &self.units[unit];
        if first && !row.spare {
            self.waiting.push_back(unit);
            self.assign_spares(now);
        }
    }

    fn restore_cell(&mut self, now: Duration, what: (CellId, bool), unit: usize) {
        let row = &mut self.units[unit];
        row.lost.remove(&what);
        let complete = row.lost.is_empty();
        if row.spare {
            // It was lost as a spare and returns as one.
            self.cordon_cell(now, what.0);
        } else if complete {
            self.waiting.retain(|waits| *waits != unit);
            match self.units[unit].replacement.take() {
                Some(stand_in) if self.spec.hand_back => self.return_replacement(now, stand_in),
                Some(_) => {
                    self.units[unit].spare = true;
                    self.apply_to_unit(now, unit, FaultOperation::Cordon);
                }
                None => {}
            }
        }
        if complete {
            if self.units[unit].spare {
                self.free.insert(unit);
            }
            self.assign_spares(now);
        }
    }

    /// The replacement becomes a spare again.
    fn return_replacement(&mut self, now: Duration, unit: usize) {
        let before = self.activating.len();
        self.activating.retain(|(_, coming)| *coming != unit);
        let was_there = self.activating.len() == before;
        self.waiting.retain(|waits| *waits != unit);
        self.units[unit].spare = true;
        if self.units[unit].lost.is_empty() {
            self.free.insert(unit);
        }
        if was_there {
            self.apply_to_unit(now, unit, FaultOperation::Drain);
        }
        if let Some(of_it) = self.units[unit].replacement.take() {
            self.return_replacement(now, of_it);
        }
    }

    /// The unit that waits longest gets the first spare.
    fn assign_spares(&mut self, now: Duration) {
        while let Some(&waits) = self.waiting.front() {
            let Some(spare) = self.free.pop_first() else {
                return;
            };
            self.waiting.pop_front();
            self.units[spare].spare = false;
            self.units[waits].replacement = Some(spare);
            let at = Duration(now.0.saturating_add(self.take_over.0));
            self.activating.insert((at, spare));
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/reliability/faults/spares.rs"]
mod tests;
