//! Spare nodes: cordoned until other nodes are lost, and used in whole units. A repaired unit becomes a spare or
//! returns to its place.

use super::cells::Cells;
use super::fault::{Does, Fault, On, SPARE};
use sim_api::spec::NodeSpares;
use sim_base::{CellId, Duration, NodeId};
use sim_policy::topology::Cluster;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The units of a cluster, before any loss.
pub struct Units {
    spec: NodeSpares,
    /// Nodes that are replaced together, and their cells.
    nodes: Vec<Vec<NodeId>>,
    cells: Vec<Vec<CellId>>,
    units: Vec<Unit>,
    of_cell: Vec<usize>,
}

impl Units {
    /// The nodes of each unit, in the order of their first nodes.
    pub fn sets(spec: &NodeSpares, cluster: &Cluster) -> Vec<Vec<NodeId>> {
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
    pub fn of(
        (spec, nodes): (&NodeSpares, Vec<Vec<NodeId>>),
        cells: &Cells,
        cluster: &Cluster,
    ) -> Units {
        let is_spare =
            |node: &NodeId| cluster.label(*node, &spec.key).as_ref() == Some(&spec.value);
        let mut of_cell = vec![0; cells.len()];
        let mut all = Vec::new();
        for (unit, nodes) in nodes.iter().enumerate() {
            let within = cells.within(nodes);
            within.iter().for_each(|cell| of_cell[cell.ix()] = unit);
            all.push(within);
        }
        let unit = |nodes: &Vec<NodeId>| Unit {
            spare: nodes.iter().any(is_spare),
            ..Unit::default()
        };
        Units {
            spec: spec.clone(),
            units: nodes.iter().map(unit).collect(),
            nodes,
            cells: all,
            of_cell,
        }
    }

    /// Delay from a loss until a spare takes over.
    pub fn take_over(&self) -> Duration {
        self.spec.take_over
    }

    /// The nodes of each unit that is a spare at the start, in the order of their use.
    pub fn spare(&self) -> impl Iterator<Item = &[NodeId]> {
        let units = self.units.iter().zip(&self.nodes);
        let spare = units.filter(|(unit, _)| unit.spare);
        spare.map(|(_, nodes)| nodes.as_slice())
    }

    /// Number of units that contain any of these cells.
    pub fn hit(&self, cells: &[CellId]) -> usize {
        let units: BTreeSet<usize> = cells.iter().map(|cell| self.of_cell[cell.ix()]).collect();
        units.len()
    }
}

/// Adds the actions of spares to these faults, in order of time. The flag is true if a spare arrives after the end of
/// the run.
pub fn join(
    units: &Units,
    take_over: Duration,
    faults: Vec<Fault>,
    stop: Duration,
) -> (Vec<Fault>, bool) {
    let (more, later) = script(units, take_over, &faults, stop);
    let mut all = faults;
    all.extend(more);
    // Stable sort: at one instant, returns precede units that become spares again.
    all.sort_by_key(|fault| fault.at);
    (still_closed(&all), later)
}

/// Removes the uncordoning of drained units that return as spares, because no pod may be placed there.
fn still_closed(all: &[Fault]) -> Vec<Fault> {
    let mut kept = Vec::with_capacity(all.len());
    for instant in all.chunk_by(|a, b| a.at == b.at) {
        let is_spare = |fault: &Fault| {
            let closes = |other: &Fault| {
                (other.on, other.does, other.cause) == (fault.on, Does::Cordon, SPARE)
            };
            fault.does == Does::Uncordon && fault.cause != SPARE && instant.iter().any(closes)
        };
        kept.extend(instant.iter().filter(|fault| !is_spare(fault)));
    }
    kept
}

fn script(
    units: &Units,
    take_over: Duration,
    faults: &[Fault],
    stop: Duration,
) -> (Vec<Fault>, bool) {
    let mut pool = Pool {
        spec: &units.spec,
        take_over,
        cells: &units.cells,
        of_cell: &units.of_cell,
        units: units.units.clone(),
        free: (0..units.units.len())
            .filter(|at| units.units[*at].spare)
            .collect(),
        stop,
        waiting: VecDeque::new(),
        coming: BTreeSet::new(),
        script: Vec::new(),
    };
    for unit in 0..pool.units.len() {
        if pool.units[unit].spare {
            pool.act(Duration::ZERO, unit, Does::Cordon);
        }
    }
    for fault in faults {
        pool.until(fault.at);
        if let On::Cell(cell) = fault.on {
            pool.see(fault.at, cell, fault.does);
        }
    }
    pool.until(stop);
    (pool.script, !pool.coming.is_empty())
}

/// State of nodes that are replaced together.
#[derive(Clone, Default)]
struct Unit {
    /// Cordoned and unused.
    spare: bool,
    /// Lost cells, each with the kind of loss: machine lost, or drained.
    lost: BTreeSet<(CellId, bool)>,
    /// The unit that replaces it.
    stand_in: Option<usize>,
}

struct Pool<'a> {
    spec: &'a NodeSpares,
    take_over: Duration,
    cells: &'a [Vec<CellId>],
    stop: Duration,
    units: Vec<Unit>,
    /// Spares without a loss.
    free: BTreeSet<usize>,
    of_cell: &'a [usize],
    /// Units that were lost while no spare was available, in order of their loss.
    waiting: VecDeque<usize>,
    /// Spares that are being activated, by the time of their activation.
    coming: BTreeSet<(Duration, usize)>,
    script: Vec<Fault>,
}

impl Pool<'_> {
    fn closes(&mut self, at: Duration, cell: CellId) {
        self.script.push(Fault {
            at,
            on: On::Cell(cell),
            does: Does::Cordon,
            cause: SPARE,
        });
    }

    /// Applies an action to all nodes of a unit.
    fn act(&mut self, at: Duration, unit: usize, does: Does) {
        for cell in &self.cells[unit] {
            self.script.push(Fault {
                at,
                on: On::Cell(*cell),
                does,
                cause: SPARE,
            });
        }
    }

    /// Activates the spares due until `now`.
    fn until(&mut self, now: Duration) {
        while let Some(&(at, unit)) = self.coming.first() {
            if at > now || at > self.stop {
                return;
            }
            self.coming.pop_first();
            self.act(at, unit, Does::Uncordon);
        }
    }

    fn see(&mut self, now: Duration, cell: CellId, does: Does) {
        let (lost, drained) = match does {
            Does::Crash | Does::Partition => (true, false),
            Does::Drain => (true, true),
            Does::Return | Does::New => (false, false),
            Does::Uncordon => (false, true),
            _ => return,
        };
        let unit = self.of_cell[cell.ix()];
        match lost {
            true => self.lost(now, (cell, drained), unit),
            false => self.back(now, (cell, drained), unit),
        }
    }

    fn lost(&mut self, now: Duration, what: (CellId, bool), unit: usize) {
        let row = &mut self.units[unit];
        let first = row.lost.is_empty();
        row.lost.insert(what);
        self.free.remove(&unit);
        let row = &self.units[unit];
        if first && !row.spare {
            self.waiting.push_back(unit);
            self.serve(now);
        }
    }

    fn back(&mut self, now: Duration, what: (CellId, bool), unit: usize) {
        let row = &mut self.units[unit];
        row.lost.remove(&what);
        let whole = row.lost.is_empty();
        if row.spare {
            // It was lost as a spare and returns as one.
            self.closes(now, what.0);
        } else if whole {
            self.waiting.retain(|waits| *waits != unit);
            match self.units[unit].stand_in.take() {
                Some(stand_in) if self.spec.hand_back => self.stand_back(now, stand_in),
                Some(_) => {
                    self.units[unit].spare = true;
                    self.act(now, unit, Does::Cordon);
                }
                None => {}
            }
        }
        if whole {
            if self.units[unit].spare {
                self.free.insert(unit);
            }
            self.serve(now);
        }
    }

    /// The replacement becomes a spare again.
    fn stand_back(&mut self, now: Duration, unit: usize) {
        let before = self.coming.len();
        self.coming.retain(|(_, coming)| *coming != unit);
        let was_there = self.coming.len() == before;
        self.waiting.retain(|waits| *waits != unit);
        self.units[unit].spare = true;
        if self.units[unit].lost.is_empty() {
            self.free.insert(unit);
        }
        if was_there {
            self.act(now, unit, Does::Drain);
        }
        if let Some(of_it) = self.units[unit].stand_in.take() {
            self.stand_back(now, of_it);
        }
    }

    /// The unit that waits longest gets the first spare.
    fn serve(&mut self, now: Duration) {
        while let Some(&waits) = self.waiting.front() {
            let Some(spare) = self.free.pop_first() else {
                return;
            };
            self.waiting.pop_front();
            self.units[spare].spare = false;
            self.units[waits].stand_in = Some(spare);
            let at = Duration(now.0.saturating_add(self.take_over.0));
            self.coming.insert((at, spare));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drained_and_comes_back_as_a_spare_is_not_opened_in_between() {
        let fault = |at: u64, cell: u32, does: Does, cause: u32| Fault {
            at: Duration::from_secs(at),
            on: On::Cell(CellId(cell)),
            does,
            cause,
        };
        let all = [
            fault(1, 0, Does::Drain, 0),
            fault(2, 0, Does::Uncordon, 0),
            fault(2, 1, Does::Uncordon, 0),
            fault(2, 0, Does::Cordon, SPARE),
            fault(3, 0, Does::Uncordon, SPARE),
            fault(4, 1, Does::Cordon, SPARE),
        ];
        let kept = still_closed(&all);
        assert_eq!(kept, [all[0], all[2], all[3], all[4], all[5]]);
    }
}
