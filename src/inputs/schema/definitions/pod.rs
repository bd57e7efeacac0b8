//! Field tables of the pod spec and its containers in Kubernetes 1.36.
//!
//! Inert fields affect what runs in a container. The simulation only covers when and where it runs.

use super::metadata::METADATA;
use crate::schema::field_type::FieldType::{Any, Bool, Int, List, Map, Object, OneOf, Quantity, Str};
use crate::schema::field_type::{COUNT, FieldType, INT32, ObjectSchema, STR_LIST, STR_MAP, field, inert, not_modelled};

const POLICIES: &[&str] = &["Always", "OnFailure", "Never"];

pub static POD_SPEC: ObjectSchema = ObjectSchema {
    kind: "PodSpec",
    fields: &[
        field("restartPolicy", OneOf(POLICIES))
            .doc("Restart policy of the containers. Default in a JobSet: OnFailure."),
        field("terminationGracePeriodSeconds", COUNT).doc("Time from SIGTERM to SIGKILL in seconds. Default: 30."),
        field("nodeSelector", STR_MAP).doc("Labels that a node must have to run the pod."),
        field("tolerations", List(&Object(&TOLERATION))).doc("Taints that the pod tolerates."),
        field("priority", INT32).doc("Priority of the pod. Default: 0."),
        field("schedulingGates", List(&Object(&GATE))).doc(
            "Gates that block scheduling. To remove them, use the action patch with merge: {spec: \
                 {schedulingGates: null}}.",
        ),
        field("initContainers", List(&Object(&CONTAINER)))
            .doc("Init containers, which run in order before the containers."),
        field("containers", List(&Object(&CONTAINER))).required(),
        not_modelled("ephemeralContainers", Any),
        not_modelled("activeDeadlineSeconds", Int(0, 1 << 40)),
        field("affinity", Object(&AFFINITY)).doc("Scheduling constraints of the pod."),
        field("topologySpreadConstraints", Any)
            .doc("Constraints of PodTopologySpread, as kube-scheduler evaluates them."),
        field("nodeName", Str)
            .doc("Name of an existing node. The pod is bound to it at creation, without the scheduler."),
        field("schedulerName", Str).doc(
            "Name of a profile of kube-scheduler, which a KubeSchedulerConfiguration defines. A pod \
                 without a profile stays Pending. Default: default-scheduler.",
        ),
        field("schedulingGroup", Object(&SCHEDULING_GROUP)).doc(
            "PodGroup of the pod. It has an effect if the feature gates GenericWorkload, GangScheduling and \
                 WorkloadAwarePreemption are on; otherwise the API server drops it.",
        ),
        field("priorityClassName", Str).doc(
            "Name of a PriorityClass. If the inputs contain PriorityClasses, other classes do not exist; \
                 otherwise every class is assumed to exist with the value of `priority`.",
        ),
        field("preemptionPolicy", Str)
            .doc("Whether the pod may preempt pods of lower priority. Default: that of its PriorityClass."),
        field("overhead", STR_OR_NUMBER_MAP)
            .doc("Resources that the pod needs in addition to its requests, as set from its RuntimeClass."),
        field("resources", Object(&RESOURCES))
            .doc("Resource requests and limits of the pod as a whole, which replace the sums over its containers."),
        not_modelled("resourceClaims", Any),
        not_modelled("readinessGates", Any),
        not_modelled("runtimeClassName", Str),
        not_modelled("workloadRef", Any),
        inert("volumes", Any),
        inert("dnsPolicy", Str),
        inert("dnsConfig", Any),
        inert("serviceAccountName", Str),
        inert("serviceAccount", Str),
        inert("automountServiceAccountToken", Bool),
        field("hostNetwork", Bool)
            .doc("Whether the ports of the containers are ports of the node (plugin NodePorts). Default: false."),
        inert("hostPID", Bool),
        inert("hostIPC", Bool),
        inert("hostUsers", Bool),
        inert("shareProcessNamespace", Bool),
        field("securityContext", Object(&POD_SECURITY)).doc("Security of the pod."),
        inert("imagePullSecrets", Any),
        inert("hostname", Str),
        inert("hostnameOverride", Str),
        inert("subdomain", Str),
        inert("setHostnameAsFQDN", Bool),
        inert("hostAliases", Any),
        inert("enableServiceLinks", Bool),
        field("os", Object(&POD_OS)).doc(
            "Operating system. The kubelet refuses `windows` on nodes without the label `kubernetes.io/os: windows`.",
        ),
    ],
};

static POD_OS: ObjectSchema =
    ObjectSchema { kind: "PodOS", fields: &[field("name", Str).doc("`linux` or `windows`.").required()] };

static POD_SECURITY: ObjectSchema = ObjectSchema {
    kind: "PodSecurityContext",
    fields: &[
        inert("seLinuxOptions", Any),
        inert("windowsOptions", Any),
        inert("runAsUser", Any),
        inert("runAsGroup", Any),
        inert("runAsNonRoot", Any),
        inert("supplementalGroups", Any),
        inert("supplementalGroupsPolicy", Any),
        inert("fsGroup", Any),
        // The kubelet refuses pods with sysctls that it does not allow (SysctlForbidden).
        not_modelled("sysctls", Any),
        inert("fsGroupChangePolicy", Any),
        inert("seccompProfile", Any),
        inert("appArmorProfile", Any),
        inert("seLinuxChangePolicy", Any),
    ],
};

const STR_OR_NUMBER_MAP: FieldType = Map(&Quantity);

static SCHEDULING_GROUP: ObjectSchema = ObjectSchema {
    kind: "PodSchedulingGroup",
    fields: &[field("podGroupName", Str).doc("Name of a PodGroup in the namespace of the pod.").required()],
};

static GATE: ObjectSchema = ObjectSchema { kind: "PodSchedulingGate", fields: &[field("name", Str).required()] };

static AFFINITY: ObjectSchema = ObjectSchema {
    kind: "Affinity",
    fields: &[
        field("nodeAffinity", Object(&NODE_AFFINITY)).doc("Node affinity of the pod."),
        field("podAffinity", Any)
            .doc("Pods near which the pod is placed, required or preferred (plugin InterPodAffinity)."),
        field("podAntiAffinity", Any)
            .doc("Pods from which the pod is kept away, required or preferred (plugin InterPodAffinity)."),
    ],
};

static NODE_AFFINITY: ObjectSchema = ObjectSchema {
    kind: "NodeAffinity",
    fields: &[
        field("requiredDuringSchedulingIgnoredDuringExecution", Object(&NODE_SELECTOR))
            .doc("Node selector that must match for the pod to be scheduled."),
        field("preferredDuringSchedulingIgnoredDuringExecution", Any)
            .doc("Preferred nodes, each with a weight that counts in the score (plugin NodeAffinity)."),
    ],
};

pub static NODE_SELECTOR: ObjectSchema = ObjectSchema {
    kind: "NodeSelector",
    fields: &[field("nodeSelectorTerms", List(&Object(&NODE_TERM)))
        .doc("Node selector terms, of which at least one must match.")
        .required()],
};

pub static NODE_TERM: ObjectSchema = ObjectSchema {
    kind: "NodeSelectorTerm",
    fields: &[
        field("matchExpressions", REQUIREMENTS).doc("Requirements on node labels, all of which must match."),
        field("matchFields", REQUIREMENTS).doc("Requirements on metadata.name, all of which must match."),
    ],
};

pub const REQUIREMENTS: FieldType = List(&Object(&NODE_REQUIREMENT));

static NODE_REQUIREMENT: ObjectSchema = ObjectSchema {
    kind: "NodeSelectorRequirement",
    fields: &[
        field("key", Str).required(),
        field("operator", Str).doc("One of In, NotIn, Exists, DoesNotExist, Gt or Lt.").required(),
        field("values", STR_LIST).doc("Values to compare with; a single integer for Gt and Lt."),
    ],
};

pub static TOLERATION: ObjectSchema = ObjectSchema {
    kind: "Toleration",
    fields: &[
        field("key", Str).doc("Taint key to tolerate. If absent, every key is tolerated."),
        field("operator", OneOf(&["Equal", "Exists", "Lt", "Gt"])).doc("Comparison with the taint. Default: Equal."),
        field("value", Str).doc("Taint value to tolerate, for the operators Equal, Lt and Gt."),
        field("effect", OneOf(EFFECTS)).doc("Taint effect to tolerate. If absent, every effect is tolerated."),
        field("tolerationSeconds", Int(i64::MIN, i64::MAX))
            .doc("Time that a NoExecute taint is tolerated, in seconds. If absent, indefinitely."),
    ],
};

pub const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

static CONTAINER: ObjectSchema = ObjectSchema {
    kind: "Container",
    fields: &[
        field("name", Str).doc("Name of the container."),
        field("image", Str).doc("Image of the container."),
        field("imagePullPolicy", OneOf(&["Always", "IfNotPresent", "Never"])).doc(
            "Image pull policy. Default: Always for images without a tag or with the tag latest, otherwise \
                 IfNotPresent.",
        ),
        field("resources", Object(&RESOURCES)).doc("Resource requests and limits of the container."),
        field("restartPolicy", OneOf(POLICIES))
            .doc("Restart policy of the container. An init container with Always is a sidecar."),
        field("restartPolicyRules", List(&Object(&RESTART_RULE)))
            .doc("Rules that override the restart policy for certain exit codes."),
        field("startupProbe", Object(&PROBE)).doc("Startup probe of the container."),
        field("readinessProbe", Object(&PROBE))
            .doc("Readiness probe of a main container. The pod is ready when it succeeds."),
        field("env", List(&Object(&ENV))).doc("Environment variables of the container."),
        not_modelled("livenessProbe", Object(&PROBE)),
        field("lifecycle", Object(&LIFECYCLE)).doc("Hooks of the container."),
        inert("resizePolicy", Any),
        inert("command", STR_LIST),
        inert("args", STR_LIST),
        inert("workingDir", Str),
        inert("ports", List(&Object(&PORT))),
        inert("envFrom", Any),
        inert("volumeMounts", List(&Object(&VOLUME_MOUNT))),
        inert("volumeDevices", Any),
        inert("securityContext", Any),
        inert("terminationMessagePath", Str),
        inert("terminationMessagePolicy", Str),
        inert("stdin", Bool),
        inert("stdinOnce", Bool),
        inert("tty", Bool),
    ],
};

static RESOURCES: ObjectSchema = ObjectSchema {
    kind: "ResourceRequirements",
    fields: &[
        field("requests", Map(&Quantity)).doc("Requested resources. If absent, the limits apply."),
        field("limits", Map(&Quantity)).doc("Resource limits."),
        not_modelled("claims", Any),
    ],
};

static RESTART_RULE: ObjectSchema = ObjectSchema {
    kind: "ContainerRestartRule",
    fields: &[
        field("action", OneOf(&["Restart", "RestartAllContainers"])).required(),
        field("exitCodes", Object(&EXIT_CODES)).required(),
    ],
};

static EXIT_CODES: ObjectSchema = ObjectSchema {
    kind: "ContainerRestartRuleOnExitCodes",
    fields: &[
        field("operator", OneOf(&["In", "NotIn"])).required(),
        field("values", List(&INT32)).doc("Exit codes to compare with."),
    ],
};

static PROBE: ObjectSchema = ObjectSchema {
    kind: "Probe",
    fields: &[
        field("periodSeconds", Int(0, 86_400)).doc("Interval between probes in seconds. Default: 10."),
        field("initialDelaySeconds", Int(0, 1 << 31))
            .doc("Time from the start of the container to the first probe in seconds."),
        field("successThreshold", Int(0, 1 << 31))
            .doc("Number of successes in a row that count as success. Default: 1."),
        inert("timeoutSeconds", COUNT),
        field("failureThreshold", COUNT)
            .doc("Number of failures in a row that count as failure. A startup probe that would fail is reported."),
        inert("terminationGracePeriodSeconds", COUNT),
        inert("exec", Any),
        inert("httpGet", Any),
        inert("tcpSocket", Any),
        inert("grpc", Any),
    ],
};

static LIFECYCLE: ObjectSchema = ObjectSchema {
    kind: "Lifecycle",
    fields: &[
        field("preStop", Object(&PRE_STOP)).doc("Hook that runs before SIGTERM, within the grace period."),
        not_modelled("postStart", Any),
        inert("stopSignal", Str),
    ],
};

static PRE_STOP: ObjectSchema = ObjectSchema {
    kind: "LifecycleHandler",
    fields: &[
        field("sleep", Object(&SLEEP)).doc("Wait before SIGTERM."),
        not_modelled("exec", Any),
        not_modelled("httpGet", Any),
        not_modelled("tcpSocket", Any),
    ],
};

static SLEEP: ObjectSchema =
    ObjectSchema { kind: "SleepAction", fields: &[field("seconds", COUNT).doc("Duration in seconds.")] };

static ENV: ObjectSchema = ObjectSchema {
    kind: "EnvVar",
    fields: &[
        field("name", Str).doc("Name of the environment variable."),
        field("value", Str).doc("Value of the environment variable."),
        inert("valueFrom", Any),
    ],
};

static PORT: ObjectSchema = ObjectSchema {
    kind: "ContainerPort",
    fields: &[
        inert("name", Str),
        inert("containerPort", Int(0, 65_535)),
        field("hostPort", Int(0, 65_535)).doc("Port of the node (plugin NodePorts). Default: none."),
        inert("hostIP", Str),
        inert("protocol", Str),
    ],
};

static VOLUME_MOUNT: ObjectSchema = ObjectSchema {
    kind: "VolumeMount",
    fields: &[
        inert("name", Str),
        inert("mountPath", Str),
        inert("readOnly", Bool),
        inert("recursiveReadOnly", Str),
        inert("subPath", Str),
        inert("subPathExpr", Str),
        inert("mountPropagation", Str),
    ],
};

pub static PVC_TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "PersistentVolumeClaimTemplate",
    fields: &[
        field("metadata", Object(&METADATA)).doc("Metadata of the claim."),
        inert("spec", Any),
        inert("status", Any),
        inert("apiVersion", Str),
        inert("kind", Str),
    ],
};
