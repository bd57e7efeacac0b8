//! Tests of the queueing hints: pairs of an event and a pod, by the plugin that rejected the pod.

use super::ClusterEvent;
use crate::cluster::Cluster;
use crate::node::NodeView;
use crate::plugin::{Plugin, PluginSet};
use crate::pod::PodView;
use crate::profile::{Profile, SchedulerConfiguration};
use crate::resources::ResourceColumns;
use serde_json::{Value, json};

const TERMS: &str = "requiredDuringSchedulingIgnoredDuringExecution";

fn pod(labels: Value, spec: Value) -> PodView {
    let object = json!({"metadata": {"namespace": "ns", "name": "p", "labels": labels}, "spec": spec});
    PodView::read(&object, &mut ResourceColumns::default())
}

/// A node with two CPUs and changes of its labels, taints, CPUs and schedulability.
fn node(change: Value) -> NodeView {
    let field = |key: &str, default: Value| change.get(key).cloned().unwrap_or(default);
    let object = json!({
        "metadata": {"name": "n", "labels": field("labels", json!({"zone": "a"}))},
        "spec": {"taints": field("taints", json!([])), "unschedulable": field("unschedulable", json!(false))},
        "status": {"allocatable": {"cpu": field("cpu", json!("2")), "pods": "110"}},
    });
    NodeView::read(&object, &mut ResourceColumns::default())
}

fn helps(event: ClusterEvent<'_>, plugin: Plugin, pod: &PodView) -> bool {
    event.requeues(&Cluster::default(), &Profile::default(), &PluginSet::from([plugin]), pod)
}

fn affinity(kind: &str, app: &str) -> Value {
    let term = json!({"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}});
    json!({"affinity": {kind: {TERMS: [term]}}})
}

#[test]
fn a_change_of_a_node_helps_if_it_makes_the_filter_pass() {
    let requests = |cpu: &str| json!({"containers": [{"resources": {"requests": {"cpu": cpu}}}]});
    let tainted = json!({"taints": [{"key": "k", "effect": "NoSchedule"}]});
    let (plain, none) = (json!({}), json!({}));
    for (plugin, spec, before, after, expected) in [
        (Plugin::NodeResourcesFit, requests("3"), &plain, &json!({"cpu": "4"}), true),
        (Plugin::NodeResourcesFit, requests("3"), &plain, &tainted, false),
        (Plugin::NodeResourcesFit, requests("1"), &plain, &json!({"cpu": "4"}), true),
        (Plugin::NodeResourcesFit, requests("5"), &plain, &json!({"cpu": "4"}), false),
        (Plugin::TaintToleration, none.clone(), &tainted, &plain, true),
        (Plugin::TaintToleration, none.clone(), &plain, &json!({"cpu": "4"}), false),
        (Plugin::NodeUnschedulable, none.clone(), &json!({"unschedulable": true}), &plain, true),
        (Plugin::NodeUnschedulable, none.clone(), &tainted, &plain, false),
        (Plugin::NodeAffinity, json!({"nodeSelector": {"zone": "a"}}), &json!({"labels": {}}), &plain, true),
        (Plugin::NodeAffinity, json!({"nodeSelector": {"zone": "b"}}), &json!({"labels": {}}), &plain, false),
        (Plugin::InterPodAffinity, affinity("podAffinity", "x"), &json!({"labels": {}}), &plain, true),
        (Plugin::InterPodAffinity, affinity("podAntiAffinity", "x"), &json!({"labels": {}}), &plain, false),
        (Plugin::InterPodAffinity, affinity("podAntiAffinity", "x"), &plain, &json!({"labels": {}}), true),
    ] {
        let (before_view, after_view) = (node(before.clone()), node(after.clone()));
        let event = ClusterEvent::NodeUpdate(&before_view, &after_view);
        let result = helps(event, plugin, &pod(json!({}), spec.clone()));
        assert_eq!(result, expected, "{plugin:?} {spec}: {before} to {after}");
    }
}

#[test]
fn a_pod_helps_by_its_resources_ports_labels_and_terms() {
    let port = |port: u32| json!({"containers": [{"ports": [{"hostPort": port, "containerPort": port}]}]});
    let spread = json!({"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}]});
    let of_app = |app: &str, spec: Value| pod(json!({"app": app}), spec);
    let none = || json!({});
    for (plugin, waiting, other, added, deleted) in [
        (Plugin::NodeResourcesFit, of_app("y", none()), of_app("x", none()), false, true),
        (Plugin::NodeAffinity, of_app("y", none()), of_app("x", none()), false, false),
        (Plugin::NodePorts, of_app("y", port(80)), of_app("x", port(80)), false, true),
        (Plugin::NodePorts, of_app("y", port(80)), of_app("x", port(81)), false, false),
        (Plugin::PodTopologySpread, of_app("y", spread.clone()), of_app("x", none()), true, true),
        (Plugin::PodTopologySpread, of_app("y", spread), of_app("z", none()), false, false),
        (Plugin::InterPodAffinity, of_app("y", affinity("podAffinity", "x")), of_app("x", none()), true, false),
        (Plugin::InterPodAffinity, of_app("y", affinity("podAntiAffinity", "x")), of_app("x", none()), false, true),
        (Plugin::InterPodAffinity, of_app("y", none()), of_app("x", affinity("podAntiAffinity", "y")), false, true),
        (Plugin::InterPodAffinity, of_app("y", none()), of_app("x", affinity("podAntiAffinity", "z")), false, false),
    ] {
        let result = [ClusterEvent::AssignedPodAdd(&other), ClusterEvent::AssignedPodDelete(&other)];
        let result = result.map(|event| helps(event, plugin, &waiting));
        assert_eq!(result, [added, deleted], "{plugin:?}: {other:?}");
    }
}

#[test]
fn one_of_several_rejecting_plugins_is_enough() {
    let (waiting, other) = (pod(json!({}), json!({})), pod(json!({}), json!({})));
    let rejecting = PluginSet::from([Plugin::NodeAffinity, Plugin::NodeResourcesFit]);
    let event = ClusterEvent::AssignedPodDelete(&other);
    assert!(event.requeues(&Cluster::default(), &Profile::default(), &rejecting, &waiting));
    let change = ClusterEvent::StorageChange;
    let profile = Profile::default();
    assert!(change.requeues(&Cluster::default(), &profile, &PluginSet::new(), &waiting), "an unknown cause");
}

/// Node affinity and spread constraints of the profile count like those of the pod.
#[test]
fn the_arguments_of_the_profile_matter_for_events() {
    let terms =
        json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]});
    let constraint = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
    let config = json!([
        {"name": "NodeAffinity", "args": {"addedAffinity": {TERMS: terms}}},
        {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": [constraint]}},
    ]);
    let read = SchedulerConfiguration::read(&json!({"profiles": [{"pluginConfig": config}]}));
    let profile = read.profile("").expect("the default profile");
    let services = vec![("ns".to_owned(), [("app".to_owned(), "x".to_owned())].into())];
    let cluster = Cluster { services, ..Cluster::default() };
    let waiting = pod(json!({"app": "x"}), json!({}));
    let helps =
        |event: ClusterEvent<'_>, plugin| event.requeues(&cluster, profile, &PluginSet::from([plugin]), &waiting);
    let (in_a, in_b, cordoned) =
        (node(json!({})), node(json!({"labels": {"zone": "b"}})), node(json!({"unschedulable": true})));
    assert!(helps(ClusterEvent::NodeUpdate(&in_a, &in_b), Plugin::NodeAffinity));
    assert!(!helps(ClusterEvent::NodeUpdate(&in_b, &in_a), Plugin::NodeAffinity), "the added affinity excludes zone a");
    let other = pod(json!({"app": "x"}), json!({}));
    assert!(helps(ClusterEvent::AssignedPodDelete(&other), Plugin::PodTopologySpread));
    assert!(!helps(ClusterEvent::NodeUpdate(&cordoned, &in_a), Plugin::PodTopologySpread));
}
