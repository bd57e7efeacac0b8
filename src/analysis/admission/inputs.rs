//! Changes of the inputs: objects of Kueue, JobSets, existing Workloads and nodes.

use serde_json::{Value, json};
use sim_api::admission::AdmissionGates;
use sim_api::admission::webhooks::validate_create;
use sim_api::spec::keys::{
    EXCLUSIVE_TOPOLOGY, HOSTNAME, KUEUE_PRIORITY_CLASS, KUEUE_QUEUE, NODE_TAINT_PREFIX, UNSCHEDULABLE,
};
use sim_api::spec::kueue::KueueObjects;
use sim_api::spec::{
    NamedNode, NodeNumbers, NodePool, ReplicatedJob, ScenarioSpec, TaintEffect, TaintSpec, TopologySpec,
};
use sim_kueue::tas::{LevelRequest, TasNode};
use sim_kueue::verdict::{NEW_CLASS, QueueChange};
use sim_kueue::workload::topology::annotations;
use sim_kueue::workload::webhook::refusal;
use std::collections::BTreeMap;

/// No change uses a field that needs a gate.
const ALL_GATES: AdmissionGates = AdmissionGates { in_place_restart: true, restart_job: true, elastic_job_set: true };

/// Applies a change for a JobSet to the inputs. Ends of Workloads have no effect. Returns false if the JobSet cannot be
/// edited, or if a webhook refuses the result.
pub(crate) fn apply(
    change: &QueueChange, scenario: &mut ScenarioSpec, objects: &mut KueueObjects, jobset: usize,
) -> bool {
    change.apply_to_objects(objects);
    match change {
        QueueChange::FreeNodes { like, count, .. } => {
            let pool = pool_of(like, *count, &scenario.topology);
            scenario.topology.pools.push(pool);
            true
        }
        QueueChange::Cordon { nodes, .. } => {
            edit_nodes(&mut scenario.topology, |name, pool, node| {
                if nodes.iter().any(|cordoned| cordoned == name) {
                    if node.taints.is_empty() {
                        node.taints.clone_from(&pool.taints);
                    }
                    let (key, effect) = (UNSCHEDULABLE.to_owned(), TaintEffect::NoSchedule);
                    node.taints.push(TaintSpec { key, value: String::new(), effect });
                }
            });
            true
        }
        _ => edit_jobset(change, (scenario, objects), jobset),
    }
}

fn edit_jobset(change: &QueueChange, (scenario, objects): (&mut ScenarioSpec, &KueueObjects), jobset: usize) -> bool {
    let decode = scenario.decoders.jobset;
    let Some(submitted) = scenario.jobsets.get_mut(jobset) else { return false };
    let Some(stored) = &submitted.jobset.object else { return false };
    let mut object = (**stored).clone();
    if !edit_object(change, &mut object) {
        return true;
    }
    let Ok(decoded) = decode(&object) else { return false };
    let has_queues = !(objects.cluster_queues.is_empty() && objects.local_queues.is_empty());
    let is_denied = |object: &Value| validate_create(object, ALL_GATES, &[]).is_err();
    if has_queues && refusal(&decoded, objects).is_some() || is_denied(&object) && !is_denied(stored) {
        return false;
    }
    submitted.jobset = decoded;
    true
}

/// Edits a JobSet. Returns false if the change does not concern it.
fn edit_object(change: &QueueChange, object: &mut Value) -> bool {
    match change {
        QueueChange::Replicas { pod_set, to, .. } => edit_job(object, pod_set, |job| job["replicas"] = json!(to)),
        QueueChange::Pods { pod_set, from, to } => edit_job(object, pod_set, |job| {
            let spec = &mut job["template"]["spec"];
            spec["parallelism"] = json!(to);
            // A Job with more completions than pods at a time keeps its work.
            if spec["completions"].as_u64().is_some_and(|completions| completions <= u64::from(*from)) {
                spec["completions"] = json!(to);
            }
        }),
        QueueChange::Toleration { pod_set, taint } => edit_template(object, pod_set, |template| {
            let mut toleration = json!({"key": taint.key, "operator": "Equal", "effect": taint.effect.as_str()});
            if !taint.value.is_empty() {
                toleration["value"] = json!(taint.value);
            }
            let tolerations = &mut template["spec"]["tolerations"];
            match tolerations.as_array_mut() {
                Some(list) => list.push(toleration),
                None => *tolerations = json!([toleration]),
            }
        }),
        QueueChange::NodeSelector { pod_set, key, value } => {
            edit_template(object, pod_set, |template| template["spec"]["nodeSelector"][key] = json!(value))
        }
        QueueChange::Priority { class, .. } => {
            object["metadata"]["labels"][KUEUE_PRIORITY_CLASS] = json!(class);
            true
        }
        QueueChange::NewPriority { .. } => {
            object["metadata"]["labels"][KUEUE_PRIORITY_CLASS] = json!(NEW_CLASS);
            true
        }
        QueueChange::UseQueue { local_queue } => {
            object["metadata"]["labels"][KUEUE_QUEUE] = json!(local_queue);
            true
        }
        QueueChange::TopologyLevel { pod_set, to, .. } => edit_template(object, pod_set, |template| {
            let (key, value) = match to {
                LevelRequest::Required(level) => (annotations::REQUIRED, level.as_str()),
                LevelRequest::Preferred(level) => (annotations::PREFERRED, level.as_str()),
                LevelRequest::Unconstrained => (annotations::UNCONSTRAINED, "true"),
            };
            remove_levels(template);
            template["metadata"]["annotations"][key] = json!(value);
        }),
        QueueChange::Slices { pod_set, level, size, .. } => edit_template(object, pod_set, |template| {
            remove_levels(template);
            let list = &mut template["metadata"]["annotations"];
            list[annotations::SLICE_REQUIRED] = json!(level);
            list[annotations::SLICE_SIZE] = json!(size.to_string());
        }),
        _ => false,
    }
}

/// Annotations that request a level for a pod set; at most one is set.
const LEVELS: [&str; 3] = [annotations::REQUIRED, annotations::PREFERRED, annotations::UNCONSTRAINED];

fn remove_levels(template: &mut Value) {
    if let Some(list) = template["metadata"]["annotations"].as_object_mut() {
        for key in LEVELS {
            list.remove(key);
        }
    }
}

/// Returns the annotation that requests a level for the pods of a replicatedJob, without its prefix.
pub(super) fn level_annotation(job: &ReplicatedJob) -> Option<String> {
    let list = &job.template.template.annotations;
    let key = LEVELS.into_iter().find(|key| list.contains_key(*key))?;
    Some(key.rsplit('/').next().unwrap_or(key).to_owned())
}

fn edit_job(object: &mut Value, name: &str, edit: impl Fn(&mut Value)) -> bool {
    let jobs = object["spec"]["replicatedJobs"].as_array_mut().into_iter().flatten();
    jobs.filter(|job| job["name"] == name).for_each(edit);
    true
}

pub(super) fn edit_template(object: &mut Value, name: &str, edit: impl Fn(&mut Value)) -> bool {
    edit_job(object, name, |job| edit(&mut job["template"]["spec"]["template"]))
}

/// Returns a pool of free nodes like an existing one.
fn pool_of(like: &TasNode, count: u32, topology: &TopologySpec) -> NodePool {
    let mut labels = like.labels.clone();
    labels.remove(HOSTNAME);
    let accelerators = topology.pools.iter().map(|pool| &pool.accelerator);
    let accelerator = accelerators.into_iter().find(|name| like.allocatable.contains_key(*name));
    NodePool {
        name: format!("added-node-{}-{{node}}", like.name),
        count: 1,
        islands: 1,
        nodes_per_island: count,
        labels,
        taints: like.taints.clone(),
        allocatable: like.allocatable.clone(),
        accelerator: accelerator.cloned().unwrap_or_default(),
        ..NodePool::default()
    }
}

/// Edits the nodes of a topology, each listed with its name.
fn edit_nodes(topology: &mut TopologySpec, edit: impl Fn(&str, &NodePool, &mut NamedNode)) {
    for pool in &mut topology.pools {
        list_nodes(pool);
        let mut nodes = std::mem::take(&mut pool.nodes);
        nodes.iter_mut().for_each(|node| edit(&node.name.clone(), pool, node));
        pool.nodes = nodes;
    }
}

/// Lists all nodes of a pool with the names that they have.
fn list_nodes(pool: &mut NodePool) {
    let (islands, per_island) = (u64::from(pool.islands), u64::from(pool.nodes_per_island));
    for node in pool.nodes.len() as u64..pool.nodes() {
        let island = node / per_island.max(1);
        let numbers = NodeNumbers { pool: island / islands.max(1), island, node };
        let name = numbers.node_name(pool);
        pool.nodes.push(NamedNode { name, ..NamedNode::default() });
    }
}

/// Adds resources that pods hold, by name of the node.
pub(super) fn occupy(topology: &mut TopologySpec, held: &BTreeMap<String, BTreeMap<String, i64>>) {
    if held.is_empty() {
        return;
    }
    edit_nodes(topology, |name, pool, node| {
        for (resource, milli) in held.get(name).into_iter().flatten() {
            let present = pool.occupied.get(resource).copied().unwrap_or(0);
            *node.occupied.entry(resource.clone()).or_insert(present) += milli;
        }
    });
}

/// Frees the resources that the pods of a Workload hold. Returns whether it holds any.
pub(super) fn release(topology: &mut TopologySpec, workload: &str) -> bool {
    let mut has_pods = false;
    for node in topology.pools.iter_mut().flat_map(|pool| &mut pool.nodes) {
        for (resource, milli) in node.workloads.remove(workload).into_iter().flatten() {
            has_pods = true;
            if let Some(held) = node.occupied.get_mut(&resource) {
                *held = (*held - milli).max(0);
            }
        }
    }
    has_pods
}

/// Returns the topology without pods, and without the taints of nodes that are cordoned or not ready.
pub(super) fn emptied(topology: &TopologySpec) -> TopologySpec {
    let mut empty = topology.clone();
    for pool in &mut empty.pools {
        pool.occupied.clear();
        pool.taints.retain(|taint| !taint.key.starts_with(NODE_TAINT_PREFIX));
        for node in &mut pool.nodes {
            node.occupied.clear();
            node.taints.retain(|taint| !taint.key.starts_with(NODE_TAINT_PREFIX));
        }
    }
    empty
}

/// Returns whether the JobSet places each Job in a domain of its own, which a leader pod chooses.
pub(super) fn is_exclusive(jobset: &sim_api::spec::JobSet) -> bool {
    let jobs = &jobset.spec.replicated_jobs;
    jobset.annotations.contains_key(EXCLUSIVE_TOPOLOGY) || jobs.iter().any(|rj| jobset.webhook_key(rj).is_some())
}
