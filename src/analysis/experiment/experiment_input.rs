//! The subject of replications at any level of detail: a scenario at level `pods` or `nodes`, or a Fleet.

use super::fleets::compared;
use super::metric::{fleet_metric_names, metric_names};
use super::nodes::NodesExperiment;
use super::parallel::{NoRuns, in_parallel_with};
use super::player::ExperimentRunner;
use super::replication::{ReplicationResult, replication};
use super::stop::ReplicationLimits;
use super::warned::{fleet_heavy_tails, scenario_heavy_tails};
use sim_api::spec::{FleetSpec, ScenarioSpec};
use sim_base::random::MixtureDistribution;
use sim_engine::CannotRun;
use sim_surrogate::fleet::FleetSimulation;
use sim_surrogate::nodes::NodesSimulator;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The subject of replications.
#[derive(Clone, Debug)]
pub enum ExperimentSubject {
    /// A scenario at pod level, simulated by the engine.
    Pods {
        /// The simulated scenario.
        scenario: Box<ScenarioSpec>,
        /// Fields of the inputs that the API accepts but the model ignores.
        not_modelled: Vec<String>,
    },
    /// A scenario at level `nodes`, with restart delays measured with the engine.
    Nodes(NodesExperiment),
    /// One job on a fleet of equal nodes.
    Fleet(Box<FleetSpec>),
}

fn names(scenario: &ScenarioSpec) -> Vec<String> {
    let all = scenario.jobsets.iter();
    all.map(|j| j.jobset.name.clone()).collect()
}

impl From<ScenarioSpec> for ExperimentSubject {
    fn from(scenario: ScenarioSpec) -> ExperimentSubject {
        ExperimentSubject::Pods { scenario: Box::new(scenario), not_modelled: Vec::new() }
    }
}

impl ExperimentSubject {
    /// Returns the name used in reports.
    pub fn name(&self) -> &str {
        match self {
            ExperimentSubject::Pods { scenario, .. } => &scenario.name,
            ExperimentSubject::Nodes(nodes) => &nodes.scenario().name,
            ExperimentSubject::Fleet(fleet) => &fleet.name,
        }
    }

    /// Returns the scenario; `None` for a Fleet.
    pub fn scenario(&self) -> Option<&ScenarioSpec> {
        match self {
            ExperimentSubject::Pods { scenario, .. } => Some(scenario),
            ExperimentSubject::Nodes(nodes) => Some(nodes.scenario()),
            ExperimentSubject::Fleet(_) => None,
        }
    }

    /// Warns of inputs whose heavy tails make means of these replications unreliable.
    pub fn heavy_tails(&self, all: &[ReplicationResult]) -> Vec<String> {
        match self {
            ExperimentSubject::Fleet(fleet) => {
                let outputs = all.iter().flat_map(|r| &r.outputs);
                let failures = outputs.filter(|(name, _)| name == "failures");
                fleet_heavy_tails(fleet, failures.map(|(_, n)| n).sum())
            }
            ExperimentSubject::Pods { scenario, .. } => scenario_heavy_tails(scenario, all),
            ExperimentSubject::Nodes(nodes) => scenario_heavy_tails(nodes.scenario(), all),
        }
    }

    /// Returns the default seed of all random numbers.
    pub fn seed(&self) -> u64 {
        match self {
            ExperimentSubject::Pods { scenario, .. } => scenario.seed,
            ExperimentSubject::Nodes(nodes) => nodes.scenario().seed,
            ExperimentSubject::Fleet(fleet) => fleet.seed,
        }
    }

    /// Returns the names of its JobSets; empty for a Fleet.
    pub fn jobsets(&self) -> Vec<String> {
        match self {
            ExperimentSubject::Pods { scenario, .. } => names(scenario),
            ExperimentSubject::Nodes(nodes) => names(nodes.scenario()),
            ExperimentSubject::Fleet(_) => Vec::new(),
        }
    }

    /// Returns the names of all metrics that its replications may have, except those of single causes.
    pub fn metric_names(&self) -> Vec<String> {
        match self {
            ExperimentSubject::Pods { scenario, .. } => metric_names(scenario),
            ExperimentSubject::Nodes(nodes) => metric_names(nodes.scenario()),
            ExperimentSubject::Fleet(fleet) => fleet_metric_names(fleet),
        }
    }

    /// Returns the currency of the costs; empty for a Fleet.
    pub fn currency(&self) -> String {
        self.scenario().map_or(String::new(), |scenario| scenario.topology.currency.clone())
    }

    /// Creates a runner of replications. Fails if the scenario cannot be run.
    pub fn player(&self) -> Result<SubjectSimulator<'_>, CannotRun> {
        Ok(match self {
            ExperimentSubject::Pods { scenario, not_modelled } => {
                SubjectSimulator::Pods(Box::new(ExperimentRunner::new(scenario)?), not_modelled)
            }
            ExperimentSubject::Nodes(nodes) => SubjectSimulator::Nodes(nodes, Box::new(nodes.player())),
            ExperimentSubject::Fleet(fleet) => {
                SubjectSimulator::Fleet(FleetSimulation::new(fleet), fleet.contradictions())
            }
        })
    }

    /// Runs replications on a number of threads (0: one per core); `done` receives the number of completed ones.
    /// Those stopped by `limits` are omitted. Each result is independent of the others.
    pub fn replicate(
        &self, (seed, which): (u64, Range<u64>), (threads, limits): (usize, &ReplicationLimits),
        done: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<ReplicationResult>, NoRuns> {
        let (from, n) = (which.start, which.end.saturating_sub(which.start));
        let finished = AtomicU64::new(0);
        in_parallel_with(
            || self.player(),
            (n, threads),
            &limits.flag,
            |player, i| {
                let replication = player.simulate((seed, from + i), limits)?;
                done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                Some(replication)
            },
        )
    }
}

/// Runs replications of one subject, reusing memory.
pub enum SubjectSimulator<'s> {
    /// A scenario with pods, and its fields that are not modelled.
    Pods(Box<ExperimentRunner>, &'s [String]),
    /// A scenario at level `nodes`.
    Nodes(&'s NodesExperiment, Box<NodesSimulator<'s>>),
    /// The experiment simulates a Fleet, with the contradictions of its inputs.
    Fleet(FleetSimulation<'s>, Vec<String>),
}

impl SubjectSimulator<'_> {
    /// Runs the replication `i` with this seed; `None` if `limits` stopped it.
    pub fn simulate(&mut self, (seed, i): (u64, u64), limits: &ReplicationLimits) -> Option<ReplicationResult> {
        match self {
            SubjectSimulator::Pods(player, not_modelled) => replication(player, (seed, i), not_modelled, limits),
            SubjectSimulator::Nodes(nodes, player) => {
                let outcome = player.run_until(seed, MixtureDistribution::single(i), &|n| limits.is_reached(n))?;
                Some(nodes.replication(&outcome, i))
            }
            SubjectSimulator::Fleet(fleet, contradictions) => {
                let outcome = fleet.run_until((seed, i), &|events| limits.is_reached(events))?;
                Some(ReplicationResult { warnings: contradictions.clone(), ..compared(&outcome, i) })
            }
        }
    }
}
