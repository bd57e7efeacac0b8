//! The plugins of the default profile, one per file.

pub mod claims;
pub mod image_locality;
pub mod inter_pod_affinity;
pub mod inter_pod_affinity_score;
pub mod node_affinity;
pub mod node_declared_features;
pub mod node_name;
pub mod node_ports;
pub mod node_resources_balanced;
pub mod node_resources_fit;
pub mod node_unschedulable;
mod normalize;
pub mod pod_group_pods_count;
pub mod pod_topology_spread;
pub mod pod_topology_spread_score;
pub mod taint_toleration;
pub mod volumes;

use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin, rejection::Rejection};

/// A filter. The usage may differ from that of the cluster, because preemption removes pods.
pub type Filter = fn(&SchedulingCycle<'_>, NodeIndex, &NodeUsage) -> Result<(), Rejection>;

/// Returns the filter of a plugin. Plugins without one accept every node.
pub fn filter_of(plugin: Plugin) -> Filter {
    match plugin {
        Plugin::NodeUnschedulable => node_unschedulable::filter,
        Plugin::NodeName => node_name::filter,
        Plugin::TaintToleration => taint_toleration::filter,
        Plugin::NodeAffinity => node_affinity::filter,
        Plugin::NodePorts => node_ports::filter,
        Plugin::NodeResourcesFit => node_resources_fit::filter,
        Plugin::VolumeRestrictions => volumes::filter_restrictions,
        Plugin::VolumeBinding => volumes::filter_binding,
        Plugin::VolumeZone => volumes::filter_zone,
        Plugin::PodTopologySpread => pod_topology_spread::filter,
        Plugin::InterPodAffinity => inter_pod_affinity::filter,
        Plugin::NodeDeclaredFeatures => node_declared_features::filter,
        _ => |_, _, _| Ok(()),
    }
}

/// Computes the normalized scores of the nodes, or `None` if the plugin has none for the pod (PreScore returns Skip).
pub type Score = fn(&SchedulingCycle<'_>, &[NodeIndex]) -> Option<Vec<i64>>;

const SCORES: [(Plugin, Score); 8] = [
    (Plugin::TaintToleration, taint_toleration::score),
    (Plugin::NodeAffinity, node_affinity::score),
    (Plugin::NodeResourcesFit, node_resources_fit::score),
    // Without resource claims all nodes are equal.
    (Plugin::DynamicResources, |_, nodes| Some(vec![0; nodes.len()])),
    (Plugin::PodTopologySpread, pod_topology_spread_score::score),
    (Plugin::InterPodAffinity, inter_pod_affinity_score::score),
    (Plugin::NodeResourcesBalancedAllocation, node_resources_balanced::score),
    (Plugin::ImageLocality, image_locality::score),
];

/// Returns the weighted scores of the nodes, by plugin.
pub fn score(cycle: &SchedulingCycle<'_>, nodes: &[NodeIndex]) -> Vec<(Plugin, Vec<i64>)> {
    let enabled = SCORES.iter().filter(|(plugin, _)| !cycle.profile.disabled_scores.contains(plugin));
    let weighted = enabled.filter_map(|(plugin, score)| {
        let mut scores = score(cycle, nodes)?;
        let weight = cycle.profile.weight(*plugin);
        scores.iter_mut().for_each(|score| *score *= weight);
        Some((*plugin, scores))
    });
    weighted.collect()
}
