//! Field tables of `faults` in a scenario. A fault has a time and one action.

use super::common::INDEX;
use super::objects::CREATED;
use super::pod::EFFECTS;
use crate::schema::field_type::FieldType::{Any, Bool, Duration, Int, Kinds, Object, OneOf, Str};
use crate::schema::field_type::{FieldSchema, ObjectSchema, STR_LIST, field};

pub const ACTIONS: [&str; 22] = [
    "containerExit", "deletePod", "evictPod", "crashNode", "partitionNode", "returnNode", "deleteNode", "cordonNode",
    "uncordonNode", "drainNode", "taintNode", "suspendJobSet", "resumeJobSet", "deleteJobSet", "patch", "create",
    "delete", "show", "jobCondition", "stopManager", "newNode", "failImagePulls",
];

/// Creates the field of an action on a node.
const fn on_node(name: &'static str, doc: &'static str) -> FieldSchema {
    field(name, Object(&NODE)).doc(doc).example("{ofPod: train-workers-0-1, alias: lost}")
}

/// Creates the field of an action on a JobSet.
const fn on_jobset(name: &'static str, doc: &'static str) -> FieldSchema {
    field(name, Object(&NAME)).doc(doc).example("{name: train}")
}

pub static FAULT: ObjectSchema = ObjectSchema {
    kind: "Fault",
    fields: &[
        field("at", Duration).doc("Virtual time of the fault since the start of the run.").example("120s"),
        field("afterReady", Duration)
            .doc("Time of the fault after all Jobs have been ready for the first time.")
            .example("30s"),
        field(ACTIONS[0], Object(&CONTAINER_EXIT))
            .doc("Makes the containers of a pod exit by themselves.")
            .example("{pod: train-workers-0-1, exitCode: 137}"),
        field(ACTIONS[1], Object(&DELETE_POD))
            .doc("Deletes a pod, as a user would.")
            .example("{pod: train-workers-0-1}"),
        field(ACTIONS[2], Object(&POD))
            .doc("Evicts a pod through the eviction API.")
            .example("{pod: train-workers-0-1}"),
        on_node(ACTIONS[3], "Crashes a node: its kubelet and containers stop."),
        on_node(ACTIONS[4], "Disconnects a node from the network. Its containers continue to run."),
        on_node(ACTIONS[5], "Returns a crashed or disconnected node: it sends heartbeats again."),
        on_node(ACTIONS[6], "Deletes the Node object."),
        on_node(ACTIONS[7], "Cordons a node: no new pods are bound to it."),
        on_node(ACTIONS[8], "Uncordons a node: pods can be bound to it again."),
        on_node(ACTIONS[9], "Drains a node: it is cordoned and its pods are evicted."),
        field(ACTIONS[10], Object(&TAINT_NODE))
            .doc("Adds a taint to a node.")
            .example("{node: a-0, key: maintenance, effect: NoExecute}"),
        on_jobset(ACTIONS[11], "Suspends a JobSet by setting spec.suspend."),
        on_jobset(ACTIONS[12], "Resumes a JobSet by clearing spec.suspend."),
        on_jobset(
            ACTIONS[13],
            "Deletes a JobSet in the foreground (`kubectl delete --cascade=foreground`). `delete` deletes \
                 in the background by default, as `kubectl delete`.",
        ),
        field(ACTIONS[14], Object(&PATCH))
            .doc("Sends a merge patch for an object, as a user would.")
            .example("{kind: JobSet, name: train, merge: {spec: {suspend: true}}}"),
        field(ACTIONS[15], Object(&CREATE))
            .doc("Creates an object, as a user would.")
            .example("{object: {apiVersion: v1, kind: Namespace, metadata: {name: ml}}}"),
        field(ACTIONS[16], Object(&DELETE))
            .doc("Deletes an object, as a user would.")
            .example("{kind: Job, name: train-workers-0}"),
        field(ACTIONS[17], Object(&SHOW))
            .doc("Writes fields of an object to the event log.")
            .example("{kind: JobSet, name: train, fields: [status.restarts]}"),
        field(ACTIONS[18], Object(&JOB_CONDITION))
            .doc("Sets a condition of a Job, as a client other than the Job controller would. What the API server requires beside it counts as set \
                  too: startTime, completionTime, no active pods, FailureTarget or SuccessCriteriaMet.")
            .example("{job: train-workers-0, type: Failed, reason: Lost}"),
        field(ACTIONS[19], Object(&STOP_MANAGER))
            .doc("Restarts the JobSet manager. Its webhooks are unavailable in the meantime.")
            .example("{for: 30s}"),
        on_node(
            ACTIONS[20],
            "Replaces a node by a new machine with the same name and labels. The Node object is \
            created again.",
        ),
        field(ACTIONS[21], Object(&FAIL_IMAGE_PULLS))
            .doc(
                "Lets image pulls fail (ErrImagePull). The kubelet retries with a back-off of 10 s to 300 s \
                 (ImagePullBackOff).",
            )
            .example("{image: \"example.com/train:1\", for: 10m}"),
    ],
};

const KIND: FieldSchema = field("kind", OneOf(KIND_NAMES)).doc("Kind of the object.").required();
const OBJECT_NAME: FieldSchema =
    field("name", Str).doc("Name of the object; for a pod, without its random suffix.").required().example("train");

static PATCH: ObjectSchema = ObjectSchema {
    kind: "Patch",
    fields: &[
        KIND,
        OBJECT_NAME,
        field("merge", Any).doc("Merge patch (RFC 7386).").required().example("{spec: {suspend: true}}"),
        field("status", Bool).doc("Whether the patch applies to the status subresource.").default("false"),
    ],
};

static CREATE: ObjectSchema = ObjectSchema {
    kind: "Create",
    fields: &[
        field("object", Kinds(&CREATED))
            .doc("Complete object to create.")
            .example("{apiVersion: v1, kind: Namespace, metadata: {name: ml}}"),
        field("jobSet", Any).doc("Complete JobSet to create.").example("{metadata: {name: other}, spec: {}}"),
    ],
};

static DELETE: ObjectSchema = ObjectSchema {
    kind: "Delete",
    fields: &[
        field("kind", OneOf(DELETED_KINDS))
            .doc(
                "Kind of the object. Namespaces cannot be deleted, because their contents would be deleted \
                 with them.",
            )
            .required(),
        OBJECT_NAME,
        field("propagation", OneOf(&["Background", "Foreground", "Orphan"]))
            .doc("Deletion propagation policy for the objects that this object owns.")
            .default("Background"),
        field("gracePeriodSeconds", INDEX)
            .doc("Grace period of a pod in seconds, overriding that of its spec.")
            .otherwise("the pod's grace period")
            .example("0"),
    ],
};

static SHOW: ObjectSchema = ObjectSchema {
    kind: "Show",
    fields: &[
        KIND,
        OBJECT_NAME,
        field("fields", STR_LIST).doc("Paths of the fields to write.").required().example("[status.conditions]"),
    ],
};

static JOB_CONDITION: ObjectSchema = ObjectSchema {
    kind: "JobCondition",
    fields: &[
        field("job", Str).doc("Name of the Job.").required().example("train-workers-0"),
        field("type", OneOf(&["Failed", "Complete", "FailureTarget", "SuccessCriteriaMet", "Suspended"]))
            .doc("Type of the condition.")
            .required(),
        field("status", OneOf(&["True", "False"]))
            .doc("Status of the condition.")
            .default("\"True\"")
            .example("\"False\""),
        field("reason", Str).doc("Reason of the condition.").otherwise("empty").example("Lost"),
        field("message", Str).doc("Message of the condition.").otherwise("empty").example("a rack is gone"),
    ],
};

static STOP_MANAGER: ObjectSchema = ObjectSchema {
    kind: "StopManager",
    fields: &[
        field("for", Duration)
            .doc("Time during which the manager and its webhooks are unavailable.")
            .required()
            .example("30s"),
        field("featureGates", Object(&GATE_CHANGES))
            .doc("Feature gates that differ after the restart.")
            .otherwise("unchanged")
            .example("{RestartJob: false}"),
    ],
};

static FAIL_IMAGE_PULLS: ObjectSchema = ObjectSchema {
    kind: "FailImagePulls",
    fields: &[
        field("image", Str).doc("Image that cannot be pulled.").otherwise("every image").example("example.com/train:1"),
        field("for", Duration)
            .doc("Time until pulls succeed again.")
            .otherwise("until the end of the run")
            .example("10m"),
        field("cached", Bool)
            .doc(
                "Whether the nodes have the image: only containers with imagePullPolicy Always pull it. If \
                 false, containers with IfNotPresent also pull it.",
            )
            .default("true"),
    ],
};

static GATE_CHANGES: ObjectSchema = ObjectSchema {
    kind: "FeatureGateChanges",
    fields: &[
        field("InPlaceRestart", Bool).doc("Enables the restart strategy InPlaceRestart.").otherwise("unchanged"),
        field("RestartJob", Bool)
            .doc("Enables the failure policy actions RestartJob and RestartJobAndIgnoreMaxRestarts.")
            .otherwise("unchanged"),
        field("ElasticJobSet", Bool)
            .doc("Allows changes of parallelism and completions in a JobSet.")
            .otherwise("unchanged"),
    ],
};

const POD_NAME: FieldSchema =
    field("pod", Str).doc("Name of the pod without its random suffix.").required().example("train-workers-0-1");
const NODE_FIELDS: [FieldSchema; 4] = [
    field("node", Str).doc("Name of the node.").example("a-0"),
    field("ofPod", Str)
        .doc("Pod whose node is affected, at the time of the fault. The name has no random suffix.")
        .example("train-workers-0-1"),
    field("alias", Str)
        .doc(
            "With `node` or `ofPod`: name under which later faults can refer to the node. Alone: reference to \
             a name defined by an earlier fault.",
        )
        .example("lost"),
    field("label", Str)
        .doc(
            "Label `KEY=VALUE`. The action applies to every node with this label, in node order and at the \
             same time.",
        )
        .example("example.com/rack=r7"),
];

static CONTAINER_EXIT: ObjectSchema = ObjectSchema {
    kind: "ContainerExit",
    fields: &[
        POD_NAME,
        field("exitCode", Int(0, 255)).doc("Exit code of all containers of the pod.").default("1").example("137"),
    ],
};

static DELETE_POD: ObjectSchema = ObjectSchema {
    kind: "DeletePod",
    fields: &[POD_NAME, field("force", Bool).doc("Deletes the pod with a grace period of 0 s.").default("false")],
};

static POD: ObjectSchema = ObjectSchema { kind: "PodReference", fields: &[POD_NAME] };

static NODE: ObjectSchema = ObjectSchema { kind: "NodeReference", fields: &NODE_FIELDS };

static TAINT_NODE: ObjectSchema = ObjectSchema {
    kind: "TaintNode",
    fields: &[
        NODE_FIELDS[0],
        NODE_FIELDS[1],
        NODE_FIELDS[2],
        NODE_FIELDS[3],
        field("key", Str).doc("Key of the taint.").required().example("maintenance"),
        field("value", Str).doc("Value of the taint.").otherwise("empty").example("rack-3"),
        field("effect", OneOf(EFFECTS)).doc("Effect of the taint.").required(),
    ],
};

static NAME: ObjectSchema = ObjectSchema {
    kind: "JobSetReference",
    fields: &[field("name", Str).doc("Name of the JobSet.").required().example("train")],
};

/// Kinds of the objects that an action can refer to.
pub const KIND_NAMES: &[&str] = &[
    "JobSet", "Job", "Pod", "Node", "Service", "PersistentVolumeClaim", "PersistentVolume", "StorageClass",
    "PriorityClass", "PodDisruptionBudget", "PodGroup", "Namespace",
];

/// Kinds of the objects that an action can delete.
pub const DELETED_KINDS: &[&str] = KIND_NAMES.split_at(KIND_NAMES.len() - 1).0;
