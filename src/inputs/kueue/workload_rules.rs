//! Refusals of Workloads by the API server, by Kueue's CRD and by its webhooks (`pkg/webhooks/workload_webhook.go`),
//! with their messages and in their order.
//!
//! Of the status, only what the validating webhook checks is checked: the API server drops the status of a new
//! Workload, and Kueue writes it. A field that the CRD does not define is refused in a new Workload only; the server of
//! a dump has removed those that it does not know.

use crate::text::locate::locate;
use crate::text::node::{SourcePosition, YamlNode};
use serde_json::{Value, json};
use sim_api::admission::error_list::ErrorList;
use sim_api::admission::field::{FieldError, FieldPath};
use sim_api::admission::{GoDecodeError, coerce, go, schema};
use sim_api::spec::keys::{ADMISSION_GATED_BY, KUEUE_ELASTIC_JOB};
use sim_kueue::workload::job_validation::check_gates;
use sim_kueue::workload::jobset::template_errors;

/// Messages about an object with their positions.
pub type Refusals = Vec<(SourcePosition, String)>;

/// Go names of the Workload and of its spec.
const V1BETA2: [&str; 2] = ["v1beta2.Workload", "v1beta2.WorkloadSpec"];
const V1BETA1: [&str; 2] = ["v1beta1.Workload", "v1beta1.WorkloadSpec"];

/// Returns the refusals of a Workload.
pub fn refusals(node: &YamlNode, is_old: bool) -> Refusals {
    let [root, spec_type] = if is_old { V1BETA1 } else { V1BETA2 };
    let object = node.to_json();
    let at = |path: &str| locate(node, path).map_or(node.at, |place| place.node.at);
    let mut written = json!({"spec": object["spec"]});
    let unknown = coerce::prune_struct(spec_type, &mut written["spec"], "spec");
    if !unknown.is_empty() && object["metadata"]["uid"].is_null() {
        let refusal = |path: &String| (at(path), format!("strict decoding error: unknown field {path:?}"));
        return unknown.iter().map(refusal).collect();
    }
    coerce::default_struct(spec_type, &mut written["spec"]);
    let spec = match go::round_trip(root, &written) {
        Ok(mut read) => without_nulls(read["spec"].take()),
        Err(error) => {
            let message = format!("admission webhook \"mworkload.kb.io\" denied the request: {error}");
            return vec![(at(&field_of(&error)), message)];
        }
    };
    let mut errors = schema_errors(spec_type, &spec);
    if !schema::blocks_cel(&errors) {
        errors.extend(rule_errors(&spec, &object["status"]));
    }
    if errors.is_empty() {
        errors = webhook_errors(&object, &spec);
    }
    errors.into_iter().map(|error| (at(error.object_path()), error.to_string())).collect()
}

/// Returns the fields of a stored Workload that this version of Kueue does not define, without the indexes of lists.
pub fn unknown_fields(node: &YamlNode, is_old: bool) -> Vec<String> {
    let [_, spec_type] = if is_old { V1BETA1 } else { V1BETA2 };
    let mut spec = node.get("spec").map_or(Value::Null, YamlNode::to_json);
    let unknown = coerce::prune_struct(spec_type, &mut spec, "spec");
    let path = |path: String| path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
    unknown.into_iter().map(path).collect()
}

/// Removes nulls, as the API server does before the validation.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            fields.map(|(key, value)| (key, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// Returns the path of the field that Go does not decode, without the indexes of lists.
fn field_of(error: &GoDecodeError) -> String {
    match error {
        GoDecodeError::FieldType { field, .. } => field.split_once('.').map_or("", |(_, path)| path).to_owned(),
        _ => "spec".to_owned(),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn schema_errors(spec_type: &'static str, spec: &Value) -> Vec<FieldError> {
    let mut errors = schema::struct_errors(spec_type, "spec", spec);
    if spec["podSets"].as_array().is_some_and(Vec::is_empty) {
        errors.push(FieldError::invalid("spec.podSets", "0", "spec.podSets in body should have at least 1 items"));
    }
    errors
}

fn has_reservation(status: &Value) -> bool {
    list(status, "conditions").iter().any(|c| c["type"] == "QuotaReserved" && c["status"] == "True")
}

/// Returns the errors of the CRD's rules in CEL.
fn rule_errors(spec: &Value, status: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut check = |holds: bool, path: &str, message: &str| {
        if !holds {
            errors.push(FieldError::invalid(path, message, ""));
        }
    };
    let pod_sets = list(spec, "podSets");
    if has_reservation(status) && status["admission"].is_object() {
        let is_complete = list(&status["admission"], "podSetAssignments").len() == pod_sets.len();
        check(is_complete, "<nil>", "podSetAssignments must have the same number of podSets as the spec");
    }
    let has_priority = spec["priority"].is_number();
    for class in ["priorityClassRef", "priorityClassName"] {
        let message = format!("priority should not be nil when {class} is set");
        check(spec[class].is_null() || has_priority, "spec", &message);
    }
    for (i, pod_set) in pod_sets.iter().enumerate() {
        let is_small = pod_set["minCount"].as_i64().is_none_or(|least| Some(least) <= pod_set["count"].as_i64());
        let message = "minCount should be positive and less or equal to count";
        check(is_small, &format!("spec.podSets[{i}]"), message);
    }
    let class = &spec["priorityClassRef"];
    for (group, kind) in [("scheduling.k8s.io", "PriorityClass"), ("kueue.x-k8s.io", "WorkloadPriorityClass")] {
        let message = format!("only the {kind} kind is allowed for the {group} group");
        check(class["group"] != group || class["kind"] == kind, "spec.priorityClassRef", &message);
    }
    errors
}

/// Returns the errors of the validating webhook (`ValidateWorkload`).
fn webhook_errors(object: &Value, spec: &Value) -> Vec<FieldError> {
    let pod_sets = list(spec, "podSets");
    let annotation = |key: &str| object["metadata"]["annotations"][key].as_str().unwrap_or_default();
    let mut errors = template_errors(pod_sets.iter().map(|pod_set| &pod_set["template"]));
    let path = FieldPath::new("spec").child("podSets");
    for (i, pod_set) in pod_sets.iter().enumerate() {
        check_slice_size(&pod_set["topologyRequest"], &path.index(i).child("topologyRequest"), &mut errors);
    }
    let partial = pod_sets.iter().filter(|pod_set| pod_set["minCount"].is_number()).count();
    if partial > 1 {
        errors.invalid(&path, &json!(partial), "at most one podSet can use minCount");
    }
    if partial > 0 && annotation(KUEUE_ELASTIC_JOB) == "true" {
        errors.invalid(&path, &json!(partial), "partial admission and elastic job cannot be used together");
    }
    check_status(&object["status"], pod_sets, &mut errors);
    check_gates(annotation(ADMISSION_GATED_BY), &mut errors);
    errors.errors
}

/// Checks that the size and the topology of slices are given together (`validateTASSliceSize`).
fn check_slice_size(request: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let path = path.child("podSetSliceSize");
    match (request["podSetSliceRequiredTopology"].is_string(), request["podSetSliceSize"].is_number()) {
        (true, false) => errors.required(&path, "must be set when podSetSliceRequiredTopology is specified"),
        (false, true) => errors.forbidden(&path, "may not be set when podSetSliceRequiredTopology is not specified"),
        _ => {}
    }
}

/// Checks the admission and the reclaimable pods (`validateAdmission`, `validateReclaimablePods`).
fn check_status(status: &Value, pod_sets: &[Value], errors: &mut ErrorList) {
    let path = FieldPath::new("status");
    let name = |value: &Value| value["name"].as_str().unwrap_or("main").to_owned();
    let named = |name: &str| pod_sets.iter().find(|pod_set| pod_set["name"] == name);
    if has_reservation(status) {
        let path = path.child("admission");
        if !status["admission"].is_object() {
            errors.required(&path, "must be set while the QuotaReserved condition is true");
        }
        for (i, assignment) in list(&status["admission"], "podSetAssignments").iter().enumerate() {
            let name = name(assignment);
            if named(&name).is_none() {
                errors.not_found(&path.child("podSetAssignments").index(i).child("name"), &name);
            }
        }
    }
    for pods in list(status, "reclaimablePods") {
        let name = name(pods);
        let path = path.child("reclaimablePods").key(&name);
        match named(&name) {
            None => {
                let known: Vec<&str> = pod_sets.iter().filter_map(|pod_set| pod_set["name"].as_str()).collect();
                errors.unsupported(&path.child("name"), &json!(name), &known);
            }
            Some(pod_set) if pods["count"].as_i64() > pod_set["count"].as_i64() => {
                let detail = format!("should be less or equal to {}", pod_set["count"]);
                errors.invalid(&path.child("count"), &pods["count"], &detail);
            }
            Some(_) => {}
        }
    }
}
