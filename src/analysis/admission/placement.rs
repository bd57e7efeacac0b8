//! Whether the pods of admitted JobSets fit on the nodes, and in which domains they do not.

use super::inputs::{emptied, is_exclusive};
use crate::capacity::fit::{PlacementDraws, placements};
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::{JobSet, NodeObject, ReplicatedJob, ScenarioSpec, SchedulerTies, SubmittedJobSet};
use sim_base::NodeId;
use sim_engine::CannotRun;
use sim_kueue::tas::TasNode;
use sim_kueue::verdict::{NodeDomain, QueueChange};
use sim_policy::placement::{TemplateFacts, capacity};
use sim_policy::topology::{ClusterBuilder, TopologyDomains};

/// Number of pods that are placed in all draws together.
const PODS_MAX: u64 = 100_000;
/// Smallest and largest number of draws.
const DRAWS: [u64; 2] = [10, 100];

/// Places the pods of all JobSets of a scenario. If the placement depends on random numbers, several draws are tried;
/// with `stops_at_failure`, only until one does not fit.
pub(super) fn place(scenario: &ScenarioSpec, stops_at_failure: bool) -> Result<PlacementDraws, CannotRun> {
    let pods: u64 = scenario.jobsets.iter().map(|submitted| submitted.jobset.spec.pods()).sum();
    let [least, most] = DRAWS;
    let draws = if is_drawn(scenario) { (PODS_MAX / pods.max(1)).clamp(least, most) } else { 1 };
    placements(scenario, draws, stops_at_failure)
}

/// Returns whether the scheduler's choice among equal nodes can decide whether all pods fit. It cannot if all pods are
/// equal and do not depend on each other.
fn is_drawn(scenario: &ScenarioSpec) -> bool {
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
