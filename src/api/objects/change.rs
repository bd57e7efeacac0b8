//! Changes that the JobSet controller makes to existing Jobs: suspension, and the merge on resume (SUS-5).
//!
//! This module must not create or delete objects.

use super::value_access::{array_mut, object_mut, pairs};
use serde_json::Value;

/// Merges fields of the JobSet's template that may have changed while the Job was suspended (SUS-5). No field is
/// removed.
pub fn merge_template_on_resume(job: &mut Value, replicated_job: &Value) {
    let template = &replicated_job["template"]["spec"]["template"];
    let pod = &mut job["spec"]["template"];
    for kind in ["labels", "annotations"] {
        merge_map(&mut pod["metadata"], kind, &template["metadata"][kind]);
    }
    merge_map(&mut pod["spec"], "nodeSelector", &template["spec"]["nodeSelector"]);
    for kind in ["tolerations", "schedulingGates"] {
        merge_list(&mut pod["spec"], kind, &template["spec"][kind]);
    }
    set_suspend(job, false);
}

/// Sets `spec.suspend` of the Job.
pub fn set_suspend(job: &mut Value, suspended: bool) {
    object_mut(job, "spec").insert("suspend".to_owned(), suspended.into());
}

/// Merges a map of the template into the target. Values of the template take precedence.
fn merge_map(target: &mut Value, name: &str, from: &Value) {
    if pairs(from).next().is_some() {
        let entries = pairs(from).map(|(key, value)| (key.clone(), value.clone()));
        object_mut(target, name).extend(entries);
    }
}

/// Appends the items of the template that are missing in the target.
fn merge_list(target: &mut Value, name: &str, from: &Value) {
    for item in from.as_array().into_iter().flatten() {
        let items = array_mut(target, name);
        if !items.contains(item) {
            items.push(item.clone());
        }
    }
}
