//! Reads Workloads as Kueue stores them.

use crate::kube::pod;
use crate::{read, text::node::YamlNode};
use serde_json::Value;
use sim_api::spec::keys::ADMISSION_GATED_BY;
use sim_api::spec::kueue::{PriorityClassRef, StoredPodSet, StoredWorkload, WorkloadOwner};
use sim_base::calendar::parse_time;
use std::sync::Arc;

pub fn read((namespace, name): (String, String), node: &YamlNode) -> StoredWorkload {
    let metadata = |key: &str| node.at_path(&["metadata", key]).and_then(YamlNode::as_str);
    let empty = YamlNode::empty_map();
    let spec = node.get("spec").unwrap_or(&empty);
    let gates = node.at_path(&["metadata", "annotations", ADMISSION_GATED_BY]).and_then(YamlNode::as_str);
    StoredWorkload {
        namespace,
        name,
        uid: metadata("uid").unwrap_or_default().to_owned(),
        owner: node.at_path(&["metadata", "ownerReferences"]).and_then(|owners| owner(owners.items())),
        queue: read::string(spec, "queueName").unwrap_or_default(),
        priority: read::i32_of(spec, "priority").unwrap_or(0),
        priority_class: priority_class(spec),
        created: metadata("creationTimestamp").and_then(parse_time).unwrap_or_default(),
        active: read::boolean(spec, "active").unwrap_or(true),
        admission_gates: gates.unwrap_or_default().to_owned(),
        max_execution_s: read::integer(spec, "maximumExecutionTimeSeconds").and_then(|s| u64::try_from(s).ok()),
        pod_sets: read::list(spec, "podSets").iter().map(pod_set).collect(),
        status: Arc::new(node.get("status").map_or(Value::Null, YamlNode::to_json)),
        run_time: None,
    }
}

/// Reads `priorityClassRef` of v1beta2, or `priorityClassName` and `priorityClassSource` of v1beta1.
fn priority_class(spec: &YamlNode) -> Option<PriorityClassRef> {
    let reference = spec.get("priorityClassRef").unwrap_or(spec);
    let name = ["name", "priorityClassName"].into_iter().find_map(|key| read::string(reference, key))?;
    let source = ["group", "priorityClassSource"].into_iter().find_map(|key| read::string(reference, key));
    let is_of_workloads = source.is_some_and(|source| source.starts_with("kueue.x-k8s.io"));
    let class = if is_of_workloads { PriorityClassRef::Workload } else { PriorityClassRef::Pod };
    Some(name).filter(|name| !name.is_empty()).map(class)
}

/// Returns the controller among the owners, or the first owner.
fn owner(owners: &[YamlNode]) -> Option<WorkloadOwner> {
    let is_controller = |owner: &&YamlNode| read::boolean(owner, "controller") == Some(true);
    let owner = owners.iter().find(is_controller).or(owners.first())?;
    let text = |key: &str| read::string(owner, key).unwrap_or_default();
    Some(WorkloadOwner { kind: text("kind"), name: text("name"), uid: text("uid") })
}

/// Returns the lists of containers of a pod set as written.
fn containers(node: &YamlNode) -> Value {
    let list = |name: &str| Some((name.to_owned(), node.at_path(&["template", "spec", name])?.to_json()));
    ["containers", "initContainers"].into_iter().filter_map(list).collect()
}

fn pod_set(node: &YamlNode) -> StoredPodSet {
    StoredPodSet {
        name: read::string(node, "name").unwrap_or_else(|| "main".to_owned()),
        count: read::u32_of(node, "count").unwrap_or(1),
        template: node.get("template").map(pod::template).unwrap_or_default(),
        topology_request: node.get("topologyRequest").map_or(Value::Null, YamlNode::to_json),
        containers: containers(node),
        min_count: read::u32_of(node, "minCount"),
    }
}
