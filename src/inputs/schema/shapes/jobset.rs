//! Field tables of a JobSet (`jobset.x-k8s.io/v1alpha2`, API-1 to API-29).

use super::job::JOB_SPEC;
use super::metadata::METADATA;
use super::pod::PVC_TEMPLATE;
use crate::schema::shape::{COUNT, INT32, Object, STR_LIST, Shape, field, inert};

pub static JOBSET: Object = Object {
    kind: "JobSet",
    fields: &[
        field("apiVersion", Shape::Str, "jobset.x-k8s.io/v1alpha2").required(),
        field("kind", Shape::Str, "JobSet").required(),
        field("metadata", Shape::Object(&METADATA), "").required(),
        field("spec", Shape::Object(&SPEC), ""),
        inert("status", Shape::Any),
    ],
};

static SPEC: Object = Object {
    kind: "JobSetSpec",
    fields: &[
        field(
            "replicatedJobs",
            Shape::List(&Shape::Object(&REPLICATED_JOB)),
            "",
        ),
        field("network", Shape::Object(&NETWORK), ""),
        field("successPolicy", Shape::Object(&SUCCESS_POLICY), ""),
        field("failurePolicy", Shape::Object(&FAILURE_POLICY), ""),
        field("startupPolicy", Shape::Object(&STARTUP_POLICY), ""),
        field("suspend", Shape::Bool, "default: false"),
        field("coordinator", Shape::Object(&COORDINATOR), ""),
        field("managedBy", Shape::Str, ""),
        field("ttlSecondsAfterFinished", COUNT, "absent: kept"),
        field(
            "volumeClaimPolicies",
            Shape::List(&Shape::Object(&VOLUME_CLAIM_POLICY)),
            "",
        ),
    ],
};

static REPLICATED_JOB: Object = Object {
    kind: "ReplicatedJob",
    fields: &[
        field("name", Shape::Str, ""),
        field("groupName", Shape::Str, "default: default"),
        field("replicas", COUNT, "default: 1"),
        field("template", Shape::Object(&JOB_TEMPLATE), "").required(),
        field("dependsOn", Shape::List(&Shape::Object(&DEPENDS_ON)), ""),
    ],
};

static JOB_TEMPLATE: Object = Object {
    kind: "JobTemplateSpec",
    fields: &[
        field("metadata", Shape::Object(&METADATA), ""),
        field("spec", Shape::Object(&JOB_SPEC), "").required(),
    ],
};

static DEPENDS_ON: Object = Object {
    kind: "DependsOn",
    fields: &[
        field("name", Shape::Str, "a replicatedJob that comes earlier").required(),
        field(
            "status",
            Shape::OneOf(&["Ready", "Complete"]),
            "Ready or Complete",
        )
        .required(),
    ],
};

static NETWORK: Object = Object {
    kind: "Network",
    fields: &[
        field("enableDNSHostnames", Shape::Bool, "default: true"),
        field("subdomain", Shape::Str, "default: the JobSet's name"),
        field("publishNotReadyAddresses", Shape::Bool, "default: true"),
    ],
};

static SUCCESS_POLICY: Object = Object {
    kind: "SuccessPolicy",
    fields: &[
        field("operator", Shape::OneOf(&["All", "Any"]), "All or Any").required(),
        field("targetReplicatedJobs", STR_LIST, "empty: all"),
    ],
};

static FAILURE_POLICY: Object = Object {
    kind: "FailurePolicy",
    fields: &[
        field("maxRestarts", INT32, "default: 0"),
        field(
            "restartStrategy",
            Shape::OneOf(&["Recreate", "BlockingRecreate", "InPlaceRestart"]),
            "default: Recreate",
        ),
        field("rules", Shape::List(&Shape::Object(&FAILURE_RULE)), ""),
    ],
};

pub const ACTIONS: &[&str] = &[
    "FailJobSet",
    "RestartJobSet",
    "RestartJobSetAndIgnoreMaxRestarts",
    "RestartJob",
    "RestartJobAndIgnoreMaxRestarts",
];

/// Legal values of `onJobFailureReasons` (API-19).
const REASONS: &[&str] = &[
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
];

static FAILURE_RULE: Object = Object {
    kind: "FailurePolicyRule",
    fields: &[
        field("name", Shape::Str, "default: failurePolicyRule<index>"),
        field(
            "action",
            Shape::OneOf(ACTIONS),
            "what happens when the rule matches",
        )
        .required(),
        field(
            "onJobFailureReasons",
            Shape::List(&Shape::OneOf(REASONS)),
            "empty: any",
        ),
        field("onJobFailureMessagePatterns", STR_LIST, "empty: any"),
        field("targetReplicatedJobs", STR_LIST, "empty: any"),
    ],
};

static STARTUP_POLICY: Object = Object {
    kind: "StartupPolicy",
    fields: &[field(
        "startupPolicyOrder",
        Shape::OneOf(&["AnyOrder", "InOrder"]),
        "AnyOrder or InOrder",
    )
    .required()],
};

static COORDINATOR: Object = Object {
    kind: "Coordinator",
    fields: &[
        field(
            "replicatedJob",
            Shape::Str,
            "the replicatedJob of the coordinator",
        )
        .required(),
        field("jobIndex", INT32, "default: 0"),
        field("podIndex", INT32, "default: 0"),
    ],
};

static VOLUME_CLAIM_POLICY: Object = Object {
    kind: "VolumeClaimPolicy",
    fields: &[
        field("templates", Shape::List(&Shape::Object(&PVC_TEMPLATE)), ""),
        inert("retentionPolicy", Shape::Object(&RETENTION)),
    ],
};

static RETENTION: Object = Object {
    kind: "VolumeRetentionPolicy",
    fields: &[inert("whenDeleted", Shape::OneOf(&["Delete", "Retain"]))],
};

pub const GROUP: &str = "jobset.x-k8s.io/";

pub const API_VERSION: &str = "jobset.x-k8s.io/v1alpha2";
