//! Field tables of the Job spec (`batch/v1`) in Kubernetes 1.36.

use super::metadata::METADATA;
use super::pod::POD_SPEC;
use crate::schema::field_type::{COUNT, FieldType, INT32, ObjectSchema, field, inert, not_modelled};

pub static JOB_SPEC: ObjectSchema = ObjectSchema {
    kind: "JobSpec",
    fields: &[
        field("parallelism", COUNT).doc("Maximum number of pods that run at the same time. Default: 1."),
        field("completions", COUNT).doc("Number of pods that must succeed."),
        field("completionMode", FieldType::OneOf(&["Indexed", "NonIndexed"]))
            .doc("Completion mode. Default in a JobSet: Indexed."),
        field("backoffLimit", COUNT).doc("Number of pod failures before the Job fails. Default: 6."),
        field("backoffLimitPerIndex", COUNT).doc("Number of pod failures before an index fails."),
        field("maxFailedIndexes", COUNT).doc("Number of failed indexes above which the Job fails."),
        field("activeDeadlineSeconds", FieldType::Int(0, 1 << 40)).doc("Maximum run time of the Job in seconds."),
        field("podFailurePolicy", FieldType::Object(&POD_FAILURE_POLICY)).doc("Rules for failed pods."),
        field("podReplacementPolicy", FieldType::OneOf(&["TerminatingOrFailed", "Failed"]))
            .doc("Time at which a replacement pod is created: TerminatingOrFailed or Failed."),
        field("template", FieldType::Object(&POD_TEMPLATE)).required(),
        // The JobSet controller always sets this field from the JobSet.
        inert("suspend", FieldType::Bool),
        field("successPolicy", FieldType::Object(&JOB_SUCCESS_POLICY))
            .doc("Condition under which an Indexed Job succeeds early."),
        field("ttlSecondsAfterFinished", COUNT)
            .doc("Time after the end at which the Job is deleted, in seconds. If absent, it is kept."),
        field("managedBy", FieldType::Str)
            .doc("Controller that manages the Job. If it is not kubernetes.io/job-controller, no pods are created."),
        not_modelled("selector", FieldType::Any),
        not_modelled("manualSelector", FieldType::Bool),
        not_modelled("scheduling", FieldType::Any),
    ],
};

static POD_TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "PodTemplateSpec",
    fields: &[
        field("metadata", FieldType::Object(&METADATA)).doc("Labels and annotations of the pods."),
        field("spec", FieldType::Object(&POD_SPEC)).required(),
    ],
};

static POD_FAILURE_POLICY: ObjectSchema = ObjectSchema {
    kind: "PodFailurePolicy",
    fields: &[field("rules", FieldType::List(&FieldType::Object(&POD_FAILURE_RULE))).required()],
};

static POD_FAILURE_RULE: ObjectSchema = ObjectSchema {
    kind: "PodFailurePolicyRule",
    fields: &[
        field("action", FieldType::OneOf(&["FailJob", "FailIndex", "Ignore", "Count"])).required(),
        field("onExitCodes", FieldType::Object(&ON_EXIT_CODES)).doc("Container exit codes that match."),
        field("onPodConditions", FieldType::List(&FieldType::Object(&ON_POD_CONDITION)))
            .doc("Pod conditions that match."),
    ],
};

static ON_EXIT_CODES: ObjectSchema = ObjectSchema {
    kind: "PodFailurePolicyOnExitCodes",
    fields: &[
        field("containerName", FieldType::Str).doc("Name of the container. If absent, any container."),
        field("operator", FieldType::OneOf(&["In", "NotIn"])).required(),
        field("values", FieldType::List(&INT32)).required(),
    ],
};

static ON_POD_CONDITION: ObjectSchema = ObjectSchema {
    kind: "PodFailurePolicyOnPodConditionsPattern",
    fields: &[
        field("type", FieldType::Str).required(),
        field("status", FieldType::Str).doc("Status of the pod condition. Default: True."),
    ],
};

static JOB_SUCCESS_POLICY: ObjectSchema = ObjectSchema {
    kind: "JobSuccessPolicy",
    fields: &[field("rules", FieldType::List(&FieldType::Object(&JOB_SUCCESS_RULE))).required()],
};

static JOB_SUCCESS_RULE: ObjectSchema = ObjectSchema {
    kind: "JobSuccessPolicyRule",
    fields: &[
        field("succeededIndexes", FieldType::Str).doc("Indexes that must succeed, for example 0-2,5."),
        field("succeededCount", COUNT).doc("Number of indexes that must succeed."),
    ],
};
