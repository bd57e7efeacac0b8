//! Node labels of the platforms that describe network domains and islands, as data.
//!
//! This module must never guess: a label that is not in the table has no meaning, and each entry states who sets the
//! label.

use sim_api::spec::{IslandKind, keys};
use std::collections::BTreeMap;

pub(super) const NODE_POOL: &str = "cloud.google.com/gke-nodepool";
pub(super) const TPU_TOPOLOGY: &str = "cloud.google.com/gke-tpu-topology";
pub(super) const CLIQUE: &str = "nvidia.com/gpu.clique";
pub(super) const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// Origin of the labels of regions and zones.
pub(super) const KUBERNETES: &str = "Kubernetes";

/// Extended resources that count as accelerators, in order of precedence.
pub(super) const ACCELERATORS: [&str; 6] = [
    "google.com/tpu", "nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
];

/// A label whose values are the domains of a level.
pub(super) struct DomainLabel {
    pub(super) key: &'static str,
    /// Short name of one domain.
    pub(super) name: &'static str,
    pub(super) role: DomainRole,
    /// Who sets the label.
    pub(super) origin: &'static str,
}

#[derive(Copy, Clone)]
pub(super) enum DomainRole {
    /// A level of the network or of the building.
    Level,
    /// Nodes with an accelerator interconnect of their own.
    Island(IslandKind, IslandCondition),
}

/// The nodes on which a label denotes an island.
#[derive(Copy, Clone)]
pub(super) enum IslandCondition {
    Any,
    /// Nodes whose machine type starts with this text.
    Machine(&'static str),
    /// Nodes with the label of the shape of their TPU slice.
    TpuSlice,
}

const fn level(key: &'static str, name: &'static str, origin: &'static str) -> DomainLabel {
    DomainLabel { key, name, role: DomainRole::Level, origin }
}

const fn island(
    key: &'static str, name: &'static str, (kind, condition): (IslandKind, IslandCondition), origin: &'static str,
) -> DomainLabel {
    DomainLabel { key, name, role: DomainRole::Island(kind, condition), origin }
}

const NVLINK: (IslandKind, IslandCondition) = (IslandKind::NvLink, IslandCondition::Any);

/// All labels. The levels of a platform are ordered from coarse to fine. If a node has several labels of islands, the
/// first one applies. Sources: the documentation of each platform, topograph's `page on node labels`, xpk's
/// `src/xpk/core/scheduling.py` and the Kueue topologies of cluster-toolkit.
pub(super) const DOMAIN_LABELS: [DomainLabel; 44] = [
    level("topology.kubernetes.io/region", "region", KUBERNETES),
    level(keys::ZONE, "zone", KUBERNETES),
    level(keys::TPU_BLOCK, "block", "GKE"),
    //  A sub-block of A4X machines is one NVL72 rack.
    island(CLIQUE, "clique", NVLINK, "NVIDIA GPU operator"),
    island("ds.coreweave.com/nvlink.domain", "nvlink-domain", NVLINK, "CoreWeave"),
    island("topology.k8s.aws/ultraserver-id", "ultraserver", NVLINK, "SageMaker HyperPod"),
    island("topology.nebius.com/tier-0", "nvlink-domain", NVLINK, "Nebius"),
    island("accelerator.topograph.run/domain", "nvlink-domain", NVLINK, "topograph"),
    island("network.topology.nvidia.com/accelerator", "nvlink-domain", NVLINK, "topograph before 2026"),
    island(
        "cloud.google.com/gce-topology-subblock",
        "subblock",
        (IslandKind::NvLink, IslandCondition::Machine("a4x-")),
        "GKE",
    ),
    //  A capacity block of P6e machines is one UltraServer.
    island(
        "topology.k8s.aws/capacity-block-id",
        "capacity-block",
        (IslandKind::NvLink, IslandCondition::Machine("p6e-")),
        "AWS",
    ),
    //  With dynamic slicing, a node pool is a cube, and Slices join cubes during the life of the nodes.
    island(keys::TPU_CUBE, "cube", (IslandKind::Ici, IslandCondition::Any), "GKE dynamic slicing"),
    island(NODE_POOL, "node-pool", (IslandKind::Ici, IslandCondition::TpuSlice), "GKE"),
    level(keys::TPU_SLICE, "slice", "GKE slice controller"),
    level("cloud.google.com/gke-tpu-slice-16x16-id", "slice-16x16", "GKE sub-slicing"),
    level("cloud.google.com/gke-tpu-slice-8x16-id", "slice-8x16", "GKE sub-slicing"),
    level("cloud.google.com/gke-tpu-slice-8x8-id", "slice-8x8", "GKE sub-slicing"),
    level("cloud.google.com/gke-tpu-slice-4x8-id", "slice-4x8", "GKE sub-slicing"),
    level("cloud.google.com/gke-tpu-slice-4x4-id", "slice-4x4", "GKE sub-slicing"),
    level("cloud.google.com/gke-tpu-slice-2x4-id", "slice-2x4", "GKE sub-slicing"),
    level("cloud.google.com/gce-topology-host", "host", "GKE"),
    level("topology.k8s.aws/network-node-layer-1", "layer-1", "AWS"),
    level("topology.k8s.aws/network-node-layer-2", "layer-2", "AWS"),
    level("topology.k8s.aws/network-node-layer-3", "layer-3", "AWS"),
    level("topology.k8s.aws/network-node-layer-4", "layer-4", "AWS"),
    //  The tiers of topograph are counted from the node.
    level("fabric.topograph.run/tier-2", "tier-2", "topograph"),
    level("fabric.topograph.run/tier-1", "tier-1", "topograph"),
    level("fabric.topograph.run/tier-0", "tier-0", "topograph"),
    level("accelerator.topograph.run/sub-domain", "sub-domain", "topograph"),
    level("network.topology.nvidia.com/core", "core", "topograph before 2026"),
    level("network.topology.nvidia.com/spine", "spine", "topograph before 2026"),
    level("network.topology.nvidia.com/leaf", "leaf", "topograph before 2026"),
    level("ib.coreweave.cloud/fabric", "fabric", "CoreWeave"),
    level("ib.coreweave.cloud/superpod", "superpod", "CoreWeave"),
    level("ib.coreweave.cloud/leafgroup", "leafgroup", "CoreWeave"),
    level("node.coreweave.cloud/rack", "rack", "CoreWeave"),
    level("topology.nebius.com/gpu-cluster-id", "gpu-cluster", "Nebius"),
    level("topology.nebius.com/tier-2", "tier-2", "Nebius"),
    level("topology.nebius.com/tier-1", "tier-1", "Nebius"),
    level("oci.oraclecloud.com/rdma.hpc_island_id", "hpc-island", "OKE"),
    level("oci.oraclecloud.com/rdma.network_block_id", "network-block", "OKE"),
    level("oci.oraclecloud.com/rdma.local_block_id", "local-block", "OKE"),
    level("oci.oraclecloud.com/host.network_block_id", "network-block", "OCI"),
    level("oci.oraclecloud.com/host.rack_id", "rack", "OCI"),
];

/// Labels whose values are public names of machine types, shapes and offers.
pub(super) const PUBLIC_VALUES: [&str; 18] = [
    INSTANCE_TYPE,
    TPU_TOPOLOGY,
    "cloud.google.com/gke-tpu-accelerator",
    keys::TPU_SLICE_TOPOLOGY,
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-accelerator-count",
    "cloud.google.com/gke-spot",
    "cloud.google.com/gke-preemptible",
    "cloud.google.com/gke-provisioning",
    "cloud.google.com/machine-family",
    "eks.amazonaws.com/capacityType",
    "karpenter.sh/capacity-type",
    "kubernetes.azure.com/scalesetpriority",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/lifecycle",
    "nvidia.com/gpu.count",
    "nvidia.com/gpu.product",
];

/// The label that identifies the island of a node, and its interconnect. Without a label, the node is an island.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct NodeIsland {
    pub(super) label: Option<&'static str>,
    pub(super) kind: IslandKind,
}

impl NodeIsland {
    /// Returns whether the node is an island with links of its own.
    pub(super) fn is_node(self) -> bool {
        self.label.is_none() && self.kind != IslandKind::None
    }
}

/// Returns the island of a node with these labels and this number of accelerators.
pub(super) fn island_of(labels: &BTreeMap<String, String>, accelerators: i64) -> NodeIsland {
    let machine = labels.get(INSTANCE_TYPE).map_or("", String::as_str);
    for label in DOMAIN_LABELS.iter().filter(|label| labels.contains_key(label.key)) {
        let DomainRole::Island(kind, condition) = label.role else { continue };
        let applies = match condition {
            IslandCondition::Any => true,
            IslandCondition::Machine(prefix) => machine.starts_with(prefix),
            IslandCondition::TpuSlice => labels.contains_key(TPU_TOPOLOGY),
        };
        let is_single_host = || slice_chips(labels).is_some_and(|chips| chips <= accelerators);
        match condition {
            _ if !applies => {}
            //  Each node of a pool of single-host slices is a slice.
            IslandCondition::TpuSlice if is_single_host() => return NodeIsland { label: None, kind },
            _ => return NodeIsland { label: Some(label.key), kind },
        }
    }
    NodeIsland::default()
}

/// Returns the sides of a shape such as `4x4x8`.
pub(super) fn shape_of(text: &str) -> Option<Vec<u32>> {
    text.split('x').map(|side| side.parse().ok().filter(|chips| *chips > 0)).collect()
}

/// Returns the number of chips of a slice from its shape.
pub(super) fn slice_chips(labels: &BTreeMap<String, String>) -> Option<i64> {
    let sides = shape_of(labels.get(TPU_TOPOLOGY)?)?;
    sides.into_iter().try_fold(1i64, |chips, side| chips.checked_mul(i64::from(side)))
}

/// Returns the resource that counts as the accelerator of a node; empty if there is none.
pub(super) fn accelerator_of(allocatable: &BTreeMap<String, i64>) -> &'static str {
    ACCELERATORS.iter().find(|name| allocatable.contains_key(**name)).map_or("", |name| name)
}
