//! Labels, annotations and taints on which webhooks and controllers of real clusters act and which the simulation does
//! not follow, as data.
//!
//! This module must never list a key that the simulation follows. Each entry has a source.

use serde_json::Value;
use sim_api::spec::{JobSet, RandomAction, ScenarioSpec, TaintSpec};
use std::collections::BTreeSet;

/// Kind of the objects on which a key acts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    JobSet,
    Job,
    Pod,
    /// A label or an annotation of a Node.
    Node,
    /// The key of a taint of a Node.
    Taint,
    /// An existing Workload of Kueue.
    Workload,
}

impl KeyPlace {
    pub fn as_str(self) -> &'static str {
        match self {
            KeyPlace::JobSet => "JobSet",
            KeyPlace::Job => "Job",
            KeyPlace::Pod => "pod",
            KeyPlace::Node => "node",
            KeyPlace::Taint => "taint",
            KeyPlace::Workload => "Workload",
        }
    }
}

/// A label or annotation with an effect outside the model.
#[derive(Debug)]
pub struct ActingKey {
    pub place: KeyPlace,
    /// The key, or its beginning if it ends with `*`.
    pub key: &'static str,
    /// Values without an effect.
    pub inert: &'static [&'static str],
    pub effect: &'static str,
    pub source: &'static str,
}

const fn acting(
    place: KeyPlace, key: &'static str, inert: &'static [&'static str], effect: &'static str, source: &'static str,
) -> ActingKey {
    ActingKey { place, key, inert, effect, source }
}

const OFF: &[&str] = &["false", "disabled", ""];
/// Values of labels of machines that the provider does not reclaim.
const NOT_SPOT: &[&str] =
    &["false", "", "standard", "on-demand", "ON_DEMAND", "regular", "Regular", "normal", "reservation", "reserved"];
/// Effect of machines that a provider takes away. Fault processes with `does: Reclaim` simulate it.
const RECLAIMED: &str =
    "the provider reclaims the machines; a process of faultProcesses with does: Reclaim simulates it";
const TAINT_REMOVED: &str = "a controller removes the taint when the node is initialized; the simulation keeps it";
const FUSE: &str = "cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-sidecar";
const GKE_NETWORK: &str = "cloud.google.com/kubernetes-engine/docs/how-to/setup-multinetwork-support-for-pods";
const KOORDINATOR: &str = "koordinator.sh/docs/user-manuals";
const KUEUE: &str = "kueue.sigs.k8s.io/docs/reference/labels-and-annotations";
const DESCHEDULER: &str = "github.com/kubernetes-sigs/descheduler, README.md";
const GKE_MAINTENANCE: &str = "cloud.google.com/kubernetes-engine/docs/concepts/handle-disruption-gpu-tpu";
const KARPENTER: &str = "karpenter.sh/docs/concepts/disruption";
const KUEUE_CONSTANTS: &str = "github.com/kubernetes-sigs/kueue, pkg/controller/constants/constants.go";
const WELL_KNOWN: &str = "kubernetes.io/docs/reference/labels-annotations-taints";
const AUTOSCALER: &str = "github.com/kubernetes/autoscaler, FAQ of the cluster autoscaler";

/// The keys, by place. An earlier entry wins.
pub static ACTING_KEYS: &[ActingKey] = {
    use KeyPlace::{Job, JobSet, Node, Pod, Taint, Workload};
    &[
        // Sidecars and init containers with requests of their own.
        acting(Pod, "gke-gcsfuse/volumes", OFF, "a webhook adds a sidecar with requests of its own", FUSE),
        acting(Pod, "gke-gcsfuse/*", OFF, "resources of the sidecar of Cloud Storage FUSE", FUSE),
        acting(
            Pod,
            "gke-parallelstore/volumes",
            OFF,
            "a webhook adds a sidecar with requests of its own",
            "cloud.google.com/parallelstore/docs/connect-from-kubernetes-engine",
        ),
        acting(
            Pod, "sidecar.istio.io/inject", OFF, "a webhook adds the sidecar of Istio",
            "istio.io/latest/docs/reference/config/annotations",
        ),
        acting(
            Pod, "linkerd.io/inject", OFF, "a webhook adds the sidecar of Linkerd",
            "linkerd.io/2/features/proxy-injection",
        ),
        acting(
            Pod,
            "vault.hashicorp.com/agent-inject",
            OFF,
            "a webhook adds containers of Vault's agent",
            "developer.hashicorp.com/vault/docs/deploy/kubernetes/injector/annotations",
        ),
        acting(
            Pod,
            "instrumentation.opentelemetry.io/inject-*",
            OFF,
            "a webhook adds an init container",
            "opentelemetry.io/docs/platforms/kubernetes/operator/automatic",
        ),
        acting(
            Pod,
            "admission.datadoghq.com/enabled",
            OFF,
            "a webhook adds init containers",
            "docs.datadoghq.com/containers/cluster_agent/admission_controller",
        ),
        acting(
            Pod, "azure.workload.identity/inject-proxy-sidecar", OFF, "a webhook adds a sidecar",
            "azure.github.io/azure-workload-identity/docs",
        ),
        acting(Pod, "dapr.io/enabled", OFF, "a webhook adds the sidecar of Dapr", "docs.dapr.io"),
        // Networks and devices.
        acting(
            Pod,
            "k8s.v1.cni.cncf.io/networks",
            OFF,
            "Multus attaches networks, and a webhook may add a resource request for them",
            "github.com/k8snetworkplumbingwg/network-resources-injector, README.md",
        ),
        acting(
            Pod,
            "v1.multus-cni.io/default-network",
            OFF,
            "Multus replaces the default network",
            "github.com/k8snetworkplumbingwg/multus-cni, page on the configuration",
        ),
        acting(Pod, "networking.gke.io/interfaces", OFF, "GKE attaches networks to the pod", GKE_NETWORK),
        acting(
            Pod,
            "devices.gke.io/*",
            OFF,
            "the device injector of GKE adds devices to containers",
            "cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx",
        ),
        acting(
            Pod,
            "kubernetes.io/ingress-bandwidth",
            OFF,
            "the bandwidth plugin limits the traffic",
            "kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/network-plugins",
        ),
        acting(
            Pod,
            "kubernetes.io/egress-bandwidth",
            OFF,
            "the bandwidth plugin limits the traffic",
            "kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/network-plugins",
        ),
        acting(Pod, "hami.io/*", OFF, "HAMi shares GPUs among pods", "project-hami.io/docs/userguide"),
        acting(Pod, "nvidia.com/vgpu-mode", OFF, "HAMi shares GPUs among pods", "project-hami.io/docs/userguide"),
        acting(
            Pod,
            "cloud.google.com/gke-tpu-slice-topology",
            OFF,
            "GKE's slice controller forms a slice for the Job",
            "github.com/AI-Hypercomputer/xpk, src/xpk/core/scheduling.py",
        ),
        // Gangs, queues and quotas of other schedulers.
        acting(
            Pod, "scheduling.x-k8s.io/pod-group", OFF, "the plugin Coscheduling places the pods as a gang",
            "scheduler-plugins.sigs.k8s.io/docs/plugins/coscheduling",
        ),
        acting(
            Pod, "pod-group.scheduling.sigs.k8s.io*", OFF, "the plugin Coscheduling places the pods as a gang",
            "scheduler-plugins.sigs.k8s.io/docs/plugins/coscheduling",
        ),
        acting(
            Pod,
            "scheduling.k8s.io/group-name",
            OFF,
            "Volcano places the pods as a gang",
            "github.com/volcano-sh/apis, pkg/apis/scheduling/v1beta1/labels.go",
        ),
        acting(
            Pod,
            "volcano.sh/*",
            OFF,
            "Volcano queues, preempts or restarts the pods",
            "github.com/volcano-sh/apis, pkg/apis/scheduling/v1beta1/labels.go",
        ),
        acting(
            Pod,
            "scheduling.volcano.sh/*",
            OFF,
            "queue or group of Volcano",
            "github.com/volcano-sh/apis, pkg/apis/scheduling/v1beta1/labels.go",
        ),
        acting(
            Pod, "kai.scheduler/*", OFF, "queue, gang or topology of the KAI scheduler",
            "github.com/NVIDIA/KAI-Scheduler, docs",
        ),
        acting(
            Job, "kai.scheduler/*", OFF, "queue, gang or topology of the KAI scheduler",
            "github.com/NVIDIA/KAI-Scheduler, docs",
        ),
        acting(
            JobSet, "kai.scheduler/*", OFF, "queue, gang or topology of the KAI scheduler",
            "github.com/NVIDIA/KAI-Scheduler, docs",
        ),
        acting(Pod, "runai/queue", OFF, "queue of the Run:ai scheduler", "run-ai-docs.nvidia.com"),
        acting(JobSet, "runai/queue", OFF, "queue of the Run:ai scheduler", "run-ai-docs.nvidia.com"),
        acting(Pod, "gang.scheduling.koordinator.sh/*", OFF, "Koordinator places the pods as a gang", KOORDINATOR),
        acting(Pod, "scheduling.koordinator.sh/*", OFF, "scheduling by Koordinator", KOORDINATOR),
        acting(Pod, "quota.scheduling.koordinator.sh/*", OFF, "quota of Koordinator", KOORDINATOR),
        acting(Pod, "koordinator.sh/*", OFF, "resources and quality of service by Koordinator", KOORDINATOR),
        acting(
            Pod,
            "yunikorn.apache.org/*",
            OFF,
            "queue or gang of YuniKorn",
            "yunikorn.apache.org/docs/user_guide/labels_and_annotations_in_yunikorn",
        ),
        // Autoscaling, consolidation and descheduling.
        acting(
            Pod,
            "karpenter.sh/do-not-disrupt",
            OFF,
            "Karpenter consolidates and replaces nodes; it spares this pod",
            "karpenter.sh/docs/concepts/disruption",
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
            AUTOSCALER,
        ),
        acting(
            Pod, "autoscaling.x-k8s.io/consume-provisioning-request", OFF,
            "the pod waits for nodes of a ProvisioningRequest", AUTOSCALER,
        ),
        acting(
            Pod,
            "cluster-autoscaler.kubernetes.io/*",
            OFF,
            "the cluster autoscaler adds and removes nodes; this decides when",
            AUTOSCALER,
        ),
        acting(Pod, "descheduler.alpha.kubernetes.io/*", OFF, "the descheduler evicts pods", DESCHEDULER),
        // Kueue.
        acting(
            Pod, "kueue.x-k8s.io/pod-group-name", OFF, "Kueue admits the pods as a group of plain pods",
            "kueue.sigs.k8s.io/docs/tasks/run/plain_pods",
        ),
        acting(Pod, "kueue.x-k8s.io/safe-to-forcefully-delete", OFF, "Kueue deletes stuck pods by force", KUEUE),
        acting(
            JobSet,
            "kueue.x-k8s.io/priority-boost",
            &["0", ""],
            "offset of the priority (gate PriorityBoost)",
            KUEUE,
        ),
        acting(
            JobSet,
            "provreq.kueue.x-k8s.io/*",
            OFF,
            "parameters of the ProvisioningRequest of an AdmissionCheck",
            "kueue.sigs.k8s.io/docs/concepts/admission_check/provisioning_request",
        ),
        acting(JobSet, "kueue.x-k8s.io/multikueue-origin", OFF, "MultiKueue created the JobSet", KUEUE),
        acting(
            Pod,
            "kueue.x-k8s.io/pod-index-offset",
            &["0", ""],
            "first index of the pods when Kueue assigns them to topology domains",
            "github.com/kubernetes-sigs/kueue, apis/kueue/v1beta2/topology_types.go",
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
            "the Workload replaces or extends another slice of the same job",
            "github.com/kubernetes-sigs/kueue, apis/kueue/v1beta2/topology_types.go",
        ),
        acting(Workload, "kueue.x-k8s.io/multikueue-origin", OFF, "MultiKueue created the Workload", KUEUE),
        // Nodes.
        acting(
            Node, "cluster-autoscaler.kubernetes.io/scale-down-disabled", OFF,
            "the cluster autoscaler removes other nodes", AUTOSCALER,
        ),
        acting(Node, "karpenter.sh/do-not-disrupt", OFF, "Karpenter replaces other nodes", KARPENTER),
        acting(
            Node, "node.kubernetes.io/exclude-from-external-load-balancers", OFF,
            "load balancers of Services leave out the node", WELL_KNOWN,
        ),
        acting(Node, "cloud.google.com/gke-spot", NOT_SPOT, RECLAIMED, GKE_MAINTENANCE),
        acting(Node, "cloud.google.com/gke-preemptible", NOT_SPOT, RECLAIMED, GKE_MAINTENANCE),
        acting(Node, "cloud.google.com/gke-provisioning", NOT_SPOT, RECLAIMED, GKE_MAINTENANCE),
        acting(
            Node, "cloud.google.com/gke-flex-start", OFF, "the provider removes the machine after at most seven days",
            "cloud.google.com/kubernetes-engine/docs/concepts/dws",
        ),
        acting(
            Node,
            "eks.amazonaws.com/capacityType",
            NOT_SPOT,
            RECLAIMED,
            "docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
        ),
        acting(Node, "karpenter.sh/capacity-type", NOT_SPOT, RECLAIMED, KARPENTER),
        acting(
            Node, "kubernetes.azure.com/scalesetpriority", NOT_SPOT, RECLAIMED,
            "learn.microsoft.com/azure/aks/spot-node-pool",
        ),
        acting(
            Node, "cloud.google.com/active-node-maintenance", OFF, "GKE stops the machine for maintenance",
            GKE_MAINTENANCE,
        ),
        acting(
            Node, "cloud.google.com/scheduled-maintenance-time", OFF,
            "GKE stops the machine for maintenance at this time", GKE_MAINTENANCE,
        ),
        acting(
            Node,
            "nvidia.com/gpu-driver-upgrade-state",
            &["upgrade-done", ""],
            "the GPU operator cordons and drains the node for an upgrade of its driver",
            "docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-driver-upgrades.html",
        ),
        acting(
            Node,
            "weave.works/kured-reboot-in-progress",
            &[],
            "kured drains and restarts the node",
            "kured.dev/docs/operation",
        ),
        // Taints that controllers set and remove.
        acting(
            Taint,
            "node.kubernetes.io/out-of-service",
            &[],
            "pods of the node are deleted by force and their volumes detached",
            WELL_KNOWN,
        ),
        acting(Taint, "node.cloudprovider.kubernetes.io/uninitialized", &[], TAINT_REMOVED, WELL_KNOWN),
        acting(
            Taint,
            "node.cilium.io/agent-not-ready",
            &[],
            TAINT_REMOVED,
            "docs.cilium.io/en/stable/installation/taints",
        ),
        acting(Taint, "karpenter.sh/unregistered", &[], TAINT_REMOVED, KARPENTER),
        acting(Taint, "karpenter.sh/disrupted", &[], "Karpenter drains and deletes the node", KARPENTER),
        acting(
            Taint,
            "ToBeDeletedByClusterAutoscaler",
            &[],
            "the cluster autoscaler drains and deletes the node",
            AUTOSCALER,
        ),
        acting(
            Taint,
            "DeletionCandidateOfClusterAutoscaler",
            &[],
            "the cluster autoscaler may delete the node",
            AUTOSCALER,
        ),
        acting(Taint, "cloud.google.com/impending-node-termination", &[], "GKE terminates the node", GKE_MAINTENANCE),
        acting(Taint, "node.kubernetes.io/*", &[], "the node controllers set and remove this taint", WELL_KNOWN),
        acting(
            Node,
            "cloud.google.com/gke-tpu-partition-4x4x4-state",
            &["HEALTHY"],
            "GKE's slice controller forms no slice with the cube",
            "github.com/AI-Hypercomputer/xpk, src/xpk/core/scheduling.py",
        ),
        acting(
            Node,
            "nvidia.com/mig.config.state",
            &["success"],
            "the MIG manager reconfigures the GPUs of the node",
            "docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-mig.html",
        ),
        acting(
            Node,
            "sagemaker.amazonaws.com/node-health-status",
            &["Schedulable"],
            "HyperPod reboots or replaces the node",
            "docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html",
        ),
    ]
};

impl ActingKey {
    fn acts(&self, place: KeyPlace, key: &str, value: &str) -> bool {
        let is_named = match self.key.strip_suffix('*') {
            Some(prefix) => key.starts_with(prefix),
            None => key == self.key,
        };
        self.place == place && is_named && !self.inert.contains(&value)
    }
}

/// A key of an object with an effect that is not simulated.
#[derive(Clone, Debug)]
pub struct FoundKey {
    pub entry: &'static ActingKey,
    /// `label` or `annotation`.
    pub list: &'static str,
    pub key: String,
    /// Field path in the JobSet, such as `metadata.labels[key]`.
    pub path: String,
    /// Name of the replicatedJob, or empty for a key of the JobSet.
    pub replicated_job: String,
}

impl FoundKey {
    /// Describes the key and its effect.
    pub fn describe(&self) -> String {
        let of = match &*self.replicated_job {
            "" => "JobSet".to_owned(),
            job => format!("{} of replicatedJob {job}", self.entry.place.as_str()),
        };
        format!("{} {} ({of}): {}", self.list, self.key, self.entry.effect)
    }
}

fn in_metadata(metadata: &Value, place: KeyPlace) -> impl Iterator<Item = (&'static ActingKey, &'static str, &str)> {
    let lists = [("label", "labels"), ("annotation", "annotations")];
    lists.into_iter().flat_map(move |(list, field)| {
        let pairs = metadata[field].as_object().into_iter().flatten();
        pairs.filter_map(move |(key, value)| {
            let value = value.as_str().unwrap_or("");
            Some((entry_of(place, key, value)?, list, key.as_str()))
        })
    })
}

/// Returns the keys of a JobSet and of its templates that act outside the model.
pub fn of_jobset(jobset: &JobSet) -> Vec<FoundKey> {
    jobset.object.as_ref().map_or_else(Vec::new, |object| of_object(object))
}

/// Returns the keys of a JobSet given as JSON.
pub fn of_object(object: &Value) -> Vec<FoundKey> {
    let mut found = Vec::new();
    let mut add = |metadata: &Value, place: KeyPlace, at: &str, job: &str| {
        found.extend(in_metadata(metadata, place).map(|(entry, list, key)| FoundKey {
            entry,
            list,
            key: key.to_owned(),
            path: format!("{at}.{list}s[{key}]"),
            replicated_job: job.to_owned(),
        }));
    };
    add(&object["metadata"], KeyPlace::JobSet, "metadata", "");
    for (i, job) in object["spec"]["replicatedJobs"].as_array().into_iter().flatten().enumerate() {
        let name = job["name"].as_str().unwrap_or("");
        let at = format!("spec.replicatedJobs[{i}].template");
        let template = &job["template"];
        add(&template["metadata"], KeyPlace::Job, &format!("{at}.metadata"), name);
        let pod = &template["spec"]["template"];
        add(&pod["metadata"], KeyPlace::Pod, &format!("{at}.spec.template.metadata"), name);
    }
    found
}

/// Returns the entry of a label or annotation of a node, or of the key of a taint.
fn entry_of(place: KeyPlace, key: &str, value: &str) -> Option<&'static ActingKey> {
    ACTING_KEYS.iter().find(|entry| entry.acts(place, key, value))
}

/// Returns whether some value of an annotation of a Node acts.
pub fn is_of_node(key: &str) -> bool {
    let is_named = |entry: &&ActingKey| entry.place == KeyPlace::Node && entry.key == key;
    ACTING_KEYS.iter().any(|entry| is_named(&entry))
}

/// Returns notes about annotations of nodes.
pub fn of_node_annotations<'a>(annotations: impl Iterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    let note = |(key, value): (&String, &String)| {
        let entry = entry_of(KeyPlace::Node, key, value)?;
        Some(format!("annotation {key}={value} of nodes: {}", entry.effect))
    };
    annotations.filter_map(note).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the labels and annotations of an existing Workload of Kueue that act outside the model.
pub fn of_workload(metadata: &Value) -> Vec<String> {
    let found = in_metadata(metadata, KeyPlace::Workload);
    found.map(|(entry, list, key)| format!("metadata.{list}s[{key}] ({})", entry.effect)).collect()
}

/// Returns the labels and annotations of the metadata of another object that acts like a JobSet, such as a TrainJob.
pub fn of_owner(metadata: &Value, kind: &str) -> Vec<String> {
    let found = in_metadata(metadata, KeyPlace::JobSet);
    found.map(|(entry, list, key)| format!("{list} {key} ({kind}): {}", entry.effect)).collect()
}

/// Returns notes about labels and taints of nodes that act outside the model. Machines that a fault process reclaims
/// are simulated.
pub fn of_nodes(scenario: &ScenarioSpec) -> Vec<String> {
    let pools = || scenario.topology.pools.iter();
    let listed = || pools().flat_map(|pool| &pool.nodes);
    let labels = pools().map(|pool| &pool.labels).chain(listed().map(|node| &node.labels));
    let taints = pools().flat_map(|pool| &pool.taints).chain(listed().flat_map(|node| &node.taints));
    let mut notes = BTreeSet::new();
    let mut add = |place: KeyPlace, what: &str, key: &str, value: &str| {
        if let Some(entry) = entry_of(place, key, value) {
            let value = if value.is_empty() { String::new() } else { format!("={value}") };
            notes.insert((entry.effect, format!("{what} {key}{value} of nodes: {}", entry.effect)));
        }
    };
    labels.flatten().for_each(|(key, value)| add(KeyPlace::Node, "label", key, value));
    // The import gives this taint to nodes that are not ready or cordoned, and says so.
    let is_set = |taint: &&TaintSpec| !SET_BY_IMPORT.contains(&taint.key.as_str());
    taints.filter(is_set).for_each(|taint| add(KeyPlace::Taint, "taint", &taint.key, &taint.value));
    let nodes = scenario.objects.iter().filter(|object| object["kind"] == "Node");
    for node in nodes {
        for (what, field) in [("label", "labels"), ("annotation", "annotations")] {
            let pairs = node["metadata"][field].as_object().into_iter().flatten();
            pairs.for_each(|(key, value)| add(KeyPlace::Node, what, key, value.as_str().unwrap_or("")));
        }
    }
    let reclaims = scenario.fault_processes.iter().any(|process| process.action == RandomAction::Reclaim);
    let is_left = |(effect, _): &(&str, String)| !(reclaims && *effect == RECLAIMED);
    let annotations = scenario.topology.acting_annotations.iter().cloned();
    notes.into_iter().filter(is_left).map(|(_, note)| note).chain(annotations).collect()
}

const SET_BY_IMPORT: [&str; 2] = ["node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready"];
