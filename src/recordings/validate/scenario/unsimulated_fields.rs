//! Fields of the recorded manifests and objects whose effect the program does not simulate.
//!
//! A recording with such a field is not compared as if the field were absent.

use super::unmodelled::UnmodelledPart;
use crate::validate::recording::RecordedRun;
use serde_json::Value;

/// Last keys of fields that only a real kubelet observes. The nodes of recordings have none.
const KUBELET_FIELDS: [&str; 5] =
    ["activeDeadlineSeconds", "initialDelaySeconds", "lifecycle", "livenessProbe", "readinessProbe"];
const POD_AFFINITY: &str = "podAffinity";
const HOST_NETWORK: &str = "hostNetwork";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Returns the fields of the JobSet, of the objects and of those that the script creates. `unmodelled` returns the
/// fields of an object that are not modelled.
pub fn unsimulated_fields(recording: &RecordedRun, unmodelled: impl Fn(&Value) -> Vec<String>) -> Vec<UnmodelledPart> {
    let objects = all_objects(recording);
    let mut parts = Vec::new();
    for object in &objects {
        let kind = object["kind"].as_str().unwrap_or("").to_owned();
        let mut fields = unmodelled(object);
        fields.retain(|path| {
            let key = path.rsplit('.').next().unwrap_or("");
            let without_effect = match key {
                POD_AFFINITY => selects_no_pod(object, &objects),
                HOST_NETWORK => !uses_host_ports(object),
                key => KUBELET_FIELDS.contains(&key),
            };
            !without_effect
        });
        parts.extend(fields.into_iter().map(|path| UnmodelledPart::Field { kind: kind.clone(), path }));
    }
    parts
}

fn all_objects(recording: &RecordedRun) -> Vec<Value> {
    let creates = recording.script.actions.iter().filter(|a| a.what == "create");
    let bodies = creates.filter_map(|a| serde_json::from_str::<Value>(a.body.as_deref()?).ok());
    let objects = std::iter::once(recording.job_set.clone()).chain(recording.objects.iter().cloned());
    objects.chain(bodies).collect()
}

/// Returns the pod specs of a JobSet, Job or Pod.
fn pod_specs(object: &Value) -> Vec<&Value> {
    pod_templates(object).into_iter().map(|template| &template["spec"]).collect()
}

fn pod_templates(object: &Value) -> Vec<&Value> {
    match object["kind"].as_str() {
        Some("Pod") => vec![object],
        Some("Job") => vec![&object["spec"]["template"]],
        _ => {
            let rjs = object["spec"]["replicatedJobs"].as_array();
            rjs.into_iter().flatten().map(|rj| &rj["template"]["spec"]["template"]).collect()
        }
    }
}

/// Returns whether no pod of the recording has the labels that a required podAffinity of the object selects. Such a
/// pod is never scheduled, which is simulated.
fn selects_no_pod(object: &Value, objects: &[Value]) -> bool {
    let has_labels = |wanted: &Value| {
        let mut labels = objects.iter().flat_map(pod_templates).map(|t| &t["metadata"]["labels"]);
        let wanted = wanted.as_object();
        labels.any(|labels| wanted.into_iter().flatten().all(|(key, value)| labels[key] == *value))
    };
    let affinities = pod_specs(object).into_iter().map(|spec| &spec["affinity"][POD_AFFINITY]);
    affinities.filter(|affinity| !affinity.is_null()).all(|affinity| {
        let terms = affinity[REQUIRED].as_array();
        let only_required = affinity.as_object().is_some_and(|fields| fields.len() == 1);
        only_required
            && terms.into_iter().flatten().all(|term| {
                let selector = &term["labelSelector"];
                let only_labels = selector.as_object().is_some_and(|fields| fields.len() == 1);
                only_labels && selector["matchLabels"].is_object() && !has_labels(&selector["matchLabels"])
            })
    })
}

/// Returns whether containers use ports of the node: with `hostNetwork`, every port becomes a host port.
fn uses_host_ports(object: &Value) -> bool {
    pod_specs(object).into_iter().any(|spec| {
        let containers = spec["containers"].as_array().into_iter().flatten();
        let mut ports = containers.filter_map(|c| c["ports"].as_array());
        spec[HOST_NETWORK] == true && ports.any(|ports| !ports.is_empty())
    })
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/scenario/unsimulated_fields.rs"]
mod tests;
