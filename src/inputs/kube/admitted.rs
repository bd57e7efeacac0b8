//! Validates objects like the API server and returns them as stored.
//!
//! This module must never accept an object that the API server would refuse.

use super::stored::{stored_job, stored_jobset, stored_node, stored_pod};
use super::written::too_large;
use crate::{server, text::diagnostic::DiagnosticReport, text::node::YamlNode};
use serde_json::{Value, json};
use sim_api::admission::AdmissionRejection;
use sim_api::objects::{ObjectContext, admit_any, existing_priority_classes};
use sim_api::spec::ObjectKind;
use sim_scheduler::SchedulerConfiguration;

const DEFAULT_NAMESPACE: &str = "default";

pub fn kind_of(object: &Value) -> ObjectKind {
    ObjectKind::from_kind(object["kind"].as_str().unwrap_or(""))
}

/// Returns a schema-checked object as the API server stores it. Returns `None` if the object is refused; the error
/// is then in `report`.
pub fn stored(node: &YamlNode, kind: ObjectKind, report: &mut DiagnosticReport) -> Option<Value> {
    if too_large(node, report) {
        return None;
    }
    let object = posted(node, kind);
    let admitted = match kind {
        ObjectKind::JobSet => server::stored(&object),
        ObjectKind::Pod => admit_pod(&object),
        _ => admit_any(&object, &ObjectContext::default()),
    };
    let understood = |object: &Value| match kind {
        ObjectKind::JobSet => stored_jobset(object).map(drop),
        ObjectKind::Job => stored_job(object).map(drop),
        ObjectKind::Pod => stored_pod(object).map(drop),
        ObjectKind::Node => stored_node(object).map(drop),
        _ => Ok(()),
    };
    let refusal = match admitted {
        Ok(object) => match understood(&object) {
            Ok(()) => return Some(object),
            Err(error) => error.to_string(),
        },
        Err(rejection) => rejection.message,
    };
    let message = format!("the {} is refused: {refusal}", kind.as_str());
    report.error(node.at, message);
    None
}

/// Returns a Pod as stored, but with the posted fields of its priority: they depend on the PriorityClasses that exist
/// when it is created. Until then its class and its RuntimeClass are assumed to exist.
fn admit_pod(posted: &Value) -> Result<Value, AdmissionRejection> {
    let spec = &posted["spec"];
    let mut classes = existing_priority_classes(spec, Vec::new(), false);
    if classes.is_empty() && spec["priority"].is_i64() {
        classes.push(json!({"metadata": {"name": ""}, "value": spec["priority"], "globalDefault": true}));
    }
    let runtime = spec["runtimeClassName"].as_str().map(str::to_owned);
    let around =
        ObjectContext { priority_classes: &classes, runtime_classes: runtime.as_slice(), ..ObjectContext::default() };
    let mut stored = admit_any(posted, &around)?;
    if let Some(fields) = stored["spec"].as_object_mut() {
        for field in ["priority", "priorityClassName", "preemptionPolicy"] {
            match &spec[field] {
                Value::Null => _ = fields.remove(field),
                value => _ = fields.insert(field.to_owned(), value.clone()),
            }
        }
    }
    Ok(stored)
}

/// Returns the object as kubectl posts it, with the default namespace filled in.
pub fn posted(node: &YamlNode, kind: ObjectKind) -> Value {
    let mut object = node.to_json();
    if kind.is_namespaced() && object["metadata"].is_object() && object["metadata"]["namespace"].is_null() {
        object["metadata"]["namespace"] = json!(DEFAULT_NAMESPACE);
    }
    object
}

/// Returns a checked KubeSchedulerConfiguration, and reports errors that the field tables do not find.
pub fn scheduler_configuration(node: &YamlNode, report: &mut DiagnosticReport) -> Value {
    let object = node.to_json();
    for error in SchedulerConfiguration::read(&object).errors {
        report.error(node.at, format!("KubeSchedulerConfiguration: {error}"));
    }
    object
}
