//! What a user asks of the API server.
//!
//! Must never say what the server answers.

use serde_json::Value;

/// A request of a user to the API server, and what it is about.
#[derive(Clone, Debug)]
pub struct UserRequest {
    pub object: ObjectName,
    pub verb: Verb,
}

/// Pods go by their name without the random suffix.
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
    PriorityClass,
    Namespace,
    Lease,
    /// Nothing the model has an object for.
    Other,
}

/// Kind, its name in manifests, `group/version/plural` as in `batch/v1/jobs`, whether it is in a namespace.
const KINDS: [(ObjectKind, &str, &str, bool); 10] = [
    (
        ObjectKind::JobSet,
        "JobSet",
        "jobset.x-k8s.io/v1alpha2/jobsets",
        true,
    ),
    (ObjectKind::Job, "Job", "batch/v1/jobs", true),
    (ObjectKind::Pod, "Pod", "v1/pods", true),
    (ObjectKind::Node, "Node", "v1/nodes", false),
    (ObjectKind::Service, "Service", "v1/services", true),
    (
        ObjectKind::PersistentVolumeClaim,
        "PersistentVolumeClaim",
        "v1/persistentvolumeclaims",
        true,
    ),
    (
        ObjectKind::PersistentVolume,
        "PersistentVolume",
        "v1/persistentvolumes",
        false,
    ),
    (
        ObjectKind::PriorityClass,
        "PriorityClass",
        "scheduling.k8s.io/v1/priorityclasses",
        false,
    ),
    (ObjectKind::Namespace, "Namespace", "v1/namespaces", false),
    (
        ObjectKind::Lease,
        "Lease",
        "coordination.k8s.io/v1/leases",
        true,
    ),
];

impl ObjectKind {
    /// By the `kind` of a manifest.
    pub fn of_kind(kind: &str) -> ObjectKind {
        let found = KINDS.iter().find(|k| k.1 == kind);
        found.map_or(ObjectKind::Other, |k| k.0)
    }

    /// By `group/version/plural`, the group absent for the core group.
    pub fn of_resource(resource: &str) -> ObjectKind {
        let found = KINDS.iter().find(|k| k.2 == resource);
        found.map_or(ObjectKind::Other, |k| k.0)
    }

    /// The `kind` of a manifest; `object` for what the model has no object for.
    pub fn as_str(self) -> &'static str {
        let found = KINDS.iter().find(|k| k.0 == self);
        found.map_or("object", |k| k.1)
    }

    /// Whether its objects live in a namespace.
    pub fn is_namespaced(self) -> bool {
        KINDS.iter().any(|k| k.0 == self && k.3)
    }
}

#[derive(Clone, Debug)]
pub enum Verb {
    /// A merge patch (RFC 7386) of the object or of its status.
    Patch { body: Value, status: bool },
    /// POST of an object of any kind, its namespace filled in. A JobSet is also position `jobset` of the scenario's.
    Create { object: Value, jobset: Option<u32> },
    Delete {
        propagation: Propagation,
        grace_s: Option<u32>,
    },
    /// GET; the answer holds these fields.
    Show { fields: Vec<String> },
}

/// propagationPolicy of a DELETE.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// What a patch of a Node may change; nothing else of a Node is modelled. `status` goes through its subresource.
pub const NODE_PATCHES: [&str; 4] = [
    "metadata.labels",
    "spec.taints",
    "spec.unschedulable",
    "status.allocatable",
];

/// Say which object it is, and change nothing.
const NAMING: [&str; 3] = ["apiVersion", "kind", "metadata.name"];

/// Paths of a patch of a Node that are none of `NODE_PATCHES`, or belong to the other of object and status.
pub fn unknown_node_patches(body: &Value, status: bool) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for (section, fields) in body.as_object().into_iter().flatten() {
        match fields.as_object() {
            Some(fields) => paths.extend(fields.keys().map(|field| format!("{section}.{field}"))),
            None => paths.push(section.clone()),
        }
    }
    let fits = |path: &str| {
        NODE_PATCHES.contains(&path) && path.starts_with("status.") == status
            || NAMING.contains(&path)
    };
    paths.retain(|path| !fits(path));
    paths
}
