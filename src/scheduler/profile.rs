//! Profiles: weights and arguments of the plugins, by scheduler name.

use crate::plugin::Plugin;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub strategy: ScoringStrategy,
    /// Weights of the resources that NodeResourcesFit scores, by name.
    pub fit_resources: Vec<(String, i64)>,
    /// Resources that NodeResourcesBalancedAllocation scores.
    pub balanced_resources: Vec<String>,
    /// Weights that differ from the default.
    pub weights: BTreeMap<Plugin, i64>,
    pub disabled: Vec<Plugin>,
    /// `percentageOfNodesToScore`; `None` adapts to the number of nodes.
    pub percentage_of_nodes: Option<usize>,
    /// Weight of a required affinity term of another pod in scores.
    pub hard_pod_affinity_weight: i64,
}

/// Strategy of NodeResourcesFit.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoringStrategy {
    LeastAllocated,
    MostAllocated,
    /// Points of (utilization in percent, score up to 10), ascending by utilization.
    RequestedToCapacityRatio(Vec<(i64, i64)>),
}

impl Default for Profile {
    fn default() -> Profile {
        let resources = ["cpu", "memory"].map(str::to_owned);
        Profile {
            strategy: ScoringStrategy::LeastAllocated,
            fit_resources: resources.iter().map(|name| (name.clone(), 1)).collect(),
            balanced_resources: resources.to_vec(),
            weights: BTreeMap::new(),
            disabled: Vec::new(),
            percentage_of_nodes: None,
            hard_pod_affinity_weight: 1,
        }
    }
}

impl Profile {
    pub fn weight(&self, plugin: Plugin) -> i64 {
        self.weights.get(&plugin).copied().unwrap_or(plugin.default_weight())
    }

    pub fn is_enabled(&self, plugin: Plugin) -> bool {
        !self.disabled.contains(&plugin)
    }

    /// Returns the number of feasible nodes after which the search stops (`numFeasibleNodesToFind`).
    pub fn nodes_to_find(&self, nodes: usize) -> usize {
        const MIN_NODES: usize = 100;
        const MIN_PERCENTAGE: usize = 5;
        if nodes < MIN_NODES {
            return nodes;
        }
        let adaptive = 50usize.saturating_sub(nodes / 125).max(MIN_PERCENTAGE);
        let percentage = self.percentage_of_nodes.filter(|p| *p > 0).unwrap_or(adaptive);
        if percentage >= 100 { nodes } else { (nodes * percentage / 100).max(MIN_NODES) }
    }
}
