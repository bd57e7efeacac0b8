//! `--update OLD`: the object that is stored, the object that replaces it, and what the server says.

use super::finding::Finding;
use super::rejected::{self, Verdict};
use super::subject::{Change, Subject, Target};
use super::{Check, table};
use serde_json::Value;
use sim_api::admission;
use sim_api::admission::Rejection;
use sim_inputs::kube::inspect::{Inspected, Object};
use sim_inputs::text::diagnostic::Source;

/// How the new manifest gets to the server.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// `kubectl apply`: a merge patch of what differs from the manifest applied last.
    Apply,
    /// `kubectl replace`: a PUT of the manifest.
    Replace,
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The old manifest of the same name, if there is one.
pub fn stored<'a>(files: &'a [Inspected], new: &Object) -> Option<(&'a Object, &'a Source)> {
    let key = |o: &Object| {
        let jobset = o.jobset.as_ref()?;
        Some((jobset.namespace.clone(), jobset.name.clone()))
    };
    let wanted = key(new)?;
    let all = files
        .iter()
        .flat_map(|f| f.objects.iter().map(move |o| (o, &f.source)));
    let mut same = all.filter(|(o, _)| key(o).as_ref() == Some(&wanted));
    same.next()
}

/// The object as the API server has it, and what was applied last.
fn before(old: &Object, target: Target) -> (Value, Value) {
    let written = old.node.to_json();
    let live =
        !written["metadata"]["uid"].is_null() || !written["metadata"]["resourceVersion"].is_null();
    if live {
        let last = written["metadata"]["annotations"][LAST_APPLIED].as_str();
        let last = last.and_then(|text| serde_json::from_str(text).ok());
        return (written, last.unwrap_or(Value::Null));
    }
    match rejected::post(&written, target) {
        Ok(stored) => (stored, written),
        Err(_) => (written.clone(), written),
    }
}

/// Removes what was applied last and is not written any more; then RFC 7386.
fn three_way(last: &Value, new: &Value) -> Value {
    let (Value::Object(last), Value::Object(new)) = (last, new) else {
        return new.clone();
    };
    let mut patch = new.clone();
    for (key, old) in last {
        match new.get(key) {
            None => {
                patch.insert(key.clone(), Value::Null);
            }
            Some(value) => {
                patch.insert(key.clone(), three_way(old, value));
            }
        }
    }
    Value::Object(patch)
}

fn after(stored: &Value, last: &Value, new: &Value, how: Method) -> Value {
    match how {
        Method::Apply => {
            let mut object = stored.clone();
            admission::merge_patch(&mut object, &three_way(last, new));
            object
        }
        Method::Replace => {
            let mut object = new.clone();
            // kubectl sends the namespace and the stored version and identity along.
            for key in [
                "namespace",
                "uid",
                "resourceVersion",
                "creationTimestamp",
                "generation",
            ] {
                let value = &stored["metadata"][key];
                let written = key == "namespace" && !object["metadata"][key].is_null();
                if !value.is_null() && !written {
                    object["metadata"][key] = value.clone();
                }
            }
            object
        }
    }
}

pub fn verdict(new: &Object, old: &(&Object, &Source), how: Method, target: Target) -> Verdict {
    let written = new.node.to_json();
    let (stored, last) = before(old.0, target);
    let sent = after(&stored, &last, &written, how);
    match admission::update(&stored, &sent, rejected::gates(target)) {
        Ok(object) => Verdict::Accepted {
            refused: rejected::refusals(&object, target),
            creation: creation(&object, target),
            stored: object,
        },
        Err(rejection) => Verdict::Rejected(rejection),
    }
}

/// What a creation of the object would be answered.
fn creation(object: &Value, target: Target) -> Option<Rejection> {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for key in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
            "managedFields",
        ] {
            metadata.remove(key);
        }
    }
    rejected::post(&object, target).err()
}

/// Traps of the update that the server lets through.
pub fn traps(
    old: &(&Object, &Source),
    new: &Subject,
    after: &Value,
    creation_refused: Option<&Rejection>,
) -> Vec<Finding> {
    let Some(jobset) = &old.0.jobset else {
        return Vec::new();
    };
    let (before, _) = before(old.0, new.target);
    let old = Subject {
        jobset,
        node: &old.0.node,
        source: old.1,
        objects: &[],
        target: new.target,
        refused: Vec::new(),
    };
    let change = Change {
        old: &old,
        new,
        before: &before,
        after,
        creation_refused,
    };
    let mut findings = Vec::new();
    for trap in table::all() {
        if let Check::Update(check) = trap.check {
            findings.extend(check(&change).iter().map(|hit| Finding::of(trap, new, hit)));
        }
    }
    findings
}
