//! The shipped topologies as clusters of a scenario.

use sim_api::spec::{ScenarioSpec, TopologySpec};
use std::path::Path;

/// Returns the shipped topologies with their names, the smallest first.
pub fn shipped_by_size() -> Vec<(&'static str, TopologySpec)> {
    let read = |name| {
        let source = sim_inputs::topology_source(Path::new(name)).ok()?;
        Some((name, sim_inputs::read_topology(&source).ok()?))
    };
    let mut all: Vec<(&str, TopologySpec)> = sim_inputs::topology_names().into_iter().filter_map(read).collect();
    all.sort_by_key(|(name, topology)| (topology.nodes(), *name));
    all
}

/// Returns the scenario on another cluster.
pub fn with_topology(scenario: &ScenarioSpec, topology: TopologySpec) -> ScenarioSpec {
    ScenarioSpec { topology, ..scenario.clone() }
}

/// Removes everything that refers to nodes of the cluster.
pub fn without_faults(mut scenario: ScenarioSpec) -> ScenarioSpec {
    scenario.faults.clear();
    scenario.fault_processes.clear();
    scenario.training.clear();
    scenario.node_spares = None;
    scenario
}
