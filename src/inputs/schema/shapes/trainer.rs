//! Field tables of Kubeflow Trainer's objects: TrainJob, TrainingRuntime and ClusterTrainingRuntime.
//!
//! Source: kubeflow/trainer @8c0f5059, pkg/apis/trainer/v1alpha1/{trainjob,trainingruntime}_types.go. The field
//! podTemplateOverrides, used until @38d8243c^, is also supported. Fields that are copied into the JobSet are
//! checked there.

use super::metadata::METADATA;
use crate::schema::shape::{
    COUNT, Field, INT32, Object, STR_LIST, STR_MAP, Shape, field, inert, not_modelled,
};

const VERSION: Field = field("apiVersion", Shape::Str, "").required();
const KIND: Field = field("kind", Shape::Str, "").required();
const NAMED: Field = field("metadata", Shape::Object(&METADATA), "").required();
const ANY_LIST: Shape = Shape::List(&Shape::Any);
const POSITIVE: Shape = Shape::Int(1, i32::MAX as i64);

pub static TRAIN_JOB: Object = Object {
    kind: "TrainJob",
    fields: &[
        VERSION,
        KIND,
        NAMED,
        field("spec", Shape::Object(&TRAIN_JOB_SPEC), "").required(),
        inert("status", Shape::Any),
    ],
};

static TRAIN_JOB_SPEC: Object = Object {
    kind: "TrainJobSpec",
    fields: &[
        field("runtimeRef", Shape::Object(&RUNTIME_REF), "").required(),
        field("initializer", Shape::Object(&INITIALIZER), ""),
        field("trainer", Shape::Object(&TRAINER), ""),
        field("runtimePatches", Shape::List(&Shape::Object(&PATCH)), ""),
        field(
            "podTemplateOverrides",
            Shape::List(&Shape::Object(&OVERRIDE)),
            "",
        ),
        field("labels", STR_MAP, ""),
        field("annotations", STR_MAP, ""),
        field("suspend", Shape::Bool, ""),
        not_modelled("activeDeadlineSeconds", COUNT),
        field("managedBy", Shape::Str, ""),
    ],
};

static RUNTIME_REF: Object = Object {
    kind: "RuntimeRef",
    fields: &[
        field("name", Shape::Str, "").required(),
        field("apiGroup", Shape::Str, ""),
        field("kind", Shape::Str, ""),
    ],
};

static INITIALIZER: Object = Object {
    kind: "Initializer",
    fields: &[
        field("dataset", Shape::Object(&SOURCE), ""),
        field("model", Shape::Object(&SOURCE), ""),
    ],
};

static SOURCE: Object = Object {
    kind: "InitializerSource",
    fields: &[
        field("storageUri", Shape::Str, ""),
        field("env", ANY_LIST, ""),
        field("secretRef", Shape::Map(&Shape::Str), ""),
    ],
};

static TRAINER: Object = Object {
    kind: "Trainer",
    fields: &[
        field("image", Shape::Str, ""),
        field("command", STR_LIST, ""),
        field("args", STR_LIST, ""),
        field("env", ANY_LIST, ""),
        field("numNodes", COUNT, ""),
        field("resourcesPerNode", Shape::Object(&RESOURCES), ""),
        field("numProcPerNode", POSITIVE, ""),
    ],
};

static RESOURCES: Object = Object {
    kind: "ResourceRequirements",
    fields: &[
        field("limits", Shape::Map(&Shape::Quantity), ""),
        field("requests", Shape::Map(&Shape::Quantity), ""),
        field("claims", ANY_LIST, ""),
    ],
};

static PATCH: Object = Object {
    kind: "RuntimePatch",
    fields: &[
        inert("manager", Shape::Str),
        inert("time", Shape::Any),
        field("trainingRuntimeSpec", Shape::Object(&PATCH_SPEC), ""),
    ],
};

static PATCH_SPEC: Object = Object {
    kind: "TrainingRuntimeSpecPatch",
    fields: &[field("template", Shape::Object(&PATCH_TEMPLATE), "")],
};

static PATCH_TEMPLATE: Object = Object {
    kind: "JobSetTemplatePatch",
    fields: &[
        field("metadata", Shape::Object(&METADATA), ""),
        field("spec", Shape::Object(&PATCH_JOBSET), ""),
    ],
};

static PATCH_JOBSET: Object = Object {
    kind: "JobSetSpecPatch",
    fields: &[field(
        "replicatedJobs",
        Shape::List(&Shape::Object(&PATCH_RJ)),
        "",
    )],
};

static PATCH_RJ: Object = Object {
    kind: "ReplicatedJobPatch",
    fields: &[
        field("name", Shape::Str, "").required(),
        field("template", Shape::Object(&PATCH_JOB), ""),
    ],
};

static PATCH_JOB: Object = Object {
    kind: "JobTemplatePatch",
    fields: &[
        field("metadata", Shape::Object(&METADATA), ""),
        field("spec", Shape::Object(&PATCH_JOB_SPEC), ""),
    ],
};

static PATCH_JOB_SPEC: Object = Object {
    kind: "JobSpecPatch",
    fields: &[field("template", Shape::Object(&PATCH_POD), "")],
};

static PATCH_POD: Object = Object {
    kind: "PodTemplatePatch",
    fields: &[
        field("metadata", Shape::Object(&METADATA), ""),
        field("spec", Shape::Object(&POD), ""),
    ],
};

static OVERRIDE: Object = Object {
    kind: "PodTemplateOverride",
    fields: &[
        field("targetJobs", Shape::List(&Shape::Object(&TARGET)), "").required(),
        inert("manager", Shape::Str),
        field("metadata", Shape::Object(&METADATA), ""),
        field("spec", Shape::Object(&POD), ""),
    ],
};

static TARGET: Object = Object {
    kind: "TargetJob",
    fields: &[field("name", Shape::Str, "").required()],
};

static POD: Object = Object {
    kind: "PodSpecPatch",
    fields: &[
        field("serviceAccountName", Shape::Str, ""),
        field("volumes", ANY_LIST, ""),
        field(
            "initContainers",
            Shape::List(&Shape::Object(&CONTAINER)),
            "",
        ),
        field("containers", Shape::List(&Shape::Object(&CONTAINER)), ""),
        field("imagePullSecrets", ANY_LIST, ""),
        field("securityContext", Shape::Any, ""),
        field("nodeSelector", STR_MAP, ""),
        field("affinity", Shape::Any, ""),
        field("tolerations", ANY_LIST, ""),
        field("schedulingGates", ANY_LIST, ""),
        field("terminationGracePeriodSeconds", INT32, ""),
    ],
};

static CONTAINER: Object = Object {
    kind: "ContainerPatch",
    fields: &[
        field("name", Shape::Str, "").required(),
        field("env", ANY_LIST, ""),
        field("volumeMounts", ANY_LIST, ""),
        field("securityContext", Shape::Any, ""),
    ],
};

/// A TrainingRuntime or ClusterTrainingRuntime.
pub static RUNTIME: Object = Object {
    kind: "TrainingRuntime",
    fields: &[
        VERSION,
        KIND,
        NAMED,
        field("spec", Shape::Object(&RUNTIME_SPEC), "").required(),
    ],
};

static RUNTIME_SPEC: Object = Object {
    kind: "TrainingRuntimeSpec",
    fields: &[
        field("mlPolicy", Shape::Object(&ML_POLICY), ""),
        field("podGroupPolicy", Shape::Object(&POD_GROUP), ""),
        field("template", Shape::Object(&TEMPLATE), "").required(),
    ],
};

static TEMPLATE: Object = Object {
    kind: "JobSetTemplateSpec",
    fields: &[
        field("metadata", Shape::Object(&METADATA), ""),
        field("spec", Shape::Any, "").required(),
    ],
};

static ML_POLICY: Object = Object {
    kind: "MLPolicy",
    fields: &[
        field("numNodes", COUNT, ""),
        field("torch", Shape::Object(&TORCH), ""),
        field("mpi", Shape::Object(&MPI), ""),
        field("flux", Shape::Any, ""),
        field("jax", Shape::Map(&Shape::Any), ""),
        field("xgboost", Shape::Map(&Shape::Any), ""),
    ],
};

static TORCH: Object = Object {
    kind: "TorchMLPolicySource",
    fields: &[field("envInjection", Shape::Object(&INJECTION), "")],
};

static INJECTION: Object = Object {
    kind: "EnvInjection",
    fields: &[field(
        "targets",
        Shape::List(&Shape::Object(&INJECTION_TARGET)),
        "",
    )],
};

static INJECTION_TARGET: Object = Object {
    kind: "EnvInjectionTarget",
    fields: &[
        field("jobName", Shape::Str, "").required(),
        field("containerNames", STR_LIST, "").required(),
    ],
};

static MPI: Object = Object {
    kind: "MPIMLPolicySource",
    fields: &[
        field("numProcPerNode", POSITIVE, ""),
        field("mpiImplementation", Shape::OneOf(&["OpenMPI", ""]), ""),
        field("sshAuthMountPath", Shape::Str, ""),
        field("runLauncherAsNode", Shape::Bool, ""),
    ],
};

static POD_GROUP: Object = Object {
    kind: "PodGroupPolicy",
    fields: &[
        not_modelled("coscheduling", Shape::Any),
        not_modelled("volcano", Shape::Any),
    ],
};
