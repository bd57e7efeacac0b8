//! Fields of the recorded manifests and objects whose effect the program does not simulate.
//!
//! A recording with such a field is not compared as if the field were absent.

use super::environment::is_of_kueue;
use super::unmodelled::UnmodelledPart;
use crate::validate::recording::RecordedRun;
use serde_json::Value;

/// Last keys of fields that only a real kubelet observes. The nodes of recordings have none.
const KUBELET_FIELDS: [&str; 5] =
    ["activeDeadlineSeconds", "initialDelaySeconds", "lifecycle", "livenessProbe", "readinessProbe"];

/// Returns the fields of the JobSet, of the objects and of those that the script creates. `unmodelled` returns the
/// fields of an object that are not modelled.
pub fn unsimulated_fields(recording: &RecordedRun, unmodelled: impl Fn(&Value) -> Vec<String>) -> Vec<UnmodelledPart> {
    let objects = all_objects(recording);
    let mut parts = Vec::new();
    for object in &objects {
        let kind = object["kind"].as_str().unwrap_or("").to_owned();
        let mut fields = unmodelled(object);
        fields.retain(|path| !KUBELET_FIELDS.contains(&path.rsplit('.').next().unwrap_or("")));
        parts.extend(fields.into_iter().map(|path| UnmodelledPart::Field { kind: kind.clone(), path }));
    }
    parts
}

fn all_objects(recording: &RecordedRun) -> Vec<Value> {
    let creates = recording.script.actions.iter().filter(|a| a.what == "create");
    let bodies = creates.filter_map(|a| serde_json::from_str::<Value>(a.body.as_deref()?).ok());
    // The reader of Kueue's objects reports their fields.
    let stored = recording.objects.iter().filter(|object| !is_of_kueue(object)).cloned();
    let objects = std::iter::once(recording.job_set.clone()).chain(stored);
    objects.chain(bodies).collect()
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/scenario/unsimulated_fields.rs"]
mod tests;
