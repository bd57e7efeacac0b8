//! Pods as the API server stores or refuses them: affinity, spread constraints and the resources of a whole pod. The
//! messages are those of the server's own code.

use serde_json::{Value, json};
use sim_api::objects::any_kind::admit_any;
use sim_api::objects::context::ObjectContext;

fn stored(change: Value) -> Result<Value, String> {
    let mut spec = json!({"containers": [{"name": "main", "image": "a:v1"}]});
    sim_api::admission::merge_patch(&mut spec, &change);
    let pod =
        json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "labels": {"rev": "1"}}, "spec": spec});
    let result = admit_any(&pod, &ObjectContext::default()).map(|stored| stored["spec"].clone());
    result.map_err(|r| r.message.trim_start_matches("Pod \"p\" is invalid: ").to_owned())
}

fn spread(more: Value) -> Value {
    let mut constraint = json!({"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"});
    sim_api::admission::merge_patch(&mut constraint, &more);
    constraint
}

fn container(name: &str, resources: Value) -> Value {
    json!({"name": name, "image": "a:v1", "resources": resources})
}

#[test]
fn values_of_node_affinity_are_checked_in_required_terms_only() {
    let term = json!({"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["-1"]}]});
    let affinity = |key: &str, value: Value| json!({"affinity": {"nodeAffinity": {key: value}}});
    let preferred =
        affinity("preferredDuringSchedulingIgnoredDuringExecution", json!([{"weight": 1, "preference": term}]));
    assert!(stored(preferred).is_ok());
    let required =
        |term: &Value| affinity("requiredDuringSchedulingIgnoredDuringExecution", json!({"nodeSelectorTerms": [term]}));
    let refused = stored(required(&term)).unwrap_err();
    assert!(refused.contains("matchExpressions[0].values[0]: Invalid value: \"-1\": a valid label"), "{refused}");
    let field = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["A b"]}]});
    let refused = stored(required(&field)).unwrap_err();
    assert!(refused.contains("matchFields[0].values[0]: Invalid value: \"A b\": a lowercase"), "{refused}");
}

#[test]
fn spread_constraints_are_checked_in_the_order_of_the_server() {
    let at = "spec.topologySpreadConstraints[0]";
    let zone = json!({"topologyKey": "zone"});
    for (name, constraints, expected) in [
        (
            "the first of two equal pairs is reported",
            json!([spread(json!({})), spread(zone), spread(json!({"maxSkew": 2}))]),
            ".{topologyKey, whenUnsatisfiable}: Duplicate value: \"{rack, DoNotSchedule}\"",
        ),
        (
            "keys need a selector",
            json!([spread(json!({"matchLabelKeys": ["rev"]}))]),
            ".matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
        ),
        (
            "a key must not be in the selector",
            json!([spread(json!({"matchLabelKeys": ["rev"], "labelSelector": {"matchLabels": {"rev": "2"}}}))]),
            "[0]: Invalid value: \"rev\": exists in both matchLabelKeys and labelSelector",
        ),
        (
            "an unknown policy",
            json!([spread(json!({"nodeAffinityPolicy": "Never"}))]),
            ".nodeAffinityPolicy: Unsupported value: \"Never\": supported values: \"Honor\", \"Ignore\"",
        ),
    ] {
        let refused = stored(json!({"topologySpreadConstraints": constraints}));
        assert_eq!(refused, Err(format!("{at}{expected}")), "{name}");
    }
    assert!(stored(json!({"topologySpreadConstraints": [spread(json!({"topologyKey": "a b"}))]})).is_ok());
    let keys = spread(json!({"matchLabelKeys": ["rev"], "labelSelector": {"matchLabels": {"app": "a"}}}));
    let merged = stored(json!({"topologySpreadConstraints": [keys]})).unwrap();
    let selector = &merged["topologySpreadConstraints"][0]["labelSelector"];
    assert_eq!(selector["matchExpressions"], json!([{"key": "rev", "operator": "In", "values": ["1"]}]));
}

#[test]
fn resources_of_a_pod_are_compared_with_those_of_its_containers() {
    let requests = |amounts: Value| json!({"requests": amounts});
    for (name, spec, expected) in [
        (
            "the sum of the containers is larger",
            json!({
                "resources": requests(json!({"cpu": "1"})),
                "containers": [
                    container("a", requests(json!({"cpu": "750m"}))),
                    container("b", requests(json!({"cpu": "500m"}))),
                ],
            }),
            "spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to aggregate container \
             requests of 1250m",
        ),
        (
            "the limit of a container is larger",
            json!({
                "resources": {"limits": {"memory": "1Gi"}},
                "containers": [container("a", json!({"limits": {"memory": "2Gi"}}))],
            }),
            "[spec.resources.requests: Invalid value: \"2Gi\": must be less than or equal to memory limit of 1Gi, \
             spec.resources.containers[0][memory].limits: Invalid value: \"2Gi\": must be less than or equal to pod \
             limits of 1Gi]",
        ),
        (
            "other resources have no place there",
            json!({"resources": requests(json!({"gpu": "1", "storage": "1"}))}),
            "[spec.resources.requests[gpu]: Invalid value: \"gpu\": must be a standard resource type or fully \
             qualified, spec.resources.requests[storage]: Unsupported value: \"storage\": supported values: \"cpu\", \
             \"hugepages-\", \"memory\"]",
        ),
    ] {
        assert_eq!(stored(spec), Err(expected.to_owned()), "{name}");
    }
}

#[test]
fn resources_of_a_pod_default_to_those_of_its_containers_and_to_its_limits() {
    let memory = |amount: &str| json!({"requests": {"memory": amount}});
    let huge = json!({"requests": {"cpu": "1", "hugepages-2Mi": "4Mi"}, "limits": {"hugepages-2Mi": "4Mi"}});
    let cpu = |amount: &str| json!({"requests": {"cpu": amount}});
    for (resources, containers, init, expected) in [
        (
            json!({"limits": {"cpu": "2", "memory": "4Gi"}}),
            json!([container("a", cpu("500m")), container("b", cpu("1"))]),
            json!([]),
            json!({"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "1500m", "memory": "4Gi"}}),
        ),
        (
            json!({"limits": {"cpu": "4"}, "requests": {"cpu": "3"}}),
            json!([container("a", memory("1Gi")), container("b", memory("512Mi"))]),
            json!([container("i", memory("2Gi"))]),
            json!({"limits": {"cpu": "4"}, "requests": {"cpu": "3", "memory": "2Gi"}}),
        ),
        (
            json!({"requests": {"cpu": "3"}}),
            json!([container("a", huge)]),
            json!([]),
            json!({"limits": {"hugepages-2Mi": "4Mi"}, "requests": {"cpu": "3", "hugepages-2Mi": "4Mi"}}),
        ),
        (
            json!({"requests": {"cpu": "3"}}),
            json!([container("a", memory("1Gi"))]),
            json!([]),
            json!({"requests": {"cpu": "3"}}),
        ),
    ] {
        let spec = json!({"resources": resources, "containers": containers, "initContainers": init});
        assert_eq!(stored(spec.clone()).map(|spec| spec["resources"].clone()), Ok(expected), "{spec}");
    }
}

#[test]
fn security_resolvers_and_mounts_are_checked_with_the_words_of_the_server() {
    let main = |more: Value| {
        let mut container = json!({"name": "main", "image": "a:v1"});
        sim_api::admission::merge_patch(&mut container, &more);
        json!({"volumes": [{"name": "v", "emptyDir": {}}], "containers": [container]})
    };
    let mounts = |more: Value| {
        let mut mount = json!({"name": "v", "mountPath": "/v"});
        sim_api::admission::merge_patch(&mut mount, &more);
        main(json!({"volumeMounts": [mount]}))
    };
    let context = |more: Value| json!({"securityContext": more});
    for (change, expected) in [
        (
            json!({"dnsConfig": {"nameservers": ["foo"]}}),
            "spec.dnsConfig.nameservers[0]: Invalid value: \"foo\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        ),
        (
            json!({"dnsConfig": {"nameservers": ["010.0.0.1", "::1"], "options": [{"value": "x"}]}}),
            "spec.dnsConfig.options[0]: Required value: must not be empty",
        ),
        (
            json!({"dnsConfig": {"nameservers": ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]}}),
            "spec.dnsConfig.nameservers: Invalid value: [\"1.1.1.1\",\"1.1.1.2\",\"1.1.1.3\",\"1.1.1.4\"]: must not have more than 3 nameservers",
        ),
        (json!({"hostUsers": false, "hostPID": true}), "spec.HostPID: Forbidden: when `hostUsers` is false"),
        (
            json!({"shareProcessNamespace": true, "hostPID": true}),
            "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
        ),
        (
            context(json!({"fsGroupChangePolicy": "Foo"})),
            "spec.securityContext.fsGroupChangePolicy: Unsupported value: \"Foo\": supported values: \"Always\", \"OnRootMismatch\"",
        ),
        (
            context(json!({"seccompProfile": {"type": "Localhost"}})),
            "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
        ),
        (
            context(json!({"appArmorProfile": {"type": "Localhost"}})),
            "spec.securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost",
        ),
        (
            main(context(json!({"seccompProfile": {"type": "Foo"}}))),
            "spec.containers[0].securityContext.seccompProfile.type: Unsupported value: \"Foo\": supported values: \"Localhost\", \"RuntimeDefault\", \"Unconfined\"",
        ),
        (
            main(context(json!({"procMount": "Unmasked"}))),
            "spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`",
        ),
        (
            main(json!({"resizePolicy": [{"resourceName": "gpu", "restartPolicy": "NotRequired"}]})),
            "spec.containers[0].resizePolicy: Unsupported value: \"gpu\": supported values: \"cpu\", \"memory\"",
        ),
        (
            mounts(json!({"mountPropagation": "Bidirectional"})),
            "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
        ),
        (
            mounts(json!({"recursiveReadOnly": "Enabled"})),
            "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
        ),
    ] {
        assert_eq!(stored(change.clone()), Err(expected.to_owned()), "{change}");
    }
    for change in [
        json!({"dnsConfig": {"nameservers": ["fd00::1"], "searches": ["a.b"], "options": [{"name": "ndots"}]}}),
        json!({"hostUsers": false, "securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "p"}}}),
        mounts(json!({"mountPropagation": "HostToContainer"})),
        mounts(json!({"recursiveReadOnly": "Enabled", "readOnly": true})),
        main(
            json!({"securityContext": {"privileged": true}, "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]}),
        ),
    ] {
        assert!(stored(change.clone()).is_ok(), "{change}: {:?}", stored(change.clone()));
    }
}
