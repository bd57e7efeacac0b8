//! Requests of a user to the API server.
//!
//! This module must not define the responses of the server.

use serde_json::Value;

/// A user's request to the API server and the object that it addresses.
#[derive(Clone, Debug)]
pub struct UserRequest {
    pub object: ObjectName,
    pub verb: RequestVerb,
}

/// Kind and name of an object. Pods are identified by their name without the random suffix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    pub kind: ObjectKind,
    pub name: String,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectKind {
    JobSet,
    Job,
    Pod,
    Node,
    Service,
    PersistentVolumeClaim,
    PersistentVolume,
    StorageClass,
    PriorityClass,
    PodDisruptionBudget,
    Namespace,
    Lease,
    /// A kind that is not modelled.
    Other,
    PodGroup,
}

/// Kind, its name in manifests, its resource as `group/version/plural` (e.g. `batch/v1/jobs`), and whether it is
/// namespaced.
const KINDS: [(ObjectKind, &str, &str, bool); 13] = [
    (ObjectKind::JobSet, "JobSet", "jobset.x-k8s.io/v1alpha2/jobsets", true),
    (ObjectKind::Job, "Job", "batch/v1/jobs", true),
    (ObjectKind::Pod, "Pod", "v1/pods", true),
    (ObjectKind::Node, "Node", "v1/nodes", false),
    (ObjectKind::Service, "Service", "v1/services", true),
    (ObjectKind::PersistentVolumeClaim, "PersistentVolumeClaim", "v1/persistentvolumeclaims", true),
    (ObjectKind::PersistentVolume, "PersistentVolume", "v1/persistentvolumes", false),
    (ObjectKind::StorageClass, "StorageClass", "storage.k8s.io/v1/storageclasses", false),
    (ObjectKind::PriorityClass, "PriorityClass", "scheduling.k8s.io/v1/priorityclasses", false),
    (ObjectKind::PodDisruptionBudget, "PodDisruptionBudget", "policy/v1/poddisruptionbudgets", true),
    (ObjectKind::Namespace, "Namespace", "v1/namespaces", false),
    (ObjectKind::Lease, "Lease", "coordination.k8s.io/v1/leases", true),
    (ObjectKind::PodGroup, "PodGroup", "scheduling.k8s.io/v1alpha2/podgroups", true),
];

impl ObjectKind {
    /// Returns the kind with the given `kind` field of a manifest.
    pub fn from_kind(kind: &str) -> ObjectKind {
        let matching = KINDS.iter().find(|k| k.1 == kind);
        matching.map_or(ObjectKind::Other, |k| k.0)
    }

    /// Returns the kind with the given `group/version/plural`, without a group for the core group.
    pub fn from_resource(resource: &str) -> ObjectKind {
        let matching = KINDS.iter().find(|k| k.2 == resource);
        matching.map_or(ObjectKind::Other, |k| k.0)
    }

    /// Returns the `kind` field of a manifest, or `object` for a kind that is not modelled.
    pub fn as_str(self) -> &'static str {
        let matching = KINDS.iter().find(|k| k.0 == self);
        matching.map_or("object", |k| k.1)
    }

    pub fn is_namespaced(self) -> bool {
        KINDS.iter().any(|k| k.0 == self && k.3)
    }
}

#[derive(Clone, Debug)]
pub enum RequestVerb {
    /// A merge patch (RFC 7386) of the object or of its status.
    Patch {
        body: Value,
        status: bool,
    },
    /// POST of an object of any kind, with its namespace set. For a JobSet, `jobset` is its index in the scenario.
    Create {
        object: Value,
        jobset: Option<u32>,
    },
    Delete {
        propagation: DeletionPropagation,
        grace_s: Option<u32>,
    },
    /// GET request that prints these fields of the object.
    Show {
        fields: Vec<String>,
    },
}

/// The propagationPolicy of a DELETE request.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DeletionPropagation {
    Background,
    Foreground,
    Orphan,
}

/// Fields of a Node that a patch may change; no other fields are modelled. `status` fields are patched through the
/// status subresource.
pub const NODE_PATCHES: [&str; 4] = ["metadata.labels", "spec.taints", "spec.unschedulable", "status.allocatable"];

/// Fields that identify the object and change nothing.
const IDENTIFYING_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata.name"];

/// Returns the paths of a patch of a Node that are not in `NODE_PATCHES`, or that belong to the other one of object
/// and status.
pub fn unknown_node_patches(body: &Value, status: bool) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for (section, fields) in body.as_object().into_iter().flatten() {
        match fields.as_object() {
            Some(fields) => paths.extend(fields.keys().map(|field| format!("{section}.{field}"))),
            None => paths.push(section.clone()),
        }
    }
    let fits = |path: &str| {
        NODE_PATCHES.contains(&path) && path.starts_with("status.") == status || IDENTIFYING_FIELDS.contains(&path)
    };
    paths.retain(|path| !fits(path));
    paths
}
