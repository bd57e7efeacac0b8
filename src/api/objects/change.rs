//! What the JobSet controller changes on Jobs that exist: suspension, the merge on resume (SUS-5), elastic size
//! (ELA-2).
//!
//! Must never create or delete.

use super::tree::{array, has, int, object, pairs};
use serde_json::{Map, Value};

/// SUS-5: what may have changed in the JobSet's template while the Job was suspended is merged in; nothing is removed.
pub fn resume(job: &mut Value, replicated_job: &Value) {
    let template = &replicated_job["template"]["spec"]["template"];
    let pod = &mut job["spec"]["template"];
    for kind in ["labels", "annotations"] {
        merge_map(&mut pod["metadata"], kind, &template["metadata"][kind]);
    }
    merge_map(
        &mut pod["spec"],
        "nodeSelector",
        &template["spec"]["nodeSelector"],
    );
    for kind in ["tolerations", "schedulingGates"] {
        merge_list(&mut pod["spec"], kind, &template["spec"][kind]);
    }
    suspend(job, false);
}

/// Sets `spec.suspend`.
pub fn suspend(job: &mut Value, suspended: bool) {
    object(job, "spec").insert("suspend".to_owned(), suspended.into());
}

/// Keys of the template win.
fn merge_map(target: &mut Value, name: &str, from: &Value) {
    if pairs(from).next().is_some() {
        let entries = pairs(from).map(|(key, value)| (key.clone(), value.clone()));
        object(target, name).extend(entries);
    }
}

/// Items that are not there yet are appended.
fn merge_list(target: &mut Value, name: &str, from: &Value) {
    for item in from.as_array().into_iter().flatten() {
        let items = array(target, name);
        if !items.contains(item) {
            items.push(item.clone());
        }
    }
}

/// ELA-2: the merge patch for a Job whose size differs from its template, if the template has one size.
///
/// An absent size differs from the stored default every time (C-72); the patch then removes the field.
pub fn elastic_patch(job: &Value, replicated_job: &Value) -> Option<Value> {
    let wanted = &replicated_job["template"]["spec"];
    let size = |object: &Value, name| int(object, name);
    if size(wanted, "parallelism") != size(wanted, "completions") {
        return None;
    }
    let mut spec = Map::new();
    for name in ["parallelism", "completions"] {
        if size(&job["spec"], name) != size(wanted, name) {
            let value = if has(wanted, name) {
                wanted[name].clone()
            } else {
                Value::Null
            };
            spec.insert(name.to_owned(), value);
        }
    }
    let patch = Map::from_iter([("spec".to_owned(), Value::Object(spec.clone()))]);
    (!spec.is_empty()).then_some(Value::Object(patch))
}

/// The Job after an elastic patch, with the server's defaults for what was removed.
pub fn resize(job: &mut Value, patch: &Value) {
    crate::admission::merge_patch(job, patch);
    super::defaults::size(&mut job["spec"]);
}
