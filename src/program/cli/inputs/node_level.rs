//! A scenario at level `nodes`, with delays of restarts measured by this process.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::output::ProgressLine;
use crate::cli::{interrupt, output};
use sim_analysis::experiment::{NodesExperiment, NotAtNodes, check_levels};
use sim_api::spec::ScenarioSpec;
use sim_base::Duration;
use sim_report::console::check_level::LevelCheck;
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

/// Default wall time of a comparison of both levels: pods that wait can take level `pods` a hundred times as long.
pub const CHECK_TIME: &str = "10m";

/// Replications of which both levels are compared.
pub struct CheckedReplications {
    pub seed: u64,
    pub n: u64,
    pub threads: usize,
    /// Wall time after which those that are finished are compared.
    pub limit: Duration,
}

impl CheckedReplications {
    /// Simulates the replications at both levels and compares them.
    pub fn check(&self, nodes: &NodesExperiment, quiet: bool) -> Result<LevelCheck, CommandFailure> {
        let progress = ProgressLine::new(quiet, |done| format!("{done}/{} replications at both levels", self.n));
        let reach = |done| progress.reach(done);
        let limit = std::time::Duration::from_nanos(self.limit.0);
        let all = interrupt::with_time_limit(limit, |limits| {
            check_levels(nodes, (self.seed, self.n), (self.threads, limits), &reach)
        })?;
        drop(progress);
        let checked = LevelCheck::from_checks(nodes, self.seed, &all);
        if (all.len() as u64) < self.n && !interrupt::limits().flag.is_raised() {
            let kept = format!("{} within the time limit of {}", self.kept(&checked), self.limit);
            if all.is_empty() {
                bail!("{kept}");
            }
            output::note(&format!("note: {kept}"));
        }
        Ok(checked)
    }

    /// Describes how many replications were compared.
    pub fn kept(&self, checked: &LevelCheck) -> String {
        format!("{} of {} replications were checked", checked.replications.len(), self.n)
    }
}
