//! Converts script actions on API objects to user requests.
//!
//! Requests without an effect in the model are errors: short phrases.

use super::environment::in_namespace;
use super::unmodelled::UnmodelledPart;
use crate::validate::recording::{RecordedRun, ScriptAction};
use serde_json::Value;
use sim_api::spec::{DeletionPropagation, ObjectKind, ObjectName, RequestVerb, UserRequest, unknown_node_patches};

/// Converts one action. `jobsets` is the number of JobSets created by actions so far.
pub fn user_request(
    action: &ScriptAction, recording: &RecordedRun, jobsets: &mut u32,
) -> Result<UserRequest, UnmodelledPart> {
    let what = action.what.as_str();
    if what == "create" {
        return create(action, recording, jobsets);
    }
    let object = object(action, recording);
    if object.kind == ObjectKind::Other {
        return Err(UnmodelledPart::ActionResource {
            action: action.what.clone(),
            resource: action.resource.clone().unwrap_or_default(),
        });
    }
    let verb = match what {
        "patch" | "patchObject" => patch(action, object.kind)?,
        "deleteObject" => RequestVerb::Delete {
            propagation: match action.propagation.as_deref() {
                None | Some("Background") => DeletionPropagation::Background,
                Some("Foreground") => DeletionPropagation::Foreground,
                Some("Orphan") => DeletionPropagation::Orphan,
                Some(other) => {
                    return Err(UnmodelledPart::Propagation { policy: other.to_owned() });
                }
            },
            grace_s: action.grace_seconds,
        },
        _ => RequestVerb::Show { fields: action.fields.clone() },
    };
    Ok(UserRequest { object, verb })
}

fn object(action: &ScriptAction, recording: &RecordedRun) -> ObjectName {
    match (&action.pod, &action.resource) {
        (Some(pod), _) => ObjectName { kind: ObjectKind::Pod, name: pod.clone() },
        (None, Some(resource)) => {
            ObjectName { kind: ObjectKind::from_resource(resource), name: action.name.clone().unwrap_or_default() }
        }
        (None, None) => ObjectName { kind: ObjectKind::JobSet, name: recording.jobset_name().to_owned() },
    }
}

fn create(action: &ScriptAction, recording: &RecordedRun, jobsets: &mut u32) -> Result<UserRequest, UnmodelledPart> {
    let object = in_namespace(&body(action)?, &recording.name);
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let kind = ObjectKind::from_kind(&text(&object["kind"]));
    if kind == ObjectKind::Other {
        return Err(UnmodelledPart::CreatedKind { kind: text(&object["kind"]) });
    }
    let is_jobset = kind == ObjectKind::JobSet;
    *jobsets += u32::from(is_jobset);
    let name = text(&object["metadata"]["name"]);
    Ok(UserRequest {
        object: ObjectName { kind, name },
        verb: RequestVerb::Create { object, jobset: is_jobset.then_some(*jobsets) },
    })
}

fn body(action: &ScriptAction) -> Result<Value, UnmodelledPart> {
    let text = action.body.as_deref().unwrap_or("");
    serde_json::from_str(text)
        .map_err(|e| UnmodelledPart::ActionBody { action: action.what.clone(), reason: e.to_string() })
}

fn patch(action: &ScriptAction, kind: ObjectKind) -> Result<RequestVerb, UnmodelledPart> {
    match action.patch_type.as_deref() {
        None | Some("merge") => {}
        Some(other) => {
            return Err(UnmodelledPart::PatchType { name: other.to_owned() });
        }
    }
    let status = match action.subresource.as_deref() {
        None => false,
        Some("status") => true,
        Some(other) => {
            return Err(UnmodelledPart::PatchedSubresource { subresource: other.to_owned() });
        }
    };
    let body = body(action)?;
    if kind == ObjectKind::Node
        && let Some(path) = unknown_node_patches(&body, status).first()
    {
        return Err(UnmodelledPart::NodePatch { path: path.to_string() });
    }
    Ok(RequestVerb::Patch { body, status })
}
