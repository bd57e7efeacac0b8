//! The Job that the JobSet controller posts for one slot of a replicatedJob (JOB-1, LAB-1 … LAB-3, COO-1, EXC-1,
//! EXC-2).
//!
//! This module must not add fields that the API server or the Job controller adds later.

use super::admit_job;
use super::sha1::sha1_hex;
use super::value_access::{array_mut, has_value, int, list, object_mut, pairs, text};
use crate::spec::{JobSet, ReplicatedJob, keys};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Placeholder for the UID of an object that has no UID yet.
pub const NO_UID: &str = "00000000-0000-0000-0000-000000000000";

/// Input for the Job that the JobSet controller posts for one slot.
pub struct JobSlot<'a> {
    /// JobSet as stored by the API server.
    pub jobset: &'a Value,
    /// Index of the replicatedJob in the spec.
    pub replicated_job: usize,
    pub index: u32,
    /// Value of the label `restart-attempt`.
    pub restarts: u32,
    /// Value of the label `job-restart-attempt`. `None` if the feature gate RestartJob is disabled.
    pub job_restarts: Option<u32>,
    /// Precomputed places of the JobSet, to avoid computing them for each of many Jobs.
    pub global_indexes: Option<&'a GlobalJobIndexes>,
}

/// Global indexes of the Jobs of each replicatedJob, within the JobSet and within its group.
#[derive(Debug, Default)]
pub struct GlobalJobIndexes {
    /// For each replicatedJob, the number of Jobs before its first Job in the JobSet and in its group.
    first_indexes: Vec<(i64, i64)>,
    total: i64,
    groups: BTreeMap<String, i64>,
}

impl GlobalJobIndexes {
    pub fn for_jobset(jobset: &Value) -> GlobalJobIndexes {
        let mut places = GlobalJobIndexes::default();
        for rj in list(&jobset["spec"], "replicatedJobs") {
            let replicas = int(rj, "replicas").unwrap_or(0);
            let group = text(rj, "groupName");
            let in_group = places.groups.entry(group.to_owned()).or_default();
            places.first_indexes.push((places.total, *in_group));
            places.total += replicas;
            *in_group += replicas;
        }
        places
    }
}

impl JobSlot<'_> {
    pub fn spec(&self) -> &Value {
        &self.jobset["spec"]["replicatedJobs"][self.replicated_job]
    }

    /// Returns the name of the Job (NAM-1).
    pub fn name(&self) -> String {
        let name = text(&self.jobset["metadata"], "name");
        format!("{name}-{}-{}", text(self.spec(), "name"), self.index)
    }
}

pub fn job_of_slot(slot: &JobSlot) -> Value {
    let (jobset, rj) = (slot.jobset, slot.spec());
    let template = &rj["template"];
    let mut job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": slot.name(),
            "namespace": jobset["metadata"]["namespace"],
            "ownerReferences": [owner_reference(jobset)],
        },
        "spec": template["spec"],
    });
    let labels = jobset_labels(slot);
    write_metadata(&mut job["metadata"], &template["metadata"], slot, &labels);
    let own = template["spec"]["template"]["metadata"].clone();
    let pod = object_mut(&mut job["spec"], "template");
    write_metadata(pod.entry("metadata").or_insert(Value::Null), &own, slot, &labels);
    if let Some(subdomain) = subdomain(jobset) {
        object_mut(&mut job["spec"]["template"], "spec").insert("subdomain".into(), subdomain.into());
    }
    let strategy_b = [keys::EXCLUSIVE_TOPOLOGY, keys::NODE_SELECTOR_STRATEGY];
    if strategy_b.iter().all(|key| has_value(&job["metadata"]["annotations"], key)) {
        select_labelled_nodes(&mut job);
    }
    let suspend = jobset["spec"]["suspend"].as_bool().unwrap_or(false);
    object_mut(&mut job, "spec").insert("suspend".into(), suspend.into());
    add_claims(&mut job["spec"]["template"]["spec"], jobset);
    omit_empty_lists(&mut job["spec"]);
    job
}

/// Lists that Go serializes even when they are empty.
const KEPT_WHEN_EMPTY: [&str; 4] = ["containers", "nodeSelectorTerms", "rules", "values"];

/// Removes empty lists, because the controller posts its own Go types, which omit them.
fn omit_empty_lists(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let empty = |v: &Value| v.is_null() || v.as_array().is_some_and(Vec::is_empty);
            fields.retain(|name, v| !empty(v) || KEPT_WHEN_EMPTY.contains(&name.as_str()));
            fields.values_mut().for_each(omit_empty_lists);
        }
        Value::Array(items) => items.iter_mut().for_each(omit_empty_lists),
        _ => {}
    }
}

/// Returns the owner reference that makes the JobSet the controller of a child object.
pub fn owner_reference(jobset: &Value) -> Value {
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "name": jobset["metadata"]["name"],
        "uid": uid(jobset),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

pub fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or(NO_UID)
}

/// Returns the name of the headless Service (API-9), or `None` if DNS host names are disabled.
pub fn subdomain(jobset: &Value) -> Option<&str> {
    let network = &jobset["spec"]["network"];
    network["enableDNSHostnames"].as_bool().unwrap_or(false).then(|| effective_subdomain(jobset))
}

fn effective_subdomain(jobset: &Value) -> &str {
    match text(&jobset["spec"]["network"], "subdomain") {
        "" => text(&jobset["metadata"], "name"),
        set => set,
    }
}

/// Returns the labels that are also set as annotations (LAB-1).
fn jobset_labels(slot: &JobSlot) -> Vec<(&'static str, String)> {
    let (jobset, rj) = (slot.jobset, slot.spec());
    let metadata = &jobset["metadata"];
    let own;
    let places = match slot.global_indexes {
        Some(places) => places,
        None => {
            own = GlobalJobIndexes::for_jobset(jobset);
            &own
        }
    };
    let before = places.first_indexes.get(slot.replicated_job);
    let (before, before_in_group) = before.copied().unwrap_or((places.total, 0));
    let group = text(rj, "groupName");
    let in_group = places.groups.get(group).copied().unwrap_or(0);
    let index = i64::from(slot.index);
    let key = sha1_hex(&format!("{}/{}", text(metadata, "namespace"), slot.name()));
    let mut labels = vec![
        (keys::JOBSET_NAME, text(metadata, "name").to_owned()),
        (keys::JOBSET_UID, uid(jobset).to_owned()),
        (keys::REPLICATED_JOB_NAME, text(rj, "name").to_owned()),
        (keys::REPLICATED_JOB_REPLICAS, int(rj, "replicas").unwrap_or(0).to_string()),
        (keys::JOB_INDEX, index.to_string()),
        (keys::JOB_GLOBAL_INDEX, (before + index).to_string()),
        (keys::GLOBAL_REPLICAS, places.total.to_string()),
        (keys::JOB_KEY, key),
        (keys::RESTART_ATTEMPT, slot.restarts.to_string()),
        (keys::GROUP_NAME, group.to_owned()),
        (keys::GROUP_REPLICAS, in_group.to_string()),
        (keys::JOB_GROUP_INDEX, (before_in_group + index).to_string()),
    ];
    if let Some(restarts) = slot.job_restarts {
        labels.push((keys::JOB_RESTART_ATTEMPT, restarts.to_string()));
    }
    if has_value(&jobset["spec"], "coordinator") {
        labels.push((keys::COORDINATOR, coordinator_dns_name(jobset)));
    }
    labels
}

/// Returns the DNS name of the coordinator pod (COO-1).
pub fn coordinator_dns_name(jobset: &Value) -> String {
    let at = &jobset["spec"]["coordinator"];
    let number = |name| int(at, name).unwrap_or(0);
    format!(
        "{}-{}-{}-{}.{}",
        text(&jobset["metadata"], "name"),
        text(at, "replicatedJob"),
        number("jobIndex"),
        number("podIndex"),
        effective_subdomain(jobset)
    )
}

/// Writes the metadata of a Job or its pod template: the user's labels and annotations, overridden by JobSet's
/// (LAB-1 … LAB-3).
fn write_metadata(metadata: &mut Value, own: &Value, slot: &JobSlot, keys: &[(&str, String)]) {
    for kind in ["labels", "annotations"] {
        let target = object_mut(metadata, kind);
        target.extend(pairs(&own[kind]).map(|(k, v)| (k.clone(), v.clone())));
        target.extend(keys.iter().map(|(k, v)| ((*k).to_owned(), v.as_str().into())));
    }
    let annotations = object_mut(metadata, "annotations");
    copy_exclusive_annotations(&slot.jobset["metadata"], annotations);
    copy_exclusive_annotations(&slot.spec()["template"]["metadata"], annotations);
}

/// Copies the annotations for exclusive placement. node-selector is copied only together with exclusive-topology
/// (EXC-1, EXC-2).
fn copy_exclusive_annotations(metadata: &Value, target: &mut Map<String, Value>) {
    let annotations = &metadata["annotations"];
    if !has_value(annotations, keys::EXCLUSIVE_TOPOLOGY) {
        return;
    }
    for key in [keys::EXCLUSIVE_TOPOLOGY, keys::NODE_SELECTOR_STRATEGY] {
        if has_value(annotations, key) {
            target.insert(key.to_owned(), annotations[key].clone());
        }
    }
}

/// Selects nodes that were labeled and tainted for this Job (strategy B of exclusive placement).
fn select_labelled_nodes(job: &mut Value) {
    let metadata = &job["metadata"];
    let value = format!("{}_{}", text(metadata, "namespace"), text(metadata, "name"));
    let pod = &mut job["spec"]["template"]["spec"];
    object_mut(pod, "nodeSelector").insert(keys::NAMESPACED_JOB.to_owned(), value.into());
    let toleration = json!({"key": keys::NO_SCHEDULE, "operator": "Exists", "effect": "NoSchedule"});
    array_mut(pod, "tolerations").push(toleration);
}

/// Adds a volume for each claim template that a container of this pod mounts.
fn add_claims(pod: &mut Value, jobset: &Value) {
    for (name, claim) in mounted_claims(jobset, pod) {
        let volume = json!({"name": name, "persistentVolumeClaim": {"claimName": claim}});
        array_mut(pod, "volumes").push(volume);
    }
}

/// Returns the claims of the JobSet's policies that a container of this pod mounts, as (template name, claim name).
pub fn mounted_claims(jobset: &Value, pod: &Value) -> Vec<(String, String)> {
    let mounted = |name: &str| {
        let containers = ["containers", "initContainers"].map(|kind| list(pod, kind));
        let mut mounts = containers.into_iter().flatten().flat_map(|c| list(c, "volumeMounts"));
        mounts.any(|m| text(m, "name") == name)
    };
    let owner = text(&jobset["metadata"], "name");
    let policies = list(&jobset["spec"], "volumeClaimPolicies").iter();
    let names = policies.flat_map(|policy| list(policy, "templates"));
    let names = names.map(|template| text(&template["metadata"], "name"));
    let mounted = names.filter(|name| mounted(name));
    mounted.map(|name| (name.to_owned(), format!("{name}-{owner}"))).collect()
}

/// Returns true if the API server refuses the Jobs of a ReplicatedJob, so that their pods never exist; a run reports
/// this in the server's words.
pub fn refuses_job(jobset: &JobSet, rj: &ReplicatedJob) -> bool {
    let mut rjs = jobset.spec.replicated_jobs.iter();
    let Some((stored, replicated_job)) = jobset.object.as_ref().zip(rjs.position(|r| r.name == rj.name)) else {
        return false;
    };
    let job = job_of_slot(&JobSlot {
        jobset: stored,
        replicated_job,
        index: 0,
        restarts: 0,
        job_restarts: None,
        global_indexes: None,
    });
    admit_job(&job).is_err()
}
