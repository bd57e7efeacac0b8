//! Field tables of the pod spec and its containers in Kubernetes 1.36.
//!
//! Inert fields affect what runs in a container. The simulation only covers when and where it runs.

use super::metadata::METADATA;
use crate::schema::field_type::{COUNT, FieldType, INT32, ObjectSchema, STR_LIST, STR_MAP, field, inert, not_modelled};

const POLICIES: &[&str] = &["Always", "OnFailure", "Never"];

pub static POD_SPEC: ObjectSchema = ObjectSchema {
    kind: "PodSpec",
    fields: &[
        field(
            "restartPolicy",
            FieldType::OneOf(POLICIES),
            "Restart policy of the containers. Default in a JobSet: OnFailure.",
        ),
        field("terminationGracePeriodSeconds", COUNT, "Time from SIGTERM to SIGKILL in seconds. Default: 30."),
        field("nodeSelector", STR_MAP, "Labels that a node must have to run the pod."),
        field("tolerations", FieldType::List(&FieldType::Object(&TOLERATION)), "Taints that the pod tolerates."),
        field("priority", INT32, "Priority of the pod. Default: 0."),
        field(
            "schedulingGates",
            FieldType::List(&FieldType::Object(&GATE)),
            "Gates that block scheduling. To remove them, use the action patch with merge: {spec: {schedulingGates: null}}.",
        ),
        field(
            "initContainers",
            FieldType::List(&FieldType::Object(&CONTAINER)),
            "Init containers, which run in order before the containers.",
        ),
        field("containers", FieldType::List(&FieldType::Object(&CONTAINER)), "").required(),
        not_modelled("ephemeralContainers", FieldType::Any),
        not_modelled("activeDeadlineSeconds", FieldType::Int(0, 1 << 40)),
        field("affinity", FieldType::Object(&AFFINITY), "Scheduling constraints of the pod."),
        field(
            "topologySpreadConstraints",
            FieldType::Any,
            "Constraints of PodTopologySpread, as kube-scheduler evaluates them.",
        ),
        field(
            "nodeName",
            FieldType::Str,
            "Name of an existing node. The pod is bound to it at creation, without the scheduler.",
        ),
        not_modelled("schedulerName", FieldType::Str),
        field(
            "priorityClassName",
            FieldType::Str,
            "Name of a PriorityClass. If the inputs contain PriorityClasses, other classes do not exist; otherwise every class is assumed to exist with the value of `priority`.",
        ),
        field(
            "preemptionPolicy",
            FieldType::Str,
            "Whether the pod may preempt pods of lower priority. Default: that of its PriorityClass.",
        ),
        field(
            "overhead",
            STR_OR_NUMBER_MAP,
            "Resources that the pod needs in addition to its requests, as set from its RuntimeClass.",
        ),
        field(
            "resources",
            FieldType::Object(&RESOURCES),
            "Resource requests and limits of the pod as a whole, which replace the sums over its containers.",
        ),
        not_modelled("resourceClaims", FieldType::Any),
        not_modelled("readinessGates", FieldType::Any),
        not_modelled("runtimeClassName", FieldType::Str),
        not_modelled("schedulingGroup", FieldType::Any),
        not_modelled("workloadRef", FieldType::Any),
        inert("volumes", FieldType::Any),
        inert("dnsPolicy", FieldType::Str),
        inert("dnsConfig", FieldType::Any),
        inert("serviceAccountName", FieldType::Str),
        inert("serviceAccount", FieldType::Str),
        inert("automountServiceAccountToken", FieldType::Bool),
        field(
            "hostNetwork",
            FieldType::Bool,
            "Whether the ports of the containers are ports of the node (plugin NodePorts). Default: false.",
        ),
        inert("hostPID", FieldType::Bool),
        inert("hostIPC", FieldType::Bool),
        inert("hostUsers", FieldType::Bool),
        inert("shareProcessNamespace", FieldType::Bool),
        inert("securityContext", FieldType::Any),
        inert("imagePullSecrets", FieldType::Any),
        inert("hostname", FieldType::Str),
        inert("hostnameOverride", FieldType::Str),
        inert("subdomain", FieldType::Str),
        inert("setHostnameAsFQDN", FieldType::Bool),
        inert("hostAliases", FieldType::Any),
        inert("enableServiceLinks", FieldType::Bool),
        inert("os", FieldType::Any),
    ],
};

const STR_OR_NUMBER_MAP: FieldType = FieldType::Map(&FieldType::Quantity);

static GATE: ObjectSchema =
    ObjectSchema { kind: "PodSchedulingGate", fields: &[field("name", FieldType::Str, "").required()] };

static AFFINITY: ObjectSchema = ObjectSchema {
    kind: "Affinity",
    fields: &[
        field("nodeAffinity", FieldType::Object(&NODE_AFFINITY), "Node affinity of the pod."),
        field(
            "podAffinity",
            FieldType::Any,
            "Pods near which the pod is placed, required or preferred (plugin InterPodAffinity).",
        ),
        field(
            "podAntiAffinity",
            FieldType::Any,
            "Pods from which the pod is kept away, required or preferred (plugin InterPodAffinity).",
        ),
    ],
};

static NODE_AFFINITY: ObjectSchema = ObjectSchema {
    kind: "NodeAffinity",
    fields: &[
        field(
            "requiredDuringSchedulingIgnoredDuringExecution",
            FieldType::Object(&NODE_SELECTOR),
            "Node selector that must match for the pod to be scheduled.",
        ),
        field(
            "preferredDuringSchedulingIgnoredDuringExecution",
            FieldType::Any,
            "Preferred nodes, each with a weight that counts in the score (plugin NodeAffinity).",
        ),
    ],
};

static NODE_SELECTOR: ObjectSchema = ObjectSchema {
    kind: "NodeSelector",
    fields: &[field(
        "nodeSelectorTerms",
        FieldType::List(&FieldType::Object(&NODE_TERM)),
        "Node selector terms, of which at least one must match.",
    )
    .required()],
};

static NODE_TERM: ObjectSchema = ObjectSchema {
    kind: "NodeSelectorTerm",
    fields: &[
        field("matchExpressions", REQUIREMENTS, "Requirements on node labels, all of which must match."),
        field("matchFields", REQUIREMENTS, "Requirements on metadata.name, all of which must match."),
    ],
};

const REQUIREMENTS: FieldType = FieldType::List(&FieldType::Object(&NODE_REQUIREMENT));

static NODE_REQUIREMENT: ObjectSchema = ObjectSchema {
    kind: "NodeSelectorRequirement",
    fields: &[
        field("key", FieldType::Str, "").required(),
        field("operator", FieldType::Str, "One of In, NotIn, Exists, DoesNotExist, Gt or Lt.").required(),
        field("values", STR_LIST, "Values to compare with; a single integer for Gt and Lt."),
    ],
};

static TOLERATION: ObjectSchema = ObjectSchema {
    kind: "Toleration",
    fields: &[
        field("key", FieldType::Str, "Taint key to tolerate. If absent, every key is tolerated."),
        field(
            "operator",
            FieldType::OneOf(&["Equal", "Exists", "Lt", "Gt"]),
            "Comparison with the taint. Default: Equal.",
        ),
        field("value", FieldType::Str, "Taint value to tolerate, for the operators Equal, Lt and Gt."),
        field("effect", FieldType::OneOf(EFFECTS), "Taint effect to tolerate. If absent, every effect is tolerated."),
        field(
            "tolerationSeconds",
            FieldType::Int(i64::MIN, i64::MAX),
            "Time that a NoExecute taint is tolerated, in seconds. If absent, indefinitely.",
        ),
    ],
};

pub const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

static CONTAINER: ObjectSchema = ObjectSchema {
    kind: "Container",
    fields: &[
        field("name", FieldType::Str, "Name of the container."),
        field("image", FieldType::Str, "Image of the container."),
        field(
            "imagePullPolicy",
            FieldType::OneOf(&["Always", "IfNotPresent", "Never"]),
            "Image pull policy. Default: Always for images without a tag or with the tag latest, otherwise IfNotPresent.",
        ),
        field("resources", FieldType::Object(&RESOURCES), "Resource requests and limits of the container."),
        field(
            "restartPolicy",
            FieldType::OneOf(POLICIES),
            "Restart policy of the container. An init container with Always is a sidecar.",
        ),
        field(
            "restartPolicyRules",
            FieldType::List(&FieldType::Object(&RESTART_RULE)),
            "Rules that override the restart policy for certain exit codes.",
        ),
        field("startupProbe", FieldType::Object(&PROBE), "Startup probe of the container."),
        field(
            "readinessProbe",
            FieldType::Object(&PROBE),
            "Readiness probe of a main container. The pod is ready when it succeeds.",
        ),
        field("env", FieldType::List(&FieldType::Object(&ENV)), "Environment variables of the container."),
        not_modelled("livenessProbe", FieldType::Object(&PROBE)),
        not_modelled("lifecycle", FieldType::Object(&LIFECYCLE)),
        inert("resizePolicy", FieldType::Any),
        inert("command", STR_LIST),
        inert("args", STR_LIST),
        inert("workingDir", FieldType::Str),
        inert("ports", FieldType::List(&FieldType::Object(&PORT))),
        inert("envFrom", FieldType::Any),
        inert("volumeMounts", FieldType::List(&FieldType::Object(&VOLUME_MOUNT))),
        inert("volumeDevices", FieldType::Any),
        inert("securityContext", FieldType::Any),
        inert("terminationMessagePath", FieldType::Str),
        inert("terminationMessagePolicy", FieldType::Str),
        inert("stdin", FieldType::Bool),
        inert("stdinOnce", FieldType::Bool),
        inert("tty", FieldType::Bool),
    ],
};

static RESOURCES: ObjectSchema = ObjectSchema {
    kind: "ResourceRequirements",
    fields: &[
        field("requests", FieldType::Map(&FieldType::Quantity), "Requested resources. If absent, the limits apply."),
        field("limits", FieldType::Map(&FieldType::Quantity), "Resource limits."),
        not_modelled("claims", FieldType::Any),
    ],
};

static RESTART_RULE: ObjectSchema = ObjectSchema {
    kind: "ContainerRestartRule",
    fields: &[
        field("action", FieldType::OneOf(&["Restart", "RestartAllContainers"]), "").required(),
        field("exitCodes", FieldType::Object(&EXIT_CODES), "").required(),
    ],
};

static EXIT_CODES: ObjectSchema = ObjectSchema {
    kind: "ContainerRestartRuleOnExitCodes",
    fields: &[
        field("operator", FieldType::OneOf(&["In", "NotIn"]), "").required(),
        field("values", FieldType::List(&INT32), "Exit codes to compare with."),
    ],
};

static PROBE: ObjectSchema = ObjectSchema {
    kind: "Probe",
    fields: &[
        field("periodSeconds", FieldType::Int(0, 86_400), "Interval between probes in seconds. Default: 10."),
        field(
            "initialDelaySeconds",
            FieldType::Int(0, 1 << 31),
            "Time from the start of the container to the first probe in seconds.",
        ),
        field(
            "successThreshold",
            FieldType::Int(0, 1 << 31),
            "Number of successes in a row that count as success. Default: 1.",
        ),
        inert("timeoutSeconds", COUNT),
        inert("failureThreshold", COUNT),
        inert("terminationGracePeriodSeconds", COUNT),
        inert("exec", FieldType::Any),
        inert("httpGet", FieldType::Any),
        inert("tcpSocket", FieldType::Any),
        inert("grpc", FieldType::Any),
    ],
};

static LIFECYCLE: ObjectSchema = ObjectSchema {
    kind: "Lifecycle",
    fields: &[
        inert("preStop", FieldType::Any),
        inert("postStart", FieldType::Any),
        inert("stopSignal", FieldType::Str),
    ],
};

static ENV: ObjectSchema = ObjectSchema {
    kind: "EnvVar",
    fields: &[
        field("name", FieldType::Str, "Name of the environment variable."),
        field("value", FieldType::Str, "Value of the environment variable."),
        inert("valueFrom", FieldType::Any),
    ],
};

static PORT: ObjectSchema = ObjectSchema {
    kind: "ContainerPort",
    fields: &[
        inert("name", FieldType::Str),
        inert("containerPort", FieldType::Int(0, 65_535)),
        field("hostPort", FieldType::Int(0, 65_535), "Port of the node (plugin NodePorts). Default: none."),
        inert("hostIP", FieldType::Str),
        inert("protocol", FieldType::Str),
    ],
};

static VOLUME_MOUNT: ObjectSchema = ObjectSchema {
    kind: "VolumeMount",
    fields: &[
        inert("name", FieldType::Str),
        inert("mountPath", FieldType::Str),
        inert("readOnly", FieldType::Bool),
        inert("recursiveReadOnly", FieldType::Str),
        inert("subPath", FieldType::Str),
        inert("subPathExpr", FieldType::Str),
        inert("mountPropagation", FieldType::Str),
    ],
};

pub static PVC_TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "PersistentVolumeClaimTemplate",
    fields: &[
        field("metadata", FieldType::Object(&METADATA), "Metadata of the claim."),
        inert("spec", FieldType::Any),
        inert("status", FieldType::Any),
        inert("apiVersion", FieldType::Str),
        inert("kind", FieldType::Str),
    ],
};
