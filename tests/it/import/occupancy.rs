//! Pods of a dump hold resources of their nodes.

use super::import;
use crate::program::{program, run_with_stdin, scratch};
use serde_json::{Value, json};
use sim_policy::topology::ClusterBuilder;

fn node(name: &str) -> Value {
    json!({"kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "8", "memory": "65536Mi", "google.com/tpu": "4", "pods": "10"}}})
}

fn pod(node: &str, owner: &str, phase: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["nodeName"] = json!(node);
    json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "n", "ownerReferences": [{"kind": owner}]},
        "spec": spec, "status": {"phase": phase}})
}

fn tpus(n: u32) -> Value {
    json!({"containers": [{"name": "c", "resources": {"limits": {"google.com/tpu": n}}}]})
}

/// Returns three nodes: one with a training pod, all with a pod of a DaemonSet.
fn dump() -> Value {
    let agent = json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}],
        "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "1"}}}]});
    let mut items: Vec<Value> = ["a7", "b3", "c9"].map(node).to_vec();
    items.extend(["a7", "b3", "c9"].map(|name| pod(name, "DaemonSet", "Running", agent.clone())));
    items.push(pod("b3", "Job", "Running", tpus(4)));
    items.push(pod("a7", "Job", "Succeeded", tpus(4)));
    items.push(pod("", "Job", "Pending", tpus(4)));
    items.push(pod("other", "Job", "Running", tpus(4)));
    json!({"kind": "List", "apiVersion": "v1", "items": items})
}

#[test]
fn running_pods_occupy_their_nodes_and_pods_of_daemonsets_those_that_are_added() {
    let imported = import(&dump().to_string());
    let pool = &imported.topology.pools[0];
    assert_eq!(pool.occupied, [("cpu".to_owned(), 1_000), ("pods".to_owned(), 1_000)].into(), "of the init container");
    let own = [("google.com/tpu".to_owned(), 4_000), ("pods".to_owned(), 2_000)].into();
    assert_eq!((pool.nodes[1].name.as_str(), &pool.nodes[1].occupied), ("b3", &own));
    let note = "pods that hold resources of their nodes: 5, of which 3 of DaemonSets or static, which added nodes have as \
                well; omitted: 1 without a node, 1 finished; nodes with pods that are not in the list of nodes: 1";
    assert!(imported.notes.contains(&note.to_owned()), "{:?}", imported.notes);
    assert_eq!(imported.topology.accelerators(), (12, 4));
    let mut larger = imported.topology.clone();
    larger.pools[0].count = 4;
    let columns = ["pods", "cpu", "google.com/tpu"].map(str::to_owned);
    let cluster = ClusterBuilder::build(&larger, &columns);
    let free: Vec<i64> = cluster.allocatable.iter().map(|milli| milli / 1_000).collect();
    assert_eq!(free, [9, 7, 4, 8, 7, 0, 9, 7, 4, 9, 7, 4]);
    assert_eq!(cluster.accelerators, [4, 0, 4, 4]);
}

/// The occupancy survives the file format, and the scheduler and the ledger of a run respect it.
#[test]
fn imported_occupancy_is_shown_and_blocks_pods_in_a_run() {
    let dir = scratch("occupancy");
    let (nodes, topology) = (dir.join("dump.json"), dir.join("t.yaml"));
    std::fs::write(&nodes, dump().to_string()).unwrap();
    let (nodes, topology) = (nodes.to_str().unwrap(), topology.to_str().unwrap());
    let imported = program(&["topology", "import", nodes, "--out", topology]).output().unwrap();
    let printed = String::from_utf8_lossy(&imported.stderr);
    assert!(printed.contains("3 nodes, 12 accelerators, of which pods hold 4"), "{printed}");
    let shown = program(&["topology", "show", topology]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    for part in ["12 accelerators, of which other pods hold 4", "google.com/tpu: 4 of 12 on all nodes"] {
        assert!(shown.contains(part), "{shown}");
    }
    let jobset = |pods: u32| {
        format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: j}}\nspec:\n  replicatedJobs:\n  - name: \
             w\n    template: {{spec: {{parallelism: {pods}, completions: {pods}, template: {{spec: {{restartPolicy: Never, \
             containers: [{{name: c, image: 'i:1', resources: {{limits: {{google.com/tpu: \
             4}}}}}}]}}}}}}}}\n"
        )
    };
    for (pods, code) in [(2, 0), (3, 4)] {
        let file = dir.join(format!("{pods}.yaml"));
        std::fs::write(&file, jobset(pods)).unwrap();
        let file = file.to_str().unwrap();
        for topology in [topology, nodes] {
            let output = program(&["run", "-f", file, "-t", topology]).output().unwrap();
            let text =
                format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(output.status.code(), Some(code), "{text}");
            let part = if code == 0 { "3 nodes, 8 accelerators; other pods hold 4 more" } else { "holds 2 of them" };
            assert!(text.contains(part), "{text}");
        }
        // An added node has room for the third pod.
        let more =
            program(&["run", "-f", file, "-t", topology, "--set", "topology.pools[0].count=4"]).output().unwrap();
        assert_eq!(more.status.code(), Some(0), "{}", String::from_utf8_lossy(&more.stdout));
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// Ports and terms of running pods are not simulated, which is stated, and the pods of a JobSet of the inputs hold
/// nothing.
#[test]
fn running_pods_keep_only_resources_and_those_of_the_simulated_jobset_nothing() {
    let labelled = |mut pod: Value, jobset: &str| {
        pod["metadata"]["namespace"] = json!("team");
        pod["metadata"]["labels"] =
            json!({"jobset.sigs.k8s.io/jobset-name": jobset, "jobset.sigs.k8s.io/job-key": "k"});
        pod
    };
    let mut port = tpus(4);
    port["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 80}]);
    let mut repelling = tpus(0);
    let term = json!({"labelSelector": {}, "topologyKey": "kubernetes.io/hostname"});
    repelling["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!([term]);
    let mut items: Vec<Value> = ["a7", "b3", "c9"].map(node).to_vec();
    items.push(labelled(pod("a7", "Job", "Running", port), "other"));
    items.push(labelled(pod("b3", "Job", "Running", tpus(4)), "own"));
    items.push(labelled(pod("c9", "Job", "Running", repelling), "own"));
    let dir = scratch("own-pods");
    let jobset = |name: &str, pods: u32| {
        format!(
            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: {name}, namespace: team, annotations: \
             {{alpha.jobset.sigs.k8s.io/exclusive-topology: kubernetes.io/hostname}}}}\nspec:\n  replicatedJobs:\n  - \
             name: w\n    replicas: {pods}\n    template: {{spec: {{parallelism: 1, completions: 1, template: {{spec: \
             {{restartPolicy: Never, containers: [{{name: c, image: 'i:1', ports: [{{containerPort: 80, hostPort: 80}}], \
             resources: {{limits: {{google.com/tpu: 4}}}}}}]}}}}}}}}\n"
        )
    };
    let dump = json!({"kind": "List", "items": items}).to_string();
    std::fs::write(dir.join("dump.json"), dump).unwrap();
    let imported = program(&["topology", "import", "dump.json", "--out", "t.yaml"]).current_dir(&dir).output().unwrap();
    let note = "only their resources are kept, without host ports of 1, affinity terms of 1, labels of JobSets of 3";
    let printed = String::from_utf8_lossy(&imported.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains(note), "{printed}");
    for (name, pods, topology, code) in [
        ("own", 2, "dump.json", 0),
        ("own", 3, "dump.json", 4),
        ("new", 1, "dump.json", 0),
        ("new", 2, "dump.json", 4),
        ("own", 2, "t.yaml", 0),
    ] {
        std::fs::write(dir.join("j.yaml"), jobset(name, pods)).unwrap();
        let arguments = ["run", "-f", "j.yaml", "-t", topology, "--format", "json"];
        let output = program(&arguments).current_dir(&dir).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name} {pods} {topology}: {text}{error}");
        if code != 0 {
            continue;
        }
        let summary: Value = serde_json::from_str(&text).unwrap();
        let notes = summary["notModelled"].to_string();
        let own = "running pods of JobSet team/own in the list of nodes: their resources are free";
        assert_eq!(notes.contains(own), name == "own", "{notes}");
        for note in
            ["host ports of running pods", "affinity terms of running pods", "labels of JobSets of running pods"]
        {
            assert_eq!(notes.contains(note), topology == "dump.json", "{note}: {notes}");
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
}

/// The same node scores as one whose pods are simulated, so a pod is placed next to less.
#[test]
fn scores_include_the_occupied_resources() {
    let topology = |held: &str| {
        format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Topology\nmetadata: {{name: t}}\npools:\n- {{name: \"a-{{node}}\", \
             nodesPerIsland: 1, allocatable: {{cpu: 8, memory: 16Gi}}, occupied: {held}}}\n- {{name: \"b-{{node}}\", \
             nodesPerIsland: 1, allocatable: {{cpu: 8, memory: 16Gi}}, occupied: {{cpu: 2, memory: 4Gi}}}}\n"
        )
    };
    let dir = scratch("scores");
    let (cluster, jobset) = (dir.join("t.yaml"), dir.join("j.yaml"));
    std::fs::write(
        &jobset,
        crate::program::JOBSET.replace("image: 'i:1'", "image: 'i:1', resources: {requests: {cpu: 1}}"),
    )
    .unwrap();
    for (held, node) in [("{cpu: 4, memory: 8Gi}", "b-0"), ("{cpu: 1, memory: 2Gi}", "a-0")] {
        std::fs::write(&cluster, topology(held)).unwrap();
        let arguments = ["run", "-f", jobset.to_str().unwrap(), "-t", cluster.to_str().unwrap(), "--out"];
        let out = dir.join(node);
        let output = program(&[&arguments[..], &[out.to_str().unwrap()]].concat()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let events = std::fs::read_to_string(out.join("events.ndjson")).unwrap();
        assert!(events.contains(&format!("\"node/{node}\"")), "{held}: {events:.2000}");
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn anonymized_imports_contain_no_name_and_number_equal_nodes() {
    let mut items = Vec::new();
    for i in 0..6 {
        let mut node = node(&format!("gke-secret-{:x}", 977 * (i + 3)));
        let rack = format!("rack-{}q", i / 2);
        node["metadata"]["labels"] = json!({"cloud.google.com/gke-nodepool": format!("team-{}k", i / 2),
            "cloud.google.com/gke-tpu-topology": "2x2x2", "example.com/rack": rack, "example.com/serial": format!("x{i}z"),
            "example.com/owner": "secret"});
        node["spec"]["taints"] = json!([{"key": "example.com/secret", "value": "secret", "effect": "NoSchedule"}]);
        node["status"]["allocatable"]["secret.com/nic"] = json!("8");
        items.push(node);
    }
    let list = json!({"kind": "List", "items": items}).to_string();
    let output = run_with_stdin(&["topology", "import", "-", "--anonymise"], &list);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for word in ["secret", "team", "rack", "serial", "owner", "stdin"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    for part in [
        "name: \"node0-{node}\"", "islands: 3", "nodesPerIsland: 2",
        "cloud.google.com/gke-nodepool: \"node-pool0-{island}\"", "topology-0: \"topology-0-domain0-{island}\"",
        "example.com/resource-0: \"8\"", "key: taint-0", "value: value-0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("nodes:"), "{text}");
}
