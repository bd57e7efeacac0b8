//! The number of copies of JobSets that a cluster can hold, by simulation: copies are submitted one after the other
//! until one of them is not placed.

use super::copies::CopySet;
use super::placed::{PlacedJob, PlacementReport, PlacementSink, report};
use crate::metrics::restarts::waits::thousands;
use serde::Serialize;
use serde_json::Value;
use sim_api::spec::{ResourceAmounts, ScenarioSpec};
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::record::{PendingPods, RunOutcome};
use sim_engine::{CannotRun, SimulationInput, is_placed_by_topology, requests_on_node};
use sim_policy::placement::{TemplateFacts, capacity};
use sim_policy::topology::ClusterBuilder;
use std::collections::{BTreeMap, BTreeSet};

/// Shortest time between the submissions of two copies.
const SHORTEST_GAP: Duration = Duration::from_secs(10);
/// Events after which a draw of a placement has not settled, for each pod. A start takes about 11 events for each pod;
/// more are pods that fail and are created again.
const EVENTS_PER_POD: u64 = 1_000;
/// The least number of events of a draw.
const EVENTS_MIN: u64 = 10_000;

/// The copies that fit, and the obstacle to one more.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FitResult {
    /// Names of the JobSets of one copy.
    pub job_sets: Vec<String>,
    /// Pods of one copy.
    pub pods_per_copy: u64,
    /// Number of copies that fit.
    pub copies: u64,
    /// True if the search ended at its limit, so that more copies may fit.
    pub at_limit: bool,
    /// Placement of these copies.
    #[serde(flatten)]
    pub placement: PlacementReport,
    /// Why one more copy is not ready, as sentences; empty at the limit.
    pub blocked: Vec<String>,
    /// The pods of one more copy that have no node.
    pub pending: Vec<PendingPods>,
}

/// A run with a number of copies.
struct CopiesRun {
    simulation: SimulationInput,
    sink: PlacementSink,
    outcome: RunOutcome,
}

/// The draws of a placement of all JobSets of a scenario.
#[derive(Clone, Debug)]
pub struct PlacementDraws {
    /// Number of draws in which all pods of the last JobSet became ready.
    pub fitting: u64,
    /// Number of draws.
    pub tried: u64,
    /// Why the first draw that does not fit is not ready, as sentences.
    pub blocked: Vec<String>,
    /// For each draw, the nodes of the pods.
    pub on_nodes: Vec<PodsOnNodes>,
}

/// Requests of the pods that Kueue does not place by topology, by JobSet in the scenario and name of the node.
pub type PodsOnNodes = BTreeMap<usize, BTreeMap<String, ResourceAmounts>>;

/// Places the JobSets of a scenario one after the other, with the random numbers of replication 0, 1 and so on. The
/// result is about the last JobSet. With `stops_at_failure`, the first draw that does not fit is the last one; one that
/// does not settle always is.
pub fn placements(scenario: &ScenarioSpec, draws: u64, stops_at_failure: bool) -> Result<PlacementDraws, CannotRun> {
    let copies = CopySet::new(scenario);
    let Some(last) = copies.jobsets().len().checked_sub(1) else {
        return Ok(PlacementDraws { fitting: 0, tried: 0, blocked: Vec::new(), on_nodes: Vec::new() });
    };
    let mut simulation = SimulationInput::new(&copies.one_by_one())?;
    simulation.set_explains_placement(true);
    let pods: u64 = copies.jobsets().iter().map(|submitted| submitted.jobset.spec.pods()).sum();
    let events_max = pods.saturating_mul(EVENTS_PER_POD).max(EVENTS_MIN);
    let mut result = PlacementDraws { fitting: 0, tried: 0, blocked: Vec::new(), on_nodes: Vec::new() };
    for replication in 0..draws {
        let mut sink = PlacementSink::until_ready(last, events_max);
        let outcome = simulation.run(scenario.seed, replication, &mut sink);
        result.tried += 1;
        result.on_nodes.push(pods_on_nodes(&simulation, &sink));
        if sink.copy_ready_at(last, 1).is_some() {
            result.fitting += 1;
            continue;
        }
        if sink.is_unsettled() {
            result.blocked = vec![format!(
                "The placement did not settle within {} events: pods fail and are created again",
                thousands(events_max)
            )];
            break;
        }
        if result.blocked.is_empty() {
            let name = format!("JobSet {} ", copies.jobsets()[last].jobset.name);
            result.blocked = blocked(&simulation, &outcome);
            // An earlier JobSet whose pods do not fit has its own verdict.
            result.blocked.retain(|sentence| sentence.starts_with(&name) || !sentence.starts_with("JobSet "));
        }
        if stops_at_failure {
            break;
        }
    }
    Ok(result)
}

fn pods_on_nodes(simulation: &SimulationInput, sink: &PlacementSink) -> PodsOnNodes {
    let (scenario, cluster) = (simulation.scenario(), simulation.cluster());
    let mut sums = PodsOnNodes::new();
    for job in sink.jobs(scenario, simulation.names()) {
        let jobset = &scenario.jobsets[job.jobset].jobset;
        let template = &jobset.spec.replicated_jobs[job.replicated_job].template.template;
        if is_placed_by_topology(&template.annotations) {
            continue;
        }
        let requests = requests_on_node(template.spec.requests());
        for node in job.nodes {
            let on_node = sums.entry(job.jobset).or_default().entry(cluster.names[node.ix()].clone()).or_default();
            for (resource, milli) in &requests {
                *on_node.entry(resource.clone()).or_default() += milli;
            }
        }
    }
    sums
}

/// Returns why JobSets are refused or not ready.
fn blocked(simulation: &SimulationInput, outcome: &RunOutcome) -> Vec<String> {
    let refused = simulation.scenario().jobsets.iter().filter_map(|submitted| {
        let name = &submitted.jobset.name;
        Some(format!("JobSet {name} is refused: {}", outcome.refusal_reason(name)?))
    });
    refused.chain(outcome.blocked.iter().cloned()).collect()
}

impl CopiesRun {
    fn new(scenario: &ScenarioSpec, sink: PlacementSink) -> Result<CopiesRun, CannotRun> {
        let mut simulation = SimulationInput::new(scenario)?;
        simulation.set_explains_placement(true);
        let mut sink = sink;
        let outcome = simulation.run(scenario.seed, 0, &mut sink);
        Ok(CopiesRun { simulation, sink, outcome })
    }

    fn jobs(&self) -> Vec<PlacedJob> {
        self.sink.jobs(self.simulation.scenario(), self.simulation.names())
    }
}

/// Finds the number of copies of the JobSets of a scenario that fit on its cluster, at most `limit`.
pub fn fit(scenario: &ScenarioSpec, limit: u64) -> Result<FitResult, CannotRun> {
    let copies = CopySet::new(scenario);
    let size = copies.jobsets().len();
    let first = CopiesRun::new(&copies.scenario(1, SHORTEST_GAP), PlacementSink::default())?;
    let Some(ready) = first.sink.copy_ready_at(0, size) else {
        return Ok(result(&copies, 0, false, first));
    };
    let most = most_copies(&copies, first.simulation.cluster()).saturating_add(1).min(limit);
    // A start takes longer on a filled cluster, so the gap is checked below.
    let mut gap = Duration(2 * ready.since(SimTime::ZERO).0).max(SHORTEST_GAP);
    loop {
        let filled = CopiesRun::new(&copies.scenario(most, gap), PlacementSink::stopping(size))?;
        let fitting = (0..most).take_while(|copy| filled.sink.copy_ready_at(*copy as usize, size).is_some()).count();
        if fitting as u64 == most {
            return Ok(result(&copies, most, true, filled));
        }
        let one_more = CopiesRun::new(&copies.scenario(fitting as u64 + 1, gap), PlacementSink::default())?;
        if one_more.sink.copy_ready_at(fitting, size).is_none() {
            return Ok(result(&copies, fitting as u64, false, one_more));
        }
        gap = gap.saturating_mul(2);
    }
}

/// Returns an upper bound of the copies: no replicatedJob has more pods than nodes can hold.
fn most_copies(copies: &CopySet, cluster: &ClusterBuilder) -> u64 {
    let rjs = copies.jobsets().iter().flat_map(|submitted| &submitted.jobset.spec.replicated_jobs);
    let bound = |rj: &sim_api::spec::ReplicatedJob| {
        let pods = u64::from(rj.replicas) * u64::from(rj.template.pods());
        let most = capacity::of_cluster(&TemplateFacts::build(cluster, &rj.template.template, 0), cluster);
        most.checked_div(pods)
    };
    rjs.filter_map(bound).min().unwrap_or(u64::MAX - 1)
}

fn result(copies: &CopySet, fitting: u64, at_limit: bool, run: CopiesRun) -> FitResult {
    let scenario = run.simulation.scenario();
    let mut jobs = run.jobs();
    jobs.retain(|job| ((job.jobset / copies.jobsets().len()) as u64) < fitting);
    let cluster = run.simulation.cluster();
    let placement = report(scenario, cluster, &jobs, &occupied_nodes(scenario, cluster));
    let blocked = if at_limit { Vec::new() } else { blocked(&run.simulation, &run.outcome) };
    let own = copies.jobsets().iter().map(|submitted| &submitted.jobset);
    FitResult {
        job_sets: own.clone().map(|jobset| jobset.name.clone()).collect(),
        pods_per_copy: own.map(|jobset| jobset.spec.pods()).sum(),
        copies: fitting,
        at_limit,
        placement,
        blocked,
        pending: run.outcome.pending,
    }
}

/// Returns the nodes whose accelerators are used by pods that exist at the start.
pub fn occupied_nodes(scenario: &ScenarioSpec, cluster: &ClusterBuilder) -> BTreeSet<NodeId> {
    let has_accelerators = cluster.accelerators.iter().any(|accelerators| *accelerators > 0);
    let uses = |container: &Value| {
        let amounts = ["requests", "limits"].map(|kind| container["resources"][kind].as_object());
        amounts.into_iter().flatten().any(|amounts| amounts.keys().any(|name| cluster.is_accelerator(name)))
    };
    let node = |object: &Value| {
        let containers = object["spec"]["containers"].as_array().into_iter().flatten();
        let counts = object["kind"] == "Pod" && (!has_accelerators || containers.into_iter().any(uses));
        object["spec"]["nodeName"].as_str().filter(|_| counts).and_then(|name| cluster.named(name))
    };
    scenario.objects.iter().filter_map(node).collect()
}
