//! The nodes of an imported recording: nodes from the input, and nodes on which pods were observed.

use super::lifecycle::ObservedLifecycle;
use serde_json::{Map, Value, json};
use sim_api::spec::keys;
use sim_base::quantity::parse_milli;
use std::collections::BTreeMap;

pub struct ObservedCluster {
    pub nodes: Vec<Value>,
    /// Version of the kubelets, e.g. `1.36.3`.
    pub version: Option<String>,
    pub assumed: Vec<String>,
}

/// Maximum number of nodes, to bound memory.
const NODES_MAX: usize = 1_000_000;

pub fn cluster(life: &ObservedLifecycle) -> ObservedCluster {
    let mut assumed = Vec::new();
    let mut nodes: BTreeMap<String, Value> = BTreeMap::new();
    let mut version = None;
    for node in life.nodes.iter().filter(|n| n.object.is_object()) {
        let (name, node) = (node.name.clone(), &node.object);
        let seen = node["status"]["nodeInfo"]["kubeletVersion"].as_str();
        version = version.or_else(|| seen.map(|v| v.trim_start_matches('v').to_owned()));
        version = version.filter(|v| v.starts_with("1."));
        nodes.insert(name, without_transient_state(node));
    }
    let given = nodes.len();
    let needed = required_node_sizes(life);
    let mut missing = 0;
    for (name, (requests, labels)) in needed {
        match nodes.get_mut(&name) {
            Some(node) => grow_to_requests(node, &requests),
            None => {
                missing += 1;
                nodes.insert(name.clone(), make_node(&name, requests, labels));
            }
        }
    }
    if missing > 0 {
        assumed.push(match given {
            0 => format!(
                "nodes: no Node in the input; added the {missing} nodes on which pods were observed, each sized for the pods it held"
            ),
            _ => format!("nodes: {missing} nodes on which pods were observed are not in the input; each is sized for the pods it held"),
        });
    }
    if has_restart_policy_rules(&life.jobset.manifest) {
        for node in nodes.values_mut().filter(|n| n["status"]["declaredFeatures"].is_null()) {
            node["status"]["declaredFeatures"] = json!([keys::RESTART_ALL_CONTAINERS]);
        }
    }
    ObservedCluster { nodes: nodes.into_values().take(NODES_MAX).collect(), version, assumed }
}

fn has_restart_policy_rules(manifest: &Value) -> bool {
    manifest.to_string().contains("\"restartPolicyRules\"")
}

/// Removes the parts of a node that were true only at the time of observation: lifecycle taints, taint times and
/// version.
fn without_transient_state(node: &Value) -> Value {
    let mut node = node.clone();
    if let Some(taints) = node["spec"]["taints"].as_array_mut() {
        let lifecycle = |t: &Value| t["key"].as_str().is_some_and(|k| k.starts_with("node.kubernetes.io/"));
        taints.retain(|t| !lifecycle(t));
        for taint in taints {
            if let Some(taint) = taint.as_object_mut() {
                taint.remove("timeAdded");
            }
        }
    }
    if let Some(status) = node["status"].as_object_mut() {
        status.remove("nodeInfo");
    }
    node
}

type PodNeeds = BTreeMap<String, (BTreeMap<String, i64>, Map<String, Value>)>;

/// Returns, for each node, the largest sum of requests of the pods of one attempt, and the labels required by their
/// selectors.
fn required_node_sizes(life: &ObservedLifecycle) -> PodNeeds {
    let mut sums: BTreeMap<(&str, Option<u32>), BTreeMap<String, i64>> = BTreeMap::new();
    let mut needs = PodNeeds::new();
    for pod in life.pods.iter().filter(|p| !p.last_observed.node.is_empty()) {
        let sum = sums.entry((&pod.last_observed.node, pod.last_observed.attempt)).or_default();
        for (name, quantity) in &pod.last_observed.requests {
            let milli = quantity.as_str().and_then(|q| parse_milli(q).ok()).unwrap_or(0);
            let all = sum.entry(name.clone()).or_default();
            *all = all.saturating_add(milli);
        }
        let (most, labels) = needs.entry(pod.last_observed.node.clone()).or_default();
        for (name, milli) in sum.iter() {
            let known = most.entry(name.clone()).or_default();
            *known = (*known).max(*milli);
        }
        labels.extend(pod.last_observed.selector.clone());
    }
    needs
}

fn quantity(milli: i64) -> Value {
    match milli % 1000 {
        0 => json!((milli / 1000).to_string()),
        _ => json!(format!("{milli}m")),
    }
}

fn make_node(name: &str, requests: BTreeMap<String, i64>, mut labels: Map<String, Value>) -> Value {
    labels.insert(keys::HOSTNAME.to_owned(), json!(name));
    let mut all: Map<String, Value> = requests.into_iter().map(|(k, milli)| (k, quantity(milli))).collect();
    // Usual defaults of a kubelet. They do not affect the replay.
    for (key, value) in [("pods", "110"), ("cpu", "8"), ("memory", "64Gi")] {
        all.entry(key).or_insert_with(|| json!(value));
    }
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": all.clone(), "capacity": all}})
}

/// Increases the size of a node to the requests of the pods that it held.
fn grow_to_requests(node: &mut Value, requests: &BTreeMap<String, i64>) {
    for part in ["allocatable", "capacity"] {
        for (name, milli) in requests {
            let has = node["status"][part][name].as_str().and_then(|q| parse_milli(q).ok());
            if has.is_none_or(|has| has < *milli) {
                node["status"][part][name] = quantity(*milli);
            }
        }
    }
}
