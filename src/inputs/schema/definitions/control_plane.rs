//! Field tables of `controlPlane` in a scenario: versions, feature gates and client rates.

use crate::presets::preset_data::{DEFAULT_PRESET, preset_names};
use crate::schema::field_type::{FieldType, ObjectSchema, SchemaVersions, field};

/// Kubernetes versions that can be simulated.
pub static KUBERNETES: SchemaVersions = SchemaVersions { major: 1, oldest: 24, newest: 40 };

/// JobSet versions that can be simulated.
pub static JOBSET: SchemaVersions = SchemaVersions { major: 0, oldest: 12, newest: 13 };

pub static CONTROL_PLANE: ObjectSchema = ObjectSchema {
    kind: "ControlPlane",
    fields: &[
        field(
            "preset",
            FieldType::Preset(preset_names),
            "Preset that provides the client rates and worker counts. Other fields override its values.",
        )
        .default(DEFAULT_PRESET)
        .example("stock"),
        field(
            "kubernetes",
            FieldType::Version(&KUBERNETES),
            "Kubernetes version. Selects the behavior where it differs between versions.",
        )
        .default("\"1.36\"")
        .example("\"1.31\""),
        field("jobset", FieldType::Version(&JOBSET), "JobSet version. Selects the behavior where it differs between versions.")
            .default("\"0.13\"")
            .example("\"0.12\""),
        field(
            "featureGates",
            FieldType::Object(&FEATURE_GATES),
            "Feature gates of the JobSet manager.",
        )
        .example("{ElasticJobSet: true}"),
        field(
            "kubeControllerManager",
            FieldType::Object(&CONTROLLER_MANAGER),
            "Client rates and workers of kube-controller-manager that override the preset.",
        )
        .example("{qps: 50, burst: 100}"),
        field(
            "kubeScheduler",
            FieldType::Object(&RATE),
            "Client rate of kube-scheduler that overrides the preset.",
        )
        .example("{qps: 50, burst: 100}"),
        field(
            "jobsetManager",
            FieldType::Object(&JOBSET_MANAGER),
            "Client rate and permissions of the JobSet manager that override the preset.",
        )
        .example("{qps: 500, burst: 500}"),
        field(
            "apiServerConcurrency",
            FieldType::Int(1, 1_000_000),
            "Number of requests that the API server executes at the same time. With more in flight, all slow down in proportion.",
        )
        .example("640"),
        field(
            "nodeRequestsPerSecond",
            FieldType::Number(1.0, 1e9),
            "Maximum rate at which the API server answers requests of all kubelets and in-place agents, in requests per second.",
        )
        .example("240"),
        field(
            "nodeMonitorGracePeriodSeconds",
            FieldType::Int(1, 86_400),
            "Time without heartbeats after which the Ready condition of a node becomes Unknown, in seconds. The default before Kubernetes 1.32 is 40.",
        )
        .example("20"),
        field(
            "heartbeatSeconds",
            FieldType::Int(1, 3_600),
            "Interval between heartbeats of a node, in seconds.",
        )
        .example("5"),
    ],
};

const BY_NEED: &str = "enabled if a JobSet uses it";

static FEATURE_GATES: ObjectSchema = ObjectSchema {
    kind: "FeatureGates",
    fields: &[
        field("InPlaceRestart", FieldType::Bool, "Enables the restart strategy InPlaceRestart.").otherwise(BY_NEED),
        field(
            "RestartJob",
            FieldType::Bool,
            "Enables the failure policy actions RestartJob and RestartJobAndIgnoreMaxRestarts.",
        )
        .otherwise(BY_NEED),
        field("ElasticJobSet", FieldType::Bool, "Allows changes of parallelism and completions in a JobSet.")
            .default("false"),
    ],
};

const QPS: FieldType = FieldType::Number(0.01, 1e9);
const BURST: FieldType = FieldType::Int(1, 1_000_000_000);

static RATE: ObjectSchema = ObjectSchema {
    kind: "ClientRate",
    fields: &[
        field("qps", QPS, "Sustained client rate limit, in requests per second.").example("50"),
        field("burst", BURST, "Burst size of the client rate limit, in requests.").example("100"),
    ],
};

static JOBSET_MANAGER: ObjectSchema = ObjectSchema {
    kind: "JobSetManager",
    fields: &[
        field("qps", QPS, "Sustained client rate limit, in requests per second.").example("50"),
        field("burst", BURST, "Burst size of the client rate limit, in requests.").example("100"),
        field(
            "mayWritePodStatus",
            FieldType::Bool,
            "Grants the role access to `pods/status`, which upstream's manifests do not grant. The pod reconciler then deletes followers outside their leader's topology domain (EXC-12 to EXC-16). Requires JobSet 0.13.",
        )
        .default("false"),
    ],
};

static CONTROLLER_MANAGER: ObjectSchema = ObjectSchema {
    kind: "KubeControllerManager",
    fields: &[
        field("qps", QPS, "Sustained client rate limit of each controller, in requests per second.").example("50"),
        field("burst", BURST, "Burst size of the client rate limit of each controller, in requests.").example("100"),
        field("concurrentJobSyncs", FieldType::Int(1, 10_000), "Number of workers of the Job controller.")
            .example("10"),
        field("concurrentGcSyncs", FieldType::Int(1, 10_000), "Number of workers of the garbage collector.")
            .example("40"),
    ],
};
