//! Tests of `sim_api::spec::request`.

use serde_json::{Value, json};
use sim_api::spec::request::*;
#[test]
fn kinds_are_known_by_their_names_and_resources() {
    assert_eq!(ObjectKind::from_kind("Lease"), ObjectKind::Lease);
    assert_eq!(ObjectKind::from_resource("v1/persistentvolumes"), ObjectKind::PersistentVolume);
    assert_eq!(ObjectKind::from_kind("ConfigMap"), ObjectKind::Other);
    assert!(ObjectKind::Job.is_namespaced() && !ObjectKind::Node.is_namespaced());
    assert_eq!(ObjectKind::Pod.as_str(), "Pod");
}

#[test]
fn a_patch_of_a_node_may_change_four_things() {
    let unknown = |body: Value, status| unknown_node_patches(&body, status);
    let body = json!({"metadata": {"labels": {"a": "b"}, "name": "n"}, "spec": {"taints": [],
        "unschedulable": true}});
    assert_eq!(unknown(body, false), [""; 0]);
    let status = json!({"status": {"allocatable": {"cpu": "1"}}});
    assert_eq!(unknown(status.clone(), true), [""; 0]);
    assert_eq!(unknown(status, false), ["status.allocatable"]);
    let other = json!({"metadata": {"annotations": {}}, "spec": {"podCIDR": "x"}, "data": 1});
    assert_eq!(unknown(other, false), ["data", "metadata.annotations", "spec.podCIDR"]);
}
