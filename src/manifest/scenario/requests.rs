//! `patch`, `create`, `delete`, `show` and `jobCondition` of a scenario's faults: what a user asks of the API server.
//!
//! Must never judge a request as the server would; an object that does not exist then is answered at its time.

use super::cross::Inputs;
use crate::manifest::diagnostic::Report;
use crate::manifest::node::Node;
use crate::manifest::{read, server};
use crate::spec::{
    BY_SCRIPT, FaultAction, ObjectKind, ObjectName, Propagation, SubmittedJobSet, UserRequest, Verb,
};
use serde_json::json;

const KINDS: [(&str, ObjectKind); 6] = [
    ("JobSet", ObjectKind::JobSet),
    ("Job", ObjectKind::Job),
    ("Pod", ObjectKind::Pod),
    ("Node", ObjectKind::Node),
    ("Service", ObjectKind::Service),
    ("PersistentVolumeClaim", ObjectKind::PersistentVolumeClaim),
];

/// Names of the kinds, for the table of shapes.
pub const KIND_NAMES: &[&str] = &[
    "JobSet",
    "Job",
    "Pod",
    "Node",
    "Service",
    "PersistentVolumeClaim",
];

/// The action; JobSets that it creates are added to `created`, after those of `jobSets`.
pub fn action(
    name: &str,
    body: &Node,
    inputs: &Inputs,
    created: &mut Vec<SubmittedJobSet>,
    report: &mut Report,
) -> Option<FaultAction> {
    let request = match name {
        "create" => return create(body, inputs, created, report),
        "jobCondition" => job_condition(body)?,
        _ => UserRequest {
            object: object(body)?,
            verb: verb(name, body),
        },
    };
    if request.object.kind == ObjectKind::JobSet && created.is_empty() {
        inputs.jobset(body.get("name")?, report)?;
    }
    Some(FaultAction::Request(request))
}

fn object(body: &Node) -> Option<ObjectName> {
    let kind = body.get("kind")?.as_str()?;
    let kind = KINDS.iter().find(|(name, _)| *name == kind)?.1;
    let name = read::string(body, "name")?;
    Some(ObjectName { kind, name })
}

fn verb(name: &str, body: &Node) -> Verb {
    match name {
        "patch" => Verb::Patch {
            body: body.get("merge").map(Node::to_json).unwrap_or_default(),
            status: read::boolean(body, "status").unwrap_or(false),
        },
        "delete" => Verb::Delete {
            propagation: match body.get("propagation").and_then(Node::as_str) {
                Some("Foreground") => Propagation::Foreground,
                Some("Orphan") => Propagation::Orphan,
                _ => Propagation::Background,
            },
            grace_s: read::u32_of(body, "gracePeriodSeconds"),
        },
        _ => Verb::Show {
            fields: read::strings(body, "fields"),
        },
    }
}

/// A condition that somebody else than the Job controller writes.
fn job_condition(body: &Node) -> Option<UserRequest> {
    let text = |key: &str| read::string(body, key).unwrap_or_default();
    let status = read::string(body, "status").unwrap_or_else(|| "True".to_owned());
    let condition = json!({"type": text("type"), "status": status, "reason": text("reason"),
        "message": text("message")});
    Some(UserRequest {
        object: ObjectName {
            kind: ObjectKind::Job,
            name: read::string(body, "job")?,
        },
        verb: Verb::Patch {
            body: json!({"status": {"conditions": [condition]}}),
            status: true,
        },
    })
}

/// A JobSet written out in the scenario itself, posted at the fault's time.
fn create(
    body: &Node,
    inputs: &Inputs,
    created: &mut Vec<SubmittedJobSet>,
    report: &mut Report,
) -> Option<FaultAction> {
    let object = body.get("jobSet")?;
    let stored = server::stored(&object.to_json()).and_then(|o| crate::manifest::stored_jobset(&o));
    let jobset = match stored {
        Ok(jobset) => jobset,
        Err(problem) => {
            report.error(object.at, format!("the JobSet is refused: {problem}"));
            return None;
        }
    };
    let name = jobset.name.clone();
    let position = inputs.jobsets.len() + created.len();
    created.push(SubmittedJobSet {
        jobset,
        submit_at: BY_SCRIPT,
        source: format!("line {}", object.at.line),
    });
    Some(FaultAction::Request(UserRequest {
        object: ObjectName {
            kind: ObjectKind::JobSet,
            name,
        },
        verb: Verb::Create {
            jobset: u32::try_from(position).ok(),
        },
    }))
}
