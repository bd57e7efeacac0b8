//! Pods that stay Pending: the findings as tables.

use super::notation;
use serde_json::{Value, json};
use sim_lint::FindingKind;

/// Traps of pods that stay Pending although no other JobSet runs.
pub const ALONE: [&str; 4] =
    ["topology-key-unknown", "domains-fewer-than-jobs", "domain-too-small", "pods-stay-pending"];
pub const TOGETHER: &str = "cluster-too-small-together";
pub const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

#[test]
fn manifests_that_cannot_be_simulated_are_reported_as_such() {
    let pools = json!([{"name": "n-{node}", "nodesPerIsland": 2, "allocatable": {"cpu": 4}}]);
    let jobset = notation::jobset(&json!({}));
    let report = |objects: &[Value]| notation::objects_on_topology(objects, &pools).0;
    assert_eq!(report(std::slice::from_ref(&jobset)).not_simulated, None);
    let why = report(&[jobset.clone(), jobset.clone()]).not_simulated;
    assert!(why.as_ref().is_some_and(|why| why.contains("js")), "{why:?}");
    // What the API server rejects is a finding.
    let rejected = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "A"}});
    assert_eq!(report(&[rejected]).not_simulated, None);
}

/// Returns one JobSet of `jobs` Jobs with two pods each; `pod` and `container` are merged.
fn one(jobs: u64, pod: Value, container: Value) -> Value {
    let meta = json!({"labels": {"app": "a"}});
    json!({"rjs": [{"name": "w", "replicas": jobs, "podMeta": meta, "pod": pod, "container": container}]})
}

/// Returns a JobSet with further fields of its spec.
fn with_spec(mut side: Value, spec: Value) -> Value {
    side["spec"] = spec;
    side
}

/// Lints JobSets on two racks with two nodes of 4 CPUs each. Returns the findings about Pending pods, each as its
/// severity and detail.
fn findings(sides: &[Value], objects: &[Value]) -> Vec<String> {
    let pools = json!([{
        "name": "n-{node}", "count": 2, "nodesPerIsland": 2, "labels": {"rack": "r{pool}"},
        "allocatable": {"cpu": 4, "memory": "16Gi", "pods": 9},
        "taints": [],
    }]);
    let all: Vec<Value> = sides.iter().map(notation::jobset).chain(objects.iter().cloned()).collect();
    let report = notation::objects_on_topology(&all, &pools).0;
    let is_about = |name: &str| ALONE.contains(&name) || name == TOGETHER;
    let traps = report.findings.iter().filter(|f| f.kind == FindingKind::Rejected || is_about(f.name));
    let text = |message: &str| message.split_once(": ").map_or(String::new(), |(_, detail)| detail.to_owned());
    traps.map(|f| format!("{} {}", f.severity.as_str(), text(&f.diagnostic.message))).collect()
}

#[test]
fn the_finding_has_the_sentence_of_the_scheduler_and_the_smallest_change() {
    let port = || json!({"ports": [{"containerPort": 80, "hostPort": 80}]});
    let apart = |key: &str, app: &str| {
        let term = json!([{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]);
        json!({"affinity": {"podAntiAffinity": {REQUIRED: term}}})
    };
    let near = |app: &str| {
        let term = json!([{"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": app}}}]);
        json!({"affinity": {"podAffinity": {REQUIRED: term}}})
    };
    let spread = |key: &str, domains: u64| {
        json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "minDomains": domains,
            "labelSelector": {"matchLabels": {"app": "a"}},
        }]})
    };
    let cpu = |cpu: u64| json!({"resources": {"requests": {"cpu": cpu}}});
    for (side, expected) in [
        (one(2, json!({}), port()), None),
        (
            one(3, json!({}), port()),
            Some(
                "error 2 of 6 pods of replicatedJob \"w\": 0/4 nodes are available: 4 node(s) didn't have free ports for \
                 the requested pod ports. Smallest change: free host port 80/TCP on the node or add a node (one pod \
                 per node can use it); 4 nodes qualify",
            ),
        ),
        (one(1, apart("rack", "a"), json!({})), None),
        (
            one(2, apart("rack", "a"), json!({})),
            Some(
                "error 2 of 4 pods of replicatedJob \"w\": 0/4 nodes are available: 4 node(s) didn't match pod \
                 anti-affinity rules. Smallest change: remove pod js-w-0-",
            ),
        ),
        (one(2, near("a"), json!({})), None),
        (
            one(1, near("none"), json!({})),
            Some(
                "error 2 of 2 pods of replicatedJob \"w\": 0/4 nodes are available: 4 node(s) didn't match pod affinity \
                 rules. Smallest change: start a pod that matches the affinity in rack=r0; 2 nodes qualify",
            ),
        ),
        (one(2, spread("rack", 2), json!({})), None),
        (
            one(2, spread("rack", 3), json!({})),
            Some(
                "error 2 of 4 pods of replicatedJob \"w\": 0/4 nodes are available: 4 node(s) didn't match pod topology \
                 spread constraints. Smallest change: relax the topology spread constraints of the pod; 4 nodes",
            ),
        ),
        (
            one(1, spread("zone", 1), json!({})),
            Some(
                "error 2 of 2 pods of replicatedJob \"w\": 0/4 nodes are available: 4 node(s) didn't match pod topology \
                 spread constraints (missing required label). Smallest change: label the node with zone; 4 nodes",
            ),
        ),
        (one(2, json!({}), cpu(4)), None),
        (
            one(3, json!({}), cpu(4)),
            Some(
                "error 2 of 6 pods of replicatedJob \"w\": 0/4 nodes are available: 4 Insufficient cpu. Smallest change: \
                 free 4 of cpu on the node; 4 nodes",
            ),
        ),
        (
            one(1, json!({"schedulerName": "mine"}), json!({})),
            Some(
                "error 2 of 2 pods of replicatedJob \"w\": no profile of kube-scheduler has the schedulerName \"mine\". \
                 Smallest change: remove schedulerName",
            ),
        ),
        (
            one(1, json!({"nodeName": "ghost"}), json!({})),
            Some("error 2 of 2 pods of replicatedJob \"w\": node \"ghost\" of nodeName does not exist. Smallest"),
        ),
    ] {
        let found = findings(std::slice::from_ref(&side), &[]);
        let matches = match expected {
            Some(start) => found.len() == 1 && found[0].starts_with(start),
            None => found.is_empty(),
        };
        assert!(matches, "{expected:?}: {found:?}");
    }
}

#[test]
fn claims_keep_pods_pending_only_if_the_manifests_list_storage() {
    let pod = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]});
    let class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disk"}, "provisioner": "none",
    });
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "other",
            "resources": {"requests": {"storage": "1Gi"}}},
    });
    for (objects, expected) in [
        (vec![], None),
        (vec![class.clone()], Some("persistentvolumeclaim \"data\" not found. Smallest change: create the Persistent")),
        (
            vec![class, claim],
            Some("pod has unbound immediate PersistentVolumeClaims. Smallest change: create a Persist"),
        ),
    ] {
        let found = findings(&[one(1, pod.clone(), json!({}))], &objects);
        let has = expected.is_none_or(|text| found.len() == 1 && found[0].contains(text));
        assert!(has && found.is_empty() == expected.is_none(), "{expected:?}: {found:?}");
    }
}

#[test]
fn the_severity_depends_on_the_end_of_containers_on_suspension_and_on_dependencies() {
    let full = |command: Value| {
        let mut container = json!({"resources": {"requests": {"cpu": 4}}});
        if !command.is_null() {
            container["command"] = command;
        }
        one(3, json!({}), container)
    };
    let suspended = with_spec(full(Value::Null), json!({"suspend": true}));
    let two = |status: &str| {
        let rj =
            |name: &str| json!({"name": name, "replicas": 2, "container": {"resources": {"requests": {"cpu": 4}}}});
        let mut rjs = [rj("a"), rj("b")];
        rjs[1]["replicas"] = json!(3);
        rjs[1]["dependsOn"] = json!([{"name": "a", "status": status}]);
        json!({"rjs": rjs})
    };
    for (side, expected) in [
        (full(Value::Null), "error 2 of 6 pods"),
        (full(json!(["sleep", "60"])), "warning 2 of 6 pods"),
        (suspended, "warning 2 of 6 pods"),
        // All nodes have pods of the first replicatedJob, which never ends.
        (two("Ready"), "error 6 of 6 pods"),
        // The first replicatedJob makes room, which takes until its containers finish.
        (two("Complete"), "warning 2 of 6 pods"),
    ] {
        let found = findings(std::slice::from_ref(&side), &[]);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{expected}: {found:?}");
    }
}

#[test]
fn jobsets_that_compete_are_reported_once_and_those_that_help_each_other_not_at_all() {
    let named = |name: &str, mut side: Value| {
        side["name"] = json!(name);
        side
    };
    let large = |name: &str| named(name, one(1, json!({}), json!({"resources": {"requests": {"cpu": 4}}})));
    assert_eq!(findings(&[large("x"), large("y")], &[]), Vec::<String>::new());
    let found = findings(&[large("x"), large("y"), large("z")], &[]);
    assert!(found.len() == 1 && found[0].starts_with("warning pods of JobSet"), "{found:?}");
    // Alone, the second finds no pod for its affinity.
    let term = json!([{"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": "a"}}}]);
    let mut near = one(1, json!({"affinity": {"podAffinity": {REQUIRED: term}}}), json!({}));
    near["rjs"][0]["podMeta"] = json!({"labels": {"app": "b"}});
    assert_eq!(findings(&[large("x"), named("y", near.clone())], &[]), Vec::<String>::new());
    assert_eq!(findings(&[named("y", near)], &[]).len(), 1);
}
