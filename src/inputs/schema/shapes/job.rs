//! Field tables of the Job spec (`batch/v1`) in Kubernetes 1.36.

use super::metadata::METADATA;
use super::pod::POD_SPEC;
use crate::schema::shape::{COUNT, INT32, Object, Shape, field, inert, not_modelled};

pub static JOB_SPEC: Object = Object {
    kind: "JobSpec",
    fields: &[
        field("parallelism", COUNT, "default: 1"),
        field("completions", COUNT, ""),
        field(
            "completionMode",
            Shape::OneOf(&["Indexed", "NonIndexed"]),
            "default in a JobSet: Indexed",
        ),
        field("backoffLimit", COUNT, "default: 6"),
        field("backoffLimitPerIndex", COUNT, ""),
        field("maxFailedIndexes", COUNT, ""),
        field("activeDeadlineSeconds", Shape::Int(0, 1 << 40), ""),
        field("podFailurePolicy", Shape::Object(&POD_FAILURE_POLICY), ""),
        field(
            "podReplacementPolicy",
            Shape::OneOf(&["TerminatingOrFailed", "Failed"]),
            "",
        ),
        field("template", Shape::Object(&POD_TEMPLATE), "").required(),
        // The JobSet controller always sets this field from the JobSet.
        inert("suspend", Shape::Bool),
        field("successPolicy", Shape::Object(&JOB_SUCCESS_POLICY), ""),
        field("ttlSecondsAfterFinished", COUNT, "absent: never"),
        field(
            "managedBy",
            Shape::Str,
            "another controller than kubernetes.io/job-controller: no pods",
        ),
        not_modelled("selector", Shape::Any),
        not_modelled("manualSelector", Shape::Bool),
        not_modelled("scheduling", Shape::Any),
    ],
};

static POD_TEMPLATE: Object = Object {
    kind: "PodTemplateSpec",
    fields: &[
        field("metadata", Shape::Object(&METADATA), ""),
        field("spec", Shape::Object(&POD_SPEC), "").required(),
    ],
};

static POD_FAILURE_POLICY: Object = Object {
    kind: "PodFailurePolicy",
    fields: &[field("rules", Shape::List(&Shape::Object(&POD_FAILURE_RULE)), "").required()],
};

static POD_FAILURE_RULE: Object = Object {
    kind: "PodFailurePolicyRule",
    fields: &[
        field(
            "action",
            Shape::OneOf(&["FailJob", "FailIndex", "Ignore", "Count"]),
            "",
        )
        .required(),
        field("onExitCodes", Shape::Object(&ON_EXIT_CODES), ""),
        field(
            "onPodConditions",
            Shape::List(&Shape::Object(&ON_POD_CONDITION)),
            "",
        ),
    ],
};

static ON_EXIT_CODES: Object = Object {
    kind: "PodFailurePolicyOnExitCodes",
    fields: &[
        field("containerName", Shape::Str, ""),
        field("operator", Shape::OneOf(&["In", "NotIn"]), "").required(),
        field("values", Shape::List(&INT32), "").required(),
    ],
};

static ON_POD_CONDITION: Object = Object {
    kind: "PodFailurePolicyOnPodConditionsPattern",
    fields: &[
        field("type", Shape::Str, "").required(),
        field("status", Shape::Str, "default: True"),
    ],
};

static JOB_SUCCESS_POLICY: Object = Object {
    kind: "JobSuccessPolicy",
    fields: &[field("rules", Shape::List(&Shape::Object(&JOB_SUCCESS_RULE)), "").required()],
};

static JOB_SUCCESS_RULE: Object = Object {
    kind: "JobSuccessPolicyRule",
    fields: &[
        field("succeededIndexes", Shape::Str, "e.g. 0-2,5"),
        field("succeededCount", COUNT, ""),
    ],
};
