//! Field tables of PathwaysJob. Fields that are copied into the JobSet are checked there.
//!
//! Source: google/pathways-job @c0cc759, api/v1/pathwaysjob_types.go.

use super::metadata::METADATA;
use crate::embedded_jobsets::MACHINES;
use crate::schema::field_type::{COUNT, FieldType, ObjectSchema, STR_LIST, STR_MAP, field, inert};

pub static PATHWAYS_JOB: ObjectSchema = ObjectSchema {
    kind: "PathwaysJob",
    fields: &[
        field("apiVersion", FieldType::Str, "").required(),
        field("kind", FieldType::Str, "").required(),
        field("metadata", FieldType::Object(&METADATA), "").required(),
        field("spec", FieldType::Object(&SPEC), "").required(),
        inert("status", FieldType::Any),
    ],
};

static SPEC: ObjectSchema = ObjectSchema {
    kind: "PathwaysJobSpec",
    fields: &[
        field("maxRestarts", COUNT, ""),
        field("pathwaysDir", FieldType::Str, ""),
        field("pathwaysVersion", FieldType::Str, ""),
        field("workers", FieldType::NonEmpty(&FieldType::Object(&WORKER)), "").required(),
        field("controller", FieldType::Object(&CONTROLLER), "").required(),
        field("customComponents", FieldType::List(&FieldType::Object(&COMPONENT)), ""),
    ],
};

static MACHINE_TYPES: [&str; 7] = [
    MACHINES[0].0,
    MACHINES[1].0,
    MACHINES[2].0,
    MACHINES[3].0,
    MACHINES[4].0,
    MACHINES[5].0,
    MACHINES[6].0,
];

static WORKER: ObjectSchema = ObjectSchema {
    kind: "WorkerSpec",
    fields: &[
        field("type", FieldType::OneOf(&MACHINE_TYPES), "").required(),
        field("topology", FieldType::Str, "").required(),
        field("numSlices", COUNT, "").required(),
        field("maxSliceRestarts", COUNT, ""),
        field("terminationGracePeriodSeconds", COUNT, ""),
        field("priorityClassName", FieldType::Str, ""),
        field("nodeSelector", STR_MAP, ""),
    ],
};

static CONTROLLER: ObjectSchema = ObjectSchema {
    kind: "ControllerSpec",
    fields: &[
        field(
            "deploymentMode",
            FieldType::OneOf(&["colocate_head_with_workers", "default"]),
            "",
        )
        .required(),
        field("mainContainerName", FieldType::Str, ""),
        field("enableMetricsCollection", FieldType::Bool, ""),
        field("template", FieldType::Any, ""),
        field("elasticSlices", COUNT, ""),
    ],
};

static COMPONENT: ObjectSchema = ObjectSchema {
    kind: "CustomComponentsSpec",
    fields: &[
        field(
            "componentType",
            FieldType::OneOf(&["pathways_server", "worker", "proxy_server", "colocated_python_sidecar"]),
            "",
        )
        .required(),
        field("image", FieldType::Str, ""),
        field("customFlags", STR_LIST, ""),
        field("customEnv", FieldType::Any, ""),
    ],
};
