//! Errors of kube-scheduler's configuration, in three stages of which the first one with errors is reported: decoding
//! of plugin arguments (`pkg/scheduler/apis/config/v1`), validation (`pkg/scheduler/apis/config/validation`) and the
//! creation of the profiles (`pkg/scheduler/framework/runtime/framework.go`).
//!
//! The types and names of fields are checked elsewhere. This module must not report what kube-scheduler accepts.

use serde_json::{Value, json};
use sim_api::admission::error_list::ErrorList;
use sim_api::admission::field::FieldPath;
use sim_api::admission::names::label_key;
use sim_api::objects::value_access::{has_value, int, list, text};
use sim_base::Duration;
use std::collections::BTreeSet;

/// Arguments of the plugins that have any. Other plugins ignore their arguments.
const ARGUMENTS: [(&str, &[&str]); 8] = [
    ("DefaultPreemption", &["minCandidateNodesPercentage", "minCandidateNodesAbsolute"]),
    ("DynamicResources", &["filterTimeout", "bindingTimeout"]),
    ("InterPodAffinity", &["hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"]),
    ("NodeAffinity", &["addedAffinity"]),
    ("NodeResourcesBalancedAllocation", &["resources"]),
    ("NodeResourcesFit", &["ignoredResources", "ignoredResourceGroups", "scoringStrategy"]),
    ("PodTopologySpread", &["defaultConstraints", "defaultingType"]),
    ("VolumeBinding", &["bindTimeoutSeconds", "shape"]),
];

/// Field and Go type of each extension point, in the order in which they are filled (`getExtensionPoints`).
const POINTS: [(&str, &str); 12] = [
    ("preFilter", "PreFilterPlugin"),
    ("filter", "FilterPlugin"),
    ("postFilter", "PostFilterPlugin"),
    ("reserve", "ReservePlugin"),
    ("preScore", "PreScorePlugin"),
    ("score", "ScorePlugin"),
    ("preBind", "PreBindPlugin"),
    ("bind", "BindPlugin"),
    ("postBind", "PostBindPlugin"),
    ("permit", "PermitPlugin"),
    ("preEnqueue", "PreEnqueuePlugin"),
    ("queueSort", "QueueSortPlugin"),
];

/// Extension points whose plugins are all known, with these plugins. `PLUGIN_NAMES` has further plugins that implement
/// none of them.
const IMPLEMENTED: [(&str, &[&str]); 5] = [
    (
        "filter",
        &[
            "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodeDeclaredFeatures", "NodePorts",
            "NodeResourcesFit", "VolumeRestrictions", "VolumeBinding", "VolumeZone", "DynamicResources",
            "PodTopologySpread", "InterPodAffinity", "NodeVolumeLimits",
        ],
    ),
    ("postFilter", &["DynamicResources", "DefaultPreemption"]),
    (
        "score",
        &[
            "TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "DynamicResources",
            "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality",
        ],
    ),
    ("bind", &["DefaultBinder"]),
    ("queueSort", &["PrioritySort"]),
];

/// Returns the errors with which kube-scheduler refuses the configuration, as it prints them. A single profile without
/// a name gets the name `default_scheduler`.
pub fn errors(configuration: &Value, default_scheduler: &str) -> Vec<String> {
    let first = [decoding_errors, validation_errors].map(|stage| stage(configuration));
    let found = first.into_iter().find(|errors| !errors.is_empty());
    found.unwrap_or_else(|| creation_errors(configuration, default_scheduler))
}

/// Reports arguments of other plugins (`DecodeNestedObjects`).
fn decoding_errors(configuration: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    for (i, profile) in list(configuration, "profiles").iter().enumerate() {
        for (j, config) in list(profile, "pluginConfig").iter().enumerate() {
            let (name, args) = (text(config, "name"), &config["args"]);
            let Some((_, known)) = ARGUMENTS.iter().find(|(plugin, _)| *plugin == name) else { continue };
            let place = format!("decoding .profiles[{i}].pluginConfig[{j}]");
            let kind = text(args, "kind");
            if !kind.is_empty() && kind.strip_suffix("Args") != Some(name) {
                const GROUP: &str = "kubescheduler.config.k8s.io";
                errors.push(format!(
                    "{place}: args for plugin {name} were not of type {name}Args.{GROUP}, got {kind}.{GROUP}"
                ));
                continue;
            }
            let fields = args.as_object().into_iter().flat_map(|args| args.keys());
            let unknown = fields.filter(|key| !known.contains(&key.as_str()) && *key != "apiVersion" && *key != "kind");
            errors.extend(unknown.map(|key| {
                format!("{place}: decoding args for plugin {name}: strict decoding error: unknown field {key:?}")
            }));
        }
    }
    errors
}

/// Reports violations of `ValidateKubeSchedulerConfiguration`.
fn validation_errors(configuration: &Value) -> Vec<String> {
    let mut errors = ErrorList::default();
    leader_election(&configuration["leaderElection"], &FieldPath::new("leaderElection"), &mut errors);
    if int(configuration, "parallelism").is_some_and(|threads| threads <= 0) {
        let detail = "should be an integer value greater than zero";
        errors.invalid(&FieldPath::new("parallelism"), &configuration["parallelism"], detail);
    }
    let profiles = list(configuration, "profiles");
    for (i, profile) in profiles.iter().enumerate() {
        let path = FieldPath::new("profiles").index(i);
        // Only a single profile has a default name.
        let is_nameless = text(profile, "schedulerName").is_empty();
        if is_nameless && (profiles.len() > 1 || has_value(profile, "schedulerName")) {
            errors.required(&path.child("schedulerName"), "");
        }
        plugin_arguments(profile, &path, &mut errors);
    }
    let queue_sort = |profile: &Value| {
        let set = &profile["plugins"]["queueSort"];
        ["enabled", "disabled"].map(|key| list(set, key).iter().map(|p| text(p, "name").to_owned()).collect::<Vec<_>>())
    };
    for (i, profile) in profiles.iter().enumerate().skip(1) {
        if queue_sort(profile) != queue_sort(&profiles[0]) {
            let path = FieldPath::new("profiles").index(i).child("plugins.queueSort");
            errors.invalid_omitted(&path, "must be the same for all profiles");
        }
    }
    let seconds = |key: &str, default| int(configuration, key).unwrap_or(default);
    let (initial, max) = (seconds("podInitialBackoffSeconds", 1), seconds("podMaxBackoffSeconds", 10));
    if max < initial {
        let detail = "must be greater than or equal to PodInitialBackoffSeconds";
        errors.invalid(&FieldPath::new("podMaxBackoffSeconds"), &max.into(), detail);
    }
    extenders(list(configuration, "extenders"), &FieldPath::new("extenders"), &mut errors);
    texts(errors, "")
}

fn texts(errors: ErrorList, prefix: &str) -> Vec<String> {
    errors.errors.iter().map(|error| format!("{prefix}{error}")).collect()
}

/// Checks the durations (`ValidateLeaderElectionConfiguration`), which have defaults.
fn leader_election(election: &Value, path: &FieldPath, errors: &mut ErrorList) {
    if election["leaderElect"] == false {
        return;
    }
    let [lease, renewal] = [("leaseDuration", 15), ("renewDeadline", 10)].map(|(key, seconds)| {
        let given = text(election, key).parse::<Duration>().ok();
        // A zero duration is replaced by the default.
        given.filter(|duration| *duration > Duration::ZERO).unwrap_or(Duration::from_secs(seconds))
    });
    if lease <= renewal {
        errors.invalid_omitted(&path.child("leaseDuration"), "must be greater than `RenewDeadline`");
    }
    let lock = text(election, "resourceLock");
    if !lock.is_empty() && lock != "leases" {
        errors.invalid_text(&path.child("resourceLock"), lock, "resourceLock value must be \"leases\"");
    }
}

/// Checks the extenders (`validateExtenders`).
fn extenders(extenders: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    let mut managed = BTreeSet::new();
    for (i, extender) in extenders.iter().enumerate() {
        let at = path.index(i);
        let weight = int(extender, "weight").unwrap_or(0);
        if !text(extender, "prioritizeVerb").is_empty() && weight <= 0 {
            errors.invalid(&at.child("weight"), &weight.into(), "must have a positive weight applied to it");
        }
        for (j, resource) in list(extender, "managedResources").iter().enumerate() {
            let (at, name) = (at.child("managedResources").index(j).child("name"), text(resource, "name"));
            errors.all_invalid(&at, name, label_key(name));
            if !managed.insert(name) {
                errors.invalid_text(&at, name, "duplicate extender managed resource name");
            }
        }
    }
    let binders = extenders.iter().filter(|extender| !text(extender, "bindVerb").is_empty()).count();
    if binders > 1 {
        let value = format!("found {binders} extenders implementing bind");
        errors.invalid_text(path, &value, "only one extender can implement bind");
    }
}

/// Checks the arguments of the plugins of a profile (`validatePluginConfig`). Those of NodeResourcesFit are checked
/// when the plugin is created.
fn plugin_arguments(profile: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let mut seen = BTreeSet::new();
    for (j, config) in list(profile, "pluginConfig").iter().enumerate() {
        let at = path.child("pluginConfig").index(j);
        let (name, args) = (text(config, "name"), &config["args"]);
        if !seen.insert(name) {
            errors.duplicate(&at, &config["name"]);
        }
        let at = at.child("args");
        match name {
            "DefaultPreemption" => preemption(args, &at, errors),
            "InterPodAffinity" => in_range(args, "hardPodAffinityWeight", (0, 100), &at, errors),
            "NodeResourcesBalancedAllocation" => balanced_resources(args, &at.child("resources"), errors),
            "PodTopologySpread" => default_constraints(args, &at, errors),
            "VolumeBinding" if has_value(args, "shape") => {
                let detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring";
                errors.invalid_omitted(&at.child("shape"), detail);
            }
            _ => {}
        }
    }
}

fn in_range(args: &Value, key: &str, (low, high): (i64, i64), path: &FieldPath, errors: &mut ErrorList) {
    if int(args, key).is_some_and(|value| !(low..=high).contains(&value)) {
        errors.invalid(&path.child(key), &args[key], &format!("not in valid range [{low}, {high}]"));
    }
}

/// Checks the arguments of DefaultPreemption (`ValidateDefaultPreemptionArgs`).
fn preemption(args: &Value, path: &FieldPath, errors: &mut ErrorList) {
    const PERCENTAGE: &str = "minCandidateNodesPercentage";
    const ABSOLUTE: &str = "minCandidateNodesAbsolute";
    in_range(args, PERCENTAGE, (0, 100), path, errors);
    if int(args, ABSOLUTE).is_some_and(|nodes| nodes < 0) {
        errors.invalid(&path.child(ABSOLUTE), &args[ABSOLUTE], "not in valid range [0, inf)");
    }
    if int(args, PERCENTAGE) == Some(0) && int(args, ABSOLUTE) == Some(0) {
        for (this, other) in [(PERCENTAGE, ABSOLUTE), (ABSOLUTE, PERCENTAGE)] {
            errors.invalid(&path.child(this), &json!(0), &format!("cannot be zero at the same time as {other}"));
        }
    }
}

/// Weight of a resource; 0 is replaced by the default.
fn resource_weight(resource: &Value) -> i64 {
    int(resource, "weight").filter(|weight| *weight != 0).unwrap_or(1)
}

/// Checks the arguments of NodeResourcesBalancedAllocation (`ValidateNodeResourcesBalancedAllocationArgs`).
fn balanced_resources(args: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let mut seen = BTreeSet::new();
    for (i, resource) in list(args, "resources").iter().enumerate() {
        if !seen.insert(text(resource, "name")) {
            errors.duplicate(&path.index(i).child("name"), &resource["name"]);
        }
        if resource_weight(resource) != 1 {
            errors.invalid(&path.index(i).child("weight"), &resource["weight"], "must be 1");
        }
    }
}

/// Checks the arguments of PodTopologySpread (`ValidatePodTopologySpreadArgs`).
fn default_constraints(args: &Value, path: &FieldPath, errors: &mut ErrorList) {
    let constraints = list(args, "defaultConstraints");
    if text(args, "defaultingType") != "List" && !constraints.is_empty() {
        errors.invalid_text(&path.child("defaultingType"), "System", "when .defaultConstraints are not empty");
    }
    let mut seen = BTreeSet::new();
    for (i, constraint) in constraints.iter().enumerate() {
        let at = path.child("defaultConstraints").index(i);
        let (key, mode) = (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable"));
        if key.is_empty() {
            errors.required(&at.child("topologyKey"), "can not be empty");
        } else {
            errors.all_invalid(&at.child("topologyKey"), key, label_key(key));
        }
        if has_value(constraint, "labelSelector") {
            let detail = "constraint must not define a selector, as they deduced for each pod";
            errors.forbidden(&at.child("labelSelector"), detail);
        }
        if !seen.insert((key, mode)) {
            errors.duplicate(&at, &json!(format!("{{{key}, {mode}}}")));
        }
    }
}

/// Reports errors of the creation of the profiles (`NewFramework`).
fn creation_errors(configuration: &Value, default_scheduler: &str) -> Vec<String> {
    let none = [Value::Null];
    let profiles = match list(configuration, "profiles") {
        [] => &none[..],
        profiles => profiles,
    };
    let mut errors = Vec::new();
    for profile in profiles {
        let name = Some(text(profile, "schedulerName")).filter(|name| !name.is_empty()).unwrap_or(default_scheduler);
        let place = format!("creating profile for scheduler name {name}: ");
        let plugins = &profile["plugins"];
        if is_needed(plugins, "NodeResourcesFit") {
            let configs = list(profile, "pluginConfig").iter();
            for config in configs.filter(|config| text(config, "name") == "NodeResourcesFit") {
                let mut found = ErrorList::default();
                fit(&config["args"], &mut found);
                errors.extend(texts(found, &format!("{place}initializing plugin \"NodeResourcesFit\": ")));
            }
        }
        let sets = enabled_sets(plugins);
        errors.extend(sets.iter().map(|error| format!("{place}{error}")));
        if sets.is_empty() {
            let runs = |plugin: &str, point: &str| runs_at(plugins, plugin, point);
            if !runs("PrioritySort", "queueSort") {
                let detail = "only one queue sort plugin required for profile with scheduler name";
                errors.push(format!("{place}{detail} {name:?}, but got 0"));
            }
            if !runs("DefaultBinder", "bind") {
                let detail = "at least one bind plugin is needed for profile with scheduler name";
                errors.push(format!("{place}{detail} {name:?}"));
            }
        }
    }
    errors
}

/// Returns whether a list of a plugin set contains the plugin, or `*` in `disabled`.
fn contains(set: &Value, list_name: &str, plugin: &str) -> bool {
    list(set, list_name).iter().any(|entry| text(entry, "name") == plugin || text(entry, "name") == "*")
}

/// Returns whether a plugin of the default profile is enabled at all its extension points.
fn is_in_multi_point(plugins: &Value, plugin: &str) -> bool {
    let set = &plugins["multiPoint"];
    contains(set, "enabled", plugin) || !contains(set, "disabled", plugin)
}

/// Returns whether the plugin is created: it is enabled at an extension point (`pluginsNeeded`).
fn is_needed(plugins: &Value, plugin: &str) -> bool {
    is_in_multi_point(plugins, plugin) || POINTS.iter().any(|(point, _)| contains(&plugins[point], "enabled", plugin))
}

/// Returns whether a plugin of the default profile runs at an extension point, which takes precedence over
/// `multiPoint`.
fn runs_at(plugins: &Value, plugin: &str, point: &str) -> bool {
    let set = &plugins[point];
    contains(set, "enabled", plugin) || (is_in_multi_point(plugins, plugin) && !contains(set, "disabled", plugin))
}

/// Returns the errors of the enabled plugins at each extension point (`updatePluginList`, `expandMultiPointPlugins`).
fn enabled_sets(plugins: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    for (point, class) in POINTS.into_iter().chain([("multiPoint", "")]) {
        let implemented = IMPLEMENTED.iter().find(|(known, _)| *known == point);
        let mut seen = BTreeSet::new();
        for plugin in list(&plugins[point], "enabled").iter().map(|plugin| text(plugin, "name")) {
            if implemented.is_some_and(|(_, all)| !all.contains(&plugin)) {
                errors.push(format!("plugin {plugin:?} does not extend {class} plugin"));
            } else if !seen.insert(plugin) {
                let class = if class.is_empty() { first_class(plugin) } else { class };
                errors.push(format!("plugin {plugin:?} already registered as {class:?}"));
            }
        }
    }
    errors
}

/// Go type of the first extension point of a plugin, which reports that `multiPoint` enables it twice.
fn first_class(plugin: &str) -> &'static str {
    let implements = |point: &str| IMPLEMENTED.iter().any(|(known, all)| *known == point && all.contains(&plugin));
    let before_filter = ["NodeUnschedulable", "NodeName", "TaintToleration"];
    match POINTS.iter().find(|(point, _)| implements(point)) {
        Some(("filter", _)) if !before_filter.contains(&plugin) => "PreFilterPlugin",
        Some(("score", _)) if plugin != "ImageLocality" => "PreScorePlugin",
        Some((_, class)) => class,
        None => "PreEnqueuePlugin",
    }
}

/// Checks the arguments of NodeResourcesFit (`ValidateNodeResourcesFitArgs`). The paths begin at the arguments.
fn fit(args: &Value, errors: &mut ErrorList) {
    for key in ["ignoredResources", "ignoredResourceGroups"] {
        for (i, name) in list(args, key).iter().enumerate() {
            let (path, name) = (FieldPath::new(key).index(i), name.as_str().unwrap_or(""));
            if key == "ignoredResourceGroups" && name.contains('/') {
                errors.invalid_text(&path, name, "resource group name can't contain '/'");
            }
            errors.all_invalid(&path, name, label_key(name));
        }
    }
    let strategy = &args["scoringStrategy"];
    if !strategy.is_object() {
        return;
    }
    let path = FieldPath::new("scoringStrategy");
    let class = text(strategy, "type");
    let legal = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"];
    if !legal.contains(&class) {
        errors.unsupported(&path.child("type"), &json!(class), &legal);
    }
    for (i, resource) in list(strategy, "resources").iter().enumerate() {
        if !(1..=100).contains(&resource_weight(resource)) {
            let detail = format!("resource weight of {} not in valid range (0, 100]", text(resource, "name"));
            errors.invalid(&path.child("resources").index(i).child("weight"), &resource["weight"], &detail);
        }
    }
    let (ratio, at) = (&strategy["requestedToCapacityRatio"], path.child("requestedToCapacityRatio"));
    match (class == "RequestedToCapacityRatio", ratio.is_object()) {
        (true, false) => errors.required(&at, "must be specified when type is RequestedToCapacityRatio"),
        (true, true) => function_shape(list(ratio, "shape"), &at.child("shape"), errors),
        (false, true) => errors.forbidden(&at, "must be nil when type is not RequestedToCapacityRatio"),
        (false, false) => {}
    }
}

/// Checks the points of a shape (`validateFunctionShape`).
fn function_shape(shape: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    if shape.is_empty() {
        return errors.required(path, "at least one point must be specified");
    }
    let unsorted = shape.windows(2).position(|pair| int(&pair[0], "utilization") >= int(&pair[1], "utilization"));
    if let Some(i) = unsorted {
        let at = path.index(i + 1).child("utilization");
        errors.invalid(&at, &shape[i + 1]["utilization"], "values must be sorted in increasing order");
    }
    for (i, point) in shape.iter().enumerate() {
        in_range(point, "utilization", (0, 100), &path.index(i), errors);
        in_range(point, "score", (0, 10), &path.index(i), errors);
    }
}
