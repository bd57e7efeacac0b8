//! The headless Service of a JobSet (SVC-1).
//!
//! This module must not check whether a Service of the same name exists.

use super::check::values::port_number;
use super::job::{owner_reference, subdomain};
use super::value_access::{as_object, list, text};
use crate::admission::meta_check::{labels, object_meta};
use crate::{admission::AdmissionRejection, admission::error_list::ErrorList, admission::field::FieldPath};
use crate::{admission::names::dns1123_label, spec::keys::JOBSET_NAME};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Returns the Service as posted, or `None` if DNS host names are disabled.
pub fn service(jobset: &Value) -> Option<Value> {
    let metadata = &jobset["metadata"];
    let publish = &jobset["spec"]["network"]["publishNotReadyAddresses"];
    Some(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": subdomain(jobset)?,
            "namespace": metadata["namespace"],
            "ownerReferences": [owner_reference(jobset)],
        },
        "spec": {
            "clusterIP": "None",
            "selector": {JOBSET_NAME: metadata["name"]},
            "publishNotReadyAddresses": publish.as_bool().unwrap_or(true),
        },
    }))
}

/// Checks the ports of a Service; only one with one port may leave it without a name (`validateService`,
/// `validateServicePort`).
fn ports(spec: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let ports = list(spec, "ports");
    if ports.is_empty() && text(spec, "clusterIP") != "None" && text(spec, "type") != "ExternalName" {
        errors.required(path, "");
    }
    let mut names = BTreeSet::new();
    for (k, port) in ports.iter().enumerate() {
        let (at, name) = (path.index(k), text(port, "name"));
        match name {
            "" if ports.len() > 1 => errors.required(&at.child("name"), ""),
            "" => {}
            _ => {
                errors.all_invalid(&at.child("name"), name, dns1123_label(name));
                if !names.insert(name) {
                    errors.duplicate(&at.child("name"), &name.into());
                }
            }
        }
        port_number(&port["port"], &at.child("port"), errors);
    }
}

/// Returns the Service as stored by the API server of an IPv4 cluster, or its error.
pub fn admit_service(service: &Value) -> Result<Value, AdmissionRejection> {
    let mut errors = ErrorList::default();
    let name = text(&service["metadata"], "name");
    object_meta(&service["metadata"], dns1123_label, &mut errors);
    ports(&service["spec"], &FieldPath::new("spec.ports"), &mut errors);
    labels(&service["spec"]["selector"], &FieldPath::new("spec.selector"), &mut errors);
    errors.into_rejection("Service", name)?;
    let mut stored = service.clone();
    let spec = as_object(&mut stored["spec"]);
    if spec.get("publishNotReadyAddresses") == Some(&Value::Bool(false)) {
        spec.remove("publishNotReadyAddresses");
    }
    for (field, value) in [
        ("clusterIPs", json!(["None"])),
        ("type", json!("ClusterIP")),
        ("sessionAffinity", json!("None")),
        ("ipFamilies", json!(["IPv4"])),
        ("ipFamilyPolicy", json!("SingleStack")),
        ("internalTrafficPolicy", json!("Cluster")),
    ] {
        spec.entry(field).or_insert(value);
    }
    Ok(stored)
}
