//! Tests of `sim_api::objects::any_kind`.

use serde_json::{Value, json};
use sim_api::objects::any_kind::*;
use sim_api::objects::context::ObjectContext;
fn stored(posted: Value) -> Result<Value, String> {
    admit_any(&posted, &ObjectContext::default()).map_err(|r| r.message)
}

#[test]
fn a_service_gets_an_address_unless_it_wants_none() {
    let service = |ip: Value| {
        json!({"kind": "Service", "metadata": {"name": "js"},
            "spec": {"clusterIP": ip, "ports": [{"port": 80}], "selector": {"app": "other"}}})
    };
    let given = stored(service(Value::Null)).unwrap();
    let address = given["spec"]["clusterIP"].as_str().unwrap();
    assert!(address.starts_with("10.96."), "{address}");
    assert_eq!(given["spec"]["clusterIPs"], json!([address]));
    assert_eq!(given["spec"]["ports"][0]["targetPort"], 80);
    let none = stored(service(json!("None"))).unwrap();
    assert_eq!(none["spec"]["clusterIPs"], json!(["None"]));
}

#[test]
fn a_priority_class_of_a_user_has_a_highest_value_and_no_name_of_the_system() {
    let class =
        |name: &str, value: i64| stored(json!({"kind": "PriorityClass", "metadata": {"name": name}, "value": value}));
    assert!(class("high", 1_000_000_000).is_ok());
    assert!(class("low", -1_000_000_000).is_ok());
    let refused = class("huge", 1_000_000_001).unwrap_err();
    let why = "value: Forbidden: maximum allowed value of a user defined priority is 1000000000";
    assert!(refused.ends_with(why), "{refused}");
    let refused = class("system-mine", 1).unwrap_err();
    assert!(refused.ends_with("system-mine is not a known system priority class"), "{refused}");
}

#[test]
fn a_pod_keeps_its_name_and_gets_the_defaults() {
    let pod = json!({"kind": "Pod", "metadata": {"name": "own", "namespace": "n"},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]}});
    let pod = stored(pod).unwrap();
    assert_eq!(pod["metadata"]["name"], "own");
    assert_eq!(pod["spec"]["restartPolicy"], "Always");
}

#[test]
fn what_was_posted_is_not_overwritten_and_bad_names_are_rejected() {
    let node = json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "8"}}});
    let node = stored(node).unwrap();
    assert_eq!(node["status"]["allocatable"]["cpu"], "8");
    let class = json!({"kind": "PriorityClass", "metadata": {"name": "p"}, "value": 1,
        "preemptionPolicy": "Never"});
    assert_eq!(stored(class.clone()), Ok(class));
    let bad = json!({"kind": "Namespace", "metadata": {"name": "A"}});
    assert!(stored(bad).unwrap_err().contains("metadata.name"));
}

#[test]
fn services_namespaces_volumes_and_taints_are_checked_like_by_the_server() {
    let object = |kind: &str, name: &str, spec: Value| json!({"kind": kind, "metadata": {"name": name}, "spec": spec});
    let volume = |change: Value| {
        let mut spec =
            json!({"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/d"}});
        sim_api::admission::merge_patch(&mut spec, &change);
        object("PersistentVolume", "v", spec)
    };
    let taints = |taints: Value| object("Node", "n", json!({"taints": taints}));
    for (posted, refusal) in [
        (object("Service", "s", json!({"type": "ClusterIP"})), "spec.ports: Required value"),
        (
            object("Service", "s", json!({"ports": [{"port": 80}, {"port": 81}]})),
            "[spec.ports[0].name: Required value, spec.ports[1].name: Required value]",
        ),
        (
            object("Service", "s", json!({"ports": [{"port": 0}]})),
            "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (object("Namespace", "a.b", json!({})), "metadata.name: Invalid value: \"a.b\": must not contain dots"),
        (volume(json!({"hostPath": null})), "spec: Required value: must specify a volume type"),
        (volume(json!({"nfs": {}})), "spec.nfs: Forbidden: may not specify more than 1 volume type"),
        (volume(json!({"accessModes": []})), "spec.accessModes: Required value"),
        (
            volume(json!({"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]})),
            "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
        ),
        (
            volume(json!({"capacity": {"storage": "0"}})),
            "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero",
        ),
        (
            taints(json!([{"key": "k", "effect": "NoExecute"}, {"key": "k", "effect": "NoExecute"}])),
            "spec.taints[1]: Duplicate value: {\"Key\":\"k\",\"Value\":\"\",\"Effect\":\"NoExecute\",\"TimeAdded\":null}: taints \
             must be unique by key and effect pair",
        ),
        (taints(json!([{"key": "k"}])), "spec.taints[0].effect: Required value"),
    ] {
        let answer = admit_any(&posted, &ObjectContext::default()).map_err(|r| r.message);
        let refused = answer.expect_err(refusal);
        assert!(refused.ends_with(&format!(" is invalid: {refusal}")), "{refused}");
    }
    for posted in [
        object("Service", "s", json!({"clusterIP": "None"})),
        object("Service", "s", json!({"ports": [{"port": 80}]})),
        object("Namespace", "a-b", json!({})),
        volume(json!({})),
        taints(json!([{"key": "k", "effect": "NoExecute"}, {"key": "k", "effect": "NoSchedule"}])),
    ] {
        let answer = admit_any(&posted, &ObjectContext::default()).map_err(|r| r.message);
        assert!(answer.is_ok(), "{posted}: {answer:?}");
    }
}
