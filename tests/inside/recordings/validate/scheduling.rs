//! Unit tests of `sim_recordings::validate::scheduling`.

#[path = "scheduling/gang.rs"]
mod gang;

use super::*;
use crate::validate::result::ValidationVerdict;
use serde_json::json;

fn situation() -> Value {
    let container = json!({"name": "main", "image": "example.com/a:v1", "resources": {"requests": {"cpu": "1"}}});
    let node = |name: &str| {
        let allocatable = json!({"cpu": "4", "memory": "4Gi", "pods": "10"});
        json!({"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}})
    };
    json!({
        "schema": SCHEMA, "kind": "scheduling", "name": "s", "kubernetes": "1.36.3", "namespaces": {"s": {}},
        "nodes": [node("a"), node("b")],
        "pending": [{
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "s"},
            "spec": {"containers": [container], "nodeSelector": {"rack": "r1"}},
        }],
        "results": [{
            "pod": "p",
            "outcome": "Unschedulable",
            "message": "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. no new claims to \
                        deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
        }],
    })
}

fn validated(recording: &Value) -> FileResult {
    validate("s.json", &read(&recording.to_string()).expect("a recording of scheduling decisions"))
}

#[test]
fn dynamic_resource_allocation_is_counted_as_not_simulated() {
    let recording = json!({"schema": SCHEMA, "kind": "dra", "name": "s", "nodes": [], "steps": [], "results": []});
    let result = validated(&recording);
    assert_eq!(result.verdict(), Some(ValidationVerdict::NotSimulated));
    assert_eq!(result.not_simulated, ["dynamic resource allocation"]);
}

#[test]
fn an_equal_decision_is_equal_and_another_message_is_a_difference() {
    let mut recording = situation();
    assert_eq!(validated(&recording).differences, Some(Vec::new()));
    recording["results"][0]["message"] = json!("0/2 nodes are available: 2 Too many pods.");
    let result = validated(&recording);
    let paths: Vec<&str> = result.differences.iter().flatten().map(|d| d.path.as_str()).collect();
    assert_eq!(paths, ["p.message"]);
}

#[test]
fn a_field_that_the_model_does_not_know_is_named() {
    let mut recording = situation();
    recording["pending"][0]["spec"]["schedulingGates"] = json!([{"name": "g"}]);
    recording["nodes"][1]["spec"] = json!({"declaredFeatures": ["x"]});
    recording["quotas"] = json!([]);
    let result = validated(&recording);
    assert_eq!(result.verdict(), Some(ValidationVerdict::NotSimulated));
    let expected = ["Node field spec.declaredFeatures", "Pod field spec.schedulingGates", "unknown key quotas"];
    assert_eq!(result.not_simulated, expected);
}

/// Two pods with claims of a class without a provisioner: the first one takes the only volume.
#[test]
fn claims_volumes_and_classes_of_a_recording_decide_about_its_pods() {
    let mut recording = situation();
    let claim = |name: &str| {
        json!({"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "s"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
            "resources": {"requests": {"storage": "1Gi"}}}})
    };
    let in_a = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]});
    recording["persistentVolumeClaims"] = json!([claim("c"), claim("d")]);
    recording["persistentVolumes"] = json!([{"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "storageClassName": "local",
        "local": {"path": "/d"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [in_a]}}}}]);
    recording["storageClasses"] = json!([{"kind": "StorageClass", "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}]);
    let mut pod = recording["pending"][0].clone();
    pod["spec"].as_object_mut().expect("a spec").remove("nodeSelector");
    let with_claim = |name: &str, claim: &str| {
        let mut pod = pod.clone();
        pod["metadata"]["name"] = json!(name);
        pod["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]);
        pod
    };
    recording["pending"] = json!([with_claim("p", "c"), with_claim("q", "d")]);
    let message = "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. no new claims \
                   to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    recording["results"] = json!([
        {"pod": "p", "outcome": "Scheduled", "node": "a"},
        {"pod": "q", "outcome": "Unschedulable", "message": message},
    ]);
    assert_eq!(validated(&recording).differences, Some(Vec::new()));
    recording["persistentVolumes"][0]["spec"]["csi"] = json!({"driver": "x"});
    recording["pending"][0]["spec"]["volumes"][0]["ephemeral"] = json!({});
    let expected = ["PersistentVolume field spec.csi", "Pod field spec.volumes.ephemeral"];
    assert_eq!(validated(&recording).not_simulated, expected);
}

/// Decisions of kube-scheduler 1.36.3 in small situations: changes of node `a` and of the pod, and the result.
#[test]
fn declared_features_images_and_namespace_names_count_as_in_kube_scheduler() {
    let restarts = json!([{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [3]}}]);
    let container = |more: Value| {
        let mut container = situation()["pending"][0]["spec"]["containers"][0].clone();
        sim_api::admission::merge_patch(&mut container, &more);
        json!({"containers": [container], "nodeSelector": null})
    };
    let images = |list: Value| json!({"status": {"images": list}});
    let unavailable = |reasons: &str, end: &str| {
        let end = format!("no new claims to deallocate, preemption: 0/2 nodes are available: {end}.");
        format!("0/2 nodes are available: {reasons}. {end}")
    };
    let feature = "node(s) didn't match Pod's required features";
    let not_helpful = "2 Preemption is not helpful for scheduling";
    let too_many = container(json!({"restartPolicy": "Never", "restartPolicyRules": restarts,
        "resources": {"requests": {"cpu": "5"}}}));
    let both = json!([{"names": ["x:v1", "i:v1"], "sizeBytes": 900_000_000}, {"names": ["y:v1", "i:v1"],
        "sizeBytes": 5_000_000}]);
    let mut with_volume = container(json!({}));
    with_volume["volumes"] = json!([{"name": "v", "image": {"reference": "i:v1"}}]);
    for (name, node, spec, message, locality) in [
        ("other filters come first", json!({}), too_many, Some(unavailable("2 Insufficient cpu", not_helpful)), None),
        (
            "no node has the feature",
            json!({"status": {"declaredFeatures": ["Other"]}}),
            container(json!({"restartPolicy": "Never", "restartPolicyRules": restarts})),
            Some(unavailable(&format!("2 {feature}"), not_helpful)),
            None,
        ),
        ("the first size of a name counts", images(both.clone()), container(json!({"image": "i:v1"})), None, Some(41)),
        ("images of volumes count", images(both), with_volume, None, Some(41)),
    ] {
        let mut recording = situation();
        sim_api::admission::merge_patch(&mut recording["nodes"][0], &node);
        sim_api::admission::merge_patch(&mut recording["pending"][0]["spec"], &spec);
        let result = &mut recording["results"][0];
        match message {
            Some(message) => result["message"] = json!(message),
            None => *result = json!({"pod": "p", "outcome": "Scheduled", "node": "a"}),
        }
        let found = validated(&recording).differences.unwrap_or_default();
        match locality {
            None => assert_eq!(found, Vec::new(), "{name}"),
            Some(score) => {
                let of_a = found.iter().find(|d| d.path == "p.scores.a").map(|d| d.simulated.clone());
                assert_eq!(of_a.map(|scores| scores["ImageLocality"].clone()), Some(json!(score)), "{name}");
            }
        }
    }
}

#[test]
fn other_recordings_are_not_read() {
    assert!(read(&json!({"schema": SCHEMA, "kind": "nodes"}).to_string()).is_none());
    assert!(read("{\"kind\": \"gang\"").is_none());
}
