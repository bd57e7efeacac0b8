//! Field tables of LocalQueue, ResourceFlavor, Topology, WorkloadPriorityClass and AdmissionCheck.

use super::cluster_queue::{FAIR_SHARING, STOP_POLICY};
use super::{METADATA_FIELD, STATUS, VERSION};
use crate::schema::definitions::objects::NODE_TAINT;
use crate::schema::definitions::pod::TOLERATION;
use crate::schema::field_type::FieldType::{Any, List, NonEmpty, Object, OneOf, Str};
use crate::schema::field_type::{INT32, ObjectSchema, STR_MAP, field, inert, not_modelled};

pub static LOCAL_QUEUE: ObjectSchema = ObjectSchema {
    kind: "LocalQueue",
    fields: &[
        VERSION,
        field("kind", OneOf(&["LocalQueue"])).required(),
        METADATA_FIELD,
        field("spec", Object(&LOCAL_QUEUE_SPEC)).doc("{clusterQueue: ...}").required(),
        field("status", Any).doc("Past usage under admission fair sharing, as written by Kueue."),
    ],
};

static LOCAL_QUEUE_SPEC: ObjectSchema = ObjectSchema {
    kind: "LocalQueueSpec",
    fields: &[
        field("clusterQueue", Str).doc("Name of the ClusterQueue.").required(),
        STOP_POLICY,
        field("fairSharing", Object(&FAIR_SHARING)).doc("Weight of the queue in admission fair sharing."),
    ],
};

pub static RESOURCE_FLAVOR: ObjectSchema = ObjectSchema {
    kind: "ResourceFlavor",
    fields: &[
        VERSION,
        field("kind", OneOf(&["ResourceFlavor"])).required(),
        METADATA_FIELD,
        field("spec", Object(&FLAVOR_SPEC)).doc("Nodes of the flavor."),
    ],
};

static FLAVOR_SPEC: ObjectSchema = ObjectSchema {
    kind: "ResourceFlavorSpec",
    fields: &[
        field("nodeLabels", STR_MAP).doc("Labels of the nodes, which admitted pods get as node selector."),
        field("nodeTaints", List(&Object(&NODE_TAINT))).doc("Taints of the nodes, which a workload has to tolerate."),
        field("tolerations", List(&Object(&TOLERATION))).doc("Tolerations that admitted pods get."),
        field("topologyName", Str).doc("Name of the Topology of the nodes."),
    ],
};

pub static TOPOLOGY: ObjectSchema = ObjectSchema {
    kind: "Topology",
    fields: &[
        VERSION,
        field("kind", OneOf(&["Topology"])).required(),
        METADATA_FIELD,
        field("spec", Object(&TOPOLOGY_SPEC)).doc("{levels: ...}").required(),
        STATUS,
    ],
};

static TOPOLOGY_SPEC: ObjectSchema = ObjectSchema {
    kind: "TopologySpec",
    fields: &[field("levels", NonEmpty(&Object(&TOPOLOGY_LEVEL))).doc("Levels, the largest domains first.").required()],
};

static TOPOLOGY_LEVEL: ObjectSchema = ObjectSchema {
    kind: "TopologyLevel",
    fields: &[field("nodeLabel", Str).doc("Node label whose value names the domain.").required()],
};

pub static WORKLOAD_PRIORITY_CLASS: ObjectSchema = ObjectSchema {
    kind: "WorkloadPriorityClass",
    fields: &[
        VERSION,
        field("kind", OneOf(&["WorkloadPriorityClass"])).required(),
        METADATA_FIELD,
        field("value", INT32).doc("Priority of the workloads.").required(),
        inert("description", Str),
    ],
};

pub static ADMISSION_CHECK: ObjectSchema = ObjectSchema {
    kind: "AdmissionCheck",
    fields: &[
        VERSION,
        field("kind", OneOf(&["AdmissionCheck"])).required(),
        METADATA_FIELD,
        field("spec", Object(&ADMISSION_CHECK_SPEC)).doc("{controllerName: ...}").required(),
        STATUS,
    ],
};

static ADMISSION_CHECK_SPEC: ObjectSchema = ObjectSchema {
    kind: "AdmissionCheckSpec",
    fields: &[
        field("controllerName", Str).doc("Controller that decides on the check.").required(),
        not_modelled("parameters", Any),
        inert("retryDelayMinutes", Any),
    ],
};

/// `kueue::workload_rules` checks the fields of Workloads.
pub static WORKLOAD: ObjectSchema = ObjectSchema {
    kind: "Workload",
    fields: &[
        VERSION,
        field("kind", OneOf(&["Workload"])).required(),
        METADATA_FIELD,
        field("spec", Any).doc("Pod sets, queue and priority.").required(),
        field("status", Any).doc("Conditions and admission, as written by Kueue."),
    ],
};
