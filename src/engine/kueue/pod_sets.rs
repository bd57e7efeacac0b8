//! Changes of a JobSet's pod templates when Kueue starts or stops it (`pkg/podset`).

use serde_json::{Value, json};
use sim_api::spec::keys::{FOREGROUND_DELETION, KUEUE_QUEUE};
use sim_api::spec::kueue::ResourceFlavor;
use sim_api::spec::{JobSet, ObjectDecoders, TolerationSpec};
use sim_kueue::requests::Name;
use sim_kueue::workload::topology::annotations;
use sim_kueue::workload::{Admission, PodSetAdmission, Workload};
use std::collections::{BTreeMap, BTreeSet};

const POD_SET: &str = "kueue.x-k8s.io/podset";
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

/// Returns the running JobSet, with the node labels and tolerations of the assigned flavors in its pod templates.
pub fn started(
    jobset: &JobSet, workload: &Workload, flavors: &BTreeMap<Name, ResourceFlavor>, decoders: &ObjectDecoders,
) -> JobSet {
    let Some(admission) = &workload.status.admission else { return jobset.clone() };
    edit(jobset, false, decoders, |name, template| {
        if let Some(assigned) = admission.pod_sets.iter().find(|pod_set| pod_set.name == name) {
            start_template(template, (workload, admission), assigned, flavors);
        }
    })
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
fn edit(jobset: &JobSet, suspend: bool, decoders: &ObjectDecoders, change: impl Fn(&str, &mut Value)) -> JobSet {
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
) {
    template["metadata"]["annotations"][WORKLOAD] = json!(workload.name);
    let labels = &mut template["metadata"]["labels"];
    labels[POD_SET] = json!(assigned.name);
    labels[KUEUE_QUEUE] = json!(workload.queue);
    labels[CLUSTER_QUEUE] = json!(*admission.cluster_queue);
    if assigned.topology.is_some() {
        gate_template(template, workload, assigned);
    }
    let names: BTreeSet<&Name> = assigned.flavors.values().collect();
    for flavor in names.into_iter().filter_map(|name| flavors.get(name)) {
        for (key, value) in &flavor.node_labels {
            template["spec"]["nodeSelector"][key] = json!(value);
        }
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
}

/// Adds the gate of topology-aware scheduling. A pod set that only its ClusterQueue places by topology is marked.
fn gate_template(template: &mut Value, workload: &Workload, assigned: &PodSetAdmission) {
    let pod_set = workload.pod_sets.iter().find(|pod_set| pod_set.name == assigned.name);
    let has_level = pod_set.and_then(|pod_set| pod_set.topology.as_ref()).is_some_and(|t| t.level.is_some());
    if !has_level {
        template["metadata"]["annotations"][annotations::UNCONSTRAINED] = json!("true");
    }
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
