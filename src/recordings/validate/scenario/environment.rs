//! Extracts the environment of a recorded JobSet: objects that existed before it, and the feature gates and role of
//! the JobSet manager.
//!
//! Only the fields for this purpose are used, never the recording's name, its description or its results.
//! Unsupported parts are reported.

use super::unmodelled::UnmodelledPart;
use crate::validate::recording::{RecordedGateSwitch, RecordedRun};
use serde_json::{Value, json};
use sim_api::admission;
use sim_api::admission::{AdmissionGates, CreateRequest};
use sim_api::objects;
use sim_api::objects::admit_any;
use sim_api::spec::{FaultAction, FaultTime, FeatureGates, GateChanges, ManagerStop, ObjectKind, ScriptedFault};
use sim_base::Duration;

/// Time for which the manager is down when its gates are switched.
const MANAGER_DOWN: Duration = Duration::from_secs(2);
/// Kinds whose only effect is described by `controlPlane.managerMayWritePodStatus`.
const ROLES: [&str; 2] = ["ClusterRole", "Role"];
const ROLE_BINDINGS: [&str; 2] = ["ClusterRoleBinding", "RoleBinding"];
const POD_STATUS: &str = "pods/status";
const KUEUE_GROUP: &str = "kueue.x-k8s.io/";

/// Returns the objects as stored by the API server, in order, or the reasons why they are not supported.
pub fn objects(recording: &RecordedRun, gates: FeatureGates) -> Result<Vec<Value>, Vec<UnmodelledPart>> {
    let (mut stored, mut reasons) = (Vec::new(), Vec::new());
    for object in recording.objects.iter().filter(|object| !is_of_kueue(object)) {
        let kind = text(&object["kind"]);
        if ROLES.contains(&kind) {
            let more = !grants_only_pod_status(object);
            reasons.extend(more.then(|| UnmodelledPart::RoleRules { kind: kind.to_owned() }));
        } else if !ROLE_BINDINGS.contains(&kind) {
            match stored_object(object, recording, gates, &stored) {
                Ok(object) => stored.push(object),
                Err(reason) => reasons.push(reason),
            }
        }
    }
    if reasons.is_empty() { Ok(stored) } else { Err(reasons) }
}

/// Returns whether an object belongs to Kueue. Its manager reads these objects, which are not among the stored ones.
pub fn is_of_kueue(object: &Value) -> bool {
    text(&object["apiVersion"]).starts_with(KUEUE_GROUP)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// Returns whether a role grants nothing beyond the permission described by the manager's flag.
fn grants_only_pod_status(role: &Value) -> bool {
    let rules = role["rules"].as_array().into_iter().flatten();
    let mut resources = rules.flat_map(|rule| rule["resources"].as_array().into_iter().flatten());
    resources.all(|resource| resource == POD_STATUS)
}

fn stored_object(
    object: &Value, recording: &RecordedRun, gates: FeatureGates, before: &[Value],
) -> Result<Value, UnmodelledPart> {
    let kind = text(&object["kind"]);
    let known = ObjectKind::from_kind(kind);
    if known == ObjectKind::Other {
        return Err(UnmodelledPart::ObjectKind { kind: kind.to_owned() });
    }
    let object = in_namespace(object, &recording.name);
    let stored = match known {
        ObjectKind::JobSet => admission::create(&CreateRequest {
            object: &object,
            namespace: &recording.name,
            gates: admission_gates(gates),
            existing_claims: &claims(before),
        }),
        _ => admit_any(
            &object,
            &objects::ObjectContext {
                priority_classes: &objects_of_kind(before, ObjectKind::PriorityClass),
                runtime_classes: &[],
                service_accounts: &[],
                pods: &objects_of_kind(before, ObjectKind::Pod),
                nodes: &objects_of_kind(before, ObjectKind::Node),
            },
        ),
    };
    stored.map_err(|rejection| UnmodelledPart::RejectedObject {
        kind: kind.to_owned(),
        name: text(&object["metadata"]["name"]).to_owned(),
        reason: rejection.message,
    })
}

fn objects_of_kind(objects: &[Value], kind: ObjectKind) -> Vec<Value> {
    let wanted = |o: &&Value| o["kind"] == kind.as_str();
    objects.iter().filter(wanted).cloned().collect()
}

/// Returns the PersistentVolumeClaims among the objects (VAL-19, VAL-20).
pub fn claims(objects: &[Value]) -> Vec<Value> {
    objects_of_kind(objects, ObjectKind::PersistentVolumeClaim)
}

/// Returns the object as posted. Recordings omit the namespace, which is the recording's name.
pub fn in_namespace(object: &Value, namespace: &str) -> Value {
    let mut object = object.clone();
    let known = ObjectKind::from_kind(text(&object["kind"]));
    if known.is_namespaced() && object["metadata"].is_object() && object["metadata"]["namespace"].is_null() {
        object["metadata"]["namespace"] = json!(namespace);
    }
    object
}

pub fn admission_gates(gates: FeatureGates) -> AdmissionGates {
    AdmissionGates {
        in_place_restart: gates.in_place_restart,
        restart_job: gates.restart_job,
        elastic_job_set: gates.elastic_jobset,
    }
}

/// Returns the initial gates and their switches. After a switch, the initial gates that are not in its `off` are
/// enabled.
pub fn initial_gates_and_switches(
    recording: &RecordedRun,
) -> Result<(FeatureGates, Vec<ScriptedFault>), Vec<UnmodelledPart>> {
    let mut reasons = Vec::new();
    let mut gates = FeatureGates::default();
    let names = &recording.control_plane.feature_gates;
    set_gates(&mut gates, names, true, &mut reasons);
    let switch = |entry: &RecordedGateSwitch| {
        let mut without = gates;
        set_gates(&mut without, &entry.off, false, &mut reasons);
        let keys = entry.unknown.keys().cloned();
        let place = "gateSwitches ";
        reasons.extend(keys.map(|key| UnmodelledPart::UnknownKey { place, key }));
        ScriptedFault {
            at: FaultTime::At(Duration::from_millis(entry.at_ms)),
            action: FaultAction::StopManager(ManagerStop {
                down_for: MANAGER_DOWN,
                gates: GateChanges {
                    in_place_restart: Some(without.in_place_restart),
                    restart_job: Some(without.restart_job),
                    elastic_jobset: Some(without.elastic_jobset),
                },
            }),
            random_cause: None,
            entry: None,
        }
    };
    let entries = recording.control_plane.gate_switches.iter();
    let switches: Vec<ScriptedFault> = entries.map(switch).collect();
    if reasons.is_empty() { Ok((gates, switches)) } else { Err(reasons) }
}

fn set_gates(gates: &mut FeatureGates, names: &[String], on: bool, reasons: &mut Vec<UnmodelledPart>) {
    for name in names {
        match name.as_str() {
            "InPlaceRestart" => gates.in_place_restart = on,
            "RestartJob" => gates.restart_job = on,
            "ElasticJobSet" => gates.elastic_jobset = on,
            _ => reasons.push(UnmodelledPart::FeatureGate { name: name.clone() }),
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/scenario/surroundings.rs"]
mod tests;
