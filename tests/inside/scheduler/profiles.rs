//! Tests of profiles: the order of the filters, plugins that do not run, and errors of node affinity.

use crate::profile::{Profile, SchedulerConfiguration};
use crate::{Cluster, Decision, NodeView, PodView, schedule};
use serde_json::{Value, json};

fn profile(plugins: &Value) -> Profile {
    let read = SchedulerConfiguration::read(&json!({"profiles": [{"plugins": plugins}]}));
    read.profiles["default-scheduler"].clone()
}

/// Two nodes, which two filters reject: a taint that the pod does not tolerate, and too little CPU.
fn cluster(taint: bool, cpu: &str) -> Cluster {
    let mut cluster = Cluster::default();
    for name in ["a", "b"] {
        let taints = if taint { json!([{"key": "k", "effect": "NoSchedule"}]) } else { json!([]) };
        let object = json!({
            "metadata": {"name": name, "labels": {"size": "3"}},
            "spec": {"taints": taints},
            "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
        });
        let view = NodeView::read(&object, &mut cluster.columns);
        cluster.add_node(view);
    }
    cluster
}

fn pod(cluster: &mut Cluster, spec: Value) -> PodView {
    let mut spec = spec;
    spec["containers"] = json!([{"name": "c", "resources": {"requests": {"cpu": "2"}}}]);
    PodView::read(&json!({"metadata": {"namespace": "ns", "name": "p"}, "spec": spec}), &mut cluster.columns)
}

fn message(decision: &Decision) -> &str {
    match decision {
        Decision::Unschedulable { message, .. } => message,
        Decision::Scheduled(_) => "Scheduled",
    }
}

#[test]
fn the_first_filter_in_the_order_of_the_profile_gives_the_reason() {
    let disabled = json!([{"name": "TaintToleration"}]);
    let enabled = |names: &[&str]| json!(names.iter().map(|name| json!({"name": name})).collect::<Vec<Value>>());
    let (taint, cpu) = ("2 node(s) had untolerated taint(s)", "2 Insufficient cpu");
    for (name, plugins, expected) in [
        ("the default order", json!({}), taint),
        ("disabled", json!({"multiPoint": {"disabled": disabled}}), cpu),
        (
            "enabled again at multiPoint, it is last",
            json!({"multiPoint": {"disabled": disabled, "enabled": enabled(&["TaintToleration"])}}),
            cpu,
        ),
        (
            "configured at multiPoint, it keeps its place",
            json!({"multiPoint": {"enabled": enabled(&["TaintToleration"])}}),
            taint,
        ),
        (
            "plugins of filter precede the others, in their order",
            json!({"filter": {"enabled": enabled(&["NodeResourcesFit", "TaintToleration"])}}),
            cpu,
        ),
        (
            "disabled and enabled at filter, it is last",
            json!({"filter": {"disabled": disabled, "enabled": enabled(&["TaintToleration"])}}),
            cpu,
        ),
        (
            "nothing but the plugins of filter",
            json!({"filter": {"disabled": [{"name": "*"}], "enabled": enabled(&["TaintToleration"])}}),
            taint,
        ),
    ] {
        let mut cluster = cluster(true, "1");
        let pod = pod(&mut cluster, json!({}));
        let decision = schedule(&cluster, &pod, &profile(&plugins), 0);
        let text = message(&decision);
        let first = text.trim_start_matches("0/2 nodes are available: ").split('.').next().unwrap_or("");
        assert!(first.starts_with(expected), "{name}: {text}");
    }
}

#[test]
fn the_message_contains_the_results_of_the_plugins_that_run_after_the_filters() {
    let disabled = |names: &[&str]| {
        let names: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        json!({"postFilter": {"disabled": names}})
    };
    let nowhere = "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    for (plugins, expected) in [
        (json!({}), format!("2 Insufficient cpu. no new claims to deallocate, {nowhere}")),
        (disabled(&["DynamicResources"]), format!("2 Insufficient cpu. {nowhere}")),
        (disabled(&["DefaultPreemption"]), "2 Insufficient cpu. no new claims to deallocate".to_owned()),
        (disabled(&["*"]), "2 Insufficient cpu.".to_owned()),
    ] {
        let mut cluster = cluster(false, "1");
        let pod = pod(&mut cluster, json!({}));
        let decision = schedule(&cluster, &pod, &profile(&plugins), 0);
        assert_eq!(message(&decision), format!("0/2 nodes are available: {expected}"));
    }
}

/// A pod that prefers nodes whose label `size` is greater than a value.
fn preferring(value: &str, weight: i64) -> Value {
    let requirement = json!({"key": "size", "operator": "Gt", "values": [value]});
    let term = json!({"weight": weight, "preference": {"matchExpressions": [requirement]}});
    json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}})
}

#[test]
fn preferred_node_affinity_that_cannot_be_parsed_fails_the_attempt_if_several_nodes_fit() {
    let error = "running PreScore plugin \"NodeAffinity\": [0].matchExpressions[0].values[0]: Invalid value: \"two\": \
                 for 'Gt', 'Lt' operators, the value must be an integer";
    let unscored = json!({"multiPoint": {"disabled": [{"name": "NodeAffinity"}]}});
    for (name, spec, plugins, nodes, expected) in [
        ("not a number", preferring("two", 1), json!({}), 2, error),
        ("a number", preferring("2", 1), json!({}), 2, "Scheduled"),
        ("a term without weight is not read", preferring("two", 0), json!({}), 2, "Scheduled"),
        ("a single node is not scored", preferring("two", 1), json!({}), 1, "Scheduled"),
        ("the plugin does not run", preferring("two", 1), unscored, 2, "Scheduled"),
    ] {
        let mut cluster = cluster(false, "4");
        cluster = cluster.restricted_to(&(0..nodes).collect::<Vec<usize>>());
        let pod = pod(&mut cluster, spec);
        assert_eq!(message(&schedule(&cluster, &pod, &profile(&plugins), 0)), expected, "{name}");
    }
}

#[test]
fn added_affinity_that_cannot_be_parsed_is_an_error_of_the_profile() {
    let term = json!({"matchExpressions": [{"key": "size", "operator": "Lt", "values": ["x"]}]});
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}});
    let config = json!([{"name": "NodeAffinity", "args": {"addedAffinity": required}}]);
    let read = SchedulerConfiguration::read(&json!({"profiles": [{"pluginConfig": config}]}));
    let expected = "addedAffinity of NodeAffinity: [0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', \
                    'Lt' operators, the value must be an integer";
    assert_eq!(read.errors, [expected]);
}

/// The search for pods without terms runs the filters in the default order.
#[test]
fn a_profile_with_another_order_has_not_the_default_filters() {
    let first = json!({"filter": {"enabled": [{"name": "NodeResourcesFit"}]}});
    let off = json!({"filter": {"disabled": [{"name": "TaintToleration"}]}});
    let cases = [("default", json!({}), true), ("another order", first, false), ("one is off", off, false)];
    for (name, plugins, expected) in cases {
        assert_eq!(profile(&plugins).has_default_filters(), expected, "{name}");
    }
}

/// The words are those of `pkg/scheduler/apis/config/validation` and `pkg/scheduler/framework/runtime/framework.go`.
#[test]
fn a_configuration_is_refused_as_by_kube_scheduler() {
    let profile = |profile: Value| json!({"profiles": [profile]});
    let config = |name: &str, args: Value| profile(json!({"pluginConfig": [{"name": name, "args": args}]}));
    let plugins = |plugins: Value| profile(json!({"plugins": plugins}));
    let fit = |strategy: Value| config("NodeResourcesFit", json!({"scoringStrategy": strategy}));
    let spread = |args: Value| config("PodTopologySpread", args);
    let constraint =
        |key: &str, skew: i64| json!({"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"});
    let args = "profiles[0].pluginConfig[0].args";
    let all = json!([{"name": "*"}]);
    let twice = json!([{"name": "NodeResourcesFit", "weight": 2}, {"name": "NodeResourcesFit"}]);
    let shape = json!({"shape": [{"utilization": 0, "score": 1}]});
    let (cpu, gpu) = (json!({"name": "cpu"}), json!({"name": "example.com/gpu", "weight": 100}));
    for (configuration, expected) in [
        (json!({}), String::new()),
        (json!({"podInitialBackoffSeconds": 10}), String::new()),
        (
            json!({"podInitialBackoffSeconds": 11}),
            "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds".to_owned(),
        ),
        (
            json!({"podInitialBackoffSeconds": 10, "podMaxBackoffSeconds": 5}),
            "podMaxBackoffSeconds: Invalid value: 5: must be greater than or equal to PodInitialBackoffSeconds".to_owned(),
        ),
        (
            json!({"parallelism": 0}),
            "parallelism: Invalid value: 0: should be an integer value greater than zero".to_owned(),
        ),
        (
            json!({"leaderElection": {"leaseDuration": "1s"}}),
            "leaderElection.leaseDuration: Invalid value: must be greater than `RenewDeadline`".to_owned(),
        ),
        (json!({"leaderElection": {"leaderElect": false, "leaseDuration": "1s"}}), String::new()),
        (
            json!({"extenders": [{"urlPrefix": "http://a", "prioritizeVerb": "p"}]}),
            "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it".to_owned(),
        ),
        (
            json!({"profiles": [{"schedulerName": "a"}, {}]}),
            "profiles[1].schedulerName: Required value".to_owned(),
        ),
        (
            json!({"profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {"queueSort":
                {"enabled": [{"name": "PrioritySort"}]}}}]}),
            "profiles[1].plugins.queueSort: Invalid value: must be the same for all profiles".to_owned(),
        ),
        (
            config("NodeAffinity", json!({"hardPodAffinityWeight": 3})),
            "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: strict decoding error: \
             unknown field \"hardPodAffinityWeight\""
                .to_owned(),
        ),
        (
            config("NodeAffinity", json!({"kind": "InterPodAffinityArgs"})),
            "decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type \
             NodeAffinityArgs.kubescheduler.config.k8s.io, got InterPodAffinityArgs.kubescheduler.config.k8s.io"
                .to_owned(),
        ),
        (config("InterPodAffinity", json!({"kind": "InterPodAffinityArgs", "hardPodAffinityWeight": 100})), String::new()),
        (
            profile(json!({"pluginConfig": [{"name": "NodeResourcesFit"}, {"name": "NodeResourcesFit"}]})),
            "profiles[0].pluginConfig[1]: Duplicate value: \"NodeResourcesFit\"".to_owned(),
        ),
        (
            config("DefaultPreemption", json!({"minCandidateNodesPercentage": 101})),
            format!("{args}.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"),
        ),
        (
            config("DefaultPreemption", json!({"minCandidateNodesAbsolute": -1})),
            format!("{args}.minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"),
        ),
        (
            config("NodeResourcesBalancedAllocation", json!({"resources": [gpu]})),
            format!("{args}.resources[0].weight: Invalid value: 100: must be 1"),
        ),
        (
            config("NodeResourcesBalancedAllocation", json!({"resources": [cpu, cpu]})),
            format!("{args}.resources[1].name: Duplicate value: \"cpu\""),
        ),
        (
            config("VolumeBinding", json!({"shape": []})),
            format!(
                "{args}.shape: Invalid value: unexpected field `shape`, remove it or turn on the feature gate \
                 StorageCapacityScoring"
            ),
        ),
        (spread(json!({"defaultingType": "List", "defaultConstraints": [constraint("a", 1), constraint("b", 1)]})), String::new()),
        (
            spread(json!({"defaultConstraints": [constraint("a", 1)]})),
            format!("{args}.defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"),
        ),
        (
            spread(json!({"defaultingType": "List", "defaultConstraints": [constraint("a", 1), constraint("a", 2)]})),
            format!("{args}.defaultConstraints[1]: Duplicate value: \"{{a, DoNotSchedule}}\""),
        ),
        (fit(json!({"type": "MostAllocated", "resources": [cpu, gpu]})), String::new()),
        (
            fit(json!({"resources": [cpu]})),
            "scoringStrategy.type: Unsupported value: \"\": supported values: \"LeastAllocated\", \"MostAllocated\", \
             \"RequestedToCapacityRatio\""
                .to_owned(),
        ),
        (
            fit(json!({"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 101}]})),
            "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]"
                .to_owned(),
        ),
        (
            fit(json!({"type": "MostAllocated", "requestedToCapacityRatio": shape})),
            "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio"
                .to_owned(),
        ),
        (
            fit(json!({"type": "RequestedToCapacityRatio"})),
            "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is \
             RequestedToCapacityRatio"
                .to_owned(),
        ),
        (
            config("NodeResourcesFit", json!({"ignoredResourceGroups": ["example.com/x"]})),
            "ignoredResourceGroups[0]: Invalid value: \"example.com/x\": resource group name can't contain '/'".to_owned(),
        ),
        (
            plugins(json!({"score": {"enabled": twice}})),
            "plugin \"NodeResourcesFit\" already registered as \"ScorePlugin\"".to_owned(),
        ),
        (
            plugins(json!({"multiPoint": {"enabled": twice}})),
            "plugin \"NodeResourcesFit\" already registered as \"PreFilterPlugin\"".to_owned(),
        ),
        (
            plugins(json!({"filter": {"enabled": [{"name": "ImageLocality"}]}})),
            "plugin \"ImageLocality\" does not extend FilterPlugin plugin".to_owned(),
        ),
        (
            plugins(json!({"multiPoint": {"disabled": all}})),
            "only one queue sort plugin required for profile with scheduler name \"default-scheduler\", but got 0"
                .to_owned(),
        ),
        (
            plugins(json!({"bind": {"disabled": [{"name": "DefaultBinder"}]}})),
            "at least one bind plugin is needed for profile with scheduler name \"default-scheduler\"".to_owned(),
        ),
        (
            plugins(json!({"multiPoint": {"disabled": all}, "queueSort": {"enabled": [{"name": "PrioritySort"}]},
                "bind": {"enabled": [{"name": "DefaultBinder"}]}})),
            String::new(),
        ),
        (
            plugins(json!({"multiPoint": {"disabled": all, "enabled": [{"name": "PrioritySort"},
                {"name": "DefaultBinder"}]}})),
            String::new(),
        ),
    ] {
        let read = SchedulerConfiguration::read(&configuration);
        match expected.as_str() {
            "" => assert!(read.errors.is_empty(), "{configuration}: {:?}", read.errors),
            expected => {
                let first = read.errors.first();
                assert!(first.is_some_and(|error| error.ends_with(expected)), "{configuration}: {expected}: {first:?}");
            }
        }
    }
}
