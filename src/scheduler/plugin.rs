//! The plugins of the default profile by name.

use std::collections::BTreeSet;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum Plugin {
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodeDeclaredFeatures,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    VolumeBinding,
    VolumeZone,
    DynamicResources,
    PodTopologySpread,
    InterPodAffinity,
    DefaultPreemption,
    NodeResourcesBalancedAllocation,
    ImageLocality,
}

impl Plugin {
    pub const ALL: [Plugin; 16] = [
        Plugin::NodeUnschedulable,
        Plugin::NodeName,
        Plugin::TaintToleration,
        Plugin::NodeAffinity,
        Plugin::NodeDeclaredFeatures,
        Plugin::NodePorts,
        Plugin::NodeResourcesFit,
        Plugin::VolumeRestrictions,
        Plugin::VolumeBinding,
        Plugin::VolumeZone,
        Plugin::DynamicResources,
        Plugin::PodTopologySpread,
        Plugin::InterPodAffinity,
        Plugin::DefaultPreemption,
        Plugin::NodeResourcesBalancedAllocation,
        Plugin::ImageLocality,
    ];

    /// The filters of the default profile in the order in which they run. The first rejection counts.
    pub const FILTERS: [Plugin; 12] = [
        Plugin::NodeUnschedulable,
        Plugin::NodeName,
        Plugin::TaintToleration,
        Plugin::NodeAffinity,
        Plugin::NodePorts,
        Plugin::NodeResourcesFit,
        Plugin::VolumeRestrictions,
        Plugin::VolumeBinding,
        Plugin::VolumeZone,
        Plugin::PodTopologySpread,
        Plugin::InterPodAffinity,
        // `applyFeatureGates` appends the plugin to the default ones.
        Plugin::NodeDeclaredFeatures,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Plugin::NodeUnschedulable => "NodeUnschedulable",
            Plugin::NodeName => "NodeName",
            Plugin::TaintToleration => "TaintToleration",
            Plugin::NodeAffinity => "NodeAffinity",
            Plugin::NodeDeclaredFeatures => "NodeDeclaredFeatures",
            Plugin::NodePorts => "NodePorts",
            Plugin::NodeResourcesFit => "NodeResourcesFit",
            Plugin::VolumeRestrictions => "VolumeRestrictions",
            Plugin::VolumeBinding => "VolumeBinding",
            Plugin::VolumeZone => "VolumeZone",
            Plugin::DynamicResources => "DynamicResources",
            Plugin::PodTopologySpread => "PodTopologySpread",
            Plugin::InterPodAffinity => "InterPodAffinity",
            Plugin::DefaultPreemption => "DefaultPreemption",
            Plugin::NodeResourcesBalancedAllocation => "NodeResourcesBalancedAllocation",
            Plugin::ImageLocality => "ImageLocality",
        }
    }

    /// Returns the weight of the plugin's score in the default profile (`pkg/scheduler/apis/config/v1`).
    pub fn default_weight(self) -> i64 {
        match self {
            Plugin::TaintToleration => 3,
            Plugin::NodeAffinity | Plugin::PodTopologySpread | Plugin::InterPodAffinity | Plugin::DynamicResources => 2,
            _ => 1,
        }
    }
}

/// A set of plugins, for example those that rejected nodes for a pod.
pub type PluginSet = BTreeSet<Plugin>;
