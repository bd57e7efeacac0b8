//! `kind: Scenario`.

use super::objects::{CREATED, EXISTING};
use super::pod::EFFECTS;
use super::timing::TIMING;
use super::topology::TOPOLOGY;
use crate::manifest::scenario::requests::KIND_NAMES;
use crate::manifest::shape::{Field, Object, STR_LIST, Shape, field};
use crate::spec::StopWhen;

pub const API_VERSION: &str = "jobset-sim/v1alpha1";
const INDEX: Shape = Shape::Int(0, u32::MAX as i64 - 1);

pub static SCENARIO: Object = Object {
    kind: "Scenario",
    fields: &[
        field("apiVersion", Shape::OneOf(&[API_VERSION]), API_VERSION).required(),
        field("kind", Shape::OneOf(&["Scenario"]), "Scenario").required(),
        field("metadata", Shape::Object(&METADATA), "{name: ...}").required(),
        field(
            "topology",
            Shape::Either(&Shape::Str, &Shape::Object(&TOPOLOGY)),
            "path of a Topology, relative to this file, or the Topology itself",
        )
        .required(),
        BODY[0],
        BODY[1],
        field(
            "jobSets",
            Shape::List(&Shape::Object(&JOBSET)),
            "what is submitted",
        )
        .required(),
        field(
            "objects",
            Shape::List(&Shape::Kinds(&EXISTING)),
            "what exists when the run begins: objects, or files of objects",
        ),
        BODY[2],
        BODY[3],
        BODY[4],
        BODY[5],
    ],
};

/// What can be set for a run without a scenario file.
pub static SETTINGS: Object = Object {
    kind: "Settings",
    fields: &BODY,
};

static BODY: [Field; 6] = [
    field(
        "controlPlane",
        Shape::Object(&CONTROL_PLANE),
        "rates, versions and feature gates",
    ),
    field(
        "timing",
        Shape::Object(&TIMING),
        "delays that differ from the timing profile",
    ),
    field(
        "containers",
        Shape::List(&Shape::Object(&CONTAINER_RULE)),
        "what containers do; the first rule that matches wins, without one they run for ever",
    ),
    field(
        "faults",
        Shape::List(&Shape::Object(&FAULT)),
        "what happens to pods, nodes and JobSets",
    ),
    field("stop", Shape::Object(&STOP), "when the run ends"),
    field(
        "seed",
        Shape::Int(0, i64::MAX),
        "of all random numbers; default: 1",
    ),
];

pub static METADATA: Object = Object {
    kind: "Metadata",
    fields: &[
        field("name", Shape::Str, "").required(),
        field("description", Shape::Str, ""),
    ],
};

static CONTROL_PLANE: Object = Object {
    kind: "ControlPlane",
    fields: &[
        field(
            "preset",
            Shape::Str,
            "stock, scale-test or kops; default: scale-test",
        ),
        field("kubernetes", Shape::Version, "default: 1.36"),
        field("jobset", Shape::Version, "default: 0.13"),
        field(
            "featureGates",
            Shape::Object(&FEATURE_GATES),
            "of the JobSet manager",
        ),
        field(
            "kubeControllerManager",
            Shape::Object(&CONTROLLER_MANAGER),
            "",
        ),
        field("kubeScheduler", Shape::Object(&RATE), ""),
        field("jobsetManager", Shape::Object(&RATE), ""),
        field(
            "nodeRequestsPerSecond",
            Shape::Number(1.0, 1e9),
            "requests of all kubelets and in-place agents that get answered",
        ),
        field("nodeMonitorGracePeriodSeconds", Shape::Int(1, 86_400), ""),
        field("heartbeatSeconds", Shape::Int(1, 3_600), ""),
    ],
};

static FEATURE_GATES: Object = Object {
    kind: "FeatureGates",
    fields: &[
        field(
            "InPlaceRestart",
            Shape::Bool,
            "default: on if a JobSet needs it",
        ),
        field(
            "RestartJob",
            Shape::Bool,
            "default: on if a JobSet needs it",
        ),
        field("ElasticJobSet", Shape::Bool, "default: off"),
    ],
};

const QPS: Shape = Shape::Number(0.01, 1e9);
const BURST: Shape = Shape::Int(1, 1_000_000_000);

static RATE: Object = Object {
    kind: "ClientRate",
    fields: &[
        field("qps", QPS, "requests per second"),
        field("burst", BURST, "requests at once"),
    ],
};

static CONTROLLER_MANAGER: Object = Object {
    kind: "KubeControllerManager",
    fields: &[
        field("qps", QPS, "requests per second, for each controller"),
        field("burst", BURST, "requests at once, for each controller"),
        field("concurrentJobSyncs", Shape::Int(1, 10_000), ""),
        field("concurrentGcSyncs", Shape::Int(1, 10_000), ""),
    ],
};

static JOBSET: Object = Object {
    kind: "SubmittedJobSet",
    fields: &[
        field("manifest", Shape::Str, "path, relative to this file").required(),
        field("submitAt", Shape::Duration, "default: 0s"),
        field(
            "restartStrategy",
            Shape::OneOf(&["Recreate", "BlockingRecreate", "InPlaceRestart"]),
            "replaces spec.failurePolicy.restartStrategy",
        ),
        field(
            "set",
            STR_LIST,
            "path=value, applied to the manifest before it is read",
        ),
    ],
};

static CONTAINER_RULE: Object = Object {
    kind: "ContainerRule",
    fields: &[
        field("jobSet", Shape::Str, ""),
        field("replicatedJob", Shape::Str, ""),
        field("jobIndex", INDEX, ""),
        field("podIndex", INDEX, "completion index"),
        field("restartAttempt", INDEX, "restart-attempt label of the pod"),
        field("jobRestart", INDEX, "job-restart-attempt label of the pod"),
        field(
            "jobTry",
            INDEX,
            "nth pod of that index within one Job object, from 0",
        ),
        field("inPlaceAttempt", INDEX, ""),
        field(
            "containerRun",
            INDEX,
            "nth run of the container in that pod, from 0",
        ),
        field(
            "runFor",
            Shape::Duration,
            "exits this long after it started; absent: never",
        ),
        field("exitCode", Shape::Int(0, 255), "default: 0"),
        field(
            "container",
            Shape::Str,
            "only this container ends with exitCode, the others with 0",
        ),
        field(
            "podFails",
            Shape::Bool,
            "in place: this exit ends the pod instead of restarting it",
        ),
        field(
            "atBarrierFor",
            Shape::Duration,
            "in place: exits after waiting this long at the barrier",
        ),
        field(
            "startAfter",
            Shape::Duration,
            "replaces the time from binding to ready",
        ),
        field(
            "stopAfter",
            Shape::Duration,
            "overrides the time from deletion to exit",
        ),
    ],
};

pub const ACTIONS: [&str; 19] = [
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
];

static FAULT: Object = Object {
    kind: "Fault",
    fields: &[
        field("at", Shape::Duration, "virtual time"),
        field(
            "afterReady",
            Shape::Duration,
            "after all Jobs were ready for the first time",
        ),
        field(ACTIONS[0], Shape::Object(&CONTAINER_EXIT), ""),
        field(ACTIONS[1], Shape::Object(&DELETE_POD), ""),
        field(ACTIONS[2], Shape::Object(&POD), ""),
        field(
            ACTIONS[3],
            Shape::Object(&NODE),
            "kubelet and containers stop",
        ),
        field(ACTIONS[4], Shape::Object(&NODE), "only the contact is lost"),
        field(ACTIONS[5], Shape::Object(&NODE), "heartbeats again"),
        field(ACTIONS[6], Shape::Object(&NODE), "the Node object"),
        field(ACTIONS[7], Shape::Object(&NODE), ""),
        field(ACTIONS[8], Shape::Object(&NODE), ""),
        field(ACTIONS[9], Shape::Object(&NODE), "cordon and evict"),
        field(ACTIONS[10], Shape::Object(&TAINT_NODE), ""),
        field(ACTIONS[11], Shape::Object(&NAME), ""),
        field(ACTIONS[12], Shape::Object(&NAME), ""),
        field(ACTIONS[13], Shape::Object(&NAME), ""),
        field(
            ACTIONS[14],
            Shape::Object(&PATCH),
            "a user's merge patch of any object",
        ),
        field(
            ACTIONS[15],
            Shape::Object(&CREATE),
            "a user's POST of any object",
        ),
        field(
            ACTIONS[16],
            Shape::Object(&DELETE),
            "a user's DELETE of any object",
        ),
        field(
            ACTIONS[17],
            Shape::Object(&SHOW),
            "fields of an object, in the log",
        ),
        field(
            ACTIONS[18],
            Shape::Object(&JOB_CONDITION),
            "written by another hand than the Job controller's",
        ),
    ],
};

const KIND: Field = field("kind", Shape::OneOf(KIND_NAMES), "of the object").required();
const OBJECT_NAME: Field = field(
    "name",
    Shape::Str,
    "of the object; a pod's without its random suffix",
)
.required();

static PATCH: Object = Object {
    kind: "Patch",
    fields: &[
        KIND,
        OBJECT_NAME,
        field("merge", Shape::Any, "the merge patch (RFC 7386)").required(),
        field("status", Shape::Bool, "of the status subresource"),
    ],
};

static CREATE: Object = Object {
    kind: "Create",
    fields: &[
        field("object", Shape::Kinds(&CREATED), "the whole object"),
        field("jobSet", Shape::Any, "the whole object, a JobSet"),
    ],
};

static DELETE: Object = Object {
    kind: "Delete",
    fields: &[
        KIND,
        OBJECT_NAME,
        field(
            "propagation",
            Shape::OneOf(&["Background", "Foreground", "Orphan"]),
            "default: Background",
        ),
        field("gracePeriodSeconds", INDEX, "of a pod"),
    ],
};

static SHOW: Object = Object {
    kind: "Show",
    fields: &[
        KIND,
        OBJECT_NAME,
        field("fields", STR_LIST, "paths such as status.conditions").required(),
    ],
};

static JOB_CONDITION: Object = Object {
    kind: "JobCondition",
    fields: &[
        field("job", Shape::Str, "name of the Job").required(),
        field(
            "type",
            Shape::OneOf(&[
                "Failed",
                "Complete",
                "FailureTarget",
                "SuccessCriteriaMet",
                "Suspended",
            ]),
            "",
        )
        .required(),
        field("status", Shape::OneOf(&["True", "False"]), "default: True"),
        field("reason", Shape::Str, ""),
        field("message", Shape::Str, ""),
    ],
};

const POD_NAME: Field = field("pod", Shape::Str, "name without the random suffix").required();
const NODE_FIELDS: [Field; 3] = [
    field("node", Shape::Str, "name of the node"),
    field("ofPod", Shape::Str, "the node of this pod"),
    field(
        "alias",
        Shape::Str,
        "a name for later faults, or one given earlier",
    ),
];

static CONTAINER_EXIT: Object = Object {
    kind: "ContainerExit",
    fields: &[
        POD_NAME,
        field("exitCode", Shape::Int(0, 255), "default: 1"),
    ],
};

static DELETE_POD: Object = Object {
    kind: "DeletePod",
    fields: &[
        POD_NAME,
        field("force", Shape::Bool, "grace period 0; default: false"),
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
        field("key", Shape::Str, "").required(),
        field("value", Shape::Str, ""),
        field("effect", Shape::OneOf(EFFECTS), "").required(),
    ],
};

static NAME: Object = Object {
    kind: "JobSetReference",
    fields: &[field("name", Shape::Str, "of a JobSet").required()],
};

static STOP_WHEN: [&str; 3] = [
    StopWhen::ALL[0].as_str(),
    StopWhen::ALL[1].as_str(),
    StopWhen::ALL[2].as_str(),
];

static STOP: Object = Object {
    kind: "Stop",
    fields: &[
        field(
            "at",
            Shape::Duration,
            "the run ends here in any case; default: 24h",
        ),
        field("when", Shape::OneOf(&STOP_WHEN), "default: Settled"),
    ],
};
