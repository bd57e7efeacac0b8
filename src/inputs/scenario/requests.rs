//! Reads `patch`, `create`, `delete`, `show` and `jobCondition` of faults: requests of a user to the API server.
//!
//! This module must never validate a request like the server. A request for a missing object is answered when it is
//! sent.

use super::cross::CrossInputs;
use super::node_patch::node_patch;
use crate::{kube, read};
use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode};
use serde_json::json;
use sim_api::spec::{
    BY_SCRIPT, DeletionPropagation, FaultAction, ObjectKind, ObjectName, RequestVerb, SubmittedJobSet, UserRequest,
};

/// Reads the action. JobSets that it creates are appended to `created`; their indices follow those of `jobSets`.
pub fn action(
    name: &str, body: &YamlNode, inputs: &CrossInputs, created: &mut Vec<SubmittedJobSet>,
    report: &mut DiagnosticReport,
) -> Option<FaultAction> {
    let request = match name {
        "create" => return create(body, inputs, created, report),
        "jobCondition" => job_condition(body)?,
        _ => UserRequest { object: object(body)?, verb: verb(name, body) },
    };
    match (request.object.kind, &request.verb) {
        (ObjectKind::JobSet, _) => drop(inputs.jobset(body.get("name")?, report)?),
        (ObjectKind::Node, verb) => {
            inputs.node(body.get("name")?, report)?;
            if let RequestVerb::Patch { status, .. } = verb {
                let merge = body.get("merge")?;
                node_patch(merge, *status, inputs.topology, report)?;
            }
        }
        _ => {}
    }
    Some(FaultAction::Request(request))
}

fn object(body: &YamlNode) -> Option<ObjectName> {
    let kind = ObjectKind::from_kind(body.get("kind")?.as_str()?);
    let name = read::string(body, "name")?;
    Some(ObjectName { kind, name })
}

fn verb(name: &str, body: &YamlNode) -> RequestVerb {
    match name {
        "patch" => RequestVerb::Patch {
            body: body.get("merge").map(YamlNode::to_json).unwrap_or_default(),
            status: read::boolean(body, "status").unwrap_or(false),
        },
        "delete" => RequestVerb::Delete {
            propagation: match body.get("propagation").and_then(YamlNode::as_str) {
                Some("Foreground") => DeletionPropagation::Foreground,
                Some("Orphan") => DeletionPropagation::Orphan,
                _ => DeletionPropagation::Background,
            },
            grace_s: read::u32_of(body, "gracePeriodSeconds"),
        },
        _ => RequestVerb::Show { fields: read::strings(body, "fields") },
    }
}

/// Reads a Job condition written by a client other than the Job controller.
fn job_condition(body: &YamlNode) -> Option<UserRequest> {
    let text = |key: &str| read::string(body, key).unwrap_or_default();
    let status = read::string(body, "status").unwrap_or_else(|| "True".to_owned());
    let condition = json!({"type": text("type"), "status": status, "reason": text("reason"),
        "message": text("message")});
    Some(UserRequest {
        object: ObjectName { kind: ObjectKind::Job, name: read::string(body, "job")? },
        verb: RequestVerb::Patch { body: json!({"status": {"conditions": [condition]}}), status: true },
    })
}

/// Reads an object that is created at the time of the fault.
fn create(
    body: &YamlNode, inputs: &CrossInputs, created: &mut Vec<SubmittedJobSet>, report: &mut DiagnosticReport,
) -> Option<FaultAction> {
    let (object, kind) = match (body.get("object"), body.get("jobSet")) {
        (Some(object), _) => (object, kube::kind_of(&object.to_json())),
        (None, Some(object)) => (object, ObjectKind::JobSet),
        (None, None) => return None,
    };
    let stored = kube::stored(object, kind, report)?;
    let name = stored["metadata"]["name"].as_str().unwrap_or("").to_owned();
    let mut verb = RequestVerb::Create { object: kube::posted(object, kind), jobset: None };
    if kind == ObjectKind::JobSet {
        let jobset = kube::stored_jobset(&stored).ok()?;
        let position = inputs.jobsets.len() + created.len();
        created.push(SubmittedJobSet { jobset, submit_at: BY_SCRIPT, source: format!("line {}", object.at.line) });
        verb = RequestVerb::Create { object: stored, jobset: u32::try_from(position).ok() };
    }
    let object = ObjectName { kind, name };
    Some(FaultAction::Request(UserRequest { object, verb }))
}
