//! Labels and annotations on which webhooks and controllers of real clusters act and which the simulation does not
//! follow, as data.
//!
//! This module must never list a key that the simulation follows. Each entry has a source.

use serde_json::Value;
use sim_api::spec::{JobSet, TopologySpec};
use std::collections::BTreeSet;

/// Kind of the objects on which a key acts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    JobSet,
    Job,
    Pod,
    Node,
}

impl KeyPlace {
    pub fn as_str(self) -> &'static str {
        match self {
            KeyPlace::JobSet => "JobSet",
            KeyPlace::Job => "Job",
            KeyPlace::Pod => "pod",
            KeyPlace::Node => "node",
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
const FUSE: &str = "cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-sidecar";
const GKE_NETWORK: &str = "cloud.google.com/kubernetes-engine/docs/how-to/setup-multinetwork-support-for-pods";
const KOORDINATOR: &str = "koordinator.sh/docs/user-manuals";
const KUEUE: &str = "kueue.sigs.k8s.io/docs/reference/labels-and-annotations";
const DESCHEDULER: &str = "github.com/kubernetes-sigs/descheduler, README.md";
const AUTOSCALER: &str = "github.com/kubernetes/autoscaler, FAQ of the cluster autoscaler";

/// The keys, by place. An earlier entry wins.
pub static ACTING_KEYS: &[ActingKey] = {
    use KeyPlace::{Job, JobSet, Node, Pod};
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
        // Nodes.
        acting(
            Node, "cluster-autoscaler.kubernetes.io/scale-down-disabled", OFF,
            "the cluster autoscaler removes other nodes", AUTOSCALER,
        ),
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
            let entry = ACTING_KEYS.iter().find(|entry| entry.acts(place, key, value))?;
            Some((entry, list, key.as_str()))
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

/// Returns notes about labels of nodes that act outside the model.
pub fn of_nodes(topology: &TopologySpec) -> Vec<String> {
    let pools = topology.pools.iter().map(|pool| &pool.labels);
    let listed = topology.pools.iter().flat_map(|pool| &pool.nodes).map(|node| &node.labels);
    let mut notes = BTreeSet::new();
    for (key, value) in pools.chain(listed).flatten() {
        if let Some(entry) = ACTING_KEYS.iter().find(|entry| entry.acts(KeyPlace::Node, key, value)) {
            notes.insert(format!("label {key}={value} of nodes: {}", entry.effect));
        }
    }
    notes.into_iter().collect()
}
