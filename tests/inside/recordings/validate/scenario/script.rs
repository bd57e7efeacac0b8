//! Unit tests of `sim_recordings::validate::scenario::script`.

use super::*;
use crate::validate::read::tests::example;
use crate::validate::scenario::ScenarioOverrides;
use crate::validate::scenario::tests::plain;
use serde_json::{Value, json};
use sim_api::spec::ObjectKind;
use sim_api::spec::RequestVerb;
use sim_api::spec::UserRequest;

#[test]
fn what_has_no_word_in_the_model_is_not_simulated() {
    for (pods, actions, expected) in [
        (
            json!([]),
            json!([{"atMs": 1, "do": "patch", "body": "{}", "patchType": "strategic"}]),
            "patch type strategic",
        ),
        (json!([{"runMs": 1, "exit": 1, "podHopes": true}]), json!([]), "pod rule podHopes"),
        (json!([]), json!([{"atMs": 1, "do": "scale", "fields": ["spec"]}]), "action scale"),
        (json!([]), json!([{"atMs": 1, "do": "suspend", "twice": true}]), "action suspend with twice"),
        (json!([]), json!([{"atMs": 1, "do": "deletePod"}]), "action deletePod without a pod"),
        (
            json!([]),
            json!([{"atMs": 1, "do": "evictPod", "pod": "p", "graceSeconds": 3}]),
            "action evictPod with graceSeconds",
        ),
        (json!([]), json!([{"atMs": 1, "do": "newNode", "name": "a"}]), "action newNode with an undefined node alias"),
        (
            json!([]),
            json!([{"atMs": 1, "do": "create", "body": "{\"kind\": \"ConfigMap\"}"}]),
            "action create of kind ConfigMap",
        ),
        (
            json!([]),
            json!([{"atMs": 1, "do": "patchObject", "resource": "v1/nodes", "name": "n",
                    "body": "{\"metadata\": {\"annotations\": {}}}"}]),
            "patch of a Node's metadata.annotations",
        ),
        (
            json!([]),
            json!([{"atMs": 1, "do": "deleteObject", "resource": "v1/secrets", "name": "n"}]),
            "action deleteObject of v1/secrets",
        ),
        (
            json!([]),
            json!([{"atMs": 1, "do": "deletePod", "pod": "p", "graceSeconds": 3}]),
            "action deletePod with graceSeconds",
        ),
    ] {
        let r = example(|j| {
            j["script"]["pods"] = pods;
            j["script"]["actions"] = actions;
        });
        let error = plain(&r, ScenarioOverrides::default()).unwrap_err();
        assert_eq!(error.0.len(), 1);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn actions_become_faults_in_the_order_of_the_script() {
    let r = example(|j| {
        j["script"]["actions"] = json!([
                {"atMs": 5000, "do": "crashNode", "pod": "js-w-0-1", "name": "a"},
                {"atMs": 9000, "do": "taintNode", "name": "a",
                 "body": "{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}"}]);
    });
    let s = plain(&r, ScenarioOverrides::default()).unwrap();
    let FaultAction::CrashNode(node) = &s.faults[0].action else {
        panic!("{:?}", s.faults[0]);
    };
    assert_eq!((node.of_pod.as_deref(), node.alias.as_deref()), (Some("js-w-0-1"), Some("a")));
    let FaultAction::TaintNode(_, taint) = &s.faults[1].action else {
        panic!("{:?}", s.faults[1]);
    };
    assert_eq!((taint.value.as_str(), taint.effect), ("v", TaintEffect::NoExecute));
}

#[test]
fn a_forced_deletion_and_a_new_node_go_by_names_given_before() {
    let r = example(|j| {
        j["script"]["actions"] = json!([
                {"atMs": 1, "do": "crashNode", "pod": "js-w-0-1", "name": "a"},
                {"atMs": 2, "do": "forceDeletePod", "pod": "js-w-0-1", "name": "a"},
                {"atMs": 3, "do": "newNode", "name": "a"}]);
    });
    let s = plain(&r, ScenarioOverrides::default()).unwrap();
    let FaultAction::DeletePod { force: true, .. } = &s.faults[1].action else {
        panic!("{:?}", s.faults[1]);
    };
    let FaultAction::NewNode(node) = &s.faults[2].action else {
        panic!("{:?}", s.faults[2]);
    };
    assert_eq!((node.of_pod.as_deref(), node.alias.as_deref()), (None, Some("a")));
}

#[test]
fn a_created_object_is_posted_in_the_namespace_of_the_recording() {
    let r = example(|j| {
        j["script"]["actions"] = json!([
                {"atMs": 1, "do": "create", "body": "{\"kind\": \"Service\", \"metadata\": {\"name\": \"s\"}}"},
                {"atMs": 2, "do": "create", "body": "{\"kind\": \"JobSet\", \"metadata\": {\"name\": \"o\"}}"}]);
    });
    let s = plain(&r, ScenarioOverrides::default()).unwrap();
    let created: Vec<(ObjectKind, &Value, Option<u32>)> = s
        .faults
        .iter()
        .filter_map(|fault| match &fault.action {
            FaultAction::Request(UserRequest { object: name, verb: RequestVerb::Create { object, jobset } }) => {
                Some((name.kind, &object["metadata"]["namespace"], *jobset))
            }
            _ => None,
        })
        .collect();
    let ns = json!("ns");
    assert_eq!(created, [(ObjectKind::Service, &ns, None), (ObjectKind::JobSet, &ns, Some(1))]);
}
