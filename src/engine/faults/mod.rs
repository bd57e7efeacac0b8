//! Random faults, drawn before a run: failure times and repairs of every entity, independent of the run.
//!
//! A pure function from scenario, seed and replication to faults. Under one seed, two policies get the same faults at
//! the same times (or ages), because a random number is named by cause, entity and occurrence only.

#![deny(missing_docs)]

mod cells;
mod entities;
mod fault;
mod found;
mod lives;
mod outages;
mod shop;
mod slow;
mod spares;
mod strikes;
mod times;
mod worn;

pub use fault::{Does, Fault, On, SPARE};
pub use strikes::Strike;

use cells::Cells;
use entities::{Levels, Process};
use found::{Found, Struck};
use shop::Shop;
use sim_api::spec::{NodeRepair, Scenario};
use sim_base::Duration;
use sim_base::random::Draws;
use sim_policy::topology::Cluster;
use spares::Units;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The scenario of one replication: the faults of its processes are added to its script, in order of time after the
/// scripted ones.
pub fn drawn(scenario: &Scenario, seed: u64, replication: u64) -> Scenario {
    let mut drawn = scenario.clone();
    if scenario.fault_processes.is_empty() {
        return drawn;
    }
    let (faults, draws) = (Faults::of(scenario), &mut Draws::new(seed, replication));
    let (all, repairs_later) = faults.draw(draws);
    let all = faults.node_by_node(&all);
    drawn
        .faults
        .extend(all.iter().map(|fault| faults.scripted(fault)));
    faults.wear(draws, &mut drawn);
    drawn.repairs_later = repairs_later;
    drawn.fault_processes.clear();
    drawn
}

/// The random faults of a scenario, prepared for drawing any number of replications.
pub struct Faults {
    processes: Vec<Process>,
    causes: Vec<Arc<str>>,
    spare: Arc<str>,
    repair: Option<NodeRepair>,
    spares: Option<Units>,
    cells: Cells,
    stop: Duration,
    /// Node names.
    nodes: Vec<String>,
    pods: Vec<String>,
}

impl Faults {
    /// Prepares the fault processes of a scenario.
    pub fn of(scenario: &Scenario) -> Faults {
        let cluster = Cluster::build(&scenario.topology, &["pods".to_owned()]);
        let mut levels = Levels::new(scenario, &cluster);
        let specs = scenario.fault_processes.iter();
        let causes = specs.clone().map(|p| p.cause.as_str().into());
        let mut processes: Vec<Process> = specs.map(|p| Process::of(p, &mut levels)).collect();
        let spares = scenario.node_spares.as_ref();
        let units = spares.map(|spares| (spares, Units::sets(spares, &cluster)));
        let together = units
            .iter()
            .flat_map(|(_, sets)| sets.iter().map(Vec::as_slice));
        let cells = Cells::of(cluster.len(), levels.sets().chain(together));
        let mut known = BTreeMap::new();
        for process in &mut processes {
            process.settle(&cells, &mut known);
        }
        Faults {
            causes: causes.collect(),
            processes,
            spare: "spare".into(),
            repair: scenario.node_repair.clone(),
            spares: units.map(|(spares, sets)| Units::of((spares, sets), &cells, &cluster)),
            cells,
            stop: scenario.stop.at,
            pods: entities::pods(scenario),
            nodes: cluster.names,
        }
    }

    /// Text that identifies the process of a fault.
    pub fn cause(&self, cause: u32) -> &Arc<str> {
        self.causes.get(cause as usize).unwrap_or(&self.spare)
    }

    /// All calendar-based faults of one replication in order of time, and true if a repair ends after the run.
    pub fn draw(&self, draws: &mut Draws) -> (Vec<Fault>, bool) {
        let mut found = Found::default();
        let mut shop = (self.repair.as_ref()).map(|repair| Shop::new(repair, self.stop));
        let mut mortal = Vec::new();
        let by_calendar = |(_, process): &(u32, &Process)| process.spec.is_of_calendar();
        for (cause, process) in (0..).zip(&self.processes).filter(by_calendar) {
            if let Some(shop) = shop.as_mut().filter(|_| process.spec.is_repaired()) {
                for entity in &process.entities {
                    shop.add((cause, process, entity), draws);
                }
                continue;
            }
            mortal.clear();
            mortal.extend(process.mortal(draws));
            for entity in mortal.drain(..) {
                let times = times::times((&process.spec, entity), self.stop, draws);
                for (occurrence, (start, end)) in (0..).zip(times) {
                    let struck = Struck {
                        cause,
                        process,
                        entity,
                        occurrence,
                        start,
                        end,
                    };
                    found.add(&struck, draws);
                }
            }
        }
        for away in shop.map(|shop| shop.play(draws)).into_iter().flatten() {
            found.add(&away, draws);
        }
        let (faults, repairs_later) = found.script(&self.processes, self.stop);
        let Some(units) = &self.spares else {
            return (faults, repairs_later);
        };
        let (faults, spares_later) = spares::join(units, units.take_over(), faults, self.stop);
        (faults, repairs_later || spares_later)
    }
}
