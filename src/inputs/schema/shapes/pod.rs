//! Field tables of the pod spec and its containers in Kubernetes 1.36.
//!
//! Inert fields affect what runs in a container. The simulation only covers when and where it runs.

use super::metadata::METADATA;
use crate::schema::shape::{
    COUNT, INT32, Object, STR_LIST, STR_MAP, Shape, field, inert, not_modelled,
};

const POLICIES: &[&str] = &["Always", "OnFailure", "Never"];

pub static POD_SPEC: Object = Object {
    kind: "PodSpec",
    fields: &[
        field(
            "restartPolicy",
            Shape::OneOf(POLICIES),
            "default in a JobSet: OnFailure",
        ),
        field("terminationGracePeriodSeconds", COUNT, "default: 30"),
        field("nodeSelector", STR_MAP, ""),
        field("tolerations", Shape::List(&Shape::Object(&TOLERATION)), ""),
        field("priority", INT32, "default: 0"),
        field(
            "schedulingGates",
            Shape::List(&Shape::Object(&GATE)),
            "a pod is scheduled when an action has taken them off: patch with merge {spec: {schedulingGates: null}}",
        ),
        field(
            "initContainers",
            Shape::List(&Shape::Object(&CONTAINER)),
            "",
        ),
        field("containers", Shape::List(&Shape::Object(&CONTAINER)), "").required(),
        not_modelled("ephemeralContainers", Shape::Any),
        not_modelled("activeDeadlineSeconds", Shape::Int(0, 1 << 40)),
        field("affinity", Shape::Object(&AFFINITY), ""),
        not_modelled("topologySpreadConstraints", Shape::Any),
        field(
            "nodeName",
            Shape::Str,
            "a node that exists; the pod is bound from the start, without a scheduler",
        ),
        not_modelled("schedulerName", Shape::Str),
        field(
            "priorityClassName",
            Shape::Str,
            "a PriorityClass of the scenario's objects; another is taken to be there, with the value of priority",
        ),
        not_modelled("preemptionPolicy", Shape::Str),
        not_modelled("overhead", STR_OR_NUMBER_MAP),
        not_modelled("resources", Shape::Object(&RESOURCES)),
        not_modelled("resourceClaims", Shape::Any),
        not_modelled("readinessGates", Shape::Any),
        not_modelled("runtimeClassName", Shape::Str),
        not_modelled("schedulingGroup", Shape::Any),
        not_modelled("workloadRef", Shape::Any),
        inert("volumes", Shape::Any),
        inert("dnsPolicy", Shape::Str),
        inert("dnsConfig", Shape::Any),
        inert("serviceAccountName", Shape::Str),
        inert("serviceAccount", Shape::Str),
        inert("automountServiceAccountToken", Shape::Bool),
        inert("hostNetwork", Shape::Bool),
        inert("hostPID", Shape::Bool),
        inert("hostIPC", Shape::Bool),
        inert("hostUsers", Shape::Bool),
        inert("shareProcessNamespace", Shape::Bool),
        inert("securityContext", Shape::Any),
        inert("imagePullSecrets", Shape::Any),
        inert("hostname", Shape::Str),
        inert("hostnameOverride", Shape::Str),
        inert("subdomain", Shape::Str),
        inert("setHostnameAsFQDN", Shape::Bool),
        inert("hostAliases", Shape::Any),
        inert("enableServiceLinks", Shape::Bool),
        inert("os", Shape::Any),
    ],
};

const STR_OR_NUMBER_MAP: Shape = Shape::Map(&Shape::Quantity);

static GATE: Object = Object {
    kind: "PodSchedulingGate",
    fields: &[field("name", Shape::Str, "").required()],
};

static AFFINITY: Object = Object {
    kind: "Affinity",
    fields: &[
        field("nodeAffinity", Shape::Object(&NODE_AFFINITY), ""),
        not_modelled("podAffinity", Shape::Any),
        not_modelled("podAntiAffinity", Shape::Any),
    ],
};

static NODE_AFFINITY: Object = Object {
    kind: "NodeAffinity",
    fields: &[
        field(
            "requiredDuringSchedulingIgnoredDuringExecution",
            Shape::Object(&NODE_SELECTOR),
            "",
        ),
        not_modelled(
            "preferredDuringSchedulingIgnoredDuringExecution",
            Shape::Any,
        ),
    ],
};

static NODE_SELECTOR: Object = Object {
    kind: "NodeSelector",
    fields: &[field(
        "nodeSelectorTerms",
        Shape::List(&Shape::Object(&NODE_TERM)),
        "one of them has to match",
    )
    .required()],
};

static NODE_TERM: Object = Object {
    kind: "NodeSelectorTerm",
    fields: &[
        field(
            "matchExpressions",
            REQUIREMENTS,
            "of labels; all have to match",
        ),
        field(
            "matchFields",
            REQUIREMENTS,
            "of metadata.name; all have to match",
        ),
    ],
};

const REQUIREMENTS: Shape = Shape::List(&Shape::Object(&NODE_REQUIREMENT));

static NODE_REQUIREMENT: Object = Object {
    kind: "NodeSelectorRequirement",
    fields: &[
        field("key", Shape::Str, "").required(),
        field(
            "operator",
            Shape::Str,
            "In, NotIn, Exists, DoesNotExist, Gt or Lt",
        )
        .required(),
        field("values", STR_LIST, "one integer for Gt and Lt"),
    ],
};

static TOLERATION: Object = Object {
    kind: "Toleration",
    fields: &[
        field("key", Shape::Str, "absent: every key"),
        field(
            "operator",
            Shape::OneOf(&["Equal", "Exists", "Lt", "Gt"]),
            "default: Equal",
        ),
        field("value", Shape::Str, ""),
        field("effect", Shape::OneOf(EFFECTS), "absent: every effect"),
        field(
            "tolerationSeconds",
            Shape::Int(i64::MIN, i64::MAX),
            "absent: for ever",
        ),
    ],
};

pub const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

static CONTAINER: Object = Object {
    kind: "Container",
    fields: &[
        field("name", Shape::Str, ""),
        field("image", Shape::Str, ""),
        field(
            "imagePullPolicy",
            Shape::OneOf(&["Always", "IfNotPresent", "Never"]),
            "default: Always without a tag or with latest, else IfNotPresent",
        ),
        field("resources", Shape::Object(&RESOURCES), ""),
        field(
            "restartPolicy",
            Shape::OneOf(POLICIES),
            "Always on an init container: a sidecar",
        ),
        field(
            "restartPolicyRules",
            Shape::List(&Shape::Object(&RESTART_RULE)),
            "",
        ),
        field("startupProbe", Shape::Object(&PROBE), ""),
        field("env", Shape::List(&Shape::Object(&ENV)), ""),
        not_modelled("livenessProbe", Shape::Object(&PROBE)),
        not_modelled("readinessProbe", Shape::Object(&PROBE)),
        not_modelled("lifecycle", Shape::Object(&LIFECYCLE)),
        inert("resizePolicy", Shape::Any),
        inert("command", STR_LIST),
        inert("args", STR_LIST),
        inert("workingDir", Shape::Str),
        inert("ports", Shape::List(&Shape::Object(&PORT))),
        inert("envFrom", Shape::Any),
        inert("volumeMounts", Shape::List(&Shape::Object(&VOLUME_MOUNT))),
        inert("volumeDevices", Shape::Any),
        inert("securityContext", Shape::Any),
        inert("terminationMessagePath", Shape::Str),
        inert("terminationMessagePolicy", Shape::Str),
        inert("stdin", Shape::Bool),
        inert("stdinOnce", Shape::Bool),
        inert("tty", Shape::Bool),
    ],
};

static RESOURCES: Object = Object {
    kind: "ResourceRequirements",
    fields: &[
        field("requests", Shape::Map(&Shape::Quantity), ""),
        field("limits", Shape::Map(&Shape::Quantity), ""),
        not_modelled("claims", Shape::Any),
    ],
};

static RESTART_RULE: Object = Object {
    kind: "ContainerRestartRule",
    fields: &[
        field(
            "action",
            Shape::OneOf(&["Restart", "RestartAllContainers"]),
            "",
        )
        .required(),
        field("exitCodes", Shape::Object(&EXIT_CODES), "").required(),
    ],
};

static EXIT_CODES: Object = Object {
    kind: "ContainerRestartRuleOnExitCodes",
    fields: &[
        field("operator", Shape::OneOf(&["In", "NotIn"]), "").required(),
        field("values", Shape::List(&INT32), ""),
    ],
};

static PROBE: Object = Object {
    kind: "Probe",
    fields: &[
        field("periodSeconds", Shape::Int(0, 86_400), "default: 10"),
        not_modelled("initialDelaySeconds", COUNT),
        inert("timeoutSeconds", COUNT),
        inert("successThreshold", COUNT),
        inert("failureThreshold", COUNT),
        inert("terminationGracePeriodSeconds", COUNT),
        inert("exec", Shape::Any),
        inert("httpGet", Shape::Any),
        inert("tcpSocket", Shape::Any),
        inert("grpc", Shape::Any),
    ],
};

static LIFECYCLE: Object = Object {
    kind: "Lifecycle",
    fields: &[
        inert("preStop", Shape::Any),
        inert("postStart", Shape::Any),
        inert("stopSignal", Shape::Str),
    ],
};

static ENV: Object = Object {
    kind: "EnvVar",
    fields: &[
        field("name", Shape::Str, ""),
        field("value", Shape::Str, ""),
        inert("valueFrom", Shape::Any),
    ],
};

static PORT: Object = Object {
    kind: "ContainerPort",
    fields: &[
        inert("name", Shape::Str),
        inert("containerPort", Shape::Int(0, 65_535)),
        inert("hostPort", Shape::Int(0, 65_535)),
        inert("hostIP", Shape::Str),
        inert("protocol", Shape::Str),
    ],
};

static VOLUME_MOUNT: Object = Object {
    kind: "VolumeMount",
    fields: &[
        inert("name", Shape::Str),
        inert("mountPath", Shape::Str),
        inert("readOnly", Shape::Bool),
        inert("recursiveReadOnly", Shape::Str),
        inert("subPath", Shape::Str),
        inert("subPathExpr", Shape::Str),
        inert("mountPropagation", Shape::Str),
    ],
};

pub static PVC_TEMPLATE: Object = Object {
    kind: "PersistentVolumeClaimTemplate",
    fields: &[
        field("metadata", Shape::Object(&METADATA), ""),
        inert("spec", Shape::Any),
        inert("status", Shape::Any),
        inert("apiVersion", Shape::Str),
        inert("kind", Shape::Str),
    ],
};
