//! Field tables of objects other than JobSets, which exist at the start of a run or are created by a user.
//!
//! Kinds without a table have no effect in the simulation.

use super::control_plane::SCHEDULER_CONFIGURATION;
use super::job::JOB_SPEC;
use super::jobset::JOBSET;
use super::kueue;
use super::metadata::METADATA;
use super::pod::{EFFECTS, NODE_SELECTOR, POD_SPEC};
use crate::schema::field_type::FieldType::{Amount, Any, Bool, List, Map, Object, OneOf, Quantity, Str};
use crate::schema::field_type::{
    FieldKinds, FieldSchema, FieldType, INT32, ObjectSchema, STR_LIST, STR_MAP, field, inert, not_modelled,
};

/// Kinds of the objects that an action can create.
pub static CREATED: FieldKinds = FieldKinds { objects: KINDS.split_at(KINDS.len() - 1).0, file: None, of_kueue: &[] };

/// Kinds of the objects that can exist at the start, inline or in a file, and the configuration of kube-scheduler.
pub static EXISTING: FieldKinds = FieldKinds { objects: KINDS, file: Some(&OBJECTS_FILE), of_kueue: kueue::KINDS };
/// Kinds of the objects in a file, other than those of Kueue.
pub static IN_FILE: FieldKinds = FieldKinds { objects: KINDS, file: None, of_kueue: &[] };

/// The last kind is not an API object.
static KINDS: &[&ObjectSchema] = &[
    &JOBSET, &JOB, &POD, &NODE, &SERVICE, &CLAIM, &VOLUME, &STORAGE_CLASS, &PRIORITY_CLASS, &BUDGET, &NAMESPACE,
    &POD_GROUP, &SCHEDULER_CONFIGURATION,
];

static OBJECTS_FILE: ObjectSchema = ObjectSchema {
    kind: "ObjectsFile",
    fields: &[field("manifest", Str)
        .doc("Path of the manifest, relative to this file.")
        .required()
        .example("others.yaml")],
};

const fn version(legal: &'static [&'static str]) -> FieldSchema {
    field("apiVersion", OneOf(legal)).required()
}

const fn kind(legal: &'static [&'static str]) -> FieldSchema {
    field("kind", OneOf(legal)).required()
}

const NAMED: FieldSchema = field("metadata", Object(&METADATA)).doc("{name: ...}").required();
const STATUS: FieldSchema = inert("status", Any);

static JOB: ObjectSchema = ObjectSchema {
    kind: "Job",
    fields: &[version(&["batch/v1"]), kind(&["Job"]), NAMED, field("spec", Object(&JOB_SPEC)).required(), STATUS],
};

static POD: ObjectSchema = ObjectSchema {
    kind: "Pod",
    fields: &[version(&["v1"]), kind(&["Pod"]), NAMED, field("spec", Object(&POD_SPEC)).required(), STATUS],
};

static NODE: ObjectSchema = ObjectSchema {
    kind: "Node",
    fields: &[
        version(&["v1"]),
        kind(&["Node"]),
        NAMED,
        field("spec", Object(&NODE_SPEC)).doc("Taints and schedulability of the node."),
        field("status", Object(&NODE_STATUS)).doc("Resources, features and conditions of the node."),
    ],
};

static NODE_SPEC: ObjectSchema = ObjectSchema {
    kind: "NodeSpec",
    fields: &[
        field("taints", List(&Object(&NODE_TAINT))).doc("Taints of the node."),
        field("unschedulable", Bool).doc("Whether the node is cordoned. Default: false."),
        inert("providerID", Str),
        inert("podCIDR", Str),
        inert("podCIDRs", STR_LIST),
        inert("configSource", Any),
        inert("externalID", Str),
    ],
};

pub static NODE_TAINT: ObjectSchema = ObjectSchema {
    kind: "NodeTaint",
    fields: &[
        field("key", Str).required(),
        field("value", Str).doc("Value of the taint."),
        field("effect", OneOf(EFFECTS)).required(),
        inert("timeAdded", Any),
    ],
};

static NODE_STATUS: ObjectSchema = ObjectSchema {
    kind: "NodeStatus",
    fields: &[
        field("allocatable", Map(&Amount)).doc("Allocatable resources of the node. The default for pods is 110."),
        field("capacity", Map(&Amount)).doc("Resources of the node, used if allocatable is absent."),
        field("declaredFeatures", STR_LIST).doc("Declared features of the node."),
        field("conditions", List(&Object(&NODE_CONDITION)))
            .doc("Conditions of the node. A Ready condition other than True is refused."),
        inert("addresses", Any),
        inert("daemonEndpoints", Any),
        inert("nodeInfo", Any),
        inert("images", Any),
        inert("volumesInUse", Any),
        inert("volumesAttached", Any),
        inert("config", Any),
        inert("runtimeHandlers", Any),
        inert("features", Any),
        inert("phase", Str),
    ],
};

static NODE_CONDITION: ObjectSchema = ObjectSchema {
    kind: "NodeCondition",
    fields: &[
        field("type", Str).required(),
        field("status", OneOf(&["True", "False", "Unknown"])).required(),
        inert("reason", Str),
        inert("message", Str),
        inert("lastHeartbeatTime", Any),
        inert("lastTransitionTime", Any),
    ],
};

static SERVICE: ObjectSchema = ObjectSchema {
    kind: "Service",
    fields: &[
        version(&["v1"]),
        kind(&["Service"]),
        NAMED,
        field("spec", Map(&Any)).doc(
            "Spec of the Service, which is ignored. If a Service with the name of a JobSet's Service \
                 exists, no other one is created.",
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
        field("spec", Object(&CLAIM_SPEC)).required(),
        STATUS,
    ],
};

const ACCESS_MODES: FieldType = List(&OneOf(&["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]));
const VOLUME_MODE: FieldSchema =
    field("volumeMode", OneOf(&["Block", "Filesystem"])).doc("Volume mode. Default: Filesystem.");

static CLAIM_SPEC: ObjectSchema = ObjectSchema {
    kind: "PersistentVolumeClaimSpec",
    fields: &[
        field("accessModes", ACCESS_MODES).required(),
        field("resources", Object(&CLAIM_RESOURCES)).required(),
        field("storageClassName", Str).doc("Name of the storage class. Default: the default class, if one exists."),
        field("volumeName", Str).doc("Name of the volume to bind to."),
        VOLUME_MODE,
        field("selector", Object(&LABEL_SELECTOR)).doc("Label selector of the volumes."),
        not_modelled("dataSource", Any),
        not_modelled("dataSourceRef", Any),
        not_modelled("volumeAttributesClassName", Str),
    ],
};

static CLAIM_RESOURCES: ObjectSchema = ObjectSchema {
    kind: "VolumeResourceRequirements",
    fields: &[field("requests", Map(&Quantity)).required(), inert("limits", Map(&Quantity))],
};

static VOLUME: ObjectSchema = ObjectSchema {
    kind: "PersistentVolume",
    fields: &[
        version(&["v1"]),
        kind(&["PersistentVolume"]),
        NAMED,
        field("spec", Object(&VOLUME_SPEC))
            .doc(
                "Spec of the volume: capacity, accessModes, storageClassName, claimRef, volumeMode, nodeAffinity, \
                 persistentVolumeReclaimPolicy and a volume source.",
            )
            .required(),
        STATUS,
    ],
};

static VOLUME_SPEC: ObjectSchema = ObjectSchema {
    kind: "PersistentVolumeSpec",
    fields: &[
        field("capacity", Map(&Quantity)).doc("Size of the volume."),
        field("accessModes", ACCESS_MODES).doc("Access modes of the volume."),
        field("storageClassName", Str).doc("Name of the storage class. Default: none."),
        field("claimRef", Any).doc("Claim to which the volume is bound or reserved."),
        VOLUME_MODE,
        field("nodeAffinity", Object(&VOLUME_AFFINITY)).doc("Nodes that can use the volume. Default: all nodes."),
        field("persistentVolumeReclaimPolicy", OneOf(&["Delete", "Recycle", "Retain"]))
            .doc("What becomes of the volume after the deletion of its claim. Default: Retain."),
        inert("mountOptions", STR_LIST),
        not_modelled("volumeAttributesClassName", Str),
        field("awsElasticBlockStore", Any).doc("Volume source."),
        field("azureDisk", Any).doc("Volume source."),
        field("azureFile", Any).doc("Volume source."),
        field("cephfs", Any).doc("Volume source."),
        field("cinder", Any).doc("Volume source."),
        field("csi", Any).doc("Volume source."),
        field("fc", Any).doc("Volume source."),
        field("flexVolume", Any).doc("Volume source."),
        field("flocker", Any).doc("Volume source."),
        field("gcePersistentDisk", Any).doc("Volume source."),
        field("glusterfs", Any).doc("Volume source."),
        field("hostPath", Any).doc("Volume source."),
        field("iscsi", Any).doc("Volume source."),
        field("local", Any).doc("Volume source."),
        field("nfs", Any).doc("Volume source."),
        field("photonPersistentDisk", Any).doc("Volume source."),
        field("portworxVolume", Any).doc("Volume source."),
        field("quobyte", Any).doc("Volume source."),
        field("rbd", Any).doc("Volume source."),
        field("scaleIO", Any).doc("Volume source."),
        field("storageos", Any).doc("Volume source."),
        field("vsphereVolume", Any).doc("Volume source."),
    ],
};

static VOLUME_AFFINITY: ObjectSchema = ObjectSchema {
    kind: "VolumeNodeAffinity",
    fields: &[field("required", Object(&NODE_SELECTOR)).doc("Node selector that must match.")],
};

static STORAGE_CLASS: ObjectSchema = ObjectSchema {
    kind: "StorageClass",
    fields: &[
        version(&["storage.k8s.io/v1"]),
        kind(&["StorageClass"]),
        NAMED,
        field("provisioner", Str)
            .doc("Provisioner of the volumes. `kubernetes.io/no-provisioner` creates none.")
            .required(),
        field("volumeBindingMode", OneOf(&["Immediate", "WaitForFirstConsumer"]))
            .doc("Whether claims are bound at once or when a pod that uses them is scheduled. Default: Immediate."),
        field("allowedTopologies", List(&Object(&TOPOLOGY_TERM)))
            .doc("Nodes that can use provisioned volumes. Default: all nodes."),
        field("reclaimPolicy", OneOf(&["Delete", "Retain"]))
            .doc("Reclaim policy of provisioned volumes. Default: Delete."),
        inert("parameters", Any),
        inert("mountOptions", STR_LIST),
        inert("allowVolumeExpansion", Bool),
    ],
};

static TOPOLOGY_TERM: ObjectSchema = ObjectSchema {
    kind: "TopologySelectorTerm",
    fields: &[field("matchLabelExpressions", List(&Object(&TOPOLOGY_LABEL))).doc("Labels of the nodes.")],
};

static TOPOLOGY_LABEL: ObjectSchema = ObjectSchema {
    kind: "TopologySelectorLabelRequirement",
    fields: &[field("key", Str).required(), field("values", STR_LIST).required()],
};

static PRIORITY_CLASS: ObjectSchema = ObjectSchema {
    kind: "PriorityClass",
    fields: &[
        version(&["scheduling.k8s.io/v1"]),
        kind(&["PriorityClass"]),
        NAMED,
        field("value", INT32).doc("Priority of the pods. Pods with higher values are scheduled first.").required(),
        field("globalDefault", Bool).doc("Whether this class is the default for pods without a class. Default: false."),
        field("preemptionPolicy", OneOf(&["PreemptLowerPriority", "Never"]))
            .doc("Preemption policy of the pods. Default: PreemptLowerPriority."),
        inert("description", Str),
    ],
};

static BUDGET: ObjectSchema = ObjectSchema {
    kind: "PodDisruptionBudget",
    fields: &[
        version(&["policy/v1"]),
        kind(&["PodDisruptionBudget"]),
        NAMED,
        field("spec", Object(&BUDGET_SPEC)).doc("Which pods an eviction or preemption has to spare.").required(),
        STATUS,
    ],
};

static BUDGET_SPEC: ObjectSchema = ObjectSchema {
    kind: "PodDisruptionBudgetSpec",
    fields: &[
        field("minAvailable", Any)
            .doc("Number of ready pods that must remain. A percentage allows no eviction, because Jobs have no scale."),
        field("maxUnavailable", Any)
            .doc("Number of pods that may be unavailable. It allows no eviction, because Jobs have no scale."),
        field("selector", Object(&LABEL_SELECTOR)).doc("Label selector of the pods."),
        field("unhealthyPodEvictionPolicy", OneOf(&["IfHealthyBudget", "AlwaysAllow"])).doc(
            "Whether pods that are not ready may be evicted although the budget is exhausted. Default: \
                 IfHealthyBudget.",
        ),
    ],
};

/// A label selector, whose values the API server checks.
static LABEL_SELECTOR: ObjectSchema = ObjectSchema {
    kind: "LabelSelector",
    fields: &[
        field("matchLabels", STR_MAP).doc("Labels with the required values."),
        field("matchExpressions", List(&Object(&LABEL_REQUIREMENT)))
            .doc("Requirements on labels, all of which must match."),
    ],
};

static LABEL_REQUIREMENT: ObjectSchema = ObjectSchema {
    kind: "LabelSelectorRequirement",
    fields: &[
        field("key", Str).required(),
        field("operator", Str).doc("In, NotIn, Exists or DoesNotExist.").required(),
        field("values", STR_LIST).doc("Values to compare with."),
    ],
};

static POD_GROUP: ObjectSchema = ObjectSchema {
    kind: "PodGroup",
    fields: &[
        version(&["scheduling.k8s.io/v1alpha2"]),
        kind(&["PodGroup"]),
        NAMED,
        field("spec", Object(&POD_GROUP_SPEC)).doc("How the pods of the group are scheduled.").required(),
        STATUS,
    ],
};

static POD_GROUP_SPEC: ObjectSchema = ObjectSchema {
    kind: "PodGroupSpec",
    fields: &[
        inert("podGroupTemplateRef", Object(&GROUP_TEMPLATE)),
        field("schedulingPolicy", Object(&GROUP_POLICY)).doc("Basic or gang scheduling.").required(),
        field("schedulingConstraints", Object(&GROUP_CONSTRAINTS))
            .doc("Topology of the group. It has an effect with the feature gate TopologyAwareWorkloadScheduling."),
        field("priorityClassName", Str).doc("PriorityClass of the group."),
        field("priority", INT32).doc("Priority of the group. Default: that of its PriorityClass, or 0."),
        field("disruptionMode", OneOf(&["Pod", "PodGroup"]))
            .doc("Whether preemption removes single pods or the whole group. Default: Pod."),
        not_modelled("resourceClaims", List(&Object(&GROUP_CLAIM))),
    ],
};

static GROUP_CLAIM: ObjectSchema = ObjectSchema {
    kind: "PodGroupResourceClaim",
    fields: &[field("name", Str).required(), inert("resourceClaimName", Str), inert("resourceClaimTemplateName", Str)],
};

static GROUP_TEMPLATE: ObjectSchema =
    ObjectSchema { kind: "PodGroupTemplateReference", fields: &[inert("workload", Object(&GROUP_WORKLOAD))] };

static GROUP_WORKLOAD: ObjectSchema = ObjectSchema {
    kind: "WorkloadPodGroupTemplateReference",
    fields: &[field("workloadName", Str).required(), field("podGroupTemplateName", Str).required()],
};

static GROUP_POLICY: ObjectSchema = ObjectSchema {
    kind: "PodGroupSchedulingPolicy",
    fields: &[
        field("basic", Object(&BASIC_POLICY)).doc("The pods are scheduled together as far as they fit."),
        field("gang", Object(&GANG_POLICY)).doc("At least minCount pods are scheduled, or none."),
    ],
};

static BASIC_POLICY: ObjectSchema = ObjectSchema { kind: "BasicSchedulingPolicy", fields: &[] };

static GANG_POLICY: ObjectSchema = ObjectSchema {
    kind: "GangSchedulingPolicy",
    fields: &[field("minCount", INT32).doc("Smallest number of pods that run together.").required()],
};

static GROUP_CONSTRAINTS: ObjectSchema = ObjectSchema {
    kind: "PodGroupSchedulingConstraints",
    fields: &[field("topology", List(&Object(&GROUP_TOPOLOGY))).doc("At most one label that all nodes share.")],
};

static GROUP_TOPOLOGY: ObjectSchema =
    ObjectSchema { kind: "TopologyConstraint", fields: &[field("key", Str).doc("Label of the nodes.").required()] };

static NAMESPACE: ObjectSchema = ObjectSchema {
    kind: "Namespace",
    fields: &[version(&["v1"]), kind(&["Namespace"]), NAMED, inert("spec", Any), STATUS],
};
