//! The PersistentVolumeClaims of a JobSet (PVC-1).
//!
//! This module must not bind claims.

use super::check::affinity::label_selector;
use super::job::owner_reference;
use super::value_access::{array_mut, has_value, list, object_mut, quantity, set_default, text};
use crate::{admission::AdmissionRejection, admission::error_list::ErrorList, admission::field::FieldPath};
use crate::{admission::meta_check::object_meta, admission::names::dns1123_subdomain, spec::keys::JOBSET_NAME};
use serde_json::{Value, json};

const ACCESS_MODES: [&str; 4] = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];

/// Returns the claims as posted, in the order of the policies.
pub fn claims(jobset: &Value) -> Vec<Value> {
    let policies = list(&jobset["spec"], "volumeClaimPolicies").iter();
    let templates = policies.flat_map(|policy| {
        let deleted = text(&policy["retentionPolicy"], "whenDeleted") == "Delete";
        let templates = list(policy, "templates").iter();
        templates.map(move |template| (deleted, template))
    });
    templates.map(|(deleted, template)| claim(jobset, template, deleted)).collect()
}

fn claim(jobset: &Value, template: &Value, deleted: bool) -> Value {
    let (metadata, name) = (&jobset["metadata"], text(&jobset["metadata"], "name"));
    let own = text(&template["metadata"], "name");
    let mut claim = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": format!("{own}-{name}"), "namespace": metadata["namespace"]},
        "spec": template["spec"],
    });
    for kind in ["labels", "annotations"] {
        if has_value(&template["metadata"], kind) {
            claim["metadata"][kind] = template["metadata"][kind].clone();
        }
    }
    let labels = object_mut(&mut claim["metadata"], "labels");
    labels.insert(JOBSET_NAME.to_owned(), name.into());
    if deleted {
        claim["metadata"]["ownerReferences"] = json!([owner_reference(jobset)]);
    }
    claim
}

/// Returns the claim as stored by the API server, or its error.
pub fn admit_claim(claim: &Value) -> Result<Value, AdmissionRejection> {
    let mut stored = claim.clone();
    set_default(&mut stored["spec"], "volumeMode", "Filesystem");
    let finalizers = array_mut(&mut stored["metadata"], "finalizers");
    finalizers.push("kubernetes.io/pvc-protection".into());
    let mut errors = ErrorList::default();
    object_meta(&stored["metadata"], dns1123_subdomain, &mut errors);
    check(&stored["spec"], &mut errors);
    errors.into_rejection("PersistentVolumeClaim", text(&claim["metadata"], "name"))?;
    stored["status"] = json!({"phase": "Pending"});
    Ok(stored)
}

fn check(spec: &Value, errors: &mut ErrorList) {
    let path = FieldPath::new("spec");
    let (modes, at) = (list(spec, "accessModes"), path.child("accessModes"));
    if modes.is_empty() {
        errors.required(&at, "at least 1 access mode is required");
    }
    label_selector(&spec["selector"], &path.child("selector"), errors);
    for mode in modes {
        if !ACCESS_MODES.iter().any(|legal| mode == legal) {
            errors.unsupported(&at, mode, &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]);
        }
    }
    if modes.len() > 1 && modes.contains(&"ReadWriteOncePod".into()) {
        errors.forbidden(&at, "may not use ReadWriteOncePod with other access modes");
    }
    let (storage, at) = (&spec["resources"]["requests"]["storage"], path.child("resources").key("storage"));
    match quantity(storage) {
        None => errors.required(&at, ""),
        Some(bytes) if bytes.is_negative() || bytes.is_zero() => {
            errors.invalid(&at, storage, "must be greater than zero")
        }
        Some(_) => {}
    }
    let class = text(spec, "storageClassName");
    if !class.is_empty() {
        errors.all_invalid(&path.child("storageClassName"), class, dns1123_subdomain(class));
    }
    let mode = text(spec, "volumeMode");
    if !matches!(mode, "Block" | "Filesystem") {
        errors.unsupported(&path.child("volumeMode"), &spec["volumeMode"], &["Block", "Filesystem"]);
    }
}
