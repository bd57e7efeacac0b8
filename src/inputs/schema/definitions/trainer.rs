//! Field tables of objects from which JobSets are rendered: TrainJob, TrainingRuntime and ClusterTrainingRuntime of
//! Kubeflow Trainer, and PathwaysJob.
//!
//! Source: kubeflow/trainer @8c0f5059, pkg/apis/trainer/v1alpha1/{trainjob,trainingruntime}_types.go. The field
//! podTemplateOverrides, used until @38d8243c^, and the fields of mlPolicy.torch of Trainer 2.0 and 2.1 are also
//! supported. Fields that are copied into the JobSet are checked there.

use super::metadata::METADATA;
use crate::embedded_jobsets::MACHINES;
use crate::schema::field_type::{
    COUNT, FieldSchema, FieldType, INT32, ObjectSchema, STR_LIST, STR_MAP, field, inert, not_modelled,
};

const VERSION: FieldSchema = field("apiVersion", FieldType::Str).required();
const KIND: FieldSchema = field("kind", FieldType::Str).required();
const NAMED: FieldSchema = field("metadata", FieldType::Object(&METADATA)).required();
const ANY_LIST: FieldType = FieldType::List(&FieldType::Any);
const POSITIVE: FieldType = FieldType::Int(1, i32::MAX as i64);

pub static TRAIN_JOB: ObjectSchema = ObjectSchema {
    kind: "TrainJob",
    fields: &[
        VERSION,
        KIND,
        NAMED,
        field("spec", FieldType::Object(&TRAIN_JOB_SPEC)).required(),
        inert("status", FieldType::Any),
    ],
};

static TRAIN_JOB_SPEC: ObjectSchema = ObjectSchema {
    kind: "TrainJobSpec",
    fields: &[
        field("runtimeRef", FieldType::Object(&RUNTIME_REF)).required(),
        field("initializer", FieldType::Object(&INITIALIZER)),
        field("trainer", FieldType::Object(&TRAINER)),
        field("runtimePatches", FieldType::List(&FieldType::Object(&PATCH))),
        field("podTemplateOverrides", FieldType::List(&FieldType::Object(&OVERRIDE))),
        field("labels", STR_MAP),
        field("annotations", STR_MAP),
        field("suspend", FieldType::Bool),
        not_modelled("activeDeadlineSeconds", COUNT),
        field("managedBy", FieldType::Str),
    ],
};

static RUNTIME_REF: ObjectSchema = ObjectSchema {
    kind: "RuntimeRef",
    fields: &[
        field("name", FieldType::Str).required(),
        field("apiGroup", FieldType::Str),
        field("kind", FieldType::Str),
    ],
};

static INITIALIZER: ObjectSchema = ObjectSchema {
    kind: "Initializer",
    fields: &[field("dataset", FieldType::Object(&SOURCE)), field("model", FieldType::Object(&SOURCE))],
};

static SOURCE: ObjectSchema = ObjectSchema {
    kind: "InitializerSource",
    fields: &[
        field("storageUri", FieldType::Str),
        field("env", ANY_LIST),
        field("secretRef", FieldType::Map(&FieldType::Str)),
    ],
};

static TRAINER: ObjectSchema = ObjectSchema {
    kind: "Trainer",
    fields: &[
        field("image", FieldType::Str),
        field("command", STR_LIST),
        field("args", STR_LIST),
        field("env", ANY_LIST),
        field("numNodes", COUNT),
        field("resourcesPerNode", FieldType::Object(&RESOURCES)),
        field("numProcPerNode", POSITIVE),
    ],
};

static RESOURCES: ObjectSchema = ObjectSchema {
    kind: "ResourceRequirements",
    fields: &[
        field("limits", FieldType::Map(&FieldType::Quantity)),
        field("requests", FieldType::Map(&FieldType::Quantity)),
        field("claims", ANY_LIST),
    ],
};

static PATCH: ObjectSchema = ObjectSchema {
    kind: "RuntimePatch",
    fields: &[
        inert("manager", FieldType::Str),
        inert("time", FieldType::Any),
        field("trainingRuntimeSpec", FieldType::Object(&PATCH_SPEC)),
    ],
};

static PATCH_SPEC: ObjectSchema =
    ObjectSchema { kind: "TrainingRuntimeSpecPatch", fields: &[field("template", FieldType::Object(&PATCH_TEMPLATE))] };

static PATCH_TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "JobSetTemplatePatch",
    fields: &[field("metadata", FieldType::Object(&METADATA)), field("spec", FieldType::Object(&PATCH_JOBSET))],
};

static PATCH_JOBSET: ObjectSchema = ObjectSchema {
    kind: "JobSetSpecPatch",
    fields: &[field("replicatedJobs", FieldType::List(&FieldType::Object(&PATCH_RJ)))],
};

static PATCH_RJ: ObjectSchema = ObjectSchema {
    kind: "ReplicatedJobPatch",
    fields: &[field("name", FieldType::Str).required(), field("template", FieldType::Object(&PATCH_JOB))],
};

static PATCH_JOB: ObjectSchema = ObjectSchema {
    kind: "JobTemplatePatch",
    fields: &[field("metadata", FieldType::Object(&METADATA)), field("spec", FieldType::Object(&PATCH_JOB_SPEC))],
};

static PATCH_JOB_SPEC: ObjectSchema =
    ObjectSchema { kind: "JobSpecPatch", fields: &[field("template", FieldType::Object(&PATCH_POD))] };

static PATCH_POD: ObjectSchema = ObjectSchema {
    kind: "PodTemplatePatch",
    fields: &[field("metadata", FieldType::Object(&METADATA)), field("spec", FieldType::Object(&POD))],
};

static OVERRIDE: ObjectSchema = ObjectSchema {
    kind: "PodTemplateOverride",
    fields: &[
        field("targetJobs", FieldType::List(&FieldType::Object(&TARGET))).required(),
        inert("manager", FieldType::Str),
        field("metadata", FieldType::Object(&METADATA)),
        field("spec", FieldType::Object(&POD)),
    ],
};

static TARGET: ObjectSchema = ObjectSchema { kind: "TargetJob", fields: &[field("name", FieldType::Str).required()] };

static POD: ObjectSchema = ObjectSchema {
    kind: "PodSpecPatch",
    fields: &[
        field("serviceAccountName", FieldType::Str),
        field("volumes", ANY_LIST),
        field("initContainers", FieldType::List(&FieldType::Object(&CONTAINER))),
        field("containers", FieldType::List(&FieldType::Object(&CONTAINER))),
        field("imagePullSecrets", ANY_LIST),
        field("securityContext", FieldType::Any),
        field("nodeSelector", STR_MAP),
        field("affinity", FieldType::Any),
        field("tolerations", ANY_LIST),
        field("schedulingGates", ANY_LIST),
        field("terminationGracePeriodSeconds", INT32),
    ],
};

static CONTAINER: ObjectSchema = ObjectSchema {
    kind: "ContainerPatch",
    fields: &[
        field("name", FieldType::Str).required(),
        field("env", ANY_LIST),
        field("volumeMounts", ANY_LIST),
        field("securityContext", FieldType::Any),
    ],
};

/// A TrainingRuntime or ClusterTrainingRuntime.
pub static RUNTIME: ObjectSchema = ObjectSchema {
    kind: "TrainingRuntime",
    fields: &[VERSION, KIND, NAMED, field("spec", FieldType::Object(&RUNTIME_SPEC)).required()],
};

static RUNTIME_SPEC: ObjectSchema = ObjectSchema {
    kind: "TrainingRuntimeSpec",
    fields: &[
        field("mlPolicy", FieldType::Object(&ML_POLICY)),
        field("podGroupPolicy", FieldType::Object(&POD_GROUP)),
        field("template", FieldType::Object(&TEMPLATE)).required(),
    ],
};

static TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "JobSetTemplateSpec",
    fields: &[field("metadata", FieldType::Object(&METADATA)), field("spec", FieldType::Any).required()],
};

static ML_POLICY: ObjectSchema = ObjectSchema {
    kind: "MLPolicy",
    fields: &[
        field("numNodes", COUNT),
        field("torch", FieldType::Object(&TORCH)),
        field("mpi", FieldType::Object(&MPI)),
        field("flux", FieldType::Any),
        field("jax", FieldType::Map(&FieldType::Any)),
        field("xgboost", FieldType::Map(&FieldType::Any)),
    ],
};

static TORCH: ObjectSchema = ObjectSchema {
    kind: "TorchMLPolicySource",
    fields: &[
        field("envInjection", FieldType::Object(&INJECTION)),
        field("numProcPerNode", FieldType::Any),
        not_modelled("elasticPolicy", FieldType::Any),
    ],
};

static INJECTION: ObjectSchema = ObjectSchema {
    kind: "EnvInjection",
    fields: &[field("targets", FieldType::List(&FieldType::Object(&INJECTION_TARGET)))],
};

static INJECTION_TARGET: ObjectSchema = ObjectSchema {
    kind: "EnvInjectionTarget",
    fields: &[field("jobName", FieldType::Str).required(), field("containerNames", STR_LIST).required()],
};

static MPI: ObjectSchema = ObjectSchema {
    kind: "MPIMLPolicySource",
    fields: &[
        field("numProcPerNode", POSITIVE),
        field("mpiImplementation", FieldType::OneOf(&["OpenMPI", ""])),
        field("sshAuthMountPath", FieldType::Str),
        field("runLauncherAsNode", FieldType::Bool),
    ],
};

static POD_GROUP: ObjectSchema = ObjectSchema {
    kind: "PodGroupPolicy",
    fields: &[not_modelled("coscheduling", FieldType::Any), not_modelled("volcano", FieldType::Any)],
};

/// Source: google/pathways-job @c0cc759, api/v1/pathwaysjob_types.go.
pub static PATHWAYS_JOB: ObjectSchema = ObjectSchema {
    kind: "PathwaysJob",
    fields: &[
        VERSION,
        KIND,
        NAMED,
        field("spec", FieldType::Object(&PATHWAYS_SPEC)).required(),
        inert("status", FieldType::Any),
    ],
};

static PATHWAYS_SPEC: ObjectSchema = ObjectSchema {
    kind: "PathwaysJobSpec",
    fields: &[
        field("maxRestarts", COUNT),
        field("pathwaysDir", FieldType::Str),
        field("pathwaysVersion", FieldType::Str),
        field("workers", FieldType::NonEmpty(&FieldType::Object(&WORKER))).required(),
        field("controller", FieldType::Object(&CONTROLLER)).required(),
        field("customComponents", FieldType::List(&FieldType::Object(&COMPONENT))),
    ],
};

static MACHINE_TYPES: [&str; MACHINES.len()] = {
    let (mut names, mut at) = ([""; MACHINES.len()], 0);
    while at < names.len() {
        names[at] = MACHINES[at].0;
        at += 1;
    }
    names
};

static WORKER: ObjectSchema = ObjectSchema {
    kind: "WorkerSpec",
    fields: &[
        field("type", FieldType::OneOf(&MACHINE_TYPES)).required(),
        field("topology", FieldType::Str).required(),
        field("numSlices", COUNT).required(),
        field("maxSliceRestarts", COUNT),
        field("terminationGracePeriodSeconds", COUNT),
        field("priorityClassName", FieldType::Str),
        field("nodeSelector", STR_MAP),
    ],
};

static CONTROLLER: ObjectSchema = ObjectSchema {
    kind: "ControllerSpec",
    fields: &[
        field("deploymentMode", FieldType::OneOf(&["colocate_head_with_workers", "default"])).required(),
        field("mainContainerName", FieldType::Str),
        field("enableMetricsCollection", FieldType::Bool),
        field("template", FieldType::Any),
        field("elasticSlices", COUNT),
    ],
};

static COMPONENT: ObjectSchema = ObjectSchema {
    kind: "CustomComponentsSpec",
    fields: &[
        field(
            "componentType",
            FieldType::OneOf(&["pathways_server", "worker", "proxy_server", "colocated_python_sidecar"]),
        )
        .required(),
        field("image", FieldType::Str),
        field("customFlags", STR_LIST),
        field("customEnv", FieldType::Any),
    ],
};
