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

#[test]
fn other_recordings_are_not_read() {
    assert!(read(&json!({"schema": SCHEMA, "kind": "nodes"}).to_string()).is_none());
    assert!(read("{\"kind\": \"gang\"").is_none());
}
