//! The labels, annotations and taints, with their effects and sources.

use super::{ActingKey, KeyPlace};

const fn acting(
    place: KeyPlace, key: &'static str, inert: &'static [&'static str], effect: &'static str, source: &'static str,
) -> ActingKey {
    ActingKey { place, key, inert, effect, source }
}

const OFF: &[&str] = &["false", "disabled", ""];
/// Values of labels of machines that the provider does not reclaim. Another label marks flex-start machines of GKE.
const NOT_SPOT: &[&str] =
    &["false", "", "standard", "flex-start", "on-demand", "ON_DEMAND", "regular", "normal", "reserved"];
/// Effect of machines that a provider takes away. Fault processes with `does: Reclaim` simulate it.
pub(super) const RECLAIMED: &str =
    "the provider reclaims the machines; a process of faultProcesses with does: Reclaim simulates it";
const TAINT_REMOVED: &str = "a controller removes the taint when the node is initialized; the simulation keeps it";
/// Effect of taints that follow the conditions of a node.
const CONDITION: &str = "the node lifecycle controller removes the taint with its condition; the simulation keeps it";
const SHARED_GPUS: &str = "pods share GPUs and slow each other down";
const COSCHEDULING: &str = "the plugin Coscheduling places the pods as a gang";
const SIDECAR: &str = "a webhook adds a sidecar with requests of its own";
const BANDWIDTH: &str = "the bandwidth plugin limits the traffic";
const KAI_EFFECT: &str = "queue, gang or topology of the KAI scheduler";
const HAMI_EFFECT: &str = "HAMi shares GPUs among pods";
const FUSE: &str = "github.com/GoogleCloudPlatform/gcs-fuse-csi-driver, pkg/webhook/mutatingwebhook.go";
const PARALLELSTORE: &str = "cloud.google.com/parallelstore/docs/connect-from-kubernetes-engine";
const GKE_NETWORK: &str = "cloud.google.com/kubernetes-engine/docs/how-to/setup-multinetwork-support-for-pods";
const GKE_MAINTENANCE: &str = "cloud.google.com/kubernetes-engine/docs/concepts/handle-disruption-gpu-tpu";
const GKE_SPOT: &str = "cloud.google.com/kubernetes-engine/docs/concepts/spot-vms";
const GKE_SLICES: &str = "cloud.google.com/kubernetes-engine/docs/how-to/create-dynamic-slices";
const TPU_PROVISIONER: &str = "github.com/ai-on-gke/tpu-provisioner, internal/utils/metadata.go";
const COREWEAVE: &str = "docs.coreweave.com/platform/fleet-management/node-lifecycle/state-transitions";
const OKE_PREEMPTIBLE: &str = "docs.oracle.com/iaas/Content/ContEng/Tasks/contengusingpreemptiblecapacity.htm";
const ISTIO: &str = "istio.io/latest/docs/reference/config/labels";
const LINKERD: &str = "linkerd.io/2/features/proxy-injection";
const KUMA: &str = "kuma.io/docs/latest/production/dp-config/dpp-on-kubernetes";
const CONSUL: &str = "developer.hashicorp.com/consul/docs/k8s/annotations-and-labels";
const ADMISSION_PLUGINS: &str = "kubernetes.io/docs/reference/access-authn-authz/admission-controllers";
const MULTUS: &str = "github.com/k8snetworkplumbingwg/multus-cni, docs/configuration.md";
const SHAPING: &str = "kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/network-plugins";
const VOLCANO: &str = "github.com/volcano-sh/apis, pkg/apis/scheduling/v1beta1/labels.go";
const VOLCANO_OWNER: &str = "github.com/volcano-sh/volcano, pkg/controllers/podgroup/pg_controller_handler.go";
const VOLCANO_TRAINER: &str = "github.com/kubeflow/trainer, pkg/runtime/framework/plugins/volcano/volcano.go";
const KAI: &str = "github.com/kai-scheduler/KAI-Scheduler, pkg/common/constants/constants.go";
const KAI_SHARING: &str = "github.com/kai-scheduler/KAI-Scheduler, docs/gpu-sharing/README.md";
const RUNAI: &str = "github.com/kai-scheduler/KAI-Scheduler, docs/migrationguides/v0.6.0/README.md";
const GANG_KOORDINATOR: &str = "github.com/koordinator-sh/koordinator, apis/extension/coscheduling.go";
const KOORDINATOR: &str = "github.com/koordinator-sh/koordinator, apis/extension/constants.go";
const QUOTA_KOORDINATOR: &str = "github.com/koordinator-sh/koordinator, apis/extension/elastic_quota.go";
const HAMI: &str = "github.com/Project-HAMi/HAMi, pkg/device/nvidia/device.go";
const KUEUE: &str = "kueue.sigs.k8s.io/docs/reference/labels-and-annotations";
const KUEUE_CONSTANTS: &str = "github.com/kubernetes-sigs/kueue, pkg/controller/constants/constants.go";
const KUEUE_SLICES: &str = "github.com/kubernetes-sigs/kueue, pkg/workloadslicing/workloadslicing.go";
const KUEUE_PROVISIONING: &str = "kueue.sigs.k8s.io/docs/concepts/admission_check/provisioning_request";
const DESCHEDULER: &str = "github.com/kubernetes-sigs/descheduler, README.md";
const KARPENTER: &str = "karpenter.sh/docs/concepts/disruption";
const KARPENTER_RESERVED: &str = "karpenter.sh/docs/tasks/odcrs";
const WELL_KNOWN: &str = "kubernetes.io/docs/reference/labels-annotations-taints";
const AUTOSCALER: &str = "github.com/kubernetes/autoscaler, cluster-autoscaler/FAQ.md";
const AUTOSCALER_TAINTS: &str = "github.com/kubernetes-sigs/cluster-autoscaler, pkg/utils/taints/taints.go";
const TERMINATION_HANDLER: &str = "github.com/aws/aws-node-termination-handler, pkg/node/node.go";

/// The keys, by place. An earlier entry wins.
pub static ACTING_KEYS: &[ActingKey] = {
    use KeyPlace::{Job, JobSet, Namespace, Node, Pod, Taint, Workload};
    &[
        // Sidecars and init containers with requests of their own.
        acting(Pod, "gke-gcsfuse/volumes", OFF, SIDECAR, FUSE),
        acting(Pod, "gke-gcsfuse/*", OFF, "resources of the sidecar of Cloud Storage FUSE", FUSE),
        acting(Pod, "gke-parallelstore/volumes", OFF, SIDECAR, PARALLELSTORE),
        acting(Pod, "gke-parallelstore/*", OFF, "resources of the sidecar of Parallelstore", PARALLELSTORE),
        acting(Pod, "sidecar.istio.io/inject", OFF, "a webhook adds the sidecar of Istio", ISTIO),
        acting(Pod, "istio.io/rev", OFF, "a webhook adds the sidecar of Istio", ISTIO),
        acting(
            Pod,
            "istio.io/dataplane-mode",
            &["none", ""],
            "Istio redirects the traffic of the pod to its node proxy",
            ISTIO,
        ),
        acting(Pod, "kuma.io/sidecar-injection", OFF, "a webhook adds the sidecar of Kuma", KUMA),
        acting(Pod, "consul.hashicorp.com/connect-inject", OFF, "a webhook adds the sidecar of Consul", CONSUL),
        acting(Namespace, "istio-injection", OFF, "a webhook adds the sidecar of Istio to pods", ISTIO),
        acting(Namespace, "istio.io/rev", OFF, "a webhook adds the sidecar of Istio to pods", ISTIO),
        acting(
            Namespace,
            "istio.io/dataplane-mode",
            &["none", ""],
            "Istio redirects the traffic of pods to its node proxy",
            ISTIO,
        ),
        acting(Namespace, "linkerd.io/inject", OFF, "a webhook adds the sidecar of Linkerd to pods", LINKERD),
        acting(Namespace, "kuma.io/sidecar-injection", OFF, "a webhook adds the sidecar of Kuma to pods", KUMA),
        // Admission of pods.
        acting(
            Namespace,
            "pod-security.kubernetes.io/enforce",
            &["privileged"],
            "the admission plugin PodSecurity refuses pods that violate the level",
            "kubernetes.io/docs/concepts/security/pod-security-admission",
        ),
        acting(
            Namespace,
            "scheduler.alpha.kubernetes.io/node-selector",
            &[""],
            "the admission plugin PodNodeSelector adds the labels to the nodeSelector of pods, if it is on",
            ADMISSION_PLUGINS,
        ),
        acting(
            Namespace,
            "scheduler.alpha.kubernetes.io/defaultTolerations",
            &[""],
            "the admission plugin PodTolerationRestriction adds tolerations to pods, if it is on",
            ADMISSION_PLUGINS,
        ),
        acting(
            Namespace,
            "scheduler.alpha.kubernetes.io/tolerationsWhitelist",
            &[""],
            "the admission plugin PodTolerationRestriction refuses pods with other tolerations, if it is on",
            ADMISSION_PLUGINS,
        ),
        acting(
            Namespace,
            "openshift.io/node-selector",
            &[""],
            "OpenShift adds the labels to the nodeSelector of pods",
            "docs.openshift.com/container-platform/latest/nodes/scheduling/nodes-scheduler-node-selectors.html",
        ),
        acting(Pod, "linkerd.io/inject", OFF, "a webhook adds the sidecar of Linkerd", LINKERD),
        acting(
            Pod,
            "vault.hashicorp.com/agent-inject",
            OFF,
            "a webhook adds containers of Vault's agent",
            "github.com/hashicorp/vault-k8s, agent-inject/agent/annotations.go",
        ),
        acting(
            Pod,
            "instrumentation.opentelemetry.io/inject-*",
            OFF,
            "a webhook adds an init container or a sidecar",
            "github.com/open-telemetry/opentelemetry-operator, internal/instrumentation/annotation.go",
        ),
        acting(
            Pod,
            "sidecar.opentelemetry.io/inject",
            OFF,
            "a webhook adds the sidecar of the OpenTelemetry Collector",
            "github.com/open-telemetry/opentelemetry-operator, pkg/sidecar/annotation.go",
        ),
        acting(
            Pod,
            "admission.datadoghq.com/*",
            OFF,
            "a webhook adds environment variables, and init containers for tracing libraries",
            "docs.datadoghq.com/containers/cluster_agent/admission_controller",
        ),
        acting(
            Pod,
            "azure.workload.identity/inject-proxy-sidecar",
            OFF,
            "a webhook adds an init container and a sidecar",
            "github.com/Azure/azure-workload-identity, docs/book/src/topics/service-account-labels-and-annotations.md",
        ),
        acting(
            Pod, "dapr.io/enabled", OFF, "a webhook adds the sidecar of Dapr",
            "docs.dapr.io/concepts/dapr-services/sidecar",
        ),
        // Networks and devices.
        acting(
            Pod,
            "k8s.v1.cni.cncf.io/networks",
            OFF,
            "Multus attaches networks, and a webhook may add a resource request for them",
            "github.com/k8snetworkplumbingwg/network-resources-injector, README.md",
        ),
        acting(Pod, "v1.multus-cni.io/default-network", OFF, "Multus replaces the default network", MULTUS),
        acting(Pod, "networking.gke.io/interfaces", OFF, "GKE attaches networks to the pod", GKE_NETWORK),
        acting(Pod, "networking.gke.io/default-interface", OFF, "GKE attaches networks to the pod", GKE_NETWORK),
        acting(
            Pod,
            "devices.gke.io/*",
            OFF,
            "the device injector of GKE adds devices to containers",
            "github.com/GoogleCloudPlatform/container-engine-accelerators, nri_device_injector/README.md",
        ),
        acting(Pod, "kubernetes.io/ingress-bandwidth", OFF, BANDWIDTH, SHAPING),
        acting(Pod, "kubernetes.io/egress-bandwidth", OFF, BANDWIDTH, SHAPING),
        acting(
            Pod,
            "hami.io/*",
            &["false", "ignore", ""],
            HAMI_EFFECT,
            "github.com/Project-HAMi/HAMi, pkg/util/types.go",
        ),
        acting(Pod, "nvidia.com/vgpu-mode", OFF, HAMI_EFFECT, HAMI),
        acting(Pod, "nvidia.com/use-gpu*", OFF, "HAMi selects the GPUs of the pod", HAMI),
        acting(Pod, "nvidia.com/nouse-gpu*", OFF, "HAMi selects the GPUs of the pod", HAMI),
        acting(Pod, "gpu-fraction", OFF, "the KAI scheduler shares GPUs among pods", KAI_SHARING),
        acting(Pod, "gpu-memory", OFF, "the KAI scheduler shares GPUs among pods", KAI_SHARING),
        acting(
            Pod,
            "cloud.google.com/gke-tpu-slice-topology",
            OFF,
            "GKE's slice controller forms a slice of this shape for the Job",
            GKE_SLICES,
        ),
        acting(
            JobSet, "tpu-provisioner.cloud.google.com/slice-autoprovisioning", OFF,
            "the TPU provisioner creates slices for the JobSet", TPU_PROVISIONER,
        ),
        acting(
            JobSet,
            "tpu-provisioner.cloud.google.com/slice-selection",
            &[],
            "the TPU provisioner creates the slices of the JobSet from these cubes",
            "github.com/ai-on-gke/tpu-provisioner, internal/controller/slice_shared.go",
        ),
        acting(
            Job,
            "tpu-provisioner.cloud.google.com/inject-slice-selector",
            OFF,
            "a webhook adds a nodeSelector for the slice of the Job",
            "github.com/ai-on-gke/tpu-provisioner, internal/webhook/job.go",
        ),
        // Gangs, queues and quotas of other schedulers.
        acting(
            Pod,
            "scheduling.x-k8s.io/pod-group",
            OFF,
            COSCHEDULING,
            "github.com/kubernetes-sigs/scheduler-plugins, apis/scheduling/v1alpha1/types.go",
        ),
        // Key of early releases of Coscheduling, which Koordinator still reads.
        acting(Pod, "pod-group.scheduling.sigs.k8s.io*", OFF, COSCHEDULING, GANG_KOORDINATOR),
        acting(Pod, "scheduling.k8s.io/group-name", OFF, "Volcano places the pods as a gang", VOLCANO),
        acting(Pod, "volcano.sh/*", OFF, "Volcano queues, preempts or restarts the pods", VOLCANO),
        acting(Pod, "scheduling.volcano.sh/*", OFF, "queue or group of Volcano", VOLCANO),
        acting(Job, "volcano.sh/*", OFF, "Volcano copies the annotation to the group of the pods", VOLCANO_OWNER),
        acting(Job, "scheduling.volcano.sh/group-min-member", OFF, "size of the gang of Volcano", VOLCANO_OWNER),
        acting(
            JobSet, "scheduling.volcano.sh/queue-name", OFF, "queue of the PodGroup that Trainer creates for Volcano",
            VOLCANO_TRAINER,
        ),
        acting(Pod, "kai.scheduler/*", OFF, KAI_EFFECT, KAI),
        acting(Job, "kai.scheduler/*", OFF, KAI_EFFECT, KAI),
        acting(JobSet, "kai.scheduler/*", OFF, KAI_EFFECT, KAI),
        acting(Pod, "runai/queue", OFF, "queue of the Run:ai scheduler", RUNAI),
        acting(JobSet, "runai/queue", OFF, "queue of the Run:ai scheduler", RUNAI),
        acting(Pod, "gang.scheduling.koordinator.sh/*", OFF, "Koordinator places the pods as a gang", GANG_KOORDINATOR),
        acting(Pod, "scheduling.koordinator.sh/*", OFF, "scheduling by Koordinator", KOORDINATOR),
        acting(Pod, "quota.scheduling.koordinator.sh/*", OFF, "quota of Koordinator", QUOTA_KOORDINATOR),
        acting(Pod, "koordinator.sh/*", OFF, "resources and quality of service by Koordinator", KOORDINATOR),
        acting(
            Pod,
            "yunikorn.apache.org/*",
            OFF,
            "queue or gang of YuniKorn",
            "github.com/apache/yunikorn-k8shim, pkg/common/constants/constants.go",
        ),
        // Autoscaling, consolidation and descheduling.
        acting(
            Pod,
            "karpenter.sh/do-not-disrupt",
            OFF,
            "Karpenter consolidates and replaces nodes; it spares this pod",
            KARPENTER,
        ),
        acting(
            Pod,
            "cluster-autoscaler.kubernetes.io/safe-to-evict",
            &[],
            "the cluster autoscaler removes nodes; this decides whether it may evict the pod",
            AUTOSCALER,
        ),
        acting(
            Pod,
            "cluster-autoscaler.kubernetes.io/consume-provisioning-request",
            OFF,
            "the pod waits for nodes of a ProvisioningRequest",
            "github.com/kubernetes-sigs/cluster-autoscaler, pkg/provisioningrequest/pods/pods.go",
        ),
        acting(
            Pod, "autoscaling.x-k8s.io/consume-provisioning-request", OFF,
            "the pod waits for nodes of a ProvisioningRequest", AUTOSCALER,
        ),
        acting(
            Pod,
            "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes",
            &[],
            "the cluster autoscaler removes nodes; local volumes of the pod do not prevent this",
            AUTOSCALER,
        ),
        acting(
            Pod,
            "cluster-autoscaler.kubernetes.io/pod-scale-up-delay",
            &[],
            "the cluster autoscaler adds nodes for the pod after this delay",
            AUTOSCALER,
        ),
        acting(Pod, "descheduler.alpha.kubernetes.io/*", &[], "the descheduler evicts pods", DESCHEDULER),
        // Kueue.
        acting(
            Pod, "kueue.x-k8s.io/pod-group-name", OFF, "Kueue admits the pods as a group of plain pods",
            "kueue.sigs.k8s.io/docs/tasks/run/plain_pods",
        ),
        acting(
            Pod,
            "kueue.x-k8s.io/safe-to-forcefully-delete",
            OFF,
            "Kueue deletes stuck pods by force (gate FailureRecoveryPolicy)",
            KUEUE,
        ),
        acting(
            Job,
            "kueue.x-k8s.io/job-min-parallelism",
            &[],
            "Kueue may start a Job with a queue of its own with a smaller parallelism",
            KUEUE,
        ),
        acting(
            Job,
            "kueue.x-k8s.io/job-completions-equal-parallelism",
            OFF,
            "Kueue sets the completions of a Job with a queue of its own to its parallelism",
            KUEUE,
        ),
        acting(
            JobSet,
            "provreq.kueue.x-k8s.io/*",
            &[],
            "parameters of the ProvisioningRequest of an AdmissionCheck",
            KUEUE_PROVISIONING,
        ),
        acting(JobSet, "kueue.x-k8s.io/multikueue-origin", OFF, "MultiKueue created the JobSet", KUEUE),
        acting(
            Pod,
            "kueue.x-k8s.io/pod-index-offset",
            &["0", ""],
            "first index of the pods when Kueue assigns them to topology domains",
            KUEUE,
        ),
        acting(
            Workload,
            "kueue.x-k8s.io/priority-boost",
            &["0", ""],
            "offset of the priority (gate PriorityBoost)",
            KUEUE_CONSTANTS,
        ),
        acting(
            Workload,
            "kueue.x-k8s.io/workload-allowed-resource-flavors",
            &[],
            "the only flavors of the Workload (gate ConcurrentAdmission)",
            KUEUE_CONSTANTS,
        ),
        acting(
            Workload, "kueue.x-k8s.io/concurrent-admission-parent", OFF,
            "variants of the Workload are admitted in its place", KUEUE_CONSTANTS,
        ),
        acting(
            Workload,
            "kueue.x-k8s.io/workload-slice-name",
            &[],
            "the Workload is a slice of an elastic job (gate ElasticJobsViaWorkloadSlices)",
            KUEUE,
        ),
        acting(
            Workload,
            "kueue.x-k8s.io/workload-slice-replacement-for",
            &[],
            "the Workload replaces another slice of its job when it is admitted",
            KUEUE_SLICES,
        ),
        acting(
            Workload,
            "provreq.kueue.x-k8s.io/*",
            &[],
            "parameters of the ProvisioningRequest of an AdmissionCheck",
            KUEUE_PROVISIONING,
        ),
        acting(Workload, "kueue.x-k8s.io/multikueue-origin", OFF, "MultiKueue created the Workload", KUEUE),
        // Nodes.
        acting(
            Node, "cluster-autoscaler.kubernetes.io/scale-down-disabled", OFF,
            "the cluster autoscaler removes other nodes", AUTOSCALER,
        ),
        acting(
            Node,
            "node.kubernetes.io/exclude-disruption",
            &[],
            "the node lifecycle controller does not count the node when it adapts the rate of evictions of its zone",
            "github.com/kubernetes/kubernetes, pkg/controller/nodelifecycle/node_lifecycle_controller.go",
        ),
        acting(Node, "karpenter.sh/do-not-disrupt", OFF, "Karpenter replaces other nodes", KARPENTER),
        acting(
            Node,
            "karpenter.sh/nodepool",
            &[""],
            "Karpenter drains and replaces nodes (consolidation, drift, expiration)",
            KARPENTER,
        ),
        acting(
            Node, "node.kubernetes.io/exclude-from-external-load-balancers", OFF,
            "load balancers of Services leave out the node", WELL_KNOWN,
        ),
        acting(Node, "cloud.google.com/gke-spot", NOT_SPOT, RECLAIMED, GKE_SPOT),
        acting(
            Node,
            "cloud.google.com/gke-preemptible",
            NOT_SPOT,
            RECLAIMED,
            "cloud.google.com/kubernetes-engine/docs/how-to/preemptible-vms",
        ),
        acting(Node, "cloud.google.com/gke-provisioning", NOT_SPOT, RECLAIMED, GKE_SPOT),
        acting(
            Node, "cloud.google.com/gke-flex-start", OFF, "the provider removes the machine after at most seven days",
            "cloud.google.com/kubernetes-engine/docs/concepts/dws",
        ),
        acting(
            Node,
            "cloud.google.com/gke-queued",
            OFF,
            "GKE adds the node for a ProvisioningRequest and removes it after at most seven days",
            "cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest",
        ),
        acting(
            Node,
            "eks.amazonaws.com/capacityType",
            NOT_SPOT,
            RECLAIMED,
            "docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
        ),
        acting(Node, "karpenter.sh/capacity-type", NOT_SPOT, RECLAIMED, "karpenter.sh/docs/concepts/nodepools"),
        acting(Node, "karpenter.k8s.aws/capacity-reservation-interruptible", NOT_SPOT, RECLAIMED, KARPENTER_RESERVED),
        acting(
            Node,
            "karpenter.k8s.aws/capacity-reservation-type",
            &["default", ""],
            "Karpenter drains the node before the end of its capacity block",
            KARPENTER_RESERVED,
        ),
        acting(
            Node, "kubernetes.azure.com/scalesetpriority", NOT_SPOT, RECLAIMED,
            "learn.microsoft.com/azure/aks/spot-node-pool",
        ),
        acting(
            Node,
            "node.kubernetes.io/lifecycle",
            NOT_SPOT,
            RECLAIMED,
            "github.com/terraform-aws-modules/terraform-aws-eks, docs/spot-instances.md",
        ),
        acting(Node, "oci.oraclecloud.com/oke-is-preemptible", NOT_SPOT, RECLAIMED, OKE_PREEMPTIBLE),
        acting(
            Node, "cloud.google.com/active-node-maintenance", OFF, "GKE stops the machine for maintenance",
            GKE_MAINTENANCE,
        ),
        acting(
            Node,
            "cloud.google.com/scheduled-maintenance-time",
            OFF,
            "GKE stops the machine for maintenance at this time",
            "cloud.google.com/kubernetes-engine/docs/how-to/view-maintenance-events",
        ),
        acting(
            Node, "cloud.google.com/perform-maintenance", OFF,
            "GKE starts the scheduled maintenance of the machine now", GKE_MAINTENANCE,
        ),
        acting(
            Node,
            "cloud.google.com/fault-behavior",
            &[],
            "GKE drains the node and has its host repaired",
            "cloud.google.com/ai-hypercomputer/docs/manage/manage-gke-clusters",
        ),
        acting(
            Node,
            "cloud.google.com/gke-gpu-sharing-strategy",
            &[""],
            SHARED_GPUS,
            "cloud.google.com/kubernetes-engine/docs/concepts/timesharing-gpus",
        ),
        acting(
            Node,
            "cloud.google.com/gke-tpu-partition-4x4x4-state",
            &["HEALTHY", "DEGRADED"],
            "GKE's slice controller forms no slice with the cube",
            GKE_SLICES,
        ),
        acting(
            Node,
            "nvidia.com/gpu-driver-upgrade-state",
            &["upgrade-done", ""],
            "the GPU operator cordons and drains the node for an upgrade of its driver",
            "github.com/NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go",
        ),
        acting(
            Node,
            "nvidia.com/mig.config.state",
            &["success", ""],
            "the MIG manager repartitions the GPUs of the node, or failed to do so",
            "github.com/NVIDIA/mig-parted, pkg/mig/reconfigure/reconfigure.go",
        ),
        acting(
            Node,
            "nvidia.com/gpu.sharing-strategy",
            &["none", ""],
            SHARED_GPUS,
            "github.com/NVIDIA/k8s-device-plugin, README.md",
        ),
        acting(
            Node,
            "dgxc.nvidia.com/nvsentinel-state",
            &[""],
            "NVSentinel drains and repairs the node",
            "docs.nvidia.com/nvsentinel/components/state-manager",
        ),
        acting(
            Node,
            "operator.amd.com/gpu-driver-upgrade-state",
            &[""],
            "the AMD GPU operator drains the node for an upgrade of its driver",
            "github.com/ROCm/gpu-operator, docs/drivers/upgrading.md",
        ),
        acting(
            Node,
            "weave.works/kured-reboot-in-progress",
            &[],
            "kured drains and restarts the node",
            "github.com/kubereboot/kured, cmd/kured/main.go",
        ),
        acting(
            Node,
            "sagemaker.amazonaws.com/node-health-status",
            &["Schedulable"],
            "HyperPod tests, reboots or replaces the node",
            "docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html",
        ),
        acting(
            Node,
            "node.coreweave.cloud/state",
            &["production"],
            "CoreWeave reboots, tests or replaces the node",
            COREWEAVE,
        ),
        acting(
            Node,
            "node.coreweave.cloud/pending-state",
            &[""],
            "CoreWeave reboots or replaces the node when its pods have ended",
            COREWEAVE,
        ),
        // Taints that controllers set and remove.
        acting(Taint, "node.kubernetes.io/memory-pressure", &[], CONDITION, WELL_KNOWN),
        acting(Taint, "node.kubernetes.io/disk-pressure", &[], CONDITION, WELL_KNOWN),
        acting(Taint, "node.kubernetes.io/pid-pressure", &[], CONDITION, WELL_KNOWN),
        acting(Taint, "node.kubernetes.io/network-unavailable", &[], CONDITION, WELL_KNOWN),
        acting(Taint, "node.cloudprovider.kubernetes.io/uninitialized", &[], TAINT_REMOVED, WELL_KNOWN),
        acting(
            Taint,
            "node.cloudprovider.kubernetes.io/shutdown",
            &[],
            "the cloud controller removes the taint when the machine starts again; the simulation keeps it",
            WELL_KNOWN,
        ),
        acting(
            Taint,
            "node.cilium.io/agent-not-ready",
            &[],
            TAINT_REMOVED,
            "docs.cilium.io/en/stable/installation/taints",
        ),
        acting(Taint, "karpenter.sh/unregistered", &[], TAINT_REMOVED, "karpenter.sh/docs/concepts/nodeclaims"),
        acting(Taint, "karpenter.sh/disrupted", &[], "Karpenter drains and deletes the node", KARPENTER),
        acting(
            Taint,
            "ToBeDeletedByClusterAutoscaler",
            &[],
            "the cluster autoscaler drains and deletes the node",
            AUTOSCALER_TAINTS,
        ),
        acting(
            Taint,
            "DeletionCandidateOfClusterAutoscaler",
            &[],
            "the cluster autoscaler may delete the node",
            AUTOSCALER_TAINTS,
        ),
        acting(
            Taint,
            "ignore-taint.cluster-autoscaler.kubernetes.io/oke-impending-node-termination",
            &[],
            "OKE's cluster autoscaler deletes the node",
            "github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/oci/nodepools/consts/annotations.go",
        ),
        acting(Taint, "startup-taint.cluster-autoscaler.kubernetes.io/*", &[], TAINT_REMOVED, AUTOSCALER),
        acting(Taint, "ignore-taint.cluster-autoscaler.kubernetes.io/*", &[], TAINT_REMOVED, AUTOSCALER),
        acting(
            Taint,
            "status-taint.cluster-autoscaler.kubernetes.io/*",
            &[],
            "a controller removes the taint when pods may run on the node again; the simulation keeps it",
            AUTOSCALER,
        ),
        acting(Taint, "cloud.google.com/impending-node-termination", &[], "GKE terminates the node", GKE_MAINTENANCE),
        acting(
            Taint,
            "aws-node-termination-handler/*",
            &[],
            "AWS Node Termination Handler drains the node, and its machine stops",
            TERMINATION_HANDLER,
        ),
        acting(
            Taint,
            "remediator.kubernetes.azure.com/unschedulable",
            &[],
            "AKS drains the node before an event of its machine",
            "learn.microsoft.com/azure/aks/node-auto-drain",
        ),
        acting(
            Taint,
            "amd-dcm",
            &[],
            "the taint is removed when AMD's Device Config Manager has partitioned the GPUs; the simulation keeps it",
            "github.com/ROCm/gpu-operator, docs/dcm/applying-partition-profiles.rst",
        ),
    ]
};
