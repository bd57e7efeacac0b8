//! Checks for `--update OLD`: computes the object that replaces the stored one and the response of the API server.

use super::finding::LintFinding;
use super::lint_subject::{self, LintSubject, NodeTarget, TextChange};
use super::rejected::{self, RejectionVerdict};
use super::{TrapCheck, trap_table};
use serde_json::Value;
use sim_api::admission;
use sim_api::admission::AdmissionRejection;
use sim_api::spec::kueue::KueueObjects;
use sim_inputs::kube::inspect::{InspectedManifest, InspectedObject};
use sim_inputs::kueue;
use sim_inputs::schema::definitions::kueue::has_kind;
use sim_inputs::text::diagnostic::{Diagnostic, SourceText};
use sim_inputs::text::node::YamlNode;
use sim_kueue::workload::webhook::update_refusal;

/// Method by which the new manifest is sent to the API server.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum UpdateMethod {
    /// `kubectl apply`: sends a merge patch of the differences from the last applied manifest.
    Apply,
    /// `kubectl replace`: sends the manifest as a PUT request.
    Replace,
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns the old JobSet with the same namespace and name, if any.
pub fn stored<'a>(
    files: &'a [InspectedManifest], new: &InspectedObject,
) -> Option<(&'a InspectedObject, &'a SourceText)> {
    let key = |o: &InspectedObject| {
        let jobset = o.jobset.as_ref()?;
        Some((jobset.namespace.clone(), jobset.name.clone()))
    };
    let wanted = key(new)?;
    let all = files.iter().flat_map(|f| f.objects.iter().map(move |o| (o, &f.source)));
    let mut same = all.filter(|(o, _)| key(o).as_ref() == Some(&wanted));
    same.next()
}

/// Returns an object of Kueue with the errors of its update, if its CRD refuses that.
pub fn refused_object(
    files: &[InspectedManifest], new: &InspectedObject, source: &SourceText,
) -> Option<InspectedObject> {
    let text = |o: &InspectedObject, key: &str| lint_subject::text(&o.node, key).map(str::to_owned);
    let key = |o: &InspectedObject| {
        let of = |key| o.node.at_path(&["metadata", key]).and_then(YamlNode::as_str).unwrap_or_default().to_owned();
        (o.kind.clone(), of("namespace"), of("name"))
    };
    if !has_kind(&text(new, "apiVersion")?, &new.kind) {
        return None;
    }
    let old = files.iter().flat_map(|file| &file.objects).find(|old| key(old) == key(new))?;
    let refusals = kueue::update_refusals(&old.node, &new.node, &new.kind);
    let errors = refusals.into_iter().map(|(at, message)| Diagnostic::at(source, at, message));
    let errors: Vec<Diagnostic> = new.errors.iter().cloned().chain(errors).collect();
    (errors.len() > new.errors.len()).then(|| InspectedObject { errors, ..new.clone() })
}

/// Returns the object as stored by the API server, and the last applied configuration.
fn before(old: &InspectedObject, target: NodeTarget) -> (Value, Value) {
    let written = old.node.to_json();
    let live = !written["metadata"]["uid"].is_null() || !written["metadata"]["resourceVersion"].is_null();
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

/// Computes the merge patch (RFC 7386): the new manifest, with null for each key that was applied last and is now
/// missing.
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

fn after(stored: &Value, last: &Value, new: &Value, how: UpdateMethod) -> Value {
    match how {
        UpdateMethod::Apply => {
            let mut object = stored.clone();
            admission::merge_patch(&mut object, &three_way(last, new));
            object
        }
        UpdateMethod::Replace => {
            let mut object = new.clone();
            // kubectl adds the namespace and the version and identity of the stored object to the request.
            for key in ["namespace", "uid", "resourceVersion", "creationTimestamp", "generation"] {
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

pub fn verdict(
    new: &InspectedObject, old: &(&InspectedObject, &SourceText), how: UpdateMethod, target: NodeTarget,
    has_kueue: bool,
) -> RejectionVerdict {
    let written = new.node.to_json();
    let (stored, last) = before(old.0, target);
    let sent = after(&stored, &last, &written, how);
    let updated = admission::update(&stored, &sent, rejected::gates(target));
    let updated = updated.and_then(|object| match refused_by_kueue(&stored, &object).filter(|_| has_kueue) {
        Some(rejection) => Err(rejection),
        None => Ok(object),
    });
    match updated {
        Ok(object) => RejectionVerdict::Accepted {
            refused: rejected::refusals(&object, target),
            creation: creation(&object, target),
            stored: object,
        },
        Err(rejection) => RejectionVerdict::Rejected(rejection),
    }
}

/// Returns the refusal of Kueue's webhook.
fn refused_by_kueue(stored: &Value, new: &Value) -> Option<AdmissionRejection> {
    let read = |object: &Value| sim_inputs::stored_jobset(object).ok();
    update_refusal(&read(stored)?, &read(new)?, &KueueObjects::default())
}

/// Returns the error that the API server would return if the object were created.
fn creation(object: &Value, target: NodeTarget) -> Option<AdmissionRejection> {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for key in ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"] {
            metadata.remove(key);
        }
    }
    rejected::post(&object, target).err()
}

/// Returns the traps of an accepted update.
pub fn traps(
    old: &(&InspectedObject, &SourceText), new: &LintSubject, after: &Value,
    creation_refused: Option<&AdmissionRejection>,
) -> Vec<LintFinding> {
    let Some(jobset) = &old.0.jobset else {
        return Vec::new();
    };
    let (before, _) = before(old.0, new.target);
    let old =
        LintSubject { jobset, node: &old.0.node, source: old.1, objects: &[], target: new.target, refused: Vec::new() };
    let change = TextChange { old: &old, new, before: &before, after, creation_refused };
    let mut findings = Vec::new();
    for trap in trap_table::all() {
        if let TrapCheck::Update(check) = trap.check {
            findings.extend(check(&change).iter().map(|hit| LintFinding::new(trap, new, hit)));
        }
    }
    findings
}
