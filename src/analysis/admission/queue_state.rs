//! The state of Kueue's queues from the inputs: objects, nodes and the Workloads that exist.

use sim_api::spec::kueue::{KueueObjects, StoredWorkload};
use sim_api::spec::{ResourceAmounts, ScenarioSpec};
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::{kueue_namespaces, kueue_nodes};
use sim_kueue::tas::TasNode;
use sim_kueue::verdict::QueueState;
use sim_kueue::workload::Workload;
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the state one second after the newest Workload. Pods that are not placed by topology, as far as the cluster
/// has them, reduce the resources of their nodes.
pub fn queue_state(scenario: &ScenarioSpec, objects: &KueueObjects, cluster: &ClusterBuilder) -> QueueState {
    let mut nodes = kueue_nodes(cluster, objects);
    let workloads: Vec<Workload> = in_order(objects).into_iter().map(Workload::from).collect();
    let placed = placed_requests(&workloads);
    for (at, node) in nodes.iter_mut().enumerate() {
        occupy(node, &cluster.occupied(NodeId(at as u32)), placed.get(&node.name));
    }
    let newest = workloads.iter().map(newest_time).max().unwrap_or_default();
    QueueState {
        objects: objects.clone(),
        nodes,
        namespaces: kueue_namespaces(scenario, objects),
        workloads: workloads.into_iter().map(|workload| Some(Arc::new(workload))).collect(),
        now: newest + Duration::from_secs(1),
    }
}

/// Returns the Workloads in order of creation, which is the order of the keys in [`queue_state`].
pub fn in_order(objects: &KueueObjects) -> Vec<&StoredWorkload> {
    let mut stored: Vec<&StoredWorkload> = objects.workloads.iter().collect();
    stored.sort_by_key(|w| (w.created, w.uid.as_str(), w.namespace.as_str(), w.name.as_str()));
    stored
}

fn newest_time(workload: &Workload) -> SimTime {
    workload.status.conditions.iter().map(|c| c.since).chain([workload.created]).max().unwrap_or_default()
}

/// Returns the requests of pods with a topology assignment, by node.
fn placed_requests(workloads: &[Workload]) -> BTreeMap<String, ResourceAmounts> {
    let mut placed: BTreeMap<String, ResourceAmounts> = BTreeMap::new();
    for workload in workloads.iter().filter(|w| w.has_active_reservation()) {
        for admitted in workload.status.admission.iter().flat_map(|a| &a.pod_sets) {
            let template = workload.pod_sets.iter().find(|set| set.name == admitted.name).map(|set| &set.template);
            let mut requests = template.map(|t| t.spec.requests()).unwrap_or_default();
            requests.entry("pods".to_owned()).or_insert(1_000);
            for domain in admitted.topology.iter().flat_map(|t| &t.domains) {
                let node = domain.values.last().cloned().unwrap_or_default();
                let sums = placed.entry(node).or_default();
                for (resource, milli) in &requests {
                    *sums.entry(resource.clone()).or_default() += milli.saturating_mul(i64::from(domain.count));
                }
            }
        }
    }
    placed
}

/// Subtracts what pods hold on a node beyond those with a topology assignment, which Kueue counts itself.
fn occupy(node: &mut TasNode, occupied: &ResourceAmounts, placed: Option<&ResourceAmounts>) {
    for (resource, held) in occupied {
        let counted = placed.and_then(|placed| placed.get(resource)).copied().unwrap_or(0);
        if let Some(free) = node.allocatable.get_mut(resource) {
            *free = (*free - (held - counted).max(0)).max(0);
        }
    }
}
