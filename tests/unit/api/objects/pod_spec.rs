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

/// A pod with this volume.
fn volume(source: Value) -> Value {
    let mut volume = json!({"name": "v"});
    sim_api::admission::merge_patch(&mut volume, &source);
    json!({"volumes": [volume]})
}

fn with_env(from: Value) -> Value {
    json!({
        "containers": [{"name": "main", "image": "a:v1", "env": [{"name": "A", "valueFrom": from}]}],
        "volumes": [{"name": "files", "emptyDir": {}}, {"name": "keys", "configMap": {"name": "c"}}],
    })
}

#[test]
fn volumes_variables_and_names_are_checked_like_by_the_server() {
    let resource = |resource: &str, divisor: &str| {
        with_env(json!({"resourceFieldRef": {"resource": resource, "divisor": divisor}}))
    };
    let file =
        |volume: &str, path: &str| with_env(json!({"fileKeyRef": {"key": "A", "volumeName": volume, "path": path}}));
    let token = |token: Value| volume(json!({"projected": {"sources": [{"serviceAccountToken": token}]}}));
    let downward = |file: Value| volume(json!({"downwardAPI": {"items": [file]}}));
    let context = |context: Value| json!({"containers": [{"name": "m", "image": "a:v1", "securityContext": context}]});
    let iscsi = |iqn: &str| volume(json!({"iscsi": {"targetPortal": "10.0.0.1", "iqn": iqn, "lun": 0}}));
    let probe = json!({"httpGet": {"port": 80, "httpHeaders": [{"name": "a b", "value": "c"}]}});
    let from = "spec.containers[0].env[0].valueFrom";
    let at = "spec.volumes[0]";
    for (name, spec, expected) in [
        (
            "a divisor of cpu",
            resource("limits.cpu", "10m"),
            format!(
                "{from}.resourceFieldRef.divisor: Invalid value: \"limits.cpu\": only divisor's values 1m and 1 are \
                 supported with the cpu resource"
            ),
        ),
        ("a file of another kind of volume", file("keys", "a"), {
            format!("{from}.fileKeyRef.volumeName: Invalid value: \"keys\": referenced volume must be of type emptyDir")
        }),
        ("a file outside of its volume", file("files", "../a"), {
            format!("{from}.fileKeyRef.path: Invalid value: \"../a\": must not contain '..'")
        }),
        (
            "no source",
            with_env(json!({})),
            format!(
                "{from}: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, \
                 `secretKeyRef` or `fileKeyRef`"
            ),
        ),
        ("a short token", token(json!({"path": "t", "expirationSeconds": 60})), {
            format!(
                "{at}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify \
                 a duration less than 10 minutes"
            )
        }),
        (
            "a field that files do not show",
            downward(json!({"path": "../x", "fieldRef": {"fieldPath": "spec.nodeName"}})),
            format!(
                "[{at}.downwardAPI.path: Invalid value: \"../x\": must not contain '..', \
                 {at}.downwardAPI.fieldRef.fieldPath: Unsupported value: \"spec.nodeName\": supported values: \
                 \"metadata.annotations\", \"metadata.labels\", \"metadata.name\", \"metadata.namespace\", \
                 \"metadata.uid\"]"
            ),
        ),
        ("a file without content", downward(json!({"path": "..x"})), {
            format!(
                "[{at}.downwardAPI.path: Invalid value: \"..x\": must not start with '..', {at}.downwardAPI: Required \
                 value: one of fieldRef and resourceFieldRef is required]"
            )
        }),
        ("a driver", volume(json!({"csi": {"driver": "a_b"}})), {
            format!(
                "{at}.csi.driver: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain must consist of lower case"
            )
        }),
        ("a claim without template", volume(json!({"ephemeral": {}})), {
            format!("{at}.ephemeral.volumeClaimTemplate: Required value")
        }),
        ("an iSCSI name", iscsi("iqn.2015-2.example.com:test"), {
            format!("{at}.iscsi.iqn: Invalid value: \"iqn.2015-2.example.com:test\": must be valid format")
        }),
        ("an nfs volume without path", volume(json!({"nfs": {"server": "s"}})), {
            format!("[{at}.nfs.path: Required value, {at}.nfs.path: Invalid value: \"\": must be an absolute path]")
        }),
        (
            "a header",
            json!({"containers": [{"name": "m", "image": "a:v1", "readinessProbe": probe}]}),
            "spec.containers[0].readinessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must \
             consist of alphanumeric characters or '-'"
                .to_owned(),
        ),
        (
            "a search path",
            json!({"dnsConfig": {"searches": ["_tcp.example.com.", ".", "a b"]}}),
            "spec.dnsConfig.searches[2]: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower \
             case alphanumeric characters, '_', '-' or '.'"
                .to_owned(),
        ),
        (
            "a host name beside that of the node",
            json!({"hostnameOverride": "h", "hostNetwork": true}),
            "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true".to_owned(),
        ),
        (
            "privileges that contradict each other",
            context(json!({"allowPrivilegeEscalation": false, "privileged": true})),
            "spec.containers[0].securityContext: Invalid value: {\"Capabilities\":null,\"Privileged\":true,\
             \"SELinuxOptions\":null,\"WindowsOptions\":null,\"RunAsUser\":null,\"RunAsGroup\":null,\
             \"RunAsNonRoot\":null,\"ReadOnlyRootFilesystem\":null,\"AllowPrivilegeEscalation\":false,\
             \"ProcMount\":null,\"SeccompProfile\":null,\"AppArmorProfile\":null}: cannot set \
             `allowPrivilegeEscalation` to false and `privileged` to true"
                .to_owned(),
        ),
        (
            "options of the other operating system",
            json!({"os": {"name": "linux"}, "securityContext": {"windowsOptions": {}}}),
            "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod".to_owned(),
        ),
        (
            "fields of the other operating system",
            json!({"os": {"name": "windows"}, "hostPID": true, "securityContext": {"runAsUser": 1}}),
            "[spec.hostPID: Forbidden: cannot be set for a windows pod, spec.securityContext.runAsUser: Forbidden: \
             cannot be set for a windows pod]"
                .to_owned(),
        ),
    ] {
        let refused = stored(spec).expect_err(name);
        assert!(refused.starts_with(&expected), "{name}: {refused}");
    }
    for (name, spec) in [
        ("a legal divisor", resource("limits.cpu", "1000m")),
        ("a legal file", file("files", "a")),
        ("a legal token", token(json!({"path": "t"}))),
        ("a legal iSCSI name", iscsi("iqn.2015-02.example.com:test")),
        ("a legal NAA name", iscsi("naa.62004567BA64678D0123456789ABCDEF")),
        ("a driver with capital letters", volume(json!({"csi": {"driver": "A.example.com"}}))),
        ("options of Windows", json!({"os": {"name": "windows"}, "securityContext": {"windowsOptions": {}}})),
    ] {
        assert_eq!(stored(spec).err(), None, "{name}");
    }
}

/// `ValidatePodSpecificAnnotations`, and the admission plugin RuntimeClass.
#[test]
fn annotations_of_profiles_and_overhead_without_a_class_are_checked() {
    const SECCOMP: &str = "container.seccomp.security.alpha.kubernetes.io/main";
    const APPARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
    let apparmor = |container: &str| format!("{APPARMOR}{container}");
    let overhead = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    let rows = [
        (apparmor("main"), "runtime/default", json!({}), ""),
        (apparmor("main"), "localhost/own", json!({}), ""),
        (apparmor("main"), "own", json!({}), "invalid AppArmor profile name: \"own\""),
        (apparmor("other"), "unconfined", json!({}), "Invalid value: \"other\": container not found"),
        (SECCOMP.to_owned(), "unconfined", json!({}), ""),
        (SECCOMP.to_owned(), "unconfined2", json!({}), "must be a valid seccomp profile"),
        (SECCOMP.to_owned(), "localhost/../x", json!({}), "must not contain '..'"),
        ("kubernetes.io/config.mirror".to_owned(), "x", json!({}), "must set spec.nodeName"),
        ("kubernetes.io/config.mirror".to_owned(), "x", json!({"nodeName": "n"}), ""),
        ("a".to_owned(), "b", json!({"overhead": {"cpu": "1"}}), overhead),
        ("a".to_owned(), "b", json!({"overhead": {"cpu": "1"}, "runtimeClassName": "c"}), ""),
    ];
    for (key, value, fields, refused) in rows {
        let mut spec = json!({"containers": [{"name": "main", "image": "a:v1"}]});
        fields.as_object().unwrap().iter().for_each(|(field, value)| spec[field] = value.clone());
        let metadata = json!({"name": "p", "namespace": "ns", "annotations": {key.clone(): value}});
        let context = ObjectContext { runtime_classes: &["c".to_owned()], ..ObjectContext::default() };
        let pod = json!({"kind": "Pod", "metadata": metadata, "spec": spec});
        let answer = admit_any(&pod, &context).map(|_| ()).map_err(|r| r.message);
        match answer {
            Ok(()) => assert_eq!(refused, "", "{key}: {value}"),
            Err(why) => assert!(!refused.is_empty() && why.contains(refused), "{key}: {value}: {why}"),
        }
    }
}

#[test]
fn the_cost_of_a_deletion_is_an_integer() {
    for (cost, legal) in [("-100", true), ("0", true), ("7", true), ("text", false), ("008", false), ("+10", false)] {
        let pod = json!({
            "kind": "Pod",
            "metadata": {
                "name": "p", "namespace": "ns", "annotations": {"controller.kubernetes.io/pod-deletion-cost": cost},
            },
            "spec": {"containers": [{"name": "main", "image": "a:v1"}]},
        });
        let answer = admit_any(&pod, &ObjectContext::default()).map(|_| ()).map_err(|r| r.message);
        let refused = format!(
            "Pod \"p\" is invalid: metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \
             \"{cost}\": must be a 32bit integer"
        );
        assert_eq!(answer, if legal { Ok(()) } else { Err(refused) });
    }
}
