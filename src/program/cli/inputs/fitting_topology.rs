//! Suggests a shipped topology for JobSets that the given cluster cannot place.

use super::nearest_topology::nearest;
use super::shipped_clusters::{shipped_by_size, with_topology, without_faults};
use crate::cli::failure::CommandFailure;
use sim_analysis::format::count;
use sim_api::spec::{GENERATED_CLUSTER, ScenarioSpec, TopologySpec};
use sim_engine::SimulationInput;
use sim_inputs::Diagnostics;

/// Builds a simulation. If pods cannot be placed, the error suggests a topology.
pub fn placed(scenario: &ScenarioSpec) -> Result<SimulationInput, CommandFailure> {
    SimulationInput::new(scenario).map_err(|why| refusal(scenario, &why.to_string()))
}

/// Returns the error that the JobSets do not fit on the given topology. It suggests a topology if no run is possible,
/// whatever the order of events.
pub fn refusal(scenario: &ScenarioSpec, why: &str) -> CommandFailure {
    let is_given = scenario.topology.name != GENERATED_CLUSTER && scenario.objects.is_empty();
    let load = |topology| match topology {
        Some(topology) => Some(with_topology(scenario, topology)),
        None => Some(scenario.clone()),
    };
    let is_impossible = || SimulationInput::new(&without_faults(scenario.clone())).is_err();
    let suggestion = (is_given && is_impossible()).then(|| suggestion(&scenario.topology.name, load)).flatten();
    let more = suggestion.map_or(String::new(), |text| format!("\n  The {text}"));
    CommandFailure::CannotBePlaced(format!("{why}{more}"))
}

/// Adds a suggestion to errors about a topology named `given`, on which no node can run the pods. `load` reads the
/// inputs with another topology, or with a generated one.
pub fn suggest(errors: &mut Diagnostics, given: &str, load: impl Fn(Option<TopologySpec>) -> Option<ScenarioSpec>) {
    if !errors.is_only_no_place() {
        return;
    }
    let found = suggestion(given, |topology| load(topology).filter(|scenario| scenario.objects.is_empty()));
    if let (Some(last), Some(text)) = (errors.0.last_mut(), found) {
        last.suggest(format!("the {text}"));
    }
}

/// Returns a text that names the smallest shipped topology with which the scenario can run, or the one that lacks the
/// least, without an article. `load` is called without a topology to get a scenario whose topology does not matter.
fn suggestion(given: &str, load: impl Fn(Option<TopologySpec>) -> Option<ScenarioSpec>) -> Option<String> {
    let fits = |(_, topology): &(&str, TopologySpec)| {
        load(Some(topology.clone())).is_some_and(|scenario| SimulationInput::new(&without_faults(scenario)).is_ok())
    };
    let Some((name, topology)) = shipped_by_size().into_iter().find(fits) else {
        return nearest(&load(None)?, given);
    };
    let nodes = count(topology.nodes(), "node");
    Some(format!("smallest shipped topology that fits is {name} ({nodes}): -t {name}"))
}
