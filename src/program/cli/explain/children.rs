//! The Jobs, Services, claims and pods that the controllers would create for a JobSet, and reasons for objects that
//! are not created.
//!
//! This module must never run a simulation: creation that depends on time is described by the event it waits for.

use crate::cli::failure::CommandFailure;
use serde_json::{Value, json};
use sim_api::admission;
use sim_api::admission::{AdmissionGates, AdmissionRejection, CreateRequest, GENERATED_SUFFIX};
use sim_api::objects;
use sim_api::objects::{GlobalJobIndexes, JobSlot, ObjectContext};
use sim_api::spec::keys;

/// An object with notes about it. An entry without an object explains why an object is not created.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildEntry {
    pub notes: Vec<String>,
    pub object: Option<Value>,
}

/// Receives the children one by one, because there may be more than fit into memory.
type ChildSink<'a> = dyn FnMut(ChildEntry) + 'a;

/// Emits the children of every JobSet among the documents, in order. Emits nothing if a JobSet is rejected.
pub fn children(documents: &[Value], gates: AdmissionGates, entries: &mut ChildSink<'_>) -> Result<(), CommandFailure> {
    let of_kind = |kind: &'static str| documents.iter().filter(move |d| d["kind"] == kind);
    let classes: Vec<Value> = of_kind("PriorityClass").cloned().collect();
    let runtime_classes: Vec<String> = of_kind("RuntimeClass").map(|d| name(d).to_owned()).collect();
    let admit = |document| {
        let request = CreateRequest {
            object: document,
            namespace: document["metadata"]["namespace"].as_str().unwrap_or("default"),
            gates,
            existing_claims: &[],
        };
        admission::create(&request).map_err(|refused| CommandFailure::Invalid(refused.message))
    };
    let jobsets: Vec<Value> = of_kind("JobSet").map(admit).collect::<Result<_, _>>()?;
    let around =
        ObjectContext { priority_classes: &classes, runtime_classes: &runtime_classes, ..ObjectContext::default() };
    jobsets.iter().for_each(|jobset| of_jobset(jobset, gates, &around, entries));
    Ok(())
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or("")
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl ChildEntry {
    fn note(text: String) -> ChildEntry {
        ChildEntry { notes: vec![text], object: None }
    }

    fn object(object: Value, notes: Vec<String>) -> ChildEntry {
        ChildEntry { notes, object: Some(object) }
    }
}

/// Adds an admitted object, or a note with the rejection. Returns whether the object was admitted; on rejection the
/// controllers create no further objects.
fn keep(entries: &mut ChildSink<'_>, what: &str, answer: Result<Value, AdmissionRejection>, event: &str) -> bool {
    match answer {
        Ok(object) => {
            entries(ChildEntry::object(object, Vec::new()));
            true
        }
        Err(refused) => {
            let text = format!("{what} is not created: {event}: {}", refused.message);
            entries(ChildEntry::note(text));
            false
        }
    }
}

fn of_jobset(jobset: &Value, gates: AdmissionGates, around: &ObjectContext, entries: &mut ChildSink<'_>) {
    let spec = &jobset["spec"];
    if let Some(manager) = spec["managedBy"].as_str()
        && manager != keys::JOBSET_CONTROLLER
    {
        let text = format!("jobset {}: no objects are created, because it is managed by {manager}", name(jobset));
        return entries(ChildEntry::note(text));
    }
    if let Some(service) = objects::service(jobset) {
        let what = format!("service {}", name(&service));
        let answer = objects::admit_service(&service);
        if !keep(entries, &what, answer, "HeadlessServiceCreationFailed") {
            return;
        }
    }
    for claim in objects::claims(jobset) {
        let what = format!("persistentvolumeclaim {}", name(&claim));
        if !keep(entries, &what, objects::admit_claim(&claim), "PVCCreationFailed") {
            return;
        }
    }
    let rjs = items(&spec["replicatedJobs"]);
    let places = GlobalJobIndexes::for_jobset(jobset);
    for (k, rj) in rjs.iter().enumerate() {
        let waits = waits_for(jobset, k);
        let mut created = true;
        for index in 0..rj["replicas"].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0) {
            let slot = JobSlot {
                jobset,
                replicated_job: k,
                index,
                restarts: 0,
                job_restarts: gates.restart_job.then_some(0),
                global_indexes: Some(&places),
            };
            created &= of_slot(&slot, &waits, around, entries);
        }
        if !created {
            let later: Vec<&str> = rjs[k + 1..].iter().filter_map(|rj| rj["name"].as_str()).collect();
            if !later.is_empty() {
                let text = format!("later replicatedJobs are not created either: {}", later.join(", "));
                entries(ChildEntry::note(text));
            }
            return;
        }
    }
}

/// Describes what a replicatedJob waits for, by the DEP and SU rules.
fn waits_for(jobset: &Value, replicated_job: usize) -> Vec<String> {
    let rjs = items(&jobset["spec"]["replicatedJobs"]);
    let rj = &rjs[replicated_job];
    let mut waits: Vec<String> = items(&rj["dependsOn"])
        .iter()
        .map(|d| {
            let name = d["name"].as_str().unwrap_or("");
            format!("waits until replicatedJob {name} is {}", d["status"].as_str().unwrap_or(""))
        })
        .collect();
    let suspended = jobset["spec"]["suspend"] == true;
    let in_order = jobset["spec"]["startupPolicy"]["startupPolicyOrder"] == "InOrder";
    if in_order && !suspended && replicated_job > 0 {
        let before = rjs[replicated_job - 1]["name"].as_str().unwrap_or("");
        waits.push(format!("waits until replicatedJob {before} has started (InOrder)"));
    }
    waits
}

/// Adds one Job with its pods. Returns whether the Job is created.
fn of_slot(slot: &JobSlot, waits: &[String], around: &ObjectContext, entries: &mut ChildSink<'_>) -> bool {
    let posted = objects::job_of_slot(slot);
    let what = format!("job {}", name(&posted));
    let job = match objects::admit_job(&posted) {
        Ok(job) => job,
        Err(refused) => {
            let text = format!("{what} is not created: JobCreationFailed: {}", refused.message);
            entries(ChildEntry::note(text));
            return false;
        }
    };
    let mut notes: Vec<String> = waits.iter().map(|wait| format!("{what} {wait}")).collect();
    let suspended = job["spec"]["suspend"] == true;
    if suspended {
        notes.push(format!("{what} is suspended: no pods"));
    }
    if let Some(manager) = job["spec"]["managedBy"].as_str()
        && manager != "kubernetes.io/job-controller"
    {
        notes.push(format!("{what} is managed by {manager}: no pods"));
    }
    let runs = notes.len() == waits.len();
    entries(ChildEntry::object(job.clone(), notes));
    if runs {
        pods(&job, around, entries);
    }
    true
}

/// Adds the pods of the first attempt. Followers are shown as they are created after their leader has a node.
fn pods(job: &Value, around: &ObjectContext, entries: &mut ChildSink<'_>) {
    let size = |field: &str| job["spec"][field].as_u64().and_then(|n| u32::try_from(n).ok());
    let parallelism = size("parallelism").unwrap_or(0);
    let count = size("completions").map_or(parallelism, |n| n.min(parallelism));
    let indexed = job["spec"]["completionMode"] == "Indexed";
    let mut leader: Vec<Value> = Vec::new();
    let mut nodes: Vec<Value> = Vec::new();
    for index in 0..count {
        let pod = objects::pod_of_index(job, indexed.then_some(index));
        let own = ObjectContext { pods: &leader, nodes: &nodes, ..around.clone() };
        let what = pod["metadata"]["generateName"].as_str().unwrap_or("").trim_end_matches('-');
        let follows = objects::is_exclusive(&pod) && !objects::is_leader(&pod);
        match objects::admit_pod(&pod, GENERATED_SUFFIX, &own) {
            Ok(mut stored) => {
                let mut notes = Vec::new();
                if follows {
                    let leader = format!("{}-0", name(job));
                    let key = topology_key(&stored).to_owned();
                    let domain = format!("<{key} of {leader}>");
                    stored["spec"]["nodeSelector"][key] = json!(domain);
                    notes.push(format!("pod {what} waits until its leader {leader} has a node"));
                } else if objects::is_exclusive(&stored) && index == 0 {
                    let (node, domain) = leader_node(&stored);
                    leader.push(node);
                    nodes.push(domain);
                }
                entries(ChildEntry::object(stored, notes));
            }
            Err(refused) => {
                let text = format!("pod {what} is not created: FailedCreate: {}", refused.message);
                entries(ChildEntry::note(text));
            }
        }
    }
}

/// Returns the exclusive topology key of a pod; empty if there is none.
fn topology_key(pod: &Value) -> &str {
    let key = &pod["metadata"]["annotations"][keys::EXCLUSIVE_TOPOLOGY];
    key.as_str().unwrap_or("")
}

/// Returns the leader on a stand-in node, and that node.
fn leader_node(leader: &Value) -> (Value, Value) {
    let (node, key) = ("some-node", topology_key(leader));
    let mut leader = leader.clone();
    leader["spec"]["nodeName"] = json!(node);
    (leader, json!({"metadata": {"name": node, "labels": {key: "some-domain"}}}))
}
