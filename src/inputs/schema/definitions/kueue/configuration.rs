//! Field tables of the configuration of Kueue's manager.

use super::cluster_queue::SELECTOR;
use super::{CONFIGURATION_V1BETA1, CONFIGURATION_V1BETA2};
use crate::schema::field_type::FieldType::{
    Any, Bool, Duration, List, Map, NonEmpty, Number, Object, OneOf, Quantity, Str,
};
use crate::schema::field_type::{COUNT, FieldSchema, ObjectSchema, STR_LIST, field, inert, not_modelled};

pub static CONFIGURATION: ObjectSchema = ObjectSchema {
    kind: "Configuration",
    fields: &[
        field("apiVersion", OneOf(&[CONFIGURATION_V1BETA2])).required(),
        COMMON[0],
        COMMON[1],
        COMMON[2],
        COMMON[3],
        COMMON[4],
        COMMON[5],
        COMMON[6],
        COMMON[7],
        COMMON[8],
        COMMON[9],
        COMMON[10],
        COMMON[11],
        COMMON[12],
        COMMON[13],
        COMMON[14],
        COMMON[15],
        COMMON[16],
        COMMON[17],
        COMMON[18],
        COMMON[19],
        field("waitForPodsReady", Object(&READINESS)).doc("Time in which a workload has to become ready."),
        field("fairSharing", Object(&FAIR_SHARING)).doc("Fair sharing in place of classical preemption."),
    ],
};

pub static CONFIGURATION_V1BETA1_TABLE: ObjectSchema = ObjectSchema {
    kind: "Configuration",
    fields: &[
        field("apiVersion", OneOf(&[CONFIGURATION_V1BETA1])).required(),
        COMMON[0],
        COMMON[1],
        COMMON[2],
        COMMON[3],
        COMMON[4],
        COMMON[5],
        COMMON[6],
        COMMON[7],
        COMMON[8],
        COMMON[9],
        COMMON[10],
        COMMON[11],
        COMMON[12],
        COMMON[13],
        COMMON[14],
        COMMON[15],
        COMMON[16],
        COMMON[17],
        COMMON[18],
        COMMON[19],
        field("waitForPodsReady", Object(&READINESS_V1BETA1)).doc("Time in which a workload has to become ready."),
        field("fairSharing", Object(&FAIR_SHARING_V1BETA1)).doc("Fair sharing in place of classical preemption."),
        inert("queueVisibility", Any),
    ],
};

const COMMON: [FieldSchema; 20] = [
    field("kind", OneOf(&["Configuration"])).required(),
    field("manageJobsWithoutQueueName", Bool).doc("Whether Jobs without a queue name are suspended.").default("false"),
    field("admissionFairSharing", Object(&ADMISSION_FAIR_SHARING)).doc("Order by the past usage of LocalQueues."),
    field("resources", Object(&RESOURCES)).doc("Resources that count against quota."),
    field("managedJobsNamespaceSelector", Object(&SELECTOR))
        .doc("Namespaces whose jobs Kueue manages.")
        .otherwise("all except kube-system and the namespace of Kueue"),
    not_modelled("clientConnection", Any),
    not_modelled("multiKueue", Any),
    not_modelled("featureGates", Map(&Bool)),
    not_modelled("objectRetentionPolicies", Any),
    field("integrations", Object(&INTEGRATIONS)).doc("Kinds of jobs that Kueue manages."),
    inert("namespace", Str),
    inert("internalCertManagement", Any),
    inert("visibilityServer", Any),
    inert("webhook", Any),
    inert("leaderElection", Any),
    inert("metrics", Any),
    inert("health", Any),
    inert("pprofBindAddress", Str),
    not_modelled("controller", Any),
    inert("tls", Any),
];

static INTEGRATIONS: ObjectSchema = ObjectSchema {
    kind: "Integrations",
    fields: &[
        field("frameworks", STR_LIST)
            .doc("Kinds of jobs. Without `jobset.x-k8s.io/jobset`, Kueue ignores JobSets.")
            .otherwise("the list of Kueue's release manifests"),
        not_modelled("externalFrameworks", STR_LIST),
        inert("labelKeysToCopy", STR_LIST),
        inert("podOptions", Any),
    ],
};

const WAIT: [FieldSchema; 4] = [
    field("timeout", Duration).doc("Time from admission to readiness.").default("30m").example("10m"),
    field("blockAdmission", Bool)
        .doc("Whether no workload is admitted while an admitted one is not ready.")
        .otherwise("false; true in v1beta1"),
    field("requeuingStrategy", Object(&REQUEUING)).doc("Return of evicted workloads to their queue."),
    field("recoveryTimeout", Duration).doc("Time to become ready again.").otherwise("timeout").example("3m"),
];

static READINESS: ObjectSchema =
    ObjectSchema { kind: "WaitForPodsReady", fields: &[WAIT[0], WAIT[1], WAIT[2], WAIT[3]] };

static READINESS_V1BETA1: ObjectSchema = ObjectSchema {
    kind: "WaitForPodsReady",
    fields: &[
        field("enable", Bool).doc("Whether workloads have to become ready.").default("false"),
        WAIT[0],
        WAIT[1],
        WAIT[2],
        WAIT[3],
    ],
};

static REQUEUING: ObjectSchema = ObjectSchema {
    kind: "RequeuingStrategy",
    fields: &[
        field("timestamp", OneOf(&["Eviction", "Creation"]))
            .doc("Time that orders evicted workloads.")
            .default("Eviction"),
        field("backoffLimitCount", COUNT).doc("Number of evictions before the workload is deactivated."),
        field("backoffBaseSeconds", COUNT).doc("First delay, in seconds.").default("60"),
        field("backoffMaxSeconds", COUNT).doc("Longest delay, in seconds.").default("3600"),
    ],
};

const STRATEGIES: FieldSchema =
    field("preemptionStrategies", NonEmpty(&OneOf(&["LessThanOrEqualToFinalShare", "LessThanInitialShare"])))
        .doc("Conditions on the shares of the queues for a preemption, tried in order.")
        .example("[LessThanOrEqualToFinalShare, LessThanInitialShare]");

static FAIR_SHARING: ObjectSchema = ObjectSchema { kind: "FairSharing", fields: &[STRATEGIES.required()] };

static FAIR_SHARING_V1BETA1: ObjectSchema = ObjectSchema {
    kind: "FairSharing",
    fields: &[field("enable", Bool).doc("Whether fair sharing is in force.").default("false"), STRATEGIES],
};

static ADMISSION_FAIR_SHARING: ObjectSchema = ObjectSchema {
    kind: "AdmissionFairSharing",
    fields: &[
        field("usageHalfLifeTime", Duration).doc("Time in which past usage halves.").default("0s").example("168h"),
        field("usageSamplingInterval", Duration).doc("Interval of the updates of the usage.").default("5m"),
        field("resourceWeights", Map(&Number(0.0, f64::MAX))).doc("Weights of resources; absent ones have weight 1."),
    ],
};

static RESOURCES: ObjectSchema = ObjectSchema {
    kind: "Resources",
    fields: &[
        field("quotaCheckStrategy", OneOf(&["BlockUndeclared", "IgnoreUndeclared"]))
            .doc("Whether a resource that a ClusterQueue does not cover blocks the admission.")
            .default("BlockUndeclared"),
        field("excludeResourcePrefixes", STR_LIST).doc("Prefixes of resources that do not count."),
        field("transformations", List(&Object(&TRANSFORMATION))).doc("Resources that count as other resources."),
        not_modelled("deviceClassMappings", Any),
    ],
};

static TRANSFORMATION: ObjectSchema = ObjectSchema {
    kind: "ResourceTransformation",
    fields: &[
        field("input", Str).doc("Name of the requested resource.").required(),
        field("strategy", OneOf(&["Retain", "Replace", ""]))
            .doc("Whether the input still counts; empty as if absent.")
            .default("Retain"),
        field("multiplyBy", Str).doc("Name of a resource whose quantity multiplies the outputs."),
        field("outputs", Map(&Quantity)).doc("Amounts that count per unit of the input; negative ones are allowances."),
    ],
};
