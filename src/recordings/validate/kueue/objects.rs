//! Reads the objects of a story.

use super::super::scheduling::unknown_fields;
use serde_json::{Value, json};
use sim_api::objects::value_access::{list, pairs, quantity, text};
use sim_api::spec::kueue::{ClusterQueue, KueueObjects, LocalQueue, StopPolicy, WorkloadPriorityClass};
use sim_api::spec::{ResourceAmounts, TaintEffect, TaintSpec};
use sim_inputs::kueue::{KueueManifests, read_kueue};
use sim_inputs::{Diagnostics, SourceText};
use sim_kueue::tas::TasNode;
use std::collections::{BTreeMap, BTreeSet};

/// WorkloadPriorityClasses of the recordings.
const CLASSES: [(&str, i32); 3] = [("low", -10), ("mid", 100), ("high", 1000)];
/// Namespace of all JobSets and LocalQueues.
pub const NAMESPACE: &str = "default";

const KEYS: [&str; 12] = [
    "schema", "kind", "name", "about", "kubernetes", "kueue", "flavors", "topology", "nodes", "cohorts",
    "clusterQueues", "steps",
];
const STEPS: [&str; 5] = ["create", "finish", "delete", "stopPolicy", "deactivate"];
const NODE_FIELDS: [&str; 5] = [
    "apiVersion|kind", "metadata.name|labels|annotations", "spec.unschedulable", "spec.taints.key|value|effect",
    "status.allocatable|capacity|conditions",
];
/// Returns what the model does not know of a story, as short phrases.
pub fn unmodelled(recording: &Value) -> Vec<String> {
    let known = |key: &str| KEYS.contains(&key) || key == "results";
    let mut found: BTreeSet<String> =
        pairs(recording).filter(|(key, _)| !known(key)).map(|(key, _)| format!("unknown key {key}")).collect();
    let steps = list(recording, "steps").iter().flat_map(pairs).map(|(key, _)| key);
    found.extend(steps.filter(|key| !STEPS.contains(&key.as_str())).map(|key| format!("step {key}")));
    for node in list(recording, "nodes") {
        found.extend(unknown_fields(node, &NODE_FIELDS).into_iter().map(|path| format!("Node field {path}")));
    }
    match read_manifests(recording) {
        Ok(manifests) => {
            found.extend(manifests.unmodelled.into_iter().map(|(path, _)| format!("field {path}")));
            found.extend(manifests.unmodelled_objects);
            found.extend(manifests.other_objects);
        }
        Err(Diagnostics(errors)) => found.extend(errors.into_iter().map(|error| error.message)),
    }
    found.into_iter().collect()
}

fn read_manifests(recording: &Value) -> Result<KueueManifests, Diagnostics> {
    let items = ["flavors", "cohorts", "clusterQueues"].iter().flat_map(|key| list(recording, key));
    let items: Vec<&Value> = items.chain(recording.get("topology").filter(|topology| topology.is_object())).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    read_kueue(&[SourceText { file: text(recording, "name").to_owned(), text: list }])
}

/// Reads Kueue's objects. The LocalQueue `lqN` points to the Nth ClusterQueue.
pub fn read_objects(recording: &Value) -> KueueObjects {
    let mut objects = read_manifests(recording).map(|manifests| manifests.objects).unwrap_or_default();
    let local = |(index, queue): (usize, &ClusterQueue)| LocalQueue {
        namespace: NAMESPACE.to_owned(),
        name: format!("lq{index}"),
        cluster_queue: queue.name.clone(),
        ..LocalQueue::default()
    };
    objects.local_queues = objects.cluster_queues.iter().enumerate().map(local).collect();
    let class = |(name, value): (&str, i32)| WorkloadPriorityClass { name: name.to_owned(), value };
    objects.priority_classes = CLASSES.into_iter().map(class).collect();
    objects
}

fn strings(values: &Value) -> BTreeMap<String, String> {
    pairs(values).filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn effect(value: &Value) -> Option<TaintEffect> {
    let effects = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute];
    effects.into_iter().find(|effect| text(value, "effect") == effect.as_str())
}

fn read_taints(spec: &Value, key: &str) -> Vec<TaintSpec> {
    let read = |taint: &Value| {
        let (key, value) = (text(taint, "key").to_owned(), text(taint, "value").to_owned());
        Some(TaintSpec { key, value, effect: effect(taint)? })
    };
    list(spec, key).iter().filter_map(read).collect()
}

fn milli(value: &Value) -> Option<i64> {
    i64::try_from(quantity(value)?.scaled(3)?).ok()
}

pub fn read_stop_policy(word: &str) -> StopPolicy {
    match word {
        "Hold" => StopPolicy::Hold,
        "HoldAndDrain" => StopPolicy::HoldAndDrain,
        _ => StopPolicy::None,
    }
}

/// Reads the nodes.
pub fn read_nodes(recording: &Value) -> Vec<TasNode> {
    let read = |node: &Value| {
        let (spec, status) = (&node["spec"], &node["status"]);
        let is_ready = |c: &Value| c["type"] == "Ready" && c["status"] == "True";
        let amounts = pairs(&status["allocatable"]).filter_map(|(name, value)| Some((name.clone(), milli(value)?)));
        TasNode {
            name: text(&node["metadata"], "name").to_owned(),
            labels: strings(&node["metadata"]["labels"]),
            taints: read_taints(spec, "taints"),
            is_unschedulable: spec["unschedulable"] == true,
            is_ready: list(status, "conditions").iter().any(is_ready),
            allocatable: amounts.collect::<ResourceAmounts>(),
        }
    };
    list(recording, "nodes").iter().map(read).collect()
}
