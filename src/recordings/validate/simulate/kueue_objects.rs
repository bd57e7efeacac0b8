//! Reads the objects of Kueue in a recording and the configuration of its manager.

use super::super::recording::{RecordedReadiness, RecordedRun};
use super::super::scenario::environment::is_of_kueue;
use super::super::scenario::{UnmodelledAction, UnmodelledPart};
use serde_json::{Value, json};
use sim_api::spec::kueue::KueueObjects;
use sim_inputs::kueue::read_kueue;
use sim_inputs::{Diagnostics, SourceText};

/// Returns the objects, or `None` if Kueue does not run. Parts that are not modelled are errors.
pub fn kueue_objects(recording: &RecordedRun) -> Result<Option<KueueObjects>, UnmodelledAction> {
    if recording.control_plane.kueue.is_none() {
        return Ok(None);
    }
    let mut items: Vec<Value> = recording.objects.iter().filter(|object| is_of_kueue(object)).cloned().collect();
    for queue in items.iter_mut().filter(|object| object["kind"] == "LocalQueue") {
        if queue["metadata"]["namespace"].is_null() {
            queue["metadata"]["namespace"] = json!(recording.name);
        }
    }
    items.extend(recording.control_plane.wait_for_pods_ready.as_ref().map(configuration));
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let part = |reason: String| UnmodelledPart::KueueObjects { reason };
    let manifests = read_kueue(&[SourceText { file: "objects".to_owned(), text }]).map_err(|Diagnostics(errors)| {
        UnmodelledAction::sorted(errors.into_iter().map(|error| part(error.message)).collect())
    })?;
    let fields = manifests.unmodelled.into_iter().map(|(path, _)| part(format!("field {path}")));
    let kinds = manifests.unmodelled_objects.into_iter().map(|object| part(format!("object {object}")));
    let unmodelled: Vec<UnmodelledPart> = fields.chain(kinds).collect();
    if unmodelled.is_empty() { Ok(Some(manifests.objects)) } else { Err(UnmodelledAction::sorted(unmodelled)) }
}

fn configuration(readiness: &RecordedReadiness) -> Value {
    let mut wait = json!({"timeout": format!("{}s", readiness.timeout_s)});
    if let Some(seconds) = readiness.recovery_timeout_s {
        wait["recoveryTimeout"] = json!(format!("{seconds}s"));
    }
    if let Some(block) = readiness.block_admission {
        wait["blockAdmission"] = json!(block);
    }
    if !readiness.requeuing.is_null() {
        wait["requeuingStrategy"] = readiness.requeuing.clone();
    }
    json!({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "waitForPodsReady": wait})
}
