//! The cluster of a recorded situation, as kube-scheduler saw it.

use super::known_fields::{
    BUDGET_FIELDS, CLAIM_FIELDS, CLASS_FIELDS, NODE_FIELDS, POD_FIELDS, STEP_FIELDS, VOLUME_FIELDS, unknown_fields,
};
use serde_json::{Value, json};
use sim_api::objects::value_access::{int, list, pairs, text};
use sim_api::objects::{ObjectContext, admit_any};
use sim_scheduler::labels::{LabelSelector, read_labels};
use sim_scheduler::profile::ScoringStrategy;
use sim_scheduler::storage::StorageObjects;
use sim_scheduler::{Cluster, DisruptionBudget, NodeView, PodView, Profile};
use std::collections::BTreeSet;

/// PriorityClasses of the recordings: name, value, and whether their pods preempt others.
pub const CLASSES: [(&str, i64, bool); 4] =
    [("low", -10, true), ("mid", 100, true), ("high", 1000, true), ("polite", 500, false)];
const GATES: [&str; 4] =
    ["GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"];
const PACKING: &str = "packing";

/// Returns what the model does not know of a recording, as short phrases.
pub fn unmodelled(recording: &Value, keys: &[&str]) -> Vec<String> {
    let unknown_keys = pairs(recording).filter(|(key, _)| !keys.contains(&key.as_str()));
    let mut found: BTreeSet<String> = unknown_keys.map(|(key, _)| format!("unknown key {key}")).collect();
    let gates = list(recording, "gates").iter().filter_map(Value::as_str);
    found.extend(gates.filter(|gate| !GATES.contains(gate)).map(|gate| format!("feature gate {gate}")));
    let of_kind = [
        ("nodes", "Node", &NODE_FIELDS[..]),
        ("existing", "Pod", &POD_FIELDS),
        ("pending", "Pod", &POD_FIELDS),
        ("pdbs", "PodDisruptionBudget", &BUDGET_FIELDS),
        ("persistentVolumeClaims", "PersistentVolumeClaim", &CLAIM_FIELDS),
        ("persistentVolumes", "PersistentVolume", &VOLUME_FIELDS),
        ("storageClasses", "StorageClass", &CLASS_FIELDS),
        ("steps", "step", &STEP_FIELDS),
    ];
    for (key, kind, known) in of_kind {
        for object in list(recording, key) {
            found.extend(unknown_fields(object, known).into_iter().map(|path| format!("{kind} field {path}")));
        }
    }
    found.into_iter().collect()
}

/// Returns the stored form of a posted pod, or the message of the API server.
pub fn admit(pod: &Value) -> Result<Value, String> {
    let class = |(name, value, preempts): &(&str, i64, bool)| {
        let policy = if *preempts { "PreemptLowerPriority" } else { "Never" };
        json!({"metadata": {"name": name}, "value": value, "preemptionPolicy": policy})
    };
    let classes: Vec<Value> = CLASSES.iter().map(class).collect();
    let context = ObjectContext { priority_classes: &classes, ..ObjectContext::default() };
    admit_any(pod, &context).map_err(|rejection| rejection.message)
}

/// Returns the arguments of the profile with this scheduler name.
pub fn profile(scheduler_name: &str) -> Profile {
    let mut profile = Profile::default();
    if scheduler_name == PACKING {
        let weights = [("cpu", 1), ("google.com/tpu", 5), ("nvidia.com/gpu", 5)];
        profile.strategy = ScoringStrategy::MostAllocated;
        profile.fit_resources = weights.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
    }
    profile
}

/// Builds the cluster with its nodes, budgets and existing pods. Pods that the API server refused do not exist; their
/// names are returned with the messages.
pub fn build_cluster(recording: &Value) -> (Cluster, Vec<(String, String)>) {
    let mut cluster = Cluster::default();
    for (name, labels) in pairs(&recording["namespaces"]) {
        let mut labels = read_labels(labels);
        // The API server adds the label to every namespace.
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.clone());
        cluster.namespaces.insert(name.clone(), labels);
    }
    for node in list(recording, "nodes") {
        let view = NodeView::read(node, &mut cluster.columns);
        cluster.add_node(view);
    }
    for budget in list(recording, "pdbs") {
        cluster.budgets.push(DisruptionBudget {
            namespace: text(&budget["metadata"], "namespace").to_owned(),
            selector: LabelSelector::read(&budget["spec"], "selector"),
            disruptions_allowed: int(budget, "disruptionsAllowed").unwrap_or(0),
        });
    }
    cluster.storage = StorageObjects::read(
        list(recording, "storageClasses"),
        list(recording, "persistentVolumes"),
        list(recording, "persistentVolumeClaims"),
    );
    let mut refused = Vec::new();
    for pod in list(recording, "existing") {
        match admit(pod) {
            Err(message) => refused.push((text(&pod["metadata"], "name").to_owned(), message)),
            Ok(stored) => {
                let mut view = PodView::read(&stored, &mut cluster.columns);
                view.is_terminating = pod["terminating"] == true;
                if let Some(node) = cluster.find_node(&view.node_name) {
                    cluster.add_pod(node, view);
                }
            }
        }
    }
    (cluster, refused)
}
