//! Field tables of objects other than JobSets, which exist at the start of a run or are created by a user.
//!
//! Kinds without a table have no effect in the simulation.

use super::control_plane::SCHEDULER_CONFIGURATION;
use super::job::JOB_SPEC;
use super::jobset::JOBSET;
use super::metadata::METADATA;
use super::pod::{EFFECTS, POD_SPEC};
use crate::schema::field_type::{
    FieldKinds, FieldSchema, FieldType, INT32, ObjectSchema, STR_LIST, field, inert, not_modelled,
};

/// Kinds of the objects that an action can create.
pub static CREATED: FieldKinds = FieldKinds { objects: KINDS.split_at(KINDS.len() - 1).0, file: None };

/// Kinds of the objects that can exist at the start, inline or in a file, and the configuration of kube-scheduler.
pub static EXISTING: FieldKinds = FieldKinds { objects: KINDS, file: Some(&OBJECTS_FILE) };
/// Kinds of the objects in a file.
pub static IN_FILE: FieldKinds = FieldKinds { objects: KINDS, file: None };

/// The last kind is not an API object.
static KINDS: &[&ObjectSchema] = &[
    &JOBSET,
    &JOB,
    &POD,
    &NODE,
    &SERVICE,
    &CLAIM,
    &VOLUME,
    &PRIORITY_CLASS,
    &BUDGET,
    &NAMESPACE,
    &SCHEDULER_CONFIGURATION,
];

static OBJECTS_FILE: ObjectSchema = ObjectSchema {
    kind: "ObjectsFile",
    fields: &[field("manifest", FieldType::Str)
        .doc("Path of the manifest, relative to this file.")
        .required()
        .example("others.yaml")],
};

const fn version(legal: &'static [&'static str]) -> FieldSchema {
    field("apiVersion", FieldType::OneOf(legal)).required()
}

const fn kind(legal: &'static [&'static str]) -> FieldSchema {
    field("kind", FieldType::OneOf(legal)).required()
}

const NAMED: FieldSchema = field("metadata", FieldType::Object(&METADATA)).doc("{name: ...}").required();
const STATUS: FieldSchema = inert("status", FieldType::Any);

static JOB: ObjectSchema = ObjectSchema {
    kind: "Job",
    fields: &[
        version(&["batch/v1"]),
        kind(&["Job"]),
        NAMED,
        field("spec", FieldType::Object(&JOB_SPEC)).required(),
        STATUS,
    ],
};

static POD: ObjectSchema = ObjectSchema {
    kind: "Pod",
    fields: &[version(&["v1"]), kind(&["Pod"]), NAMED, field("spec", FieldType::Object(&POD_SPEC)).required(), STATUS],
};

static NODE: ObjectSchema = ObjectSchema {
    kind: "Node",
    fields: &[
        version(&["v1"]),
        kind(&["Node"]),
        NAMED,
        field("spec", FieldType::Object(&NODE_SPEC)).doc("Taints and schedulability of the node."),
        field("status", FieldType::Object(&NODE_STATUS)).doc("Resources, features and conditions of the node."),
    ],
};

static NODE_SPEC: ObjectSchema = ObjectSchema {
    kind: "NodeSpec",
    fields: &[
        field("taints", FieldType::List(&FieldType::Object(&NODE_TAINT))).doc("Taints of the node."),
        field("unschedulable", FieldType::Bool).doc("Whether the node is cordoned. Default: false."),
        inert("providerID", FieldType::Str),
        inert("podCIDR", FieldType::Str),
        inert("podCIDRs", STR_LIST),
        inert("configSource", FieldType::Any),
        inert("externalID", FieldType::Str),
    ],
};

pub static NODE_TAINT: ObjectSchema = ObjectSchema {
    kind: "NodeTaint",
    fields: &[
        field("key", FieldType::Str).required(),
        field("value", FieldType::Str).doc("Value of the taint."),
        field("effect", FieldType::OneOf(EFFECTS)).required(),
        inert("timeAdded", FieldType::Any),
    ],
};

static NODE_STATUS: ObjectSchema = ObjectSchema {
    kind: "NodeStatus",
    fields: &[
        field("allocatable", FieldType::Map(&FieldType::Amount))
            .doc("Allocatable resources of the node. The default for pods is 110."),
        field("capacity", FieldType::Map(&FieldType::Amount))
            .doc("Resources of the node, used if allocatable is absent."),
        field("declaredFeatures", STR_LIST).doc("Declared features of the node."),
        field("conditions", FieldType::List(&FieldType::Object(&NODE_CONDITION)))
            .doc("Conditions of the node. A Ready condition other than True is refused."),
        inert("addresses", FieldType::Any),
        inert("daemonEndpoints", FieldType::Any),
        inert("nodeInfo", FieldType::Any),
        inert("images", FieldType::Any),
        inert("volumesInUse", FieldType::Any),
        inert("volumesAttached", FieldType::Any),
        inert("config", FieldType::Any),
        inert("runtimeHandlers", FieldType::Any),
        inert("features", FieldType::Any),
        inert("phase", FieldType::Str),
    ],
};

static NODE_CONDITION: ObjectSchema = ObjectSchema {
    kind: "NodeCondition",
    fields: &[
        field("type", FieldType::Str).required(),
        field("status", FieldType::OneOf(&["True", "False", "Unknown"])).required(),
        inert("reason", FieldType::Str),
        inert("message", FieldType::Str),
        inert("lastHeartbeatTime", FieldType::Any),
        inert("lastTransitionTime", FieldType::Any),
    ],
};

static SERVICE: ObjectSchema = ObjectSchema {
    kind: "Service",
    fields: &[
        version(&["v1"]),
        kind(&["Service"]),
        NAMED,
        field("spec", FieldType::Map(&FieldType::Any)).doc(
            "Spec of the Service, which is ignored. If a Service with the name of a JobSet's Service exists, no \
                 other one is created.",
        ),
        STATUS,
    ],
};

static CLAIM: ObjectSchema = ObjectSchema {
    kind: "PersistentVolumeClaim",
    fields: &[
        version(&["v1"]),
        kind(&["PersistentVolumeClaim"]),
        NAMED,
        field("spec", FieldType::Object(&CLAIM_SPEC)).required(),
        STATUS,
    ],
};

const ACCESS_MODES: FieldType =
    FieldType::List(&FieldType::OneOf(&["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]));
const VOLUME_MODE: FieldSchema =
    field("volumeMode", FieldType::OneOf(&["Block", "Filesystem"])).doc("Volume mode. Default: Filesystem.");

static CLAIM_SPEC: ObjectSchema = ObjectSchema {
    kind: "PersistentVolumeClaimSpec",
    fields: &[
        field("accessModes", ACCESS_MODES).required(),
        field("resources", FieldType::Object(&CLAIM_RESOURCES)).required(),
        field("storageClassName", FieldType::Str).doc("Name of the storage class."),
        field("volumeName", FieldType::Str).doc("Name of the volume to bind to."),
        VOLUME_MODE,
        not_modelled("selector", FieldType::Any),
        not_modelled("dataSource", FieldType::Any),
        not_modelled("dataSourceRef", FieldType::Any),
        not_modelled("volumeAttributesClassName", FieldType::Str),
    ],
};

static CLAIM_RESOURCES: ObjectSchema = ObjectSchema {
    kind: "VolumeResourceRequirements",
    fields: &[
        field("requests", FieldType::Map(&FieldType::Quantity)).required(),
        inert("limits", FieldType::Map(&FieldType::Quantity)),
    ],
};

static VOLUME: ObjectSchema = ObjectSchema {
    kind: "PersistentVolume",
    fields: &[
        version(&["v1"]),
        kind(&["PersistentVolume"]),
        NAMED,
        field("spec", FieldType::Map(&FieldType::Any))
            .doc(
                "Spec of the volume: capacity, accessModes, storageClassName, claimRef, volumeMode and a volume \
                 source.",
            )
            .required(),
        STATUS,
    ],
};

static PRIORITY_CLASS: ObjectSchema = ObjectSchema {
    kind: "PriorityClass",
    fields: &[
        version(&["scheduling.k8s.io/v1"]),
        kind(&["PriorityClass"]),
        NAMED,
        field("value", INT32).doc("Priority of the pods. Pods with higher values are scheduled first.").required(),
        field("globalDefault", FieldType::Bool)
            .doc("Whether this class is the default for pods without a class. Default: false."),
        field("preemptionPolicy", FieldType::OneOf(&["PreemptLowerPriority", "Never"]))
            .doc("Preemption policy of the pods. Default: PreemptLowerPriority."),
        inert("description", FieldType::Str),
    ],
};

static BUDGET: ObjectSchema = ObjectSchema {
    kind: "PodDisruptionBudget",
    fields: &[
        version(&["policy/v1"]),
        kind(&["PodDisruptionBudget"]),
        NAMED,
        field("spec", FieldType::Object(&BUDGET_SPEC))
            .doc("Which pods an eviction or preemption has to spare.")
            .required(),
        STATUS,
    ],
};

static BUDGET_SPEC: ObjectSchema = ObjectSchema {
    kind: "PodDisruptionBudgetSpec",
    fields: &[
        field("minAvailable", FieldType::Any).doc(
            "Number of ready pods that must remain. A percentage allows no eviction, because Jobs have no \
                 scale.",
        ),
        field("maxUnavailable", FieldType::Any)
            .doc("Number of pods that may be unavailable. It allows no eviction, because Jobs have no scale."),
        field("selector", FieldType::Map(&FieldType::Any)).doc("Label selector of the pods."),
        field("unhealthyPodEvictionPolicy", FieldType::OneOf(&["IfHealthyBudget", "AlwaysAllow"])).doc(
            "Whether pods that are not ready may be evicted although the budget is exhausted. Default: \
                 IfHealthyBudget.",
        ),
    ],
};

static NAMESPACE: ObjectSchema = ObjectSchema {
    kind: "Namespace",
    fields: &[version(&["v1"]), kind(&["Namespace"]), NAMED, inert("spec", FieldType::Any), STATUS],
};
