//! The headless Service of a JobSet (SVC-1).
//!
//! This module must not check whether a Service of the same name exists.

use super::job::{owner_reference, subdomain};
use super::value_access::{as_object, text};
use crate::admission::meta_check::{labels, object_meta};
use crate::{admission::AdmissionRejection, admission::error_list::ErrorList, admission::field::FieldPath};
use crate::{admission::names::dns1123_label, spec::keys::JOBSET_NAME};
use serde_json::{Value, json};

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

/// Returns the Service as stored by the API server of an IPv4 cluster, or its error.
pub fn admit_service(service: &Value) -> Result<Value, AdmissionRejection> {
    let mut errors = ErrorList::default();
    let name = text(&service["metadata"], "name");
    object_meta(&service["metadata"], dns1123_label, &mut errors);
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
