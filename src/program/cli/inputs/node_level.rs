//! A scenario at level `nodes`, with delays of restarts measured by this process.

use crate::cli::failure::CommandFailure;
use crate::cli::{interrupt, output};
use sim_analysis::experiment::{NodesExperiment, NotAtNodes};
use sim_api::spec::ScenarioSpec;
use std::sync::Mutex;

/// Experiments of this process, newest last. Points and variants often share what the delays of restarts depend on.
static MEASURED: Mutex<Vec<NodesExperiment>> = Mutex::new(Vec::new());
/// Maximum number of experiments in memory.
const KEPT: usize = 64;

/// Returns why level `nodes` does not support a scenario; empty if it does.
pub fn why_not(scenario: &ScenarioSpec) -> Vec<String> {
    sim_analysis::experiment::why_not_at_nodes(scenario)
}

/// Prepares a scenario for level `nodes`. Measured delays are reused where they are the same. A scenario that the level
/// does not support is invalid input.
pub fn measured(scenario: &ScenarioSpec, quiet: bool) -> Result<NodesExperiment, CommandFailure> {
    let mut known = MEASURED.lock().expect("no thread panics while it holds the lock");
    if !quiet {
        output::progress("measuring delays of restarts with all pods");
    }
    let nodes = NodesExperiment::of_until(scenario, &known, &interrupt::limits().flag);
    if !quiet {
        output::progress("");
    }
    let nodes = nodes.map_err(|why| match why {
        NotAtNodes::Refused(_) | NotAtNodes::NotMeasured(_) => CommandFailure::Invalid(why.to_string()),
        NotAtNodes::CannotRun(_) => CommandFailure::CannotBePlaced(why.to_string()),
        NotAtNodes::Stopped => interrupt::failure("no replication was finished"),
    })?;
    if known.len() == KEPT {
        known.remove(0);
    }
    known.push(nodes.clone());
    Ok(nodes)
}
