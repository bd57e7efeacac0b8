//! Profiles: weights and arguments of the plugins, by scheduler name (`KubeSchedulerConfiguration`).

use crate::labels::{LabelSelector, Labels};
use crate::node_affinity::NodeAffinityView;
use crate::plugin::{Plugin, PluginSet};
use crate::pod_terms::SpreadConstraint;
use crate::validation;
use serde_json::{Value, json};
use sim_api::objects::value_access::{int, list, text};
use std::collections::BTreeMap;

/// `schedulerName` of pods and profiles without one.
pub const DEFAULT_SCHEDULER: &str = "default-scheduler";
/// Plugins of kube-scheduler whose decisions are not simulated, or that do not depend on a configuration.
const OTHER_PLUGINS: [&str; 7] = [
    "PrioritySort", "SchedulingGates", "DefaultBinder", "GangScheduling", "NodeVolumeLimits",
    "TopologyPlacementGenerator", "PodGroupPodsCount",
];
const SIMULATED: usize = Plugin::ALL.len();

/// Names of the plugins that a configuration may contain, and `*` as the last name.
pub static PLUGIN_NAMES: [&str; SIMULATED + OTHER_PLUGINS.len() + 1] = {
    let mut names = ["*"; SIMULATED + OTHER_PLUGINS.len() + 1];
    let mut at = 0;
    while at < names.len() - 1 {
        names[at] = if at < SIMULATED { Plugin::ALL[at].name() } else { OTHER_PLUGINS[at - SIMULATED] };
        at += 1;
    }
    names
};

/// The configuration of kube-scheduler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchedulerConfiguration {
    /// By scheduler name.
    pub profiles: BTreeMap<String, Profile>,
    /// `podInitialBackoffSeconds` and `podMaxBackoffSeconds`.
    pub backoff_s: (u64, u64),
    /// Errors in the configuration, each as a sentence.
    pub errors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub strategy: ScoringStrategy,
    /// Weights of the resources that NodeResourcesFit scores, by name.
    pub fit_resources: Vec<(String, i64)>,
    /// Resources that NodeResourcesBalancedAllocation scores.
    pub balanced_resources: Vec<String>,
    /// Weights that differ from the default.
    pub weights: BTreeMap<Plugin, i64>,
    /// The plugins that filter nodes or reject pods in PreFilter, in the order in which they run.
    filters: Vec<Plugin>,
    /// Plugins that do not run after all nodes were rejected.
    disabled_post_filters: PluginSet,
    pub disabled_scores: PluginSet,
    /// `percentageOfNodesToScore`; `None` adapts to the number of nodes.
    pub percentage_of_nodes: Option<usize>,
    /// Weight of a required affinity term of another pod in scores.
    pub hard_pod_affinity_weight: i64,
    /// Node affinity that applies to all pods of the profile.
    pub added_affinity: Option<NodeAffinityView>,
    /// `defaultConstraints` of PodTopologySpread with the defaulting type List; `None` is System.
    pub default_spread: Option<Vec<SpreadConstraint>>,
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
            filters: default_filters().collect(),
            disabled_post_filters: PluginSet::new(),
            disabled_scores: PluginSet::new(),
            percentage_of_nodes: None,
            hard_pod_affinity_weight: 1,
            added_affinity: None,
            default_spread: None,
        }
    }
}

impl SchedulerConfiguration {
    /// Reads a `KubeSchedulerConfiguration` whose fields have the right types; `null` is the default configuration.
    pub fn read(object: &Value) -> SchedulerConfiguration {
        let seconds = |key, default| int(object, key).and_then(|s| u64::try_from(s).ok()).unwrap_or(default);
        let backoff_s = (seconds("podInitialBackoffSeconds", 1), seconds("podMaxBackoffSeconds", 10));
        let errors = validation::errors(object, DEFAULT_SCHEDULER);
        let mut read = SchedulerConfiguration { profiles: BTreeMap::new(), backoff_s, errors };
        for entry in list(object, "profiles") {
            let name = Some(text(entry, "schedulerName")).filter(|name| !name.is_empty()).unwrap_or(DEFAULT_SCHEDULER);
            let profile = Profile::read(entry, object, &mut read.errors);
            if read.profiles.insert(name.to_owned(), profile).is_some() {
                read.errors.push(format!("several profiles have the schedulerName {name:?}"));
            }
        }
        if read.profiles.is_empty() {
            let profile = Profile::read(&Value::Null, object, &mut read.errors);
            read.profiles.insert(DEFAULT_SCHEDULER.to_owned(), profile);
        }
        read
    }

    /// Returns the profile with this scheduler name, if any. An empty name is the default scheduler.
    pub fn profile(&self, scheduler_name: &str) -> Option<&Profile> {
        self.profiles.get(if scheduler_name.is_empty() { DEFAULT_SCHEDULER } else { scheduler_name })
    }
}

impl Profile {
    fn read(entry: &Value, configuration: &Value, errors: &mut Vec<String>) -> Profile {
        let percentage = |object| int(object, "percentageOfNodesToScore").and_then(|p| usize::try_from(p).ok());
        let percentage_of_nodes = percentage(entry).or_else(|| percentage(configuration));
        let mut profile = Profile { percentage_of_nodes, ..Profile::default() };
        let plugins = &entry["plugins"];
        // The specific extension points take precedence over multiPoint.
        for point in ["multiPoint", "score"] {
            apply_to_set(&mut profile.disabled_scores, &plugins[point]);
            profile.apply_weights(&plugins[point]);
        }
        for point in ["multiPoint", "postFilter"] {
            apply_to_set(&mut profile.disabled_post_filters, &plugins[point]);
        }
        profile.filters = filter_order(&plugins["multiPoint"], &plugins["filter"]);
        for config in list(entry, "pluginConfig") {
            profile.apply_arguments(text(config, "name"), &config["args"], errors);
        }
        profile
    }

    fn apply_weights(&mut self, set: &Value) {
        for enabled in list(set, "enabled") {
            for plugin in Plugin::ALL.into_iter().filter(|plugin| plugin.name() == text(enabled, "name")) {
                self.weights.insert(plugin, int(enabled, "weight").unwrap_or(0).max(1));
            }
        }
    }

    fn apply_arguments(&mut self, plugin: &str, args: &Value, errors: &mut Vec<String>) {
        let named = || list(args, "resources").iter().map(|resource| text(resource, "name").to_owned());
        match plugin {
            "NodeResourcesFit" => self.apply_strategy(&args["scoringStrategy"]),
            "NodeResourcesBalancedAllocation" if named().next().is_some() => {
                self.balanced_resources = named().collect()
            }
            "InterPodAffinity" => self.hard_pod_affinity_weight = int(args, "hardPodAffinityWeight").unwrap_or(1),
            "NodeAffinity" if args["addedAffinity"].is_object() => {
                let spec = json!({"affinity": {"nodeAffinity": args["addedAffinity"]}});
                let added = NodeAffinityView::read(&spec);
                let required = NodeAffinityView::requirement_error(&args["addedAffinity"]);
                let found = required.iter().chain(&added.preference_error);
                errors.extend(found.map(|error| format!("addedAffinity of NodeAffinity: {error}")));
                self.added_affinity = Some(added);
            }
            "PodTopologySpread" if text(args, "defaultingType") == "List" => {
                self.default_spread = Some(list(args, "defaultConstraints").iter().map(read_default).collect());
            }
            _ => {}
        }
    }

    fn apply_strategy(&mut self, strategy: &Value) {
        let resources = list(strategy, "resources").iter();
        let resources = resources.map(|r| (text(r, "name").to_owned(), int(r, "weight").unwrap_or(0).max(1)));
        let resources: Vec<(String, i64)> = resources.collect();
        if !resources.is_empty() {
            self.fit_resources = resources;
        }
        let shape = list(&strategy["requestedToCapacityRatio"], "shape").iter();
        let point = |p: &Value| (int(p, "utilization").unwrap_or(0), int(p, "score").unwrap_or(0));
        let shape: Vec<(i64, i64)> = shape.map(point).collect();
        self.strategy = match text(strategy, "type") {
            "MostAllocated" => ScoringStrategy::MostAllocated,
            "RequestedToCapacityRatio" => ScoringStrategy::RequestedToCapacityRatio(shape),
            _ => ScoringStrategy::LeastAllocated,
        };
    }

    pub fn weight(&self, plugin: Plugin) -> i64 {
        self.weights.get(&plugin).copied().unwrap_or(plugin.default_weight())
    }

    /// Returns whether the plugin filters nodes.
    pub fn is_enabled(&self, plugin: Plugin) -> bool {
        self.filters.contains(&plugin)
    }

    /// Returns whether the plugin runs after all nodes were rejected.
    pub fn runs_post_filter(&self, plugin: Plugin) -> bool {
        !self.disabled_post_filters.contains(&plugin)
    }

    /// Returns the plugins that filter nodes, in the order in which they run. The first rejection counts.
    pub fn filters(&self) -> &[Plugin] {
        &self.filters
    }

    /// Returns whether all filters run in the default order with nothing but the terms of the pod, and spread
    /// constraints are the default.
    pub fn has_default_filters(&self) -> bool {
        let runs_all = self.filters.iter().copied().eq(default_filters());
        runs_all && self.added_affinity.is_none() && self.default_spread.is_none()
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

/// Reads one of `defaultConstraints`. The selector depends on the pod.
fn read_default(constraint: &Value) -> SpreadConstraint {
    SpreadConstraint { selector: LabelSelector::default(), ..SpreadConstraint::read(constraint, &Labels::new()) }
}

/// Returns the plugins of a list in a configuration that are simulated; `*` means all.
fn named_plugins(set: &Value, list_name: &str) -> Vec<Plugin> {
    let names = list(set, list_name).iter().map(|plugin| text(plugin, "name"));
    names.flat_map(|name| Plugin::ALL.into_iter().filter(move |p| name == "*" || p.name() == name)).collect()
}

fn apply_to_set(disabled: &mut PluginSet, set: &Value) {
    disabled.extend(named_plugins(set, "disabled"));
    let enabled = named_plugins(set, "enabled");
    disabled.retain(|plugin| !enabled.contains(plugin));
}

/// Returns the filters of the default profile in their order. DynamicResources rejects in PreFilter only.
fn default_filters() -> impl Iterator<Item = Plugin> {
    Plugin::FILTERS.into_iter().chain([Plugin::DynamicResources])
}

/// Returns the order of the filters (`mergePluginSet`, `expandMultiPointPlugins`): first the plugins of `multiPoint`
/// that `filter` also enables, in the order of `filter`; then the other plugins of `multiPoint`, where those that were
/// disabled and enabled again are last; then the other plugins of `filter`.
fn filter_order(multi_point: &Value, filter: &Value) -> Vec<Plugin> {
    let is_filter = |plugin: &Plugin| default_filters().any(|filter| filter == *plugin);
    let disabled = named_plugins(multi_point, "disabled");
    let mut all: Vec<Plugin> = default_filters().filter(|plugin| !disabled.contains(plugin)).collect();
    for plugin in named_plugins(multi_point, "enabled").into_iter().filter(is_filter) {
        if !all.contains(&plugin) {
            all.push(plugin);
        }
    }
    let own: Vec<Plugin> = named_plugins(filter, "enabled").into_iter().filter(is_filter).collect();
    let disabled = named_plugins(filter, "disabled");
    let (kept, overridden): (Vec<Plugin>, Vec<Plugin>) =
        all.into_iter().filter(|plugin| !disabled.contains(plugin)).partition(|plugin| !own.contains(plugin));
    let (first, last): (Vec<Plugin>, Vec<Plugin>) = own.into_iter().partition(|plugin| overridden.contains(plugin));
    first.into_iter().chain(kept).chain(last).collect()
}
