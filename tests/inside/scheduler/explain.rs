//! Texts of explanations: the sentence of kube-scheduler and the smallest change, for claims and for each plugin.

use crate::cluster::Cluster;
use crate::explain::explain;
use crate::node::NodeView;
use crate::plugins::claims::ClaimProblem;
use crate::pod::PodView;
use crate::profile::Profile;
use crate::storage::StorageObjects;
use serde_json::{Value, json};

fn cluster(nodes: &[Value]) -> Cluster {
    let mut cluster = Cluster::default();
    for (at, node) in nodes.iter().enumerate() {
        let mut node = node.clone();
        node["metadata"]["name"] = json!(format!("n{at}"));
        if node["status"].is_null() {
            node["status"]["allocatable"] = json!({"cpu": "4", "pods": "2"});
        }
        let view = NodeView::read(&node, &mut cluster.columns);
        cluster.add_node(view);
    }
    cluster
}

fn pod(cluster: &mut Cluster, name: &str, spec: Value) -> PodView {
    let pod = json!({"metadata": {"name": name, "namespace": "n", "labels": {"app": "a"}}, "spec": spec});
    PodView::read(&pod, &mut cluster.columns)
}

/// Returns the message and the smallest change, or an empty text.
fn explained(cluster: &Cluster, pod: &PodView) -> (String, String) {
    let explanation = explain(cluster, pod, &Profile::default(), None);
    (explanation.message, explanation.change.map_or(String::new(), |change| change.text()))
}

#[test]
fn a_claim_that_keeps_a_pod_from_all_nodes_is_named_with_its_step() {
    let mut cluster = cluster(&[json!({}), json!({})]);
    let mut pod = pod(&mut cluster, "p", json!({}));
    let name = || "data".to_owned();
    for (problem, message, step) in [
        (
            ClaimProblem::Missing(name()),
            "persistentvolumeclaim \"data\" not found",
            "create the PersistentVolumeClaim \"data\"",
        ),
        (
            ClaimProblem::Unbound,
            "pod has unbound immediate PersistentVolumeClaims",
            "bind the PersistentVolumeClaims of the pod to volumes",
        ),
        (ClaimProblem::Deleted(name()), "persistentvolumeclaim \"data\" is being deleted", ""),
        (
            ClaimProblem::ResourceClaimMissing(name()),
            "resourceclaim.resource.k8s.io \"data\" not found",
            "create the ResourceClaim \"data\"",
        ),
        (ClaimProblem::ResourceClaimNotCreated("n/p".to_owned()), "pod \"n/p\": ResourceClaim not created yet", ""),
    ] {
        pod.claim_problem = Some(problem);
        let expected = (format!("0/2 nodes are available: {message}."), step.to_owned());
        assert_eq!(explained(&cluster, &pod), expected);
    }
}

#[test]
fn a_claim_of_one_pod_and_a_volume_elsewhere_are_named_with_their_steps() {
    let zone = |zone: &str| json!({"metadata": {"labels": {"zone": zone}}});
    let mut cluster = cluster(&[zone("a"), zone("b")]);
    let mount = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]});
    let user = pod(&mut cluster, "user", mount.clone());
    cluster.add_pod(0, user);
    let next = pod(&mut cluster, "next", mount);
    cluster.storage.is_assumed = true;
    assert_eq!(explained(&cluster, &next).1, "; 2 nodes qualify: n0 to n1");
    let term = json!({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["c"]}]});
    let volume = json!({"metadata": {"name": "disk"},
        "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}});
    let storage = |mode: &str, volume_name: &str| {
        let annotations = json!({"pv.kubernetes.io/bind-completed": "yes"});
        let claim = json!({"metadata": {"name": "data", "namespace": "n", "annotations": annotations},
            "spec": {"accessModes": [mode], "volumeName": volume_name}});
        StorageObjects::read([], [&volume], [&claim])
    };
    cluster.storage = StorageObjects { is_assumed: true, ..storage("ReadWriteOncePod", "") };
    let in_use = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by \
                  another pod";
    let (message, change) = explained(&cluster, &next);
    assert_eq!(message, format!("0/2 nodes are available: 2 {in_use}."));
    assert_eq!(change, "remove the pod that uses the PersistentVolumeClaim data; 2 nodes qualify: n0 to n1");
    cluster.storage = storage("ReadWriteMany", "disk");
    let (message, change) = explained(&cluster, &next);
    assert_eq!(message, "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.");
    assert_eq!(change, "use a volume whose node affinity and zone match the node; 2 nodes qualify: n0 to n1");
}

#[test]
fn each_plugin_names_the_change_that_admits_the_pod() {
    let taint = |key: &str| json!({"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}});
    let affinity = |operator: &str, values: Value| {
        let expression = json!({"key": "zone", "operator": operator, "values": values});
        let terms = json!({"nodeSelectorTerms": [{"matchExpressions": [expression]}]});
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
    };
    let requests = |cpu: &str| json!({"containers": [{"resources": {"requests": {"cpu": cpu}}}]});
    let zone = json!({"metadata": {"labels": {"zone": "a"}}});
    let rules = json!([{"action": "RestartAllContainers"}]);
    let constraint = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
    let required_spread = json!({"topologySpreadConstraints": [constraint]});
    for (node, spec, expected) in [
        (taint("dedicated"), json!({}), "add the toleration {key: dedicated, operator: Exists, effect: NoSchedule}"),
        (taint("node.kubernetes.io/not-ready"), json!({}), "wait until the taint node.kubernetes.io/not-ready:"),
        (json!({"spec": {"unschedulable": true}}), json!({}), "uncordon the node"),
        (json!({}), json!({"nodeSelector": {"zone": "a"}}), "label the node zone=a"),
        (json!({}), affinity("In", json!(["a", "b"])), "label the node zone=a or b"),
        (json!({}), affinity("Exists", json!([])), "label the node with zone"),
        (zone.clone(), affinity("NotIn", json!(["a"])), "change or remove the label zone of the node"),
        (json!({}), affinity("Gt", json!(["3"])), "label the node zone=4"),
        (json!({}), affinity("Lt", json!(["3"])), "label the node zone=2"),
        (
            json!({}),
            affinity("Lt", json!(["b"])),
            "write an integer instead of b for zone in the node affinity of the pod",
        ),
        (zone, affinity("DoesNotExist", json!([])), "remove the label zone from the node"),
        (json!({}), required_spread, "label the node with zone"),
        (json!({}), json!({"containers": [{"resources": {"requests": {"e.com/fpga": "1"}}}]}), "request no e.com/fpga"),
        (json!({}), requests("9"), "request at most 4 of cpu instead of 9"),
        (json!({}), json!({"containers": [{"restartPolicyRules": rules}]}), "enable the feature RestartAllContainers"),
    ] {
        let mut cluster = cluster(&[node]);
        let pod = pod(&mut cluster, "p", spec);
        let (message, change) = explained(&cluster, &pod);
        assert!(message.starts_with("0/1 nodes are available: 1 "), "{message}");
        assert!(change.starts_with(expected) && change.ends_with("; node n0 qualifies"), "{expected}: {change}");
    }
}

#[test]
fn pods_that_take_room_or_repel_the_pod_are_named() {
    let term = json!([{"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "zone"}]);
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let cpu = |cpu: &str| json!({"containers": [{"resources": {"requests": {"cpu": cpu}}}]});
    let port = json!({"containers": [{"ports": [{"hostPort": 80}]}]});
    let spread = json!({"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2,
        "labelSelector": {"matchLabels": {"app": "a"}},
    }]});
    for (others, own, expected) in [
        (vec![cpu("3")], cpu("3500m"), "free 2500m of cpu on the node"),
        (vec![cpu("1"), cpu("1")], cpu("1"), "remove a pod from the node"),
        (vec![json!({})], json!({"affinity": {"podAntiAffinity": {required: term}}}), "remove pod o0 from zone=a"),
        (vec![json!({"affinity": {"podAntiAffinity": {required: term}}})], json!({}), "remove pod o0 from zone=a"),
        (vec![port.clone()], port, "free host port 80/TCP on the node or add a node (one pod per node can use it)"),
        (vec![json!({})], spread, "relax the topology spread constraints of the pod"),
    ] {
        let mut cluster = cluster(&[json!({"metadata": {"labels": {"zone": "a"}}})]);
        for (at, other) in others.into_iter().enumerate() {
            let other = pod(&mut cluster, &format!("o{at}"), other);
            cluster.add_pod(0, other);
        }
        let own = pod(&mut cluster, "p", own);
        assert_eq!(explained(&cluster, &own).1, format!("{expected}; node n0 qualifies"));
    }
}

#[test]
fn each_change_admits_the_pod_when_it_is_made() {
    let affinity = |operator: &str, values: Value| {
        let terms = json!({"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "gen", "operator": operator, "values": values},
        ]}]});
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
    };
    let constraint = json!({"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"});
    for (spec, label) in [
        (affinity("Gt", json!(["3"])), ("gen", "4")),
        (affinity("Lt", json!(["-3"])), ("gen", "-4")),
        (affinity("In", json!(["a"])), ("gen", "a")),
        (json!({"topologySpreadConstraints": [constraint]}), ("rack", "any")),
    ] {
        let mut cluster = cluster(&[json!({})]);
        let pod = pod(&mut cluster, "p", spec);
        let change = explained(&cluster, &pod).1;
        assert!(change.contains(&format!("={}", label.1)) || change.contains(label.0), "{change}");
        let mut node = cluster.nodes[0].clone();
        node.labels.insert(label.0.to_owned(), label.1.to_owned());
        cluster.set_node(0, node);
        let change_after = explain(&cluster, &pod, &Profile::default(), None).change;
        assert!(change_after.is_some_and(|after| after.steps.is_empty()), "{change}");
    }
}
