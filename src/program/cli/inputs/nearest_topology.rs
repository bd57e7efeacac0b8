//! Names the shipped topology that lacks the least of what the pods require, for JobSets that fit on none of them.
//!
//! Each topology is reduced to one node per pool, because labels, taints and resources do not depend on the number of
//! nodes.

use super::shell_words::quoted;
use super::shipped_clusters::{shipped_by_size, with_topology, without_faults};
use sim_analysis::format::count;
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::{NodeNumbers, NodeOperator, NodePool, PodSpec, ScenarioSpec, TopologySpec};
use sim_engine::{CannotRun, PrepareError, SimulationInput};
use sim_policy::topology::ClusterBuilder;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A shipped topology, and what it lacks.
struct NearTopology {
    name: &'static str,
    topology: TopologySpec,
    /// Changes for each pod that no node of the reduced topology can run.
    changes: Vec<PodChange>,
}

/// The smallest change that admits a pod.
struct PodChange {
    /// Name of the pod; empty if the change concerns a whole replicatedJob.
    pod: String,
    steps: Vec<String>,
    /// Overrides that make this change; `None` if the nodes lack other things than labels.
    overrides: Option<BTreeSet<String>>,
}

/// Returns a text about the shipped topology with the fewest changes, without an article. Of equal ones, that with the
/// name `given` is preferred, then the smallest one; if only nodes are lacking, the largest one. Returns `None` if none
/// helps, or if that with the name `given` lacks a label without a known value, which the error itself says.
pub fn nearest(scenario: &ScenarioSpec, given: &str) -> Option<String> {
    let scenario = without_faults(scenario.clone());
    let all = shipped_by_size().into_iter().filter_map(|(name, topology)| near(&scenario, name, topology));
    let best = all.min_by_key(|near| {
        let steps: usize = near.changes.iter().map(|change| change.steps.len()).sum();
        let nodes = near.topology.nodes();
        (steps, Reverse(near.name == given), if steps == 0 { u64::MAX - nodes } else { nodes })
    })?;
    let lacks_values = !best.changes.is_empty() && best.changes.iter().all(|change| change.pod.is_empty());
    (best.name != given || !lacks_values).then(|| describe(&scenario, &best))
}

/// Returns what a topology lacks; `None` if no change of its nodes or of the pods would help.
fn near(scenario: &ScenarioSpec, name: &'static str, topology: TopologySpec) -> Option<NearTopology> {
    let mut reduced = with_topology(scenario, topology.clone());
    for pool in &mut reduced.topology.pools {
        (pool.count, pool.islands, pool.nodes_per_island, pool.interconnect) = (1, 1, 1, None);
    }
    let mut changes = Vec::new();
    for error in refusal(&reduced) {
        match error {
            PrepareError::NeverFits { pod, explanation } => {
                let change = explanation.change?;
                let node = change.nodes.first()?;
                let names = ClusterBuilder::build(&reduced.topology, &[]).names;
                let pool = names.iter().position(|name| name == node)?;
                let lacking = lacking_labels(&reduced, &pod, &reduced.topology.pools[pool]);
                // The hostname of a node cannot be chosen by a label.
                let are_labels = lacking.iter().all(|(key, _)| key != HOSTNAME);
                let overrides =
                    (are_labels && lacking.len() == change.steps.len()).then(|| overrides(pool, &topology, &lacking));
                changes.push(PodChange { pod, steps: change.steps, overrides });
            }
            error @ PrepareError::NoDomain { .. } => {
                changes.push(PodChange { pod: String::new(), steps: vec![error.to_string()], overrides: None });
            }
            _ => {}
        }
    }
    Some(NearTopology { name, topology, changes })
}

fn refusal(scenario: &ScenarioSpec) -> Vec<PrepareError> {
    match SimulationInput::new(scenario) {
        Ok(_) => Vec::new(),
        Err(CannotRun(errors)) => errors,
    }
}

/// Returns the labels with one value that the pod requires and the first node of the pool lacks.
fn lacking_labels(scenario: &ScenarioSpec, pod: &str, pool: &NodePool) -> Vec<(String, String)> {
    let replicated_jobs = scenario.jobsets.iter().flat_map(|submitted| {
        let name = &submitted.jobset.name;
        submitted.jobset.spec.replicated_jobs.iter().map(move |rj| (format!("{name}-{}-0-0", rj.name), rj))
    });
    let template = replicated_jobs.into_iter().find(|(name, _)| name == pod).map(|(_, rj)| &rj.template.template.spec);
    let required = template.map(required_labels).unwrap_or_default();
    let lacks = |key: &str, value: &str| NodeNumbers::default().label(pool, key).as_deref() != Some(value);
    required.into_iter().filter(|(key, value)| lacks(key, value)).collect()
}

/// Returns the labels of the node selector, and those of a single node affinity term. Of several values, the first.
fn required_labels(pod: &PodSpec) -> Vec<(String, String)> {
    let selector = pod.node_selector.iter().map(|(key, value)| (key.clone(), value.clone()));
    let term = pod.node_affinity.as_deref().filter(|terms| terms.len() == 1);
    let expressions = term.into_iter().flatten().flat_map(|term| &term.expressions);
    let values = expressions.filter(|r| r.operator == Some(NodeOperator::In));
    selector.chain(values.filter_map(|r| Some((r.key.clone(), r.values.first()?.clone())))).collect()
}

/// Returns the overrides that give the nodes of a pool these labels. A label that is different in each copy of the pool
/// remains unique: only one copy is kept.
fn overrides(pool: usize, topology: &TopologySpec, labels: &[(String, String)]) -> BTreeSet<String> {
    let spec = &topology.pools[pool];
    let varies = |key: &String| spec.labels.get(key).is_some_and(|value| value.contains("{pool}"));
    let mut overrides: BTreeSet<String> =
        labels.iter().map(|(key, value)| format!("topology.pools[{pool}].labels[\"{key}\"]=\"{value}\"")).collect();
    if spec.count > 1 && labels.iter().any(|(key, _)| varies(key)) {
        overrides.insert(format!("topology.pools[{pool}].count=1"));
    }
    overrides
}

fn describe(scenario: &ScenarioSpec, near: &NearTopology) -> String {
    let name = near.name;
    let mut text = format!("nearest shipped topology is {name} ({})", count(near.topology.nodes(), "node"));
    let reasons: Vec<String> = match &near.changes[..] {
        [] => {
            let errors = refusal(&with_topology(scenario, near.topology.clone()));
            errors.iter().map(|error| format!("{error:#}")).collect()
        }
        changes => changes.iter().map(PodChange::to_text).collect(),
    };
    let reasons: Vec<String> = reasons.into_iter().filter(|reason| !reason.is_empty()).collect();
    let reasons = if reasons.is_empty() { no_reason(scenario, near) } else { reasons.join("; ") };
    text.push_str(&format!(": {reasons}"));
    let overrides: Option<Vec<&BTreeSet<String>>> =
        near.changes.iter().map(|change| change.overrides.as_ref()).collect();
    if let Some(overrides) = overrides.filter(|overrides| !overrides.is_empty()) {
        let all: BTreeSet<&String> = overrides.into_iter().flatten().collect();
        let all: String = all.into_iter().map(|set| format!(" --set {}", quoted(set))).collect();
        text.push_str(&format!(". With these labels: -t {name}{all}"));
    }
    text.push_str(". Without -t, a cluster that fits is generated; topology import reads the nodes of a real cluster");
    text
}

/// Names the requested resources that no node of the topology has.
fn no_reason(scenario: &ScenarioSpec, near: &NearTopology) -> String {
    let requests = scenario.jobsets.iter().flat_map(|submitted| &submitted.jobset.spec.replicated_jobs);
    let requested = requests.flat_map(|rj| rj.template.template.spec.requests());
    let requested: BTreeSet<String> = requested.filter(|(_, milli)| *milli > 0).map(|(name, _)| name).collect();
    let has = |name: &String| near.topology.pools.iter().any(|pool| pool.allocatable_of(None).contains_key(name));
    let missing: Vec<String> = requested.into_iter().filter(|name| name != "pods" && !has(name)).collect();
    if missing.is_empty() {
        return "its nodes do not fit together with the other objects of the inputs".to_owned();
    }
    format!("no shipped topology has {}", missing.join(" and "))
}

impl PodChange {
    fn to_text(&self) -> String {
        let steps = self.steps.join(", and ");
        if self.pod.is_empty() { steps } else { format!("pod {} needs this change: {steps}", self.pod) }
    }
}
