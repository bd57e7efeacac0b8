//! Field tables of a JobSet (`jobset.x-k8s.io/v1alpha2`, API-1 to API-29).

use super::job::JOB_SPEC;
use super::metadata::METADATA;
use super::pod::PVC_TEMPLATE;
use crate::schema::field_type::FieldType::{Any, Bool, List, Object, OneOf, Str};
use crate::schema::field_type::{COUNT, INT32, ObjectSchema, STR_LIST, field, inert};

pub static JOBSET: ObjectSchema = ObjectSchema {
    kind: "JobSet",
    fields: &[
        field("apiVersion", Str).doc("jobset.x-k8s.io/v1alpha2").required(),
        field("kind", Str).doc("JobSet").required(),
        field("metadata", Object(&METADATA)).required(),
        field("spec", Object(&SPEC)).doc("Desired state of the JobSet."),
        inert("status", Any),
    ],
};

static SPEC: ObjectSchema = ObjectSchema {
    kind: "JobSetSpec",
    fields: &[
        field("replicatedJobs", List(&Object(&REPLICATED_JOB)))
            .doc("Groups of child Jobs created from the same template."),
        field("network", Object(&NETWORK)).doc("Network settings of the pods."),
        field("successPolicy", Object(&SUCCESS_POLICY)).doc("Condition under which the JobSet is completed."),
        field("failurePolicy", Object(&FAILURE_POLICY)).doc("Reaction to failed Jobs."),
        field("startupPolicy", Object(&STARTUP_POLICY)).doc("Order in which the replicatedJobs are started."),
        field("suspend", Bool).doc("Whether the JobSet is suspended. Default: false."),
        field("coordinator", Object(&COORDINATOR)).doc("Pod that is the coordinator of the JobSet."),
        field("managedBy", Str).doc("Name of the controller that manages the JobSet."),
        field("ttlSecondsAfterFinished", COUNT)
            .doc("Time after the end at which the JobSet is deleted, in seconds. If absent, it is kept."),
        field("volumeClaimPolicies", List(&Object(&VOLUME_CLAIM_POLICY)))
            .doc("Templates of volume claims that the JobSet creates."),
    ],
};

static REPLICATED_JOB: ObjectSchema = ObjectSchema {
    kind: "ReplicatedJob",
    fields: &[
        field("name", Str).doc("Name of the replicatedJob, used in the names of its Jobs."),
        field("groupName", Str).doc("Name of the group of replicatedJobs. Default: default."),
        field("replicas", COUNT).doc("Number of child Jobs. Default: 1."),
        field("template", Object(&JOB_TEMPLATE)).required(),
        field("dependsOn", List(&Object(&DEPENDS_ON)))
            .doc("ReplicatedJobs that must reach a state before this one is created."),
    ],
};

static JOB_TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "JobTemplateSpec",
    fields: &[
        field("metadata", Object(&METADATA)).doc("Labels and annotations of the Jobs."),
        field("spec", Object(&JOB_SPEC)).required(),
    ],
};

static DEPENDS_ON: ObjectSchema = ObjectSchema {
    kind: "DependsOn",
    fields: &[
        field("name", Str).doc("Name of an earlier replicatedJob.").required(),
        field("status", OneOf(&["Ready", "Complete"]))
            .doc("State that the dependency must reach: Ready or Complete.")
            .required(),
    ],
};

static NETWORK: ObjectSchema = ObjectSchema {
    kind: "Network",
    fields: &[
        field("enableDNSHostnames", Bool).doc("Whether pods get DNS hostnames. Default: true."),
        field("subdomain", Str).doc("Subdomain of the pods. Default: the name of the JobSet."),
        field("publishNotReadyAddresses", Bool)
            .doc("Whether DNS records are published for pods that are not ready. Default: true."),
    ],
};

static SUCCESS_POLICY: ObjectSchema = ObjectSchema {
    kind: "SuccessPolicy",
    fields: &[
        field("operator", OneOf(&["All", "Any"]))
            .doc("Whether All or Any of the target Jobs must complete.")
            .required(),
        field("targetReplicatedJobs", STR_LIST).doc("Names of the target replicatedJobs. If empty, all."),
    ],
};

static FAILURE_POLICY: ObjectSchema = ObjectSchema {
    kind: "FailurePolicy",
    fields: &[
        field("maxRestarts", INT32).doc("Maximum number of restarts of the JobSet. Default: 0."),
        field("restartStrategy", OneOf(&["Recreate", "BlockingRecreate", "InPlaceRestart"]))
            .doc("Restart strategy. Default: Recreate."),
        field("rules", List(&Object(&FAILURE_RULE))).doc("Rules for failed Jobs. The first matching rule applies."),
    ],
};

pub const ACTIONS: &[&str] = &[
    "FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob", "RestartJobAndIgnoreMaxRestarts",
];

/// Legal values of `onJobFailureReasons` (API-19).
const REASONS: &[&str] =
    &["BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"];

static FAILURE_RULE: ObjectSchema = ObjectSchema {
    kind: "FailurePolicyRule",
    fields: &[
        field("name", Str).doc("Name of the rule. Default: failurePolicyRule<index>."),
        field("action", OneOf(ACTIONS)).doc("Action when the rule matches.").required(),
        field("onJobFailureReasons", List(&OneOf(REASONS)))
            .doc("Reasons of the Job failure that match. If empty, any."),
        field("onJobFailureMessagePatterns", STR_LIST)
            .doc("Regular expressions for the message of the Job failure. If empty, any."),
        field("targetReplicatedJobs", STR_LIST).doc("Names of the replicatedJobs that match. If empty, any."),
    ],
};

static STARTUP_POLICY: ObjectSchema = ObjectSchema {
    kind: "StartupPolicy",
    fields: &[field("startupPolicyOrder", OneOf(&["AnyOrder", "InOrder"]))
        .doc("Order in which the replicatedJobs are started: AnyOrder or InOrder.")
        .required()],
};

static COORDINATOR: ObjectSchema = ObjectSchema {
    kind: "Coordinator",
    fields: &[
        field("replicatedJob", Str).doc("Name of the replicatedJob that contains the coordinator pod.").required(),
        field("jobIndex", INT32).doc("Index of the Job within the replicatedJob. Default: 0."),
        field("podIndex", INT32).doc("Completion index of the pod. Default: 0."),
    ],
};

static VOLUME_CLAIM_POLICY: ObjectSchema = ObjectSchema {
    kind: "VolumeClaimPolicy",
    fields: &[
        field("templates", List(&Object(&PVC_TEMPLATE))).doc("Templates of the volume claims."),
        inert("retentionPolicy", Object(&RETENTION)),
    ],
};

static RETENTION: ObjectSchema =
    ObjectSchema { kind: "VolumeRetentionPolicy", fields: &[inert("whenDeleted", OneOf(&["Delete", "Retain"]))] };

pub const GROUP: &str = "jobset.x-k8s.io/";

pub const API_VERSION: &str = "jobset.x-k8s.io/v1alpha2";
