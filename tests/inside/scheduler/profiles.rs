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
