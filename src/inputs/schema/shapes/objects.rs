//! Field tables of objects other than JobSets, which exist at the start of a run or are created by a user.
//!
//! Kinds without a table have no effect in the simulation.

use super::job::JOB_SPEC;
use super::jobset::JOBSET;
use super::metadata::METADATA;
use super::pod::{EFFECTS, POD_SPEC};
use crate::schema::shape::{
    Field, INT32, Kinds, Object, STR_LIST, Shape, field, inert, not_modelled,
};

/// Kinds of the objects that an action can create.
pub static CREATED: Kinds = Kinds {
    objects: &OBJECTS,
    file: None,
};

/// Kinds of the objects that can exist at the start, inline or in a file.
pub static EXISTING: Kinds = Kinds {
    objects: &OBJECTS,
    file: Some(&OBJECTS_FILE),
};

static OBJECTS: [&Object; 9] = [
    &JOBSET,
    &JOB,
    &POD,
    &NODE,
    &SERVICE,
    &CLAIM,
    &VOLUME,
    &PRIORITY_CLASS,
    &NAMESPACE,
];

static OBJECTS_FILE: Object = Object {
    kind: "ObjectsFile",
    fields: &[field("manifest", Shape::Str, "path, relative to this file")
        .required()
        .example("others.yaml")],
};

const fn version(legal: &'static [&'static str]) -> Field {
    field("apiVersion", Shape::OneOf(legal), "").required()
}

const fn kind(legal: &'static [&'static str]) -> Field {
    field("kind", Shape::OneOf(legal), "").required()
}

const NAMED: Field = field("metadata", Shape::Object(&METADATA), "{name: ...}").required();
const STATUS: Field = inert("status", Shape::Any);

static JOB: Object = Object {
    kind: "Job",
    fields: &[
        version(&["batch/v1"]),
        kind(&["Job"]),
        NAMED,
        field("spec", Shape::Object(&JOB_SPEC), "").required(),
        STATUS,
    ],
};

static POD: Object = Object {
    kind: "Pod",
    fields: &[
        version(&["v1"]),
        kind(&["Pod"]),
        NAMED,
        field("spec", Shape::Object(&POD_SPEC), "").required(),
        STATUS,
    ],
};

static NODE: Object = Object {
    kind: "Node",
    fields: &[
        version(&["v1"]),
        kind(&["Node"]),
        NAMED,
        field("spec", Shape::Object(&NODE_SPEC), ""),
        field("status", Shape::Object(&NODE_STATUS), ""),
    ],
};

static NODE_SPEC: Object = Object {
    kind: "NodeSpec",
    fields: &[
        field("taints", Shape::List(&Shape::Object(&NODE_TAINT)), ""),
        field("unschedulable", Shape::Bool, "default: false"),
        inert("providerID", Shape::Str),
        inert("podCIDR", Shape::Str),
        inert("podCIDRs", STR_LIST),
        inert("configSource", Shape::Any),
        inert("externalID", Shape::Str),
    ],
};

pub static NODE_TAINT: Object = Object {
    kind: "NodeTaint",
    fields: &[
        field("key", Shape::Str, "").required(),
        field("value", Shape::Str, ""),
        field("effect", Shape::OneOf(EFFECTS), "").required(),
        inert("timeAdded", Shape::Any),
    ],
};

static NODE_STATUS: Object = Object {
    kind: "NodeStatus",
    fields: &[
        field(
            "allocatable",
            Shape::Map(&Shape::Amount),
            "resources of the node; pods: 110",
        ),
        field(
            "capacity",
            Shape::Map(&Shape::Amount),
            "stands in for allocatable",
        ),
        field("declaredFeatures", STR_LIST, "declared node features"),
        field(
            "conditions",
            Shape::List(&Shape::Object(&NODE_CONDITION)),
            "the node is ready; one that says otherwise is refused",
        ),
        inert("addresses", Shape::Any),
        inert("daemonEndpoints", Shape::Any),
        inert("nodeInfo", Shape::Any),
        inert("images", Shape::Any),
        inert("volumesInUse", Shape::Any),
        inert("volumesAttached", Shape::Any),
        inert("config", Shape::Any),
        inert("runtimeHandlers", Shape::Any),
        inert("features", Shape::Any),
        inert("phase", Shape::Str),
    ],
};

static NODE_CONDITION: Object = Object {
    kind: "NodeCondition",
    fields: &[
        field("type", Shape::Str, "").required(),
        field("status", Shape::OneOf(&["True", "False", "Unknown"]), "").required(),
        inert("reason", Shape::Str),
        inert("message", Shape::Str),
        inert("lastHeartbeatTime", Shape::Any),
        inert("lastTransitionTime", Shape::Any),
    ],
};

static SERVICE: Object = Object {
    kind: "Service",
    fields: &[
        version(&["v1"]),
        kind(&["Service"]),
        NAMED,
        field(
            "spec",
            Shape::Map(&Shape::Any),
            "only its name decides: a JobSet's Service is not made where one exists",
        ),
        STATUS,
    ],
};

static CLAIM: Object = Object {
    kind: "PersistentVolumeClaim",
    fields: &[
        version(&["v1"]),
        kind(&["PersistentVolumeClaim"]),
        NAMED,
        field("spec", Shape::Object(&CLAIM_SPEC), "").required(),
        STATUS,
    ],
};

const ACCESS_MODES: Shape = Shape::List(&Shape::OneOf(&[
    "ReadWriteOnce",
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOncePod",
]));
const VOLUME_MODE: Field = field(
    "volumeMode",
    Shape::OneOf(&["Block", "Filesystem"]),
    "default: Filesystem",
);

static CLAIM_SPEC: Object = Object {
    kind: "PersistentVolumeClaimSpec",
    fields: &[
        field("accessModes", ACCESS_MODES, "").required(),
        field("resources", Shape::Object(&CLAIM_RESOURCES), "").required(),
        field("storageClassName", Shape::Str, ""),
        field("volumeName", Shape::Str, ""),
        VOLUME_MODE,
        not_modelled("selector", Shape::Any),
        not_modelled("dataSource", Shape::Any),
        not_modelled("dataSourceRef", Shape::Any),
        not_modelled("volumeAttributesClassName", Shape::Str),
    ],
};

static CLAIM_RESOURCES: Object = Object {
    kind: "VolumeResourceRequirements",
    fields: &[
        field("requests", Shape::Map(&Shape::Quantity), "").required(),
        inert("limits", Shape::Map(&Shape::Quantity)),
    ],
};

static VOLUME: Object = Object {
    kind: "PersistentVolume",
    fields: &[
        version(&["v1"]),
        kind(&["PersistentVolume"]),
        NAMED,
        field(
            "spec",
            Shape::Map(&Shape::Any),
            "capacity, accessModes, storageClassName, claimRef, volumeMode and a source",
        )
        .required(),
        STATUS,
    ],
};

static PRIORITY_CLASS: Object = Object {
    kind: "PriorityClass",
    fields: &[
        version(&["scheduling.k8s.io/v1"]),
        kind(&["PriorityClass"]),
        NAMED,
        field("value", INT32, "higher goes first").required(),
        field("globalDefault", Shape::Bool, "default: false"),
        field(
            "preemptionPolicy",
            Shape::OneOf(&["PreemptLowerPriority", "Never"]),
            "default: PreemptLowerPriority",
        ),
        inert("description", Shape::Str),
    ],
};

static NAMESPACE: Object = Object {
    kind: "Namespace",
    fields: &[
        version(&["v1"]),
        kind(&["Namespace"]),
        NAMED,
        inert("spec", Shape::Any),
        STATUS,
    ],
};
