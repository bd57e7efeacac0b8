//! Field tables of objects from which JobSets are rendered: TrainJob, TrainingRuntime and ClusterTrainingRuntime of
//! Kubeflow Trainer, and PathwaysJob.
//!
//! Source: kubeflow/trainer @8c0f5059, pkg/apis/trainer/v1alpha1/{trainjob,trainingruntime}_types.go. The field
//! podTemplateOverrides, used until @38d8243c^, and the fields of mlPolicy.torch of Trainer 2.0 and 2.1 are also
//! supported. Fields that are copied into the JobSet are checked there.

use super::metadata::METADATA;
use crate::embedded_jobsets::MACHINES;
use crate::schema::field_type::FieldType::{Any, Bool, Int, List, Map, NonEmpty, Object, OneOf, Quantity, Str};
use crate::schema::field_type::{
    COUNT, FieldSchema, FieldType, INT32, ObjectSchema, STR_LIST, STR_MAP, field, inert, not_modelled,
};

const VERSION: FieldSchema = field("apiVersion", Str).required();
const KIND: FieldSchema = field("kind", Str).required();
const NAMED: FieldSchema = field("metadata", Object(&METADATA)).required();
const ANY_LIST: FieldType = List(&Any);
const POSITIVE: FieldType = Int(1, i32::MAX as i64);

pub static TRAIN_JOB: ObjectSchema = ObjectSchema {
    kind: "TrainJob",
    fields: &[VERSION, KIND, NAMED, field("spec", Object(&TRAIN_JOB_SPEC)).required(), inert("status", Any)],
};

static TRAIN_JOB_SPEC: ObjectSchema = ObjectSchema {
    kind: "TrainJobSpec",
    fields: &[
        field("runtimeRef", Object(&RUNTIME_REF)).required(),
        field("initializer", Object(&INITIALIZER)),
        field("trainer", Object(&TRAINER)),
        field("runtimePatches", List(&Object(&PATCH))),
        field("podTemplateOverrides", List(&Object(&OVERRIDE))),
        field("labels", STR_MAP),
        field("annotations", STR_MAP),
        field("suspend", Bool),
        not_modelled("activeDeadlineSeconds", COUNT),
        field("managedBy", Str),
    ],
};

static RUNTIME_REF: ObjectSchema = ObjectSchema {
    kind: "RuntimeRef",
    fields: &[field("name", Str).required(), field("apiGroup", Str), field("kind", Str)],
};

static INITIALIZER: ObjectSchema =
    ObjectSchema { kind: "Initializer", fields: &[field("dataset", Object(&SOURCE)), field("model", Object(&SOURCE))] };

static SOURCE: ObjectSchema = ObjectSchema {
    kind: "InitializerSource",
    fields: &[field("storageUri", Str), field("env", ANY_LIST), field("secretRef", Map(&Str))],
};

static TRAINER: ObjectSchema = ObjectSchema {
    kind: "Trainer",
    fields: &[
        field("image", Str),
        field("command", STR_LIST),
        field("args", STR_LIST),
        field("env", ANY_LIST),
        field("numNodes", COUNT),
        field("resourcesPerNode", Object(&RESOURCES)),
        field("numProcPerNode", POSITIVE),
    ],
};

static RESOURCES: ObjectSchema = ObjectSchema {
    kind: "ResourceRequirements",
    fields: &[field("limits", Map(&Quantity)), field("requests", Map(&Quantity)), field("claims", ANY_LIST)],
};

static PATCH: ObjectSchema = ObjectSchema {
    kind: "RuntimePatch",
    fields: &[inert("manager", Str), inert("time", Any), field("trainingRuntimeSpec", Object(&PATCH_SPEC))],
};

static PATCH_SPEC: ObjectSchema =
    ObjectSchema { kind: "TrainingRuntimeSpecPatch", fields: &[field("template", Object(&PATCH_TEMPLATE))] };

static PATCH_TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "JobSetTemplatePatch",
    fields: &[field("metadata", Object(&METADATA)), field("spec", Object(&PATCH_JOBSET))],
};

static PATCH_JOBSET: ObjectSchema =
    ObjectSchema { kind: "JobSetSpecPatch", fields: &[field("replicatedJobs", List(&Object(&PATCH_RJ)))] };

static PATCH_RJ: ObjectSchema = ObjectSchema {
    kind: "ReplicatedJobPatch",
    fields: &[field("name", Str).required(), field("template", Object(&PATCH_JOB))],
};

static PATCH_JOB: ObjectSchema = ObjectSchema {
    kind: "JobTemplatePatch",
    fields: &[field("metadata", Object(&METADATA)), field("spec", Object(&PATCH_JOB_SPEC))],
};

static PATCH_JOB_SPEC: ObjectSchema =
    ObjectSchema { kind: "JobSpecPatch", fields: &[field("template", Object(&PATCH_POD))] };

static PATCH_POD: ObjectSchema = ObjectSchema {
    kind: "PodTemplatePatch",
    fields: &[field("metadata", Object(&METADATA)), field("spec", Object(&POD))],
};

static OVERRIDE: ObjectSchema = ObjectSchema {
    kind: "PodTemplateOverride",
    fields: &[
        field("targetJobs", List(&Object(&TARGET))).required(),
        inert("manager", Str),
        field("metadata", Object(&METADATA)),
        field("spec", Object(&POD)),
    ],
};

static TARGET: ObjectSchema = ObjectSchema { kind: "TargetJob", fields: &[field("name", Str).required()] };

static POD: ObjectSchema = ObjectSchema {
    kind: "PodSpecPatch",
    fields: &[
        field("serviceAccountName", Str),
        field("volumes", ANY_LIST),
        field("initContainers", List(&Object(&CONTAINER))),
        field("containers", List(&Object(&CONTAINER))),
        field("imagePullSecrets", ANY_LIST),
        field("securityContext", Any),
        field("nodeSelector", STR_MAP),
        field("affinity", Any),
        field("tolerations", ANY_LIST),
        field("schedulingGates", ANY_LIST),
        field("terminationGracePeriodSeconds", INT32),
    ],
};

static CONTAINER: ObjectSchema = ObjectSchema {
    kind: "ContainerPatch",
    fields: &[
        field("name", Str).required(),
        field("env", ANY_LIST),
        field("volumeMounts", ANY_LIST),
        field("securityContext", Any),
    ],
};

/// A TrainingRuntime or ClusterTrainingRuntime.
pub static RUNTIME: ObjectSchema = ObjectSchema {
    kind: "TrainingRuntime",
    fields: &[VERSION, KIND, NAMED, field("spec", Object(&RUNTIME_SPEC)).required()],
};

static RUNTIME_SPEC: ObjectSchema = ObjectSchema {
    kind: "TrainingRuntimeSpec",
    fields: &[
        field("mlPolicy", Object(&ML_POLICY)),
        field("podGroupPolicy", Object(&POD_GROUP)),
        field("template", Object(&TEMPLATE)).required(),
    ],
};

static TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "JobSetTemplateSpec",
    fields: &[field("metadata", Object(&METADATA)), field("spec", Any).required()],
};

static ML_POLICY: ObjectSchema = ObjectSchema {
    kind: "MLPolicy",
    fields: &[
        field("numNodes", COUNT),
        field("torch", Object(&TORCH)),
        field("mpi", Object(&MPI)),
        field("flux", Any),
        field("jax", Map(&Any)),
        field("xgboost", Map(&Any)),
    ],
};

static TORCH: ObjectSchema = ObjectSchema {
    kind: "TorchMLPolicySource",
    fields: &[
        field("envInjection", Object(&INJECTION)),
        field("numProcPerNode", Any),
        not_modelled("elasticPolicy", Any),
    ],
};

static INJECTION: ObjectSchema =
    ObjectSchema { kind: "EnvInjection", fields: &[field("targets", List(&Object(&INJECTION_TARGET)))] };

static INJECTION_TARGET: ObjectSchema = ObjectSchema {
    kind: "EnvInjectionTarget",
    fields: &[field("jobName", Str).required(), field("containerNames", STR_LIST).required()],
};

static MPI: ObjectSchema = ObjectSchema {
    kind: "MPIMLPolicySource",
    fields: &[
        field("numProcPerNode", POSITIVE),
        field("mpiImplementation", OneOf(&["OpenMPI", ""])),
        field("sshAuthMountPath", Str),
        field("runLauncherAsNode", Bool),
    ],
};

static POD_GROUP: ObjectSchema =
    ObjectSchema { kind: "PodGroupPolicy", fields: &[not_modelled("coscheduling", Any), not_modelled("volcano", Any)] };

/// Source: google/pathways-job @c0cc759, api/v1/pathwaysjob_types.go.
pub static PATHWAYS_JOB: ObjectSchema = ObjectSchema {
    kind: "PathwaysJob",
    fields: &[VERSION, KIND, NAMED, field("spec", Object(&PATHWAYS_SPEC)).required(), inert("status", Any)],
};

static PATHWAYS_SPEC: ObjectSchema = ObjectSchema {
    kind: "PathwaysJobSpec",
    fields: &[
        field("maxRestarts", COUNT),
        field("pathwaysDir", Str),
        field("pathwaysVersion", Str),
        field("workers", NonEmpty(&Object(&WORKER))).required(),
        field("controller", Object(&CONTROLLER)).required(),
        field("customComponents", List(&Object(&COMPONENT))),
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
        field("type", OneOf(&MACHINE_TYPES)).required(),
        field("topology", Str).required(),
        field("numSlices", COUNT).required(),
        field("maxSliceRestarts", COUNT),
        field("terminationGracePeriodSeconds", COUNT),
        field("priorityClassName", Str),
        field("nodeSelector", STR_MAP),
    ],
};

static CONTROLLER: ObjectSchema = ObjectSchema {
    kind: "ControllerSpec",
    fields: &[
        field("deploymentMode", OneOf(&["colocate_head_with_workers", "default"])).required(),
        field("mainContainerName", Str),
        field("enableMetricsCollection", Bool),
        field("template", Any),
        field("elasticSlices", COUNT),
    ],
};

static COMPONENT: ObjectSchema = ObjectSchema {
    kind: "CustomComponentsSpec",
    fields: &[
        field("componentType", OneOf(&["pathways_server", "worker", "proxy_server", "colocated_python_sidecar"]))
            .required(),
        field("image", Str),
        field("customFlags", STR_LIST),
        field("customEnv", Any),
    ],
};
