//! The mutating webhook: the defaults DEF-1…DEF-6, and the effect of its patch on the object as sent.
//!
//! This module is pure. It runs on create only and must not reject an object that Go can decode.

use super::go::{self, GoDecodeError};
use serde_json::{Map, Value, json};

/// Returns the object after the webhook's patch, or Go's decoding error.
pub fn mutate(object: &Value) -> Result<Value, GoDecodeError> {
    let read = go::round_trip_jobset(object)?;
    let mut defaulted = read.clone();
    set_defaults(&mut defaulted);
    if defaulted == read {
        // Without changed defaults the webhook responds without a patch.
        return Ok(object.clone());
    }
    let mut patched = object.clone();
    apply_written(&mut patched, &defaulted);
    Ok(patched)
}

/// Adds and changes fields. A field that is missing only because Go omits it is not removed.
fn apply_written(sent: &mut Value, written: &Value) {
    match (sent, written) {
        (Value::Object(sent), Value::Object(written)) => {
            for (key, value) in written {
                match sent.get_mut(key) {
                    Some(sent) => apply_written(sent, value),
                    None => {
                        sent.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(sent), Value::Array(written)) if sent.len() == written.len() => {
            for (sent, written) in sent.iter_mut().zip(written) {
                apply_written(sent, written);
            }
        }
        (sent, written) => *sent = written.clone(),
    }
}

fn object_field<'a>(fields: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    fields.get_mut(key).and_then(Value::as_object_mut)
}

fn object_items<'a>(fields: &'a mut Map<String, Value>, key: &str) -> Vec<&'a mut Map<String, Value>> {
    let items = fields.get_mut(key).and_then(Value::as_array_mut);
    let items = items.into_iter().flatten();
    items.filter_map(Value::as_object_mut).collect()
}

/// Sets the defaults on the object as serialized by Go, in which empty fields are missing.
fn set_defaults(object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let mut absent = |key: &str, value: Value| {
        spec.entry(key).or_insert(value);
    };
    absent("successPolicy", json!({"operator": "All"}));
    absent("startupPolicy", json!({"startupPolicyOrder": "AnyOrder"}));
    absent("network", json!({}));
    for rj in object_items(spec, "replicatedJobs") {
        let Some(job) = object_field(rj, "template").and_then(|t| object_field(t, "spec")) else {
            continue;
        };
        job.entry("completionMode").or_insert("Indexed".into());
        if let Some(pod) = object_field(job, "template").and_then(|t| object_field(t, "spec")) {
            pod.entry("restartPolicy").or_insert("OnFailure".into());
        }
    }
    if let Some(network) = object_field(spec, "network") {
        network.entry("enableDNSHostnames").or_insert(true.into());
        network.entry("publishNotReadyAddresses").or_insert(true.into());
    }
    if let Some(policy) = object_field(spec, "failurePolicy") {
        for (i, rule) in object_items(policy, "rules").into_iter().enumerate() {
            if rule.get("name").is_none_or(|n| n == "") {
                rule.insert("name".to_owned(), format!("failurePolicyRule{i}").into());
            }
        }
    }
    for policy in object_items(spec, "volumeClaimPolicies") {
        let delete = json!({"whenDeleted": "Delete"});
        policy.entry("retentionPolicy").or_insert(delete);
    }
}
