//! The headless Service of a JobSet (SVC-1).
//!
//! Must never ask whether a Service of that name is there already.

use super::job::{owner, subdomain};
use super::tree::{as_object, text};
use crate::admission::Rejection;
use crate::admission::collector::Errors;
use crate::admission::field::Path;
use crate::admission::meta_check::{labels, object_meta};
use crate::admission::names::dns1123_label;
use crate::spec::keys::JOBSET_NAME;
use serde_json::{Value, json};

/// The Service as posted; none with DNS hostnames off.
pub fn service(jobset: &Value) -> Option<Value> {
    let metadata = &jobset["metadata"];
    let publish = &jobset["spec"]["network"]["publishNotReadyAddresses"];
    Some(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": subdomain(jobset)?,
            "namespace": metadata["namespace"],
            "ownerReferences": [owner(jobset)],
        },
        "spec": {
            "clusterIP": "None",
            "selector": {JOBSET_NAME: metadata["name"]},
            "publishNotReadyAddresses": publish.as_bool().unwrap_or(true),
        },
    }))
}

/// The Service as the API server of an IPv4 cluster stores it, or why it refuses it.
pub fn admit_service(service: &Value) -> Result<Value, Rejection> {
    let mut errors = Errors::default();
    let name = text(&service["metadata"], "name");
    object_meta(&service["metadata"], dns1123_label, &mut errors);
    labels(
        &service["spec"]["selector"],
        &Path::new("spec.selector"),
        &mut errors,
    );
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
