//! Field tables of the Job spec (`batch/v1`) in Kubernetes 1.36.

use super::metadata::METADATA;
use super::pod::POD_SPEC;
use crate::schema::field_type::FieldType::{Any, Bool, Int, List, Object, OneOf, Str};
use crate::schema::field_type::{COUNT, INT32, ObjectSchema, field, inert, not_modelled};

pub static JOB_SPEC: ObjectSchema = ObjectSchema {
    kind: "JobSpec",
    fields: &[
        field("parallelism", COUNT).doc("Maximum number of pods that run at the same time. Default: 1."),
        field("completions", COUNT).doc("Number of pods that must succeed."),
        field("completionMode", OneOf(&["Indexed", "NonIndexed"]))
            .doc("Completion mode. Default in a JobSet: Indexed."),
        field("backoffLimit", COUNT).doc("Number of pod failures before the Job fails. Default: 6."),
        field("backoffLimitPerIndex", COUNT).doc("Number of pod failures before an index fails."),
        field("maxFailedIndexes", COUNT).doc("Number of failed indexes above which the Job fails."),
        field("activeDeadlineSeconds", Int(0, 1 << 40)).doc("Maximum run time of the Job in seconds."),
        field("podFailurePolicy", Object(&POD_FAILURE_POLICY)).doc("Rules for failed pods."),
        field("podReplacementPolicy", OneOf(&["TerminatingOrFailed", "Failed"]))
            .doc("Time at which a replacement pod is created: TerminatingOrFailed or Failed."),
        field("template", Object(&POD_TEMPLATE)).required(),
        // The JobSet controller always sets this field from the JobSet.
        inert("suspend", Bool),
        field("successPolicy", Object(&JOB_SUCCESS_POLICY)).doc("Condition under which an Indexed Job succeeds early."),
        field("ttlSecondsAfterFinished", COUNT)
            .doc("Time after the end at which the Job is deleted, in seconds. If absent, it is kept."),
        field("managedBy", Str)
            .doc("Controller that manages the Job. If it is not kubernetes.io/job-controller, no pods are created."),
        not_modelled("selector", Any),
        not_modelled("manualSelector", Bool),
        not_modelled("scheduling", Any),
    ],
};

static POD_TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "PodTemplateSpec",
    fields: &[
        field("metadata", Object(&METADATA)).doc("Labels and annotations of the pods."),
        field("spec", Object(&POD_SPEC)).required(),
    ],
};

static POD_FAILURE_POLICY: ObjectSchema =
    ObjectSchema { kind: "PodFailurePolicy", fields: &[field("rules", List(&Object(&POD_FAILURE_RULE))).required()] };

static POD_FAILURE_RULE: ObjectSchema = ObjectSchema {
    kind: "PodFailurePolicyRule",
    fields: &[
        field("action", OneOf(&["FailJob", "FailIndex", "Ignore", "Count"])).required(),
        field("onExitCodes", Object(&ON_EXIT_CODES)).doc("Container exit codes that match."),
        field("onPodConditions", List(&Object(&ON_POD_CONDITION))).doc("Pod conditions that match."),
    ],
};

static ON_EXIT_CODES: ObjectSchema = ObjectSchema {
    kind: "PodFailurePolicyOnExitCodes",
    fields: &[
        field("containerName", Str).doc("Name of the container. If absent, any container."),
        field("operator", OneOf(&["In", "NotIn"])).required(),
        field("values", List(&INT32)).required(),
    ],
};

static ON_POD_CONDITION: ObjectSchema = ObjectSchema {
    kind: "PodFailurePolicyOnPodConditionsPattern",
    fields: &[field("type", Str).required(), field("status", Str).doc("Status of the pod condition. Default: True.")],
};

static JOB_SUCCESS_POLICY: ObjectSchema =
    ObjectSchema { kind: "JobSuccessPolicy", fields: &[field("rules", List(&Object(&JOB_SUCCESS_RULE))).required()] };

static JOB_SUCCESS_RULE: ObjectSchema = ObjectSchema {
    kind: "JobSuccessPolicyRule",
    fields: &[
        field("succeededIndexes", Str).doc("Indexes that must succeed, for example 0-2,5."),
        field("succeededCount", COUNT).doc("Number of indexes that must succeed."),
    ],
};
