//! Unit tests of `sim_recordings::validate::scheduling`.

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
    recording["nodes"][0]["status"]["declaredFeatures"] = json!(["x"]);
    recording["quotas"] = json!([]);
    let result = validated(&recording);
    assert_eq!(result.verdict(), Some(ValidationVerdict::NotSimulated));
    let expected = [
        "Node field spec.declaredFeatures", "Node field status.declaredFeatures", "Pod field spec.schedulingGates",
        "unknown key quotas",
    ];
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

#[test]
fn other_recordings_are_not_read() {
    assert!(read(&json!({"schema": SCHEMA, "kind": "nodes"}).to_string()).is_none());
    assert!(read("{\"kind\": \"gang\"").is_none());
}
