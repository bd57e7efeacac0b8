//! Changes of a JobSet's pod templates when Kueue starts or stops it (`pkg/podset`).

use serde_json::{Value, json};
use sim_api::admission::names::dns1123_label;
use sim_api::spec::keys::FOREGROUND_DELETION;
use sim_api::spec::kueue::ResourceFlavor;
use sim_api::spec::{JobSet, ObjectDecoders, TolerationSpec};
use sim_kueue::requests::Name;
use sim_kueue::workload::topology::annotations;
use sim_kueue::workload::{Admission, PodSetAdmission, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const POD_SET: &str = "kueue.x-k8s.io/podset";
/// Labels of pods with the queues that admitted their Workload (`assignQueueLabels`).
const LOCAL_QUEUE: &str = "kueue.x-k8s.io/local-queue-name";
const CLUSTER_QUEUE: &str = "kueue.x-k8s.io/cluster-queue-name";
const WORKLOAD: &str = "kueue.x-k8s.io/workload";
/// Scheduling gate of pods that wait for their topology domain.
const TOPOLOGY_GATE: &str = "kueue.x-k8s.io/topology";

/// Fields of a pod template that Kueue changes.
const FIELDS: [(&str, &str); 5] = [
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "nodeSelector"),
    ("spec", "tolerations"),
    ("spec", "schedulingGates"),
];

/// A pod template has another value of a field that Kueue sets (`podset.Merge`): the JobSet never starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSetConflict {
    field: &'static str,
    key: String,
    own: String,
    new: String,
}

impl fmt::Display for PodSetConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PodSetConflict { field, key, own, new } = self;
        write!(f, "invalid admission check PodSetUpdate: conflict for {field}: ")?;
        write!(f, "conflict for key={key}, value1={own}, value2={new}")
    }
}

impl std::error::Error for PodSetConflict {}

/// Returns the running JobSet, with the node labels and tolerations of the assigned flavors in its pod templates.
pub fn started(
    jobset: &JobSet, workload: &Workload, flavors: &BTreeMap<Name, ResourceFlavor>, decoders: &ObjectDecoders,
) -> Result<JobSet, PodSetConflict> {
    let Some(admission) = &workload.status.admission else { return Ok(jobset.clone()) };
    let mut conflict = None;
    let started = edit(jobset, false, decoders, |name, template| {
        if let Some(assigned) = admission.pod_sets.iter().find(|pod_set| pod_set.name == name) {
            let result = start_template(template, (workload, admission), assigned, flavors);
            conflict = conflict.take().or(result.err());
        }
    });
    conflict.map_or(Ok(started), Err)
}

/// Returns the suspended JobSet with its original pod templates.
pub fn stopped(jobset: &JobSet, original: &JobSet, decoders: &ObjectDecoders) -> JobSet {
    edit(jobset, true, decoders, |name, template| {
        let Some(original) = original.object.as_ref().and_then(|object| template_of(object, name)) else { return };
        for (part, field) in FIELDS {
            match &original[part][field] {
                Value::Null => {
                    if let Some(fields) = template[part].as_object_mut() {
                        fields.remove(field);
                    }
                }
                value => template[part][field] = value.clone(),
            }
        }
    })
}

/// Sets `suspend` and changes each pod template, of which the name of the replicatedJob is given.
fn edit(jobset: &JobSet, suspend: bool, decoders: &ObjectDecoders, mut change: impl FnMut(&str, &mut Value)) -> JobSet {
    let mut edited = jobset.clone();
    edited.set_suspend(suspend);
    let Some(object) = &edited.object else { return edited };
    let mut object = (**object).clone();
    for job in object["spec"]["replicatedJobs"].as_array_mut().into_iter().flatten() {
        let name = job["name"].as_str().unwrap_or_default().to_owned();
        change(&name, &mut job["template"]["spec"]["template"]);
    }
    let Ok(mut decoded) = (decoders.jobset)(&object) else { return edited };
    decoded.finalizers.retain(|name| name != FOREGROUND_DELETION);
    decoded
}

fn template_of<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let mut jobs = object["spec"]["replicatedJobs"].as_array()?.iter();
    Some(&jobs.find(|job| job["name"] == name)?["template"]["spec"]["template"])
}

fn start_template(
    template: &mut Value, (workload, admission): (&Workload, &Admission), assigned: &PodSetAdmission,
    flavors: &BTreeMap<Name, ResourceFlavor>,
) -> Result<(), PodSetConflict> {
    let names: BTreeSet<&Name> = assigned.flavors.values().collect();
    let flavors: Vec<&ResourceFlavor> = names.into_iter().filter_map(|name| flavors.get(name)).collect();
    let mut marks = vec![(WORKLOAD, workload.name.as_str())];
    if assigned.topology.is_some() && !has_level(workload, assigned) {
        marks.push((annotations::UNCONSTRAINED, "true"));
    }
    let mut labels = vec![(POD_SET, assigned.name.as_str()), (LOCAL_QUEUE, workload.queue.as_str())];
    if dns1123_label(&admission.cluster_queue).is_empty() {
        labels.push((CLUSTER_QUEUE, &admission.cluster_queue));
    }
    let selector: BTreeMap<&str, &str> =
        flavors.iter().flat_map(|f| &f.node_labels).map(|(key, value)| (key.as_str(), value.as_str())).collect();
    merge(template, ("metadata", "annotations"), marks)?;
    merge(template, ("metadata", "labels"), labels)?;
    merge(template, ("spec", "nodeSelector"), selector)?;
    if assigned.topology.is_some() {
        gate_template(template);
    }
    for flavor in flavors {
        for toleration in flavor.tolerations.iter().map(toleration_json) {
            let tolerations = &mut template["spec"]["tolerations"];
            if tolerations.is_null() {
                *tolerations = json!([]);
            }
            if let Some(list) = tolerations.as_array_mut().filter(|list| !list.contains(&toleration)) {
                list.push(toleration);
            }
        }
    }
    Ok(())
}

/// Adds entries to a map of a pod template, unless it has another value of one.
fn merge<'a>(
    template: &mut Value, (part, field): (&str, &'static str), entries: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), PodSetConflict> {
    for (key, new) in entries {
        let own = template[part][field][key].as_str().unwrap_or(new).to_owned();
        if own != new {
            return Err(PodSetConflict { field, key: key.to_owned(), own, new: new.to_owned() });
        }
        template[part][field][key] = json!(new);
    }
    Ok(())
}

/// Whether a pod set requests topology itself. Otherwise only its ClusterQueue places it by topology, and it is marked.
fn has_level(workload: &Workload, assigned: &PodSetAdmission) -> bool {
    let pod_set = workload.pod_sets.iter().find(|pod_set| pod_set.name == assigned.name);
    pod_set.and_then(|pod_set| pod_set.topology.as_ref()).is_some_and(|t| t.level.is_some())
}

/// Adds the gate of topology-aware scheduling.
fn gate_template(template: &mut Value) {
    let gates = &mut template["spec"]["schedulingGates"];
    if gates.is_null() {
        *gates = json!([]);
    }
    let gate = json!({"name": TOPOLOGY_GATE});
    if let Some(list) = gates.as_array_mut().filter(|list| !list.contains(&gate)) {
        list.push(gate);
    }
}

fn toleration_json(toleration: &TolerationSpec) -> Value {
    let mut object = json!({"operator": if toleration.exists { "Exists" } else { "Equal" }});
    if let Some(key) = &toleration.key {
        object["key"] = json!(key);
    }
    if !toleration.value.is_empty() {
        object["value"] = json!(toleration.value);
    }
    if let Some(effect) = toleration.effect {
        object["effect"] = json!(effect.as_str());
    }
    if let Some(seconds) = toleration.toleration_seconds {
        object["tolerationSeconds"] = json!(seconds);
    }
    object
}
