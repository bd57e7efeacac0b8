//! The state of Kueue's queues from the inputs: objects, nodes and the Workloads that exist.

use sim_api::spec::ScenarioSpec;
use sim_api::spec::kueue::{KueueObjects, StoredWorkload};
use sim_base::Duration;
use sim_engine::{kueue_namespaces, kueue_nodes};
use sim_kueue::verdict::QueueState;
use sim_kueue::workload::{Workload, WorkloadKey};
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the state one second after the newest Workload. Pods that are not placed by topology, as far as the cluster
/// has them, reduce the resources of their nodes.
pub fn queue_state(scenario: &ScenarioSpec, objects: &Arc<KueueObjects>, cluster: &ClusterBuilder) -> QueueState {
    let workloads: Vec<Workload> = in_order(objects).into_iter().map(Workload::from).collect();
    let newest = workloads.iter().map(Workload::newest_time).max().unwrap_or_default();
    QueueState {
        objects: objects.clone(),
        nodes: Arc::new(kueue_nodes(cluster, objects)),
        namespaces: Arc::new(kueue_namespaces(scenario, objects)),
        workloads: workloads.into_iter().map(|workload| Some(Arc::new(workload))).collect(),
        now: newest + Duration::from_secs(1),
        job_sets: job_sets(objects),
    }
}

/// Returns the names of the JobSets that own Workloads.
fn job_sets(objects: &KueueObjects) -> BTreeMap<WorkloadKey, String> {
    let owner = |w: &StoredWorkload| w.owner.as_ref().filter(|owner| owner.kind == "JobSet").map(|o| o.name.clone());
    in_order(objects).into_iter().enumerate().filter_map(|(key, w)| Some((key, owner(w)?))).collect()
}

/// Returns the Workloads in order of creation, which is the order of the keys in [`queue_state`].
pub fn in_order(objects: &KueueObjects) -> Vec<&StoredWorkload> {
    let mut stored: Vec<&StoredWorkload> = objects.workloads.iter().collect();
    stored.sort_by_key(|w| (w.created, w.uid.as_str(), w.namespace.as_str(), w.name.as_str()));
    stored
}
