//! Validates objects like the API server and returns them as stored.
//!
//! This module must never accept an object that the API server would refuse.

use super::stored::{stored_job, stored_jobset, stored_node, stored_pod};
use super::written::too_large;
use crate::{server, text::diagnostic::DiagnosticReport, text::node::YamlNode};
use serde_json::{Value, json};
use sim_api::objects::{ObjectContext, admit_any};
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
