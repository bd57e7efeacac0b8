//! Unit tests of `sim_recordings::validate::scenario::surroundings`.

use super::*;
use crate::validate::read::tests::example;

fn with(objects: Value) -> Result<Vec<Value>, Vec<String>> {
    let recording = example(|j| j["objects"] = objects);
    let (gates, _) = initial_gates_and_switches(&recording).unwrap();
    super::objects(&recording, gates).map_err(texts)
}

fn texts(parts: Vec<UnmodelledPart>) -> Vec<String> {
    parts.iter().map(ToString::to_string).collect()
}

#[test]
fn objects_are_stored_in_the_namespace_of_the_recording() {
    let stored = with(json!([
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"unschedulable": true}},
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data-js"},
             "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
            {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "other"},
             "spec": {"replicatedJobs": []}}]));
    let stored = stored.unwrap();
    assert_eq!(stored[0]["metadata"], json!({"name": "n"}));
    assert_eq!(stored[0]["spec"]["unschedulable"], true);
    assert_eq!(stored[1]["metadata"]["namespace"], "ns");
    assert_eq!(stored[1]["spec"]["volumeMode"], "Filesystem");
    assert_eq!(stored[2]["metadata"]["namespace"], "ns");
    assert_eq!(stored[2]["spec"]["successPolicy"]["operator"], "All");
    assert_eq!(claims(&stored).len(), 1);
}

#[test]
fn a_role_for_the_status_of_pods_is_what_the_flag_says_and_no_other_is_simulated() {
    let role = |resource: &str| json!({"kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [{"resources": [resource]}]});
    let binding = json!({"kind": "ClusterRoleBinding", "metadata": {"name": "r"}});
    assert_eq!(with(json!([role("pods/status"), binding])), Ok(Vec::new()));
    let reasons = with(json!([role("secrets"), {"kind": "ConfigMap"}])).unwrap_err();
    assert_eq!(reasons, ["ClusterRole with rules beyond pods/status", "object of kind ConfigMap"]);
}

#[test]
fn an_object_that_is_rejected_is_named() {
    let reasons = with(json!([{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "J"},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}]));
    let reasons = reasons.unwrap_err();
    assert!(reasons[0].starts_with("object Job J: Job.batch"), "{reasons:?}");
}

#[test]
fn each_switch_says_which_gates_are_off_from_then_on() {
    let recording = example(|j| {
        j["controlPlane"]["featureGates"] = json!(["InPlaceRestart", "RestartJob"]);
        j["controlPlane"]["gateSwitches"] = json!([{"atMs": 12000, "off": ["RestartJob"]}, {"atMs": 15000, "off": []}]);
    });
    let (from_start, switches) = initial_gates_and_switches(&recording).unwrap();
    assert_eq!(switches[0].at, FaultTime::At(Duration::from_secs(12)));
    let stop = |at: usize| match switches[at].action {
        FaultAction::StopManager(stop) => stop,
        _ => panic!("the manager is stopped"),
    };
    assert_eq!(stop(0).down_for, Duration::from_secs(2));
    assert_eq!(stop(0).gates.restart_job, Some(false));
    assert_eq!(stop(0).gates.in_place_restart, Some(true));
    assert_eq!(from_start.with_changes(stop(1).gates), from_start);
    let unknown = example(|j| {
        j["controlPlane"]["featureGates"] = json!(["Magic"]);
        j["controlPlane"]["gateSwitches"] = json!([{"atMs": 1, "on": ["RestartJob"]}]);
    });
    let reasons = initial_gates_and_switches(&unknown).map_err(texts);
    let reasons = reasons.unwrap_err();
    assert_eq!(reasons, ["feature gate Magic", "gateSwitches key on"]);
}
