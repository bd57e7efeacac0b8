//! Field tables of `faults` in a scenario. A fault has a time and one action.

use super::common::INDEX;
use super::objects::CREATED;
use super::pod::EFFECTS;
use crate::schema::shape::{Field, Object, STR_LIST, Shape, field};

pub const ACTIONS: [&str; 21] = [
    "containerExit",
    "deletePod",
    "evictPod",
    "crashNode",
    "partitionNode",
    "returnNode",
    "deleteNode",
    "cordonNode",
    "uncordonNode",
    "drainNode",
    "taintNode",
    "suspendJobSet",
    "resumeJobSet",
    "deleteJobSet",
    "patch",
    "create",
    "delete",
    "show",
    "jobCondition",
    "stopManager",
    "newNode",
];

/// Creates the field of an action on a node.
const fn on_node(name: &'static str, doc: &'static str) -> Field {
    field(name, Shape::Object(&NODE), doc).example("{ofPod: train-workers-0-1, alias: lost}")
}

/// Creates the field of an action on a JobSet.
const fn on_jobset(name: &'static str, doc: &'static str) -> Field {
    field(name, Shape::Object(&NAME), doc).example("{name: train}")
}

pub static FAULT: Object = Object {
    kind: "Fault",
    fields: &[
        field("at", Shape::Duration, "virtual time since the run began").example("120s"),
        field(
            "afterReady",
            Shape::Duration,
            "after all Jobs were ready for the first time",
        )
        .example("30s"),
        field(
            ACTIONS[0],
            Shape::Object(&CONTAINER_EXIT),
            "the containers of a pod exit by themselves",
        )
        .example("{pod: train-workers-0-1, exitCode: 137}"),
        field(
            ACTIONS[1],
            Shape::Object(&DELETE_POD),
            "a user deletes a pod",
        )
        .example("{pod: train-workers-0-1}"),
        field(
            ACTIONS[2],
            Shape::Object(&POD),
            "a pod is evicted through the eviction API",
        )
        .example("{pod: train-workers-0-1}"),
        on_node(ACTIONS[3], "kubelet and containers of a node stop"),
        on_node(ACTIONS[4], "a node loses contact; its containers run on"),
        on_node(
            ACTIONS[5],
            "a node that crashed or lost contact sends heartbeats again",
        ),
        on_node(ACTIONS[6], "the Node object is deleted"),
        on_node(ACTIONS[7], "no more pods are bound to a node"),
        on_node(ACTIONS[8], "pods are bound to a node again"),
        on_node(ACTIONS[9], "a node is cordoned and its pods evicted"),
        field(
            ACTIONS[10],
            Shape::Object(&TAINT_NODE),
            "a node gets a taint",
        )
        .example("{node: a-0, key: maintenance, effect: NoExecute}"),
        on_jobset(ACTIONS[11], "a user sets spec.suspend"),
        on_jobset(ACTIONS[12], "a user takes spec.suspend back"),
        on_jobset(ACTIONS[13], "a user deletes a JobSet"),
        field(
            ACTIONS[14],
            Shape::Object(&PATCH),
            "a user's merge patch of any object",
        )
        .example("{kind: JobSet, name: train, merge: {spec: {suspend: true}}}"),
        field(
            ACTIONS[15],
            Shape::Object(&CREATE),
            "a user's POST of any object",
        )
        .example("{object: {apiVersion: v1, kind: Namespace, metadata: {name: ml}}}"),
        field(
            ACTIONS[16],
            Shape::Object(&DELETE),
            "a user's DELETE of any object",
        )
        .example("{kind: Job, name: train-workers-0}"),
        field(
            ACTIONS[17],
            Shape::Object(&SHOW),
            "fields of an object are written to the log",
        )
        .example("{kind: JobSet, name: train, fields: [status.restarts]}"),
        field(
            ACTIONS[18],
            Shape::Object(&JOB_CONDITION),
            "a condition that another hand than the Job controller's writes",
        )
        .example("{job: train-workers-0, type: Failed, reason: Lost}"),
        field(
            ACTIONS[19],
            Shape::Object(&STOP_MANAGER),
            "the JobSet manager ends and begins anew; its webhooks do not answer meanwhile",
        )
        .example("{for: 30s}"),
        on_node(
            ACTIONS[20],
            "a new machine takes the place of a node, under its name and with its labels; the Node object is another one",
        ),
    ],
};

const KIND: Field = field("kind", Shape::OneOf(KIND_NAMES), "of the object").required();
const OBJECT_NAME: Field = field(
    "name",
    Shape::Str,
    "of the object; a pod's without its random suffix",
)
.required()
.example("train");

static PATCH: Object = Object {
    kind: "Patch",
    fields: &[
        KIND,
        OBJECT_NAME,
        field("merge", Shape::Any, "the merge patch (RFC 7386)")
            .required()
            .example("{spec: {suspend: true}}"),
        field("status", Shape::Bool, "of the status subresource").default("false"),
    ],
};

static CREATE: Object = Object {
    kind: "Create",
    fields: &[
        field("object", Shape::Kinds(&CREATED), "the whole object")
            .example("{apiVersion: v1, kind: Namespace, metadata: {name: ml}}"),
        field("jobSet", Shape::Any, "the whole object, a JobSet")
            .example("{metadata: {name: other}, spec: {}}"),
    ],
};

static DELETE: Object = Object {
    kind: "Delete",
    fields: &[
        field(
            "kind",
            Shape::OneOf(DELETED_KINDS),
            "of the object; a Namespace, which takes along all that is in it, is not deleted here",
        )
        .required(),
        OBJECT_NAME,
        field(
            "propagation",
            Shape::OneOf(&["Background", "Foreground", "Orphan"]),
            "what becomes of what the object owns",
        )
        .default("Background"),
        field("gracePeriodSeconds", INDEX, "of a pod, instead of its own")
            .otherwise("the pod's")
            .example("0"),
    ],
};

static SHOW: Object = Object {
    kind: "Show",
    fields: &[
        KIND,
        OBJECT_NAME,
        field("fields", STR_LIST, "paths of fields")
            .required()
            .example("[status.conditions]"),
    ],
};

static JOB_CONDITION: Object = Object {
    kind: "JobCondition",
    fields: &[
        field("job", Shape::Str, "name of the Job")
            .required()
            .example("train-workers-0"),
        field(
            "type",
            Shape::OneOf(&[
                "Failed",
                "Complete",
                "FailureTarget",
                "SuccessCriteriaMet",
                "Suspended",
            ]),
            "of the condition",
        )
        .required(),
        field(
            "status",
            Shape::OneOf(&["True", "False"]),
            "of the condition",
        )
        .default("\"True\"")
        .example("\"False\""),
        field("reason", Shape::Str, "of the condition")
            .otherwise("empty")
            .example("Lost"),
        field("message", Shape::Str, "of the condition")
            .otherwise("empty")
            .example("a rack is gone"),
    ],
};

static STOP_MANAGER: Object = Object {
    kind: "StopManager",
    fields: &[
        field("for", Shape::Duration, "how long nobody answers for it")
            .required()
            .example("30s"),
        field(
            "featureGates",
            Shape::Object(&GATE_CHANGES),
            "those that are others when it is back",
        )
        .otherwise("as before")
        .example("{RestartJob: false}"),
    ],
};

static GATE_CHANGES: Object = Object {
    kind: "FeatureGateChanges",
    fields: &[
        field(
            "InPlaceRestart",
            Shape::Bool,
            "restart strategy InPlaceRestart",
        )
        .otherwise("as before"),
        field("RestartJob", Shape::Bool, "the RestartJob actions").otherwise("as before"),
        field(
            "ElasticJobSet",
            Shape::Bool,
            "parallelism and completions may change",
        )
        .otherwise("as before"),
    ],
};

const POD_NAME: Field = field("pod", Shape::Str, "name without the random suffix")
    .required()
    .example("train-workers-0-1");
const NODE_FIELDS: [Field; 4] = [
    field("node", Shape::Str, "name of the node").example("a-0"),
    field("ofPod", Shape::Str, "the node on which this pod is then").example("train-workers-0-1"),
    field(
        "alias",
        Shape::Str,
        "a name for later faults, beside node or ofPod; alone, a name given earlier",
    )
    .example("lost"),
    field(
        "label",
        Shape::Str,
        "instead: every node with this value of a label, KEY=VALUE, one after another in this instant",
    )
    .example("example.com/rack=r7"),
];

static CONTAINER_EXIT: Object = Object {
    kind: "ContainerExit",
    fields: &[
        POD_NAME,
        field("exitCode", Shape::Int(0, 255), "of all its containers")
            .default("1")
            .example("137"),
    ],
};

static DELETE_POD: Object = Object {
    kind: "DeletePod",
    fields: &[
        POD_NAME,
        field("force", Shape::Bool, "with grace period 0").default("false"),
    ],
};

static POD: Object = Object {
    kind: "PodReference",
    fields: &[POD_NAME],
};

static NODE: Object = Object {
    kind: "NodeReference",
    fields: &NODE_FIELDS,
};

static TAINT_NODE: Object = Object {
    kind: "TaintNode",
    fields: &[
        NODE_FIELDS[0],
        NODE_FIELDS[1],
        NODE_FIELDS[2],
        NODE_FIELDS[3],
        field("key", Shape::Str, "of the taint")
            .required()
            .example("maintenance"),
        field("value", Shape::Str, "of the taint")
            .otherwise("empty")
            .example("rack-3"),
        field("effect", Shape::OneOf(EFFECTS), "of the taint").required(),
    ],
};

static NAME: Object = Object {
    kind: "JobSetReference",
    fields: &[field("name", Shape::Str, "of a JobSet")
        .required()
        .example("train")],
};

/// Kinds of the objects that an action can refer to.
pub const KIND_NAMES: &[&str] = &[
    "JobSet",
    "Job",
    "Pod",
    "Node",
    "Service",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "PriorityClass",
    "Namespace",
];

/// Kinds of the objects that an action can delete.
pub const DELETED_KINDS: &[&str] = KIND_NAMES.split_at(KIND_NAMES.len() - 1).0;
