//! Random faults, drawn before a run: failure times and repairs of every entity, independent of the run.
//!
//! A pure function from scenario, seed and replication to faults. Under one seed, two policies get the same faults at
//! the same times (or ages), because a random number is named by cause, entity and occurrence only.

#![deny(missing_docs)]

mod cells;
mod chosen_faults;
mod drawn_faults;
mod entities;
mod failure_times;
mod fault;
mod lifetimes;
mod outages;
mod repair_pipeline;
mod slow;
mod spares;
mod usage_aging;

pub use chosen_faults::ChosenFault;
pub use fault::{FaultOperation, FaultScope, InjectedFault, SCRIPT, SPARE, ScriptTarget, scripted_operation};

use cells::FaultCells;
use drawn_faults::{AffectedPods, LocatedPods};
use entities::{EntityLevels, EntityProcess};
use failure_times::FailureTimes;
use repair_pipeline::RepairPipeline;
use sim_api::spec::{NodeRepair, ScenarioSpec};
use sim_base::Duration;
use sim_base::random::DrawSequence;
use sim_policy::topology::ClusterBuilder;
use spares::SpareUnits;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The scenario of one replication: the faults of its processes are added to its script, in order of time after the
/// scripted ones.
pub fn draw_faults(scenario: &ScenarioSpec, seed: u64, replication: u64) -> ScenarioSpec {
    let mut drawn = scenario.clone();
    if scenario.fault_processes.is_empty() {
        return drawn;
    }
    let (faults, draws) = (FaultModel::new(scenario), &mut DrawSequence::new(seed, replication));
    let (all, repairs_later) = faults.draw(draws);
    let all = faults.expand_cells(&all);
    drawn.faults.extend(all.iter().map(|fault| faults.to_scripted(fault)));
    faults.add_usage_faults(draws, &mut drawn);
    (drawn.has_repairs_after_end, drawn.has_random_faults) = (repairs_later, true);
    drawn.drawn_contradictions = scenario.process_contradictions();
    drawn.fault_processes.clear();
    drawn
}

/// The random faults of a scenario, prepared for drawing any number of replications.
pub struct FaultModel {
    processes: Vec<EntityProcess>,
    causes: Vec<Arc<str>>,
    spare: Arc<str>,
    repair: Option<NodeRepair>,
    spares: Option<SpareUnits>,
    cells: FaultCells,
    stop: Duration,
    /// Names of the nodes.
    nodes: Vec<String>,
    pods: Vec<String>,
}

impl FaultModel {
    /// Prepares the fault processes of a scenario.
    pub fn new(scenario: &ScenarioSpec) -> FaultModel {
        let cluster = ClusterBuilder::build(&scenario.topology, &["pods".to_owned()]);
        let mut levels = EntityLevels::new(scenario, &cluster);
        let specs = scenario.fault_processes.iter();
        let causes = specs.clone().map(|p| p.cause.as_str().into());
        let mut processes: Vec<EntityProcess> = specs.map(|p| EntityProcess::new(p, &mut levels)).collect();
        let spares = scenario.node_spares.as_ref();
        let units = spares.map(|spares| (spares, SpareUnits::unit_nodes(spares, &cluster)));
        let together = units.iter().flat_map(|(_, sets)| sets.iter().map(Vec::as_slice));
        let cells = FaultCells::partition(cluster.len(), levels.node_sets().chain(together));
        let mut known = BTreeMap::new();
        for process in &mut processes {
            process.set_cells(&cells, &mut known);
        }
        FaultModel {
            causes: causes.collect(),
            processes,
            spare: "spare".into(),
            repair: scenario.node_repair.clone(),
            spares: units.map(|(spares, sets)| SpareUnits::new((spares, sets), &cells, &cluster)),
            cells,
            stop: scenario.stop.at,
            pods: entities::pod_names(scenario),
            nodes: cluster.names,
        }
    }

    /// Names of all pods that the JobSets create at submission, without their suffixes.
    pub fn pods(&self) -> &[String] {
        &self.pods
    }

    /// Text that identifies the process of a fault.
    pub fn cause(&self, cause: u32) -> &Arc<str> {
        self.causes.get(cause as usize).unwrap_or(&self.spare)
    }

    /// All calendar-based faults of one replication in order of time, and true if a repair ends after the run.
    pub fn draw(&self, draws: &mut DrawSequence) -> (Vec<InjectedFault>, bool) {
        let mut found = LocatedPods::default();
        let mut pipeline = (self.repair.as_ref()).map(|repair| RepairPipeline::new(repair, self.stop));
        let mut mortal = Vec::new();
        let by_calendar = |(_, process): &(u32, &EntityProcess)| process.spec.is_calendar_based();
        for (cause, process) in (0..).zip(&self.processes).filter(by_calendar) {
            if let Some(pipeline) = pipeline.as_mut().filter(|_| process.spec.uses_node_repair()) {
                for entity in &process.entities {
                    pipeline.add((cause, process, entity), draws);
                }
                continue;
            }
            mortal.clear();
            process.add_failing_entities(draws, &mut mortal);
            for entity in mortal.drain(..) {
                let mut times = FailureTimes::new((&process.spec, entity), self.stop, draws);
                for occurrence in 0.. {
                    let Some((start, end)) = times.next(draws) else { break };
                    let affected = AffectedPods { cause, process, entity, occurrence, start, end };
                    found.add(&affected, draws);
                }
            }
        }
        for away in pipeline.map(|pipeline| pipeline.simulate(draws)).into_iter().flatten() {
            found.add(&away, draws);
        }
        let (faults, repairs_later) = found.into_script(&self.processes, self.stop);
        let Some(units) = &self.spares else {
            return (faults, repairs_later);
        };
        let (faults, spares_later) = spares::add_spare_actions(units, units.take_over_delay(), faults, self.stop);
        (faults, repairs_later || spares_later)
    }
}
