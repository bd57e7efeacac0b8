//! Field tables of `controlPlane` in a scenario: versions, feature gates and client rates.

use super::pod::{NODE_SELECTOR, NODE_TERM};
use crate::presets::preset_data::{DEFAULT_PRESET, preset_names};
use crate::schema::field_type::FieldType::{
    Any, Bool, Int, List, NonEmpty, Number, Object, OneOf, Preset, Str, Version,
};
use crate::schema::field_type::{
    COUNT, FieldSchema, FieldType, INT32, ObjectSchema, STR_LIST, SchemaVersions, field, inert, not_modelled,
};
use sim_scheduler::profile::PLUGIN_NAMES;

/// Kubernetes versions that can be simulated.
pub static KUBERNETES: SchemaVersions = SchemaVersions { major: 1, oldest: 24, newest: 36 };

/// JobSet versions that can be simulated.
pub static JOBSET: SchemaVersions = SchemaVersions { major: 0, oldest: 12, newest: 13 };

pub static CONTROL_PLANE: ObjectSchema = ObjectSchema {
    kind: "ControlPlane",
    fields: &[
        field("preset", Preset(preset_names))
            .doc("Preset that provides the client rates and worker counts. Other fields override its values.")
            .default(DEFAULT_PRESET)
            .example("stock"),
        field("kubernetes", Version(&KUBERNETES))
            .doc("Kubernetes version. Selects the behavior where it differs between versions.")
            .default("\"1.36\"")
            .example("\"1.31\""),
        field("jobset", Version(&JOBSET))
            .doc("JobSet version. Selects the behavior where it differs between versions.")
            .default("\"0.13\"")
            .example("\"0.12\""),
        field("featureGates", Object(&FEATURE_GATES))
            .doc("Feature gates of the JobSet manager, and those of kube-scheduler for pod groups.")
            .example("{ElasticJobSet: true}"),
        field("kubeControllerManager", Object(&CONTROLLER_MANAGER))
            .doc("Client rates and workers of kube-controller-manager that override the preset.")
            .example("{qps: 50, burst: 100}"),
        field("kubeScheduler", Object(&KUBE_SCHEDULER))
            .doc("Client rate of kube-scheduler that overrides the preset, and how it selects one of equal nodes.")
            .example("{qps: 50, burst: 100}"),
        field("jobsetManager", Object(&JOBSET_MANAGER))
            .doc("Client rate and permissions of the JobSet manager that override the preset.")
            .example("{qps: 500, burst: 500}"),
        field("apiServerConcurrency", Int(1, 1_000_000))
            .doc(
                "Number of requests that the API server executes at the same time. With more in flight, all \
                 slow down in proportion.",
            )
            .example("640"),
        field("nodeRequestsPerSecond", Number(1.0, 1e9))
            .doc(
                "Maximum rate at which the API server answers requests of all kubelets and in-place agents, in \
                 requests per second.",
            )
            .example("240"),
        field("nodeMonitorGracePeriodSeconds", Int(1, 86_400))
            .doc(
                "Time without heartbeats after which the Ready condition of a node becomes Unknown, in \
                 seconds. The default before Kubernetes 1.32 is 40.",
            )
            .example("20"),
        field("heartbeatSeconds", Int(1, 3_600)).doc("Interval between heartbeats of a node, in seconds.").example("5"),
    ],
};

const BY_NEED: &str = "enabled if a JobSet uses it";

static FEATURE_GATES: ObjectSchema = ObjectSchema {
    kind: "FeatureGates",
    fields: &[
        field("InPlaceRestart", Bool).doc("Enables the restart strategy InPlaceRestart.").otherwise(BY_NEED),
        field("RestartJob", Bool)
            .doc("Enables the failure policy actions RestartJob and RestartJobAndIgnoreMaxRestarts.")
            .otherwise(BY_NEED),
        field("ElasticJobSet", Bool).doc("Allows changes of parallelism and completions in a JobSet.").default("false"),
        field("GenericWorkload", Bool)
            .doc("Serves PodGroups and keeps `schedulingGroup` of pods (Kubernetes 1.36).")
            .default("false"),
        field("GangScheduling", Bool)
            .doc("Schedules the pods of a PodGroup together. Requires GenericWorkload and WorkloadAwarePreemption.")
            .default("false"),
        field("TopologyAwareWorkloadScheduling", Bool)
            .doc("Keeps a PodGroup in one domain of its topology key. Requires GangScheduling.")
            .default("false"),
        field("WorkloadAwarePreemption", Bool)
            .doc("Preempts for a PodGroup as a whole. Requires GangScheduling.")
            .default("false"),
    ],
};

const QPS: FieldType = Number(0.01, 1e9);
const BURST: FieldType = Int(1, 1_000_000_000);

/// A random node of those with the highest score, or the next one in order.
pub const TIES: [&str; 2] = ["Draw", "InOrder"];

static KUBE_SCHEDULER: ObjectSchema = ObjectSchema {
    kind: "KubeScheduler",
    fields: &[
        field("qps", QPS).doc("Sustained client rate limit, in requests per second.").example("50"),
        field("burst", BURST).doc("Burst size of the client rate limit, in requests.").example("100"),
        field("ties", OneOf(&TIES))
            .doc(
                "Which of several nodes with the highest score a pod gets: a random one, as in kube-scheduler, or the \
                 next one after the node of the pod before (`InOrder`). Without random choices, levels of detail can be \
                 compared replication by replication.",
            )
            .default("Draw")
            .example("InOrder"),
    ],
};

static JOBSET_MANAGER: ObjectSchema = ObjectSchema {
    kind: "JobSetManager",
    fields: &[
        field("qps", QPS).doc("Sustained client rate limit, in requests per second.").example("50"),
        field("burst", BURST).doc("Burst size of the client rate limit, in requests.").example("100"),
        field("mayWritePodStatus", Bool)
            .doc(
                "Grants the role access to `pods/status`, which upstream's manifests do not grant. The pod \
                 reconciler then deletes followers outside their leader's topology domain (EXC-12 to EXC-16). \
                 Requires JobSet 0.13.",
            )
            .default("false"),
    ],
};

static CONTROLLER_MANAGER: ObjectSchema = ObjectSchema {
    kind: "KubeControllerManager",
    fields: &[
        field("qps", QPS).doc("Sustained client rate limit of each controller, in requests per second.").example("50"),
        field("burst", BURST)
            .doc("Burst size of the client rate limit of each controller, in requests.")
            .example("100"),
        field("concurrentJobSyncs", Int(1, 10_000)).doc("Number of workers of the Job controller.").example("10"),
        field("concurrentGcSyncs", Int(1, 10_000)).doc("Number of workers of the garbage collector.").example("40"),
    ],
};

/// The configuration file of kube-scheduler.
pub static SCHEDULER_CONFIGURATION: ObjectSchema = ObjectSchema {
    kind: "KubeSchedulerConfiguration",
    fields: &[
        field("apiVersion", OneOf(&["kubescheduler.config.k8s.io/v1"])).required(),
        field("kind", OneOf(&["KubeSchedulerConfiguration"])).required(),
        field("profiles", List(&Object(&PROFILE))).doc("Profiles. Default: one, default-scheduler."),
        field("percentageOfNodesToScore", PERCENTAGE)
            .doc("Number of feasible nodes that end a search. Default: adaptive."),
        field("podInitialBackoffSeconds", BACKOFF_S).doc("Back-off after the first failed attempt. Default: 1."),
        field("podMaxBackoffSeconds", BACKOFF_S).doc("Maximum back-off. Default: 10."),
        not_modelled("parallelism", INT32),
        not_modelled("extenders", List(&Object(&EXTENDER))),
        field("clientConnection", Object(&CLIENT_CONNECTION))
            .doc("Client rate of kube-scheduler. `controlPlane.kubeScheduler` overrides it."),
        inert("leaderElection", Object(&LEADER_ELECTION)),
        inert("enableProfiling", Bool),
        inert("enableContentionProfiling", Bool),
        inert("delayCacheUntilActive", Bool),
    ],
};

static LEADER_ELECTION: ObjectSchema = ObjectSchema {
    kind: "LeaderElectionConfiguration",
    fields: &[
        inert("leaderElect", Bool),
        inert("leaseDuration", FieldType::Duration),
        inert("renewDeadline", FieldType::Duration),
        inert("retryPeriod", FieldType::Duration),
        inert("resourceLock", Str),
        inert("resourceName", Str),
        inert("resourceNamespace", Str),
    ],
};

static EXTENDER: ObjectSchema = ObjectSchema {
    kind: "Extender",
    fields: &[
        inert("urlPrefix", Str),
        inert("filterVerb", Str),
        inert("preemptVerb", Str),
        inert("prioritizeVerb", Str),
        inert("weight", INT32),
        inert("bindVerb", Str),
        inert("enableHTTPS", Bool),
        inert("tlsConfig", Any),
        inert("httpTimeout", Any),
        inert("nodeCacheCapable", Bool),
        inert("managedResources", List(&Object(&EXTENDER_RESOURCE))),
        inert("ignorable", Bool),
    ],
};

static EXTENDER_RESOURCE: ObjectSchema = ObjectSchema {
    kind: "ExtenderManagedResource",
    fields: &[field("name", Str).required(), inert("ignoredByScheduler", Bool)],
};

static CLIENT_CONNECTION: ObjectSchema = ObjectSchema {
    kind: "ClientConnectionConfiguration",
    fields: &[
        field("qps", QPS).doc("Sustained client rate limit, in requests per second."),
        field("burst", BURST).doc("Burst size of the client rate limit, in requests."),
        inert("kubeconfig", Str),
        inert("acceptContentTypes", Str),
        inert("contentType", Str),
    ],
};

const PERCENTAGE: FieldType = Int(0, 100);
const BACKOFF_S: FieldType = Int(1, 86_400);

static PROFILE: ObjectSchema = ObjectSchema {
    kind: "KubeSchedulerProfile",
    fields: &[
        field("schedulerName", Str).doc("schedulerName of the pods. Default: default-scheduler."),
        field("percentageOfNodesToScore", PERCENTAGE).doc("Overrides the value of the configuration."),
        field("plugins", Object(&PLUGINS)).doc("Enabled and disabled plugins."),
        field("pluginConfig", List(&Object(&PLUGIN_CONFIG))).doc("Arguments of plugins."),
    ],
};

static PLUGINS: ObjectSchema = ObjectSchema {
    kind: "Plugins",
    fields: &[
        field("multiPoint", PLUGIN_SET).doc("Plugins at all their extension points."),
        field("filter", PLUGIN_SET).doc("Plugins that filter nodes."),
        field("postFilter", PLUGIN_SET).doc("Plugins that run if no node is feasible: DefaultPreemption."),
        field("score", PLUGIN_SET).doc("Plugins that score nodes, with weights."),
        not_modelled("preEnqueue", PLUGIN_SET),
        not_modelled("queueSort", PLUGIN_SET),
        not_modelled("preFilter", PLUGIN_SET),
        not_modelled("preScore", PLUGIN_SET),
        not_modelled("reserve", PLUGIN_SET),
        not_modelled("permit", PLUGIN_SET),
        not_modelled("preBind", PLUGIN_SET),
        not_modelled("bind", PLUGIN_SET),
        not_modelled("postBind", PLUGIN_SET),
    ],
};

const PLUGIN_SET: FieldType = Object(&PLUGIN_SET_FIELDS);
static PLUGIN_SET_FIELDS: ObjectSchema = ObjectSchema {
    kind: "PluginSet",
    fields: &[
        field("enabled", List(&Object(&ENABLED_PLUGIN))).doc("Plugins to enable, or whose weight to set (default 1)."),
        field("disabled", List(&Object(&DISABLED_PLUGIN))).doc("Plugins to disable; `*` disables all."),
    ],
};

const PLUGIN_NAME: FieldType = OneOf(PLUGIN_NAMES.split_at(PLUGIN_NAMES.len() - 1).0);
const WEIGHT: FieldSchema = field("weight", COUNT).doc("Weight. Default: 1.");

static ENABLED_PLUGIN: ObjectSchema =
    ObjectSchema { kind: "EnabledPlugin", fields: &[field("name", PLUGIN_NAME).required(), WEIGHT] };

static DISABLED_PLUGIN: ObjectSchema =
    ObjectSchema { kind: "DisabledPlugin", fields: &[field("name", OneOf(&PLUGIN_NAMES)).required(), WEIGHT] };

const WEIGHTED: FieldType = List(&Object(&WEIGHTED_NAME));

static WEIGHTED_NAME: ObjectSchema =
    ObjectSchema { kind: "WeightedName", fields: &[field("name", Str).required(), WEIGHT] };

static PLUGIN_CONFIG: ObjectSchema = ObjectSchema {
    kind: "PluginConfig",
    fields: &[
        field("name", PLUGIN_NAME).required(),
        field("args", Object(&PLUGIN_ARGUMENTS)).doc("Arguments of this plugin."),
    ],
};

/// The arguments of all plugins: their names differ.
static PLUGIN_ARGUMENTS: ObjectSchema = ObjectSchema {
    kind: "PluginArguments",
    fields: &[
        inert("apiVersion", Str),
        inert("kind", Str),
        field("scoringStrategy", Object(&SCORING_STRATEGY)).doc("NodeResourcesFit: how it scores nodes."),
        field("resources", WEIGHTED).doc("NodeResourcesBalancedAllocation: resources. Default: cpu, memory."),
        field("hardPodAffinityWeight", PERCENTAGE).doc("InterPodAffinity: weight of terms of other pods. Default: 1."),
        field("addedAffinity", Object(&ADDED_AFFINITY))
            .doc("NodeAffinity: node affinity that applies to all pods of the profile."),
        not_modelled("ignoredResources", STR_LIST),
        not_modelled("ignoredResourceGroups", STR_LIST),
        not_modelled("ignorePreferredTermsOfExistingPods", Bool),
        field("defaultConstraints", List(&Object(&DEFAULT_CONSTRAINT))).doc(
            "PodTopologySpread: constraints of pods without any that a Service selects, with defaultingType List.",
        ),
        field("defaultingType", OneOf(&["System", "List"]))
            .doc("PodTopologySpread: source of the default constraints. Default: System."),
        not_modelled("minCandidateNodesPercentage", INT32),
        not_modelled("minCandidateNodesAbsolute", INT32),
        not_modelled("shape", Any),
        inert("bindTimeoutSeconds", COUNT),
        inert("filterTimeout", Any),
        inert("bindingTimeout", Any),
    ],
};

static ADDED_AFFINITY: ObjectSchema = ObjectSchema {
    kind: "AddedNodeAffinity",
    fields: &[
        field("requiredDuringSchedulingIgnoredDuringExecution", Object(&NODE_SELECTOR))
            .doc("Node selector that must match."),
        field("preferredDuringSchedulingIgnoredDuringExecution", List(&Object(&PREFERRED_TERM)))
            .doc("Preferred nodes, each with a weight."),
    ],
};

static PREFERRED_TERM: ObjectSchema = ObjectSchema {
    kind: "PreferredSchedulingTerm",
    fields: &[field("weight", INT32).required(), field("preference", Object(&NODE_TERM)).required()],
};

static DEFAULT_CONSTRAINT: ObjectSchema = ObjectSchema {
    kind: "DefaultConstraint",
    fields: &[
        field("maxSkew", Int(1, 1_000_000)).doc("Maximum difference between domains.").required(),
        field("topologyKey", Str).doc("Label whose values are the domains.").required(),
        field("whenUnsatisfiable", OneOf(&["DoNotSchedule", "ScheduleAnyway"]))
            .doc("Whether the constraint filters or scores nodes.")
            .required(),
        field("minDomains", Int(1, i32::MAX as i64)).doc("Minimum number of domains. Default: 1."),
        field("nodeAffinityPolicy", OneOf(&["Honor", "Ignore"]))
            .doc("Whether nodes that the node affinity excludes do not count. Default: Honor."),
        field("nodeTaintsPolicy", OneOf(&["Honor", "Ignore"]))
            .doc("Whether nodes with taints that the pod does not tolerate do not count. Default: Ignore."),
        not_modelled("matchLabelKeys", STR_LIST),
        field("labelSelector", Any).doc("Forbidden: the selector depends on the pod."),
    ],
};

static SCORING_STRATEGY: ObjectSchema = ObjectSchema {
    kind: "ScoringStrategy",
    fields: &[
        field("type", OneOf(&["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]))
            .doc("Strategy. Default: LeastAllocated."),
        field("resources", WEIGHTED).doc("Resources with weights. Default: cpu and memory with weight 1."),
        field("requestedToCapacityRatio", Object(&CAPACITY_RATIO)).doc("Shape of RequestedToCapacityRatio."),
    ],
};

static CAPACITY_RATIO: ObjectSchema = ObjectSchema {
    kind: "RequestedToCapacityRatio",
    fields: &[field("shape", NonEmpty(&Object(&SHAPE_POINT))).required()],
};

static SHAPE_POINT: ObjectSchema = ObjectSchema {
    kind: "UtilizationShapePoint",
    fields: &[field("utilization", PERCENTAGE).required(), field("score", Int(0, 10)).required()],
};
