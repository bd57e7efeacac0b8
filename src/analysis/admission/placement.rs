//! Whether the pods of admitted JobSets fit on the nodes, and in which domains they do not.

use super::inputs::{edit_template, emptied, is_exclusive};
use crate::capacity::fit::{PlacementDraws, placements};
use serde_json::{Value, json};
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::{JobSet, NodeObject, ReplicatedJob, ScenarioSpec, SchedulerTies, SubmittedJobSet};
use sim_base::NodeId;
use sim_engine::CannotRun;
use sim_kueue::tas::{TasNode, TopologyAssignment};
use sim_kueue::verdict::{NodeDomain, QueueChange};
use sim_kueue::workload::Workload;
use sim_policy::placement::{TemplateFacts, capacity};
use sim_policy::topology::{ClusterBuilder, TopologyDomains};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Scheduling gate of pods that wait for the domain of their topology assignment.
const TOPOLOGY_GATE: &str = "kueue.x-k8s.io/topology";
/// Number of pods that are placed in all draws together.
const PODS_MAX: u64 = 100_000;
/// Smallest and largest number of draws.
const DRAWS_MIN: u64 = 10;
pub(super) const DRAWS_MAX: u64 = 100;
/// Length of all keys of `KnownPlacements`, after which they are forgotten.
const KNOWN_BYTES_MAX: usize = 64 << 20;

/// Placements that were tried. Most changes of queues start the same JobSets on the same nodes.
#[derive(Clone)]
pub(super) struct KnownPlacements {
    /// Largest number of draws.
    draws_max: u64,
    /// Results by the text of all inputs.
    by_inputs: Rc<RefCell<BTreeMap<String, PlacementDraws>>>,
}

impl KnownPlacements {
    /// Nothing is known yet.
    pub fn new(draws_max: u64) -> KnownPlacements {
        KnownPlacements { draws_max, by_inputs: Rc::default() }
    }

    /// Places the pods as [`place`] does, once for equal inputs.
    pub fn place(
        &self, scenario: &ScenarioSpec, stops_at_failure: bool, needs_nodes: bool,
    ) -> Result<PlacementDraws, CannotRun> {
        let inputs = format!("{stops_at_failure} {needs_nodes} {scenario:?}");
        if let Some(known) = self.by_inputs.borrow().get(&inputs) {
            return Ok(known.clone());
        }
        let placed = place(scenario, self.draws_max, stops_at_failure, needs_nodes)?;
        let mut known = self.by_inputs.borrow_mut();
        if known.keys().map(String::len).sum::<usize>() > KNOWN_BYTES_MAX {
            known.clear();
        }
        known.insert(inputs, placed.clone());
        Ok(placed)
    }
}

/// Places the pods of all JobSets of a scenario. If random numbers can decide whether they fit, several draws are
/// tried; with `stops_at_failure`, only until one does not fit. With `needs_nodes`, several draws are also tried if
/// random numbers only decide which nodes the pods use.
fn place(
    scenario: &ScenarioSpec, draws_max: u64, stops_at_failure: bool, needs_nodes: bool,
) -> Result<PlacementDraws, CannotRun> {
    let pods: u64 = scenario.jobsets.iter().map(|submitted| submitted.jobset.spec.pods()).sum();
    let is_drawn = is_drawn(scenario);
    let has_choice = is_drawn || needs_nodes && scenario.control_plane.ties != SchedulerTies::InOrder;
    let draws = if has_choice { (PODS_MAX / pods.max(1)).max(DRAWS_MIN).min(draws_max) } else { 1 };
    let mut placed = placements(scenario, draws, stops_at_failure || !is_drawn)?;
    if !is_drawn {
        (placed.tried, placed.fitting) = (1, placed.fitting.min(1));
    }
    Ok(placed)
}

/// Returns whether the scheduler's choice among equal nodes can decide whether all pods fit. It cannot if all pods are
/// equal and do not depend on each other.
pub(crate) fn is_drawn(scenario: &ScenarioSpec) -> bool {
    let jobsets = || scenario.jobsets.iter().map(|submitted| &submitted.jobset);
    let mut specs = jobsets().flat_map(|jobset| &jobset.spec.replicated_jobs).map(|rj| &rj.template.template.spec);
    let first = specs.clone().next();
    let facts = |spec: &sim_api::spec::PodSpec| {
        (spec.requests(), spec.node_selector.clone(), spec.node_affinity.clone(), spec.tolerations.clone())
    };
    let differs = specs.any(|spec| !spec.terms.is_empty() || first.is_some_and(|first| facts(first) != facts(spec)));
    scenario.control_plane.ties != SchedulerTies::InOrder && (differs || jobsets().any(is_exclusive))
}

/// Returns the changes that cordon the rest of each domain in which a leader pod can be placed, but not all pods of its
/// Job.
pub(super) fn partial_domains(jobset: &JobSet, cluster: &ClusterBuilder) -> Vec<QueueChange> {
    let mut changes: Vec<QueueChange> = Vec::new();
    for demand in capacity::demands(jobset, cluster) {
        let domains = TopologyDomains::build(cluster, demand.key);
        let facts = TemplateFacts::build(cluster, &demand.rj.template.template, 0);
        let rooms = capacity::of_nodes(&facts, cluster);
        for room in demand.rooms.iter().filter(|room| room.pods < demand.pods()) {
            let open = domains.nodes[room.domain].iter().filter(|node| rooms[node.ix()] > 0);
            let change = QueueChange::Cordon {
                level: demand.key.to_owned(),
                domain: domains.values[room.domain].clone(),
                nodes: open.map(|node| cluster.names[node.ix()].clone()).collect(),
            };
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
    }
    changes
}

/// A Job whose pods have domains by a topology assignment.
#[derive(Clone, Debug)]
pub(super) struct AssignedJob {
    /// Namespace and name of the JobSet.
    pub jobset: String,
    name: String,
    /// Topology key of exclusive placement.
    key: Option<String>,
    /// The domain of each pod.
    places: Vec<Arc<AssignedPlace>>,
    /// The first domain whose nodes all have labels or taints that reject the pods.
    rejected: Option<Arc<AssignedPlace>>,
}

/// A domain of the lowest level of a topology: a node, or a group of nodes of which the scheduler chooses one for each
/// pod.
#[derive(Debug)]
struct AssignedPlace {
    /// `node n-1` or `domain r1`.
    name: String,
    nodes: Vec<NodeId>,
}

/// Returns the Jobs of an admitted JobSet whose pods Kueue assigns to domains. The pods get the domains in the order of
/// their ranks (`pkg/controller/tas/topology_ungater.go`).
pub(super) fn assigned_jobs(jobset: &JobSet, workload: &Workload, cluster: &ClusterBuilder) -> Vec<AssignedJob> {
    let mut jobs = Vec::new();
    let pod_sets = workload.status.admission.iter().flat_map(|a| &a.pod_sets);
    for (pod_set, assignment) in pod_sets.filter_map(|set| Some((set, set.topology.as_ref()?))) {
        let Some(rj) = jobset.spec.replicated_jobs.iter().find(|rj| rj.name == pod_set.name) else { continue };
        let places = places(assignment, cluster);
        if places.iter().any(|place| place.nodes.is_empty()) {
            continue;
        }
        let facts = TemplateFacts::build(cluster, &rj.template.template, 0);
        let rejects = |place: &&Arc<AssignedPlace>| place.nodes.iter().all(|node| !facts.allows(*node));
        let key = jobset.webhook_key(rj);
        for (index, places) in places.chunks(rj.template.pods().max(1) as usize).enumerate() {
            jobs.push(AssignedJob {
                jobset: format!("{}/{}", jobset.namespace, jobset.name),
                name: format!("{}-{}-{index}", jobset.name, rj.name),
                key: key.map(str::to_owned),
                places: places.to_vec(),
                rejected: places.iter().find(rejects).cloned(),
            });
        }
    }
    jobs
}

/// Returns the domain of each pod of an assignment.
fn places(assignment: &TopologyAssignment, cluster: &ClusterBuilder) -> Vec<Arc<AssignedPlace>> {
    let levels = &assignment.levels;
    let is_of_nodes = levels.last().is_some_and(|level| level == HOSTNAME);
    let mut members: BTreeMap<Vec<String>, Vec<NodeId>> = BTreeMap::new();
    for node in (0..cluster.len() as u32).map(NodeId).filter(|_| !is_of_nodes) {
        if let Some(values) = levels.iter().map(|level| cluster.label(node, level)).collect::<Option<Vec<_>>>() {
            members.entry(values).or_default().push(node);
        }
    }
    let mut places = Vec::new();
    for domain in &assignment.domains {
        let value = domain.values.last().map_or("", String::as_str);
        let nodes = if is_of_nodes {
            cluster.named(value).into_iter().collect()
        } else {
            members.get(&domain.values).cloned().unwrap_or_default()
        };
        let kind = if is_of_nodes { "node" } else { "domain" };
        let place = Arc::new(AssignedPlace { name: format!("{kind} {value}"), nodes });
        places.extend(std::iter::repeat_n(place, domain.count as usize));
    }
    places
}

/// Returns why the scheduler rejects the nodes that Kueue assigns to the pods of new Jobs, as sentences.
pub(super) fn conflicts(before: &[Arc<AssignedJob>], new: &[AssignedJob], cluster: &ClusterBuilder) -> Vec<String> {
    let mut sentences = Vec::new();
    for job in new {
        let name = &job.name;
        if let Some(place) = &job.rejected {
            sentences.push(format!(
                "Kueue assigns a pod of Job {name} to {}, whose labels or taints reject the pod",
                place.name
            ));
        }
        let Some(key) = &job.key else { continue };
        let lacks_key =
            |place: &&Arc<AssignedPlace>| place.nodes.iter().all(|node| cluster.label(*node, key).is_none());
        if let Some(place) = job.places.iter().find(lacks_key) {
            sentences.push(format!("Kueue assigns a pod of Job {name} to {}, which has no label {key}", place.name));
        } else if let [first, second, ..] = job.domains(key, cluster).as_slice() {
            sentences.push(format!(
                "Kueue assigns the pods of Job {name} to several domains of {key}, such as {first} and {second}, but \
                 exclusive placement needs one domain"
            ));
        }
    }
    for (at, job) in new.iter().enumerate() {
        for other in before.iter().map(Arc::as_ref).chain(&new[..at]) {
            let keys = job.key.iter().chain(&other.key);
            let common = keys.filter_map(|key| {
                let own = job.domains(key, cluster);
                let shared = other.domains(key, cluster).into_iter().find(|domain| own.contains(domain))?;
                Some((key, shared))
            });
            if let Some((key, domain)) = common.into_iter().next() {
                sentences.push(format!(
                    "Kueue assigns pods of the Jobs {} and {} to domain {domain} of {key}, but exclusive placement \
                     needs a domain for each Job",
                    other.name, job.name
                ));
            }
        }
    }
    sentences
}

impl AssignedJob {
    /// Returns the different values of a label of its nodes. A pod whose domain has nodes with several values does not
    /// count: the scheduler chooses one of them.
    fn domains(&self, key: &str, cluster: &ClusterBuilder) -> Vec<String> {
        let mut places: Vec<&Arc<AssignedPlace>> = self.places.iter().collect();
        places.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let mut values: Vec<String> = places.iter().filter_map(|place| place.value(key, cluster)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}

impl AssignedPlace {
    /// Returns the value of a label that all its nodes have in common.
    fn value(&self, key: &str, cluster: &ClusterBuilder) -> Option<String> {
        let (first, others) = self.nodes.split_first()?;
        let value = cluster.label(*first, key)?;
        let is_common = others.iter().all(|node| cluster.label(*node, key).as_deref() == Some(value.as_str()));
        is_common.then_some(value)
    }
}

/// Returns whether the scheduler can reject a node for a reason that Kueue's topology assignment ignores: other
/// pods, ports of the node, or exclusive placement.
pub(super) fn depends_on_pods(jobset: &JobSet) -> bool {
    let mut specs = jobset.spec.replicated_jobs.iter().map(|rj| &rj.template.template.spec);
    is_exclusive(jobset) || specs.any(|spec| !spec.terms.is_empty())
}

/// Returns a JobSet as Kueue started it, with its pods restricted to the domains of their topology assignment. Kueue
/// does that pod by pod when it removes the scheduling gates.
pub(super) fn restricted(submitted: &SubmittedJobSet, workload: &Workload, scenario: &ScenarioSpec) -> SubmittedJobSet {
    let mut restricted = submitted.clone();
    let Some(object) = &submitted.jobset.object else { return restricted };
    let mut object = (**object).clone();
    for admitted in workload.status.admission.iter().flat_map(|a| &a.pod_sets) {
        let Some(assignment) = &admitted.topology else { continue };
        let Some(level) = assignment.levels.last() else { continue };
        let mut values: Vec<&String> = assignment.domains.iter().filter_map(|domain| domain.values.last()).collect();
        values.dedup();
        let requirement = json!({"key": level, "operator": "In", "values": values});
        edit_template(&mut object, &admitted.name, |template| restrict(&mut template["spec"], &requirement));
    }
    if let Ok(jobset) = (scenario.decoders.jobset)(&object) {
        restricted.jobset = jobset;
    }
    restricted
}

/// Adds a requirement to the node affinity of a pod and removes the scheduling gate of its topology.
fn restrict(spec: &mut Value, requirement: &Value) {
    if let Some(gates) = spec["schedulingGates"].as_array_mut() {
        gates.retain(|gate| gate["name"] != TOPOLOGY_GATE);
    }
    let required = &mut spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = &mut required["nodeSelectorTerms"];
    if terms.as_array().is_none_or(Vec::is_empty) {
        *terms = json!([{}]);
    }
    for term in terms.as_array_mut().into_iter().flatten() {
        let expressions = &mut term["matchExpressions"];
        if expressions.is_null() {
            *expressions = json!([]);
        }
        if let Some(list) = expressions.as_array_mut() {
            list.push(requirement.clone());
        }
    }
}

/// Returns the domains in which more free nodes may help: those of exclusive placement, or all nodes together.
pub(super) fn domains(
    submitted: &SubmittedJobSet, scenario: &ScenarioSpec, cluster: &ClusterBuilder,
) -> Vec<NodeDomain> {
    let jobset = &submitted.jobset;
    let Some(rj) = jobset.spec.replicated_jobs.iter().find(|rj| rj.template.pods() > 0) else { return Vec::new() };
    let empty = ClusterBuilder::build(&emptied(&scenario.topology), &cluster.resources);
    let rooms = |cluster: &ClusterBuilder, rj: &ReplicatedJob| {
        capacity::of_nodes(&TemplateFacts::build(cluster, &rj.template.template, 0), cluster)
    };
    let (now, possible) = (rooms(cluster, rj), rooms(&empty, rj));
    let key = jobset.spec.replicated_jobs.iter().find_map(|rj| jobset.webhook_key(rj));
    let groups: Vec<(String, Vec<NodeId>)> = match key {
        Some(key) => {
            let domains = TopologyDomains::build(cluster, key);
            domains.values.into_iter().zip(domains.nodes).collect()
        }
        None => vec![(String::new(), (0..cluster.len() as u32).map(NodeId).collect())],
    };
    let domain = |(value, nodes): (String, Vec<NodeId>)| {
        let suitable: Vec<NodeId> = nodes.into_iter().filter(|node| possible[node.ix()] > 0).collect();
        let free = suitable.iter().filter(|node| now[node.ix()] == possible[node.ix()]).count() as u32;
        let like = suitable.iter().max_by_key(|node| possible[node.ix()])?;
        let (level, like) = (key.unwrap_or_default().to_owned(), described(empty.object(*like)));
        Some(NodeDomain { level, value, like, free, busy: suitable.len() as u32 - free })
    };
    groups.into_iter().filter_map(domain).collect()
}

fn described(mut object: NodeObject) -> TasNode {
    object.labels.remove(HOSTNAME);
    TasNode {
        name: object.name,
        labels: object.labels,
        taints: object.taints,
        is_unschedulable: false,
        is_ready: true,
        allocatable: object.allocatable,
    }
}
