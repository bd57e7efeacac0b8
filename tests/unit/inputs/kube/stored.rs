//! Tests of `sim_inputs::kube::stored`.

use serde_json::{Value, json};
use sim_api::spec::keys::HOSTNAME;
use sim_api::spec::{CompletionMode, JobObject, NodeObject, ObjectDecodeError, RestartPolicy, TaintEffect};
use sim_inputs::kube::stored::*;
fn node(edit: impl FnOnce(&mut Value)) -> Result<NodeObject, ObjectDecodeError> {
    let mut object = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n1", "labels": {"rack": "a"}, "uid": "u", "resourceVersion": "7"},
        "spec": {"podCIDR": "10.0.0.0/24", "unschedulable": true, "taints": [
            {"key": "only", "value": "x", "effect": "NoSchedule", "timeAdded": "2026-11-21T00:00:00Z"}]},
        "status": {"capacity": {"cpu": "9"}, "allocatable": {"cpu": "8", "memory": "64Gi"},
            "declaredFeatures": ["F"], "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.36.3"}}});
    edit(&mut object);
    stored_node(&object)
}

#[test]
fn a_node_is_read_as_kubectl_shows_it() {
    let result = node(|_| {}).unwrap();
    assert_eq!((result.name.as_str(), result.unschedulable), ("n1", true));
    assert_eq!(result.labels["rack"], "a");
    assert_eq!(result.labels[HOSTNAME], "n1");
    assert_eq!(result.taints[0].effect, TaintEffect::NoSchedule);
    let (cpu, pods) = (result.allocatable["cpu"], result.allocatable["pods"]);
    assert_eq!((cpu, pods), (8_000, 110_000));
    assert_eq!(result.features, ["F"]);
    let bare = node(|n| {
        n["status"] = json!({"capacity": {"cpu": "9", "pods": "3"}});
        n["spec"] = Value::Null;
    });
    let bare = bare.unwrap();
    let (cpu, pods) = (bare.allocatable["cpu"], bare.allocatable["pods"]);
    assert_eq!((cpu, pods, bare.taints.len()), (9_000, 3_000, 0));
}

#[test]
fn what_of_a_node_is_not_modelled_is_an_error() {
    let not_ready = node(|n| n["status"]["conditions"][0]["status"] = json!("Unknown"));
    assert!(not_ready.unwrap_err().to_string().contains("Ready=Unknown"));
    let unknown = node(|n| n["spec"]["power"] = json!(1));
    assert!(unknown.unwrap_err().to_string().contains("\"power\""));
    let nameless = node(|n| n["metadata"] = json!({}));
    assert_eq!(nameless.unwrap_err(), ObjectDecodeError::MissingName);
}

fn job(spec: Value) -> Result<JobObject, ObjectDecodeError> {
    stored_job(&json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "j", "namespace": "n", "finalizers": ["a/b"]}, "spec": spec}))
}

#[test]
fn a_job_of_its_own_has_the_defaults_of_kubernetes_not_of_jobset() {
    let template = json!({"spec": {"restartPolicy": "Never", "containers": []}});
    let result = job(json!({"parallelism": 2, "suspend": true, "template": template})).unwrap();
    assert_eq!(result.spec.completion_mode, CompletionMode::NonIndexed);
    assert_eq!((result.spec.pods(), result.suspend), (2, true));
    assert_eq!((result.namespace.as_str(), result.name.as_str()), ("n", "j"));
    assert_eq!(result.finalizers, ["a/b"]);
    let own = job(json!({"manualSelector": true, "template": template}));
    assert!(own.unwrap_err().to_string().contains("manualSelector"));
}

#[test]
fn a_pod_of_its_own_may_be_bound_from_the_start() {
    let pod = |spec: Value| {
        stored_pod(&json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p", "labels": {"app": "x"}}, "spec": spec}))
    };
    let bound = pod(json!({"nodeName": "n1", "priority": 7, "containers": [
        {"name": "c", "resources": {"limits": {"cpu": "2"}}}]}));
    let bound = bound.unwrap();
    assert_eq!(bound.template.spec.node_name.as_deref(), Some("n1"));
    assert_eq!(bound.template.labels["app"], "x");
    let spec = &bound.template.spec;
    assert_eq!((spec.priority, spec.requests()["cpu"]), (7, 2_000));
    assert_eq!(spec.restart_policy, RestartPolicy::Always);
    let free = pod(json!({"containers": []})).unwrap();
    assert_eq!(free.template.spec.node_name, None);
}
