//! Field tables of `controlPlane` in a scenario: versions, feature gates and client rates.

use crate::presets::preset_data::{DEFAULT_PRESET, preset_names};
use crate::schema::shape::{Object, Shape, Versions, field};

/// Kubernetes versions that can be simulated.
pub static KUBERNETES: Versions = Versions {
    major: 1,
    oldest: 24,
    newest: 40,
};

/// JobSet versions that can be simulated.
pub static JOBSET: Versions = Versions {
    major: 0,
    oldest: 12,
    newest: 13,
};

pub static CONTROL_PLANE: Object = Object {
    kind: "ControlPlane",
    fields: &[
        field(
            "preset",
            Shape::Preset(preset_names),
            "rates and workers of a known control plane, to begin with",
        )
        .default(DEFAULT_PRESET)
        .example("stock"),
        field(
            "kubernetes",
            Shape::Version(&KUBERNETES),
            "version of Kubernetes; decides on rules that changed",
        )
        .default("\"1.36\"")
        .example("\"1.31\""),
        field("jobset", Shape::Version(&JOBSET), "version of JobSet")
            .default("\"0.13\"")
            .example("\"0.12\""),
        field(
            "featureGates",
            Shape::Object(&FEATURE_GATES),
            "of the JobSet manager",
        )
        .example("{ElasticJobSet: true}"),
        field(
            "kubeControllerManager",
            Shape::Object(&CONTROLLER_MANAGER),
            "what differs from the preset",
        )
        .example("{qps: 50, burst: 100}"),
        field(
            "kubeScheduler",
            Shape::Object(&RATE),
            "what differs from the preset",
        )
        .example("{qps: 50, burst: 100}"),
        field(
            "jobsetManager",
            Shape::Object(&JOBSET_MANAGER),
            "what differs from the preset",
        )
        .example("{qps: 500, burst: 500}"),
        field(
            "nodeRequestsPerSecond",
            Shape::Number(1.0, 1e9),
            "requests of all kubelets and in-place agents that get answered",
        )
        .example("240"),
        field(
            "nodeMonitorGracePeriodSeconds",
            Shape::Int(1, 86_400),
            "how long a node may be silent before it is Unknown (before Kubernetes 1.32: 40)",
        )
        .example("20"),
        field(
            "heartbeatSeconds",
            Shape::Int(1, 3_600),
            "between two heartbeats of a node",
        )
        .example("5"),
    ],
};

const BY_NEED: &str = "on if a JobSet needs it";

static FEATURE_GATES: Object = Object {
    kind: "FeatureGates",
    fields: &[
        field(
            "InPlaceRestart",
            Shape::Bool,
            "restart strategy InPlaceRestart",
        )
        .otherwise(BY_NEED),
        field("RestartJob", Shape::Bool, "the RestartJob actions").otherwise(BY_NEED),
        field(
            "ElasticJobSet",
            Shape::Bool,
            "parallelism and completions may change",
        )
        .default("false"),
    ],
};

const QPS: Shape = Shape::Number(0.01, 1e9);
const BURST: Shape = Shape::Int(1, 1_000_000_000);

static RATE: Object = Object {
    kind: "ClientRate",
    fields: &[
        field("qps", QPS, "requests per second").example("50"),
        field("burst", BURST, "requests at once").example("100"),
    ],
};

static JOBSET_MANAGER: Object = Object {
    kind: "JobSetManager",
    fields: &[
        field("qps", QPS, "requests per second").example("50"),
        field("burst", BURST, "requests at once").example("100"),
        field(
            "mayWritePodStatus",
            Shape::Bool,
            "its role also allows `pods/status`, which upstream's manifests do not grant: its pod reconciler deletes \
             followers outside their leader's domain (EXC-12 to EXC-16; from JobSet 0.13)",
        )
        .default("false"),
    ],
};

static CONTROLLER_MANAGER: Object = Object {
    kind: "KubeControllerManager",
    fields: &[
        field("qps", QPS, "requests per second, for each controller").example("50"),
        field("burst", BURST, "requests at once, for each controller").example("100"),
        field(
            "concurrentJobSyncs",
            Shape::Int(1, 10_000),
            "workers of the Job controller",
        )
        .example("10"),
        field(
            "concurrentGcSyncs",
            Shape::Int(1, 10_000),
            "workers of the garbage collector",
        )
        .example("40"),
    ],
};
