//! Converts child objects to their form in the recordings and compares them.
//!
//! Fields that are not compared are dropped on both sides.

use crate::validate::result::RecordedDifference;
use serde_json::{Map, Value, json};
use sim_api::admission::GENERATED_SUFFIX;
use sim_api::objects;
use sim_api::objects::NO_UID;
use sim_api::spec::keys::{EXCLUSIVE_TOPOLOGY, JOB_KEY, LOST_NODE_TAINTS};
use std::net::IpAddr;

/// Fields of a pod spec that the recordings contain if they are set. Other fields are compared only if a recording
/// contains them.
const POD_FIELDS: [&str; 14] = [
    "hostname", "subdomain", "affinity", "nodeSelector", "tolerations", "schedulingGates", "priority",
    "priorityClassName", "restartPolicy", "serviceAccountName", "resourceClaims", "containers", "initContainers",
    "volumes",
];
const CONTAINER_FIELDS: [&str; 7] =
    ["name", "env", "ports", "resources", "volumeMounts", "restartPolicy", "restartPolicyRules"];
const METADATA: [&str; 7] =
    ["name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences"];

/// Returns the differences between recorded and simulated objects of one kind.
pub fn compare(path: &str, recorded: &Value, own: Vec<Value>) -> Vec<RecordedDifference> {
    let mut recorded = recorded.as_array().cloned().unwrap_or_default();
    let mut own = own;
    let order = |o: &Value| (name(o).to_owned(), o["spec"].to_string());
    recorded.sort_by_key(order);
    own.sort_by_key(order);
    let names = |objects: &[Value]| objects.iter().map(|o| name(o).to_owned()).collect::<Vec<_>>();
    if names(&recorded) != names(&own) {
        return vec![RecordedDifference::new(path, names(&recorded), names(&own))];
    }
    let mut result = Vec::new();
    for (recorded, own) in recorded.iter().zip(&mut own) {
        remove_unrecorded(recorded, own);
        let path = format!("{path}[{}]", name(recorded));
        differences(&path, recorded, own, &mut result);
    }
    result
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or("")
}

/// Removes fields of a pod spec that are recorded only in some cases and missing from this recording.
fn remove_unrecorded(recorded: &Value, own: &mut Value) {
    for pointer in ["/spec", "/spec/template/spec"] {
        let kept = recorded.pointer(pointer).and_then(Value::as_object);
        if let (Some(kept), Some(Value::Object(own))) = (kept, own.pointer_mut(pointer))
            && own.contains_key("containers")
        {
            own.retain(|field, _| {
                let always = POD_FIELDS.contains(&field.as_str()) || field == "scheduled";
                always || kept.contains_key(field)
            });
        }
    }
}

/// Collects the leaf values that differ.
fn differences(path: &str, recorded: &Value, own: &Value, result: &mut Vec<RecordedDifference>) {
    match (recorded, own) {
        (Value::Object(a), Value::Object(b)) => {
            let missing = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(missing) {
                let path = format!("{path}.{key}");
                differences(&path, &recorded[key], &own[key], result);
            }
        }
        _ if recorded != own => {
            result.push(RecordedDifference::new(path, recorded.clone(), own.clone()));
        }
        _ => {}
    }
}

/// Masks texts as in the recordings. A digest of a generated name is also masked.
pub fn mask_texts(value: &Value, generated: bool) -> Value {
    match value {
        Value::String(text) => {
            let text = text.replace(NO_UID, "<uid>").replace(GENERATED_SUFFIX, "<rand>");
            Value::String(text)
        }
        Value::Array(items) => items.iter().map(|v| mask_texts(v, generated)).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let digest = generated && key == JOB_KEY && value.is_string();
                let value = if digest { json!("<sha1>") } else { mask_texts(value, generated) };
                (key.clone(), value)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

fn metadata(object: &Value) -> Value {
    let mut kept = Map::new();
    for field in METADATA {
        let value = &object["metadata"][field];
        let empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
        if !value.is_null() && !empty {
            kept.insert(field.to_owned(), value.clone());
        }
    }
    for owner in kept.get_mut("ownerReferences").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(owner) = owner.as_object_mut() {
            owner.remove("uid");
        }
    }
    Value::Object(kept)
}

pub fn job(job: &Value) -> Value {
    let mut spec = job["spec"].clone();
    spec["template"]["metadata"] = metadata(&job["spec"]["template"]);
    spec["template"]["spec"] = pod_spec(&job["spec"]["template"]["spec"]);
    json!({"metadata": metadata(job), "spec": spec, "status": job_status(job)})
}

/// Returns the status as the API writes it: without counters of 0 and without times, and `{}` before the first write.
fn job_status(job: &Value) -> Value {
    let mut status = job["status"].clone();
    let Some(fields) = status.as_object_mut() else {
        return json!({});
    };
    let is_zero = |value: &Value| *value == 0;
    let written = fields.contains_key("startTime") || fields.contains_key("conditions");
    if !written && fields.values().all(is_zero) {
        return json!({});
    }
    fields.remove("startTime");
    fields.retain(|key, value| ["ready", "terminating"].contains(&key.as_str()) || !is_zero(value));
    for condition in fields.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(condition) = condition.as_object_mut() {
            condition.retain(|key, _| !key.ends_with("Time"));
        }
    }
    fields.insert("uncountedTerminatedPods".to_owned(), json!({}));
    if !job["spec"]["backoffLimitPerIndex"].is_null() {
        fields.insert("failedIndexes".to_owned(), json!(""));
    }
    status
}

pub fn pod(pod: &Value) -> Value {
    let mut spec = pod_spec(&pod["spec"]);
    spec["scheduled"] = json!(pod["spec"]["nodeName"].as_str().is_some_and(|n| !n.is_empty()));
    let key = pod["metadata"]["annotations"][EXCLUSIVE_TOPOLOGY].as_str();
    if let Some(key) = key
        && objects::is_exclusive(pod)
        && !objects::is_leader(pod)
    {
        spec["nodeSelector"][key] = json!("<domain>");
    }
    let mut metadata = metadata(pod);
    if let Some(masked) = name_without_suffix(&metadata) {
        metadata["name"] = masked;
    }
    let mut status = pod["status"].clone();
    for condition in status["conditions"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        // The recorder kept type, status and reason.
        condition.remove("message");
    }
    json!({"metadata": metadata, "spec": spec, "status": status})
}

/// Returns a name generated by the API server without its random suffix, or `None` for other names.
fn name_without_suffix(metadata: &Value) -> Option<Value> {
    let base = generated_base(metadata)?;
    let suffix = metadata["name"].as_str()?.strip_prefix(&base)?;
    let is_random = suffix.len() == GENERATED_SUFFIX.len();
    is_random.then(|| json!(format!("{base}<rand>")))
}

fn generated_base(metadata: &Value) -> Option<String> {
    let base = metadata["generateName"].as_str()?;
    Some(base.chars().take(GENERATED_BASE_MAX).collect())
}

/// Masks generated names that the recorder did not recognize. A generated name consists of its base, truncated to 58
/// characters, and five random characters.
pub fn mask_generated_names(objects: &mut Value) {
    for object in objects.as_array_mut().into_iter().flatten() {
        let base = object["metadata"]["generateName"].as_str();
        let is_cut = base.is_some_and(|b| b.len() > GENERATED_BASE_MAX);
        if let Some(base) = generated_base(&object["metadata"]).filter(|_| is_cut) {
            object["metadata"]["name"] = json!(format!("{base}<rand>"));
        }
    }
}

/// Maximum length of the base of a generated name: maxGeneratedNameLength in `apiserver/pkg/storage/names`.
const GENERATED_BASE_MAX: usize = 58;

pub fn service(service: &Value) -> Value {
    let mut spec = service["spec"].clone();
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("clusterIPs");
        let address = spec.get("clusterIP").and_then(Value::as_str);
        if address.is_some_and(|text| text.parse::<IpAddr>().is_ok()) {
            spec.insert("clusterIP".to_owned(), json!("<ip>"));
        }
    }
    json!({"metadata": metadata(service), "spec": spec})
}

pub fn claim(claim: &Value) -> Value {
    json!({
        "metadata": metadata(claim),
        "spec": claim["spec"],
        "phase": claim["status"]["phase"],
    })
}

fn pod_spec(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let Some(fields) = spec.as_object_mut() else {
        return spec;
    };
    for kind in ["containers", "initContainers"] {
        for item in fields.get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten() {
            container(item);
        }
    }
    if let Some(Value::Array(tolerations)) = fields.get_mut("tolerations") {
        let added = |t: &Value| t["tolerationSeconds"] == 300 && LOST_NODE_TAINTS.iter().any(|key| t["key"] == *key);
        tolerations.retain(|t| !added(t));
    }
    fields.retain(|_, value| {
        let empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
        !empty && *value != ""
    });
    spec
}

fn container(container: &mut Value) {
    if let Some(fields) = container.as_object_mut() {
        fields.retain(|field, value| {
            let empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
            CONTAINER_FIELDS.contains(&field.as_str()) && !empty
        });
    }
}
