//! `topology import`: converts a list of Nodes to a topology that contains every node.

use crate::program::{JOBSET, run_with_stdin};
use sim_api::spec::TopologySpec;
use sim_base::NodeId;
use sim_inputs::{
    ImportRequest, ImportedTopology, SourceText, import_nodes, print_yaml, read_topology, written_topology,
};
use sim_policy::topology::ClusterBuilder;
use std::collections::BTreeMap;

mod occupancy;
mod platforms;
mod problems;

/// Imports a text without further files.
fn import(text: &str) -> ImportedTopology {
    let source = SourceText { file: "nodes.yaml".into(), text: text.to_owned() };
    let request = ImportRequest { name: "prod", ..ImportRequest::default() };
    import_nodes(&source, &request).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns four slices of two hosts as GKE labels them, two equal CPU nodes, and one node that is not ready.
fn node_list() -> (String, Vec<BTreeMap<String, String>>) {
    let mut text = String::from("apiVersion: v1\nkind: List\nitems:\n");
    let mut expected = Vec::new();
    let mut add = |name: &str, labels: &[(&str, String)], rest: &str, ready: &str| {
        let own: Vec<String> = labels.iter().map(|(k, v)| format!("{k}: {v:?}")).collect();
        text.push_str(&format!(
            "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: {name}\n    uid: u-{name}\n    labels: \
             {{kubernetes.io/hostname: {name}, example.com/serial: s{name}x, {}}}\n  {rest}\n    conditions: \
             [{{type: Ready, status: {ready:?}}}]\n",
            own.join(", ")
        ));
        let labels = labels.iter().map(|(k, v)| ((*k).to_owned(), v.clone()));
        expected.push(labels.collect());
    };
    for slice in 0..4 {
        for host in 0..2 {
            let labels = [
                ("cloud.google.com/gke-nodepool", format!("v5p-{slice}")),
                ("cloud.google.com/gke-tpu-topology", "2x2x2".to_owned()),
            ];
            // Kubelets of equal machines report slightly different memory sizes.
            let rest = format!(
                "spec: {{taints: [{{key: google.com/tpu, value: present, effect: NoSchedule}}]}}\n  status:\n    \
                 allocatable: {{cpu: 206, memory: {}Ki, pods: 64, google.com/tpu: 4, hugepages-2Mi: 0}}",
                470_000_000 + host * 1_000
            );
            add(&format!("gke-tpu-{slice}{host}f"), &labels, &rest, "True");
        }
    }
    for n in 0..2 {
        let labels = [("pool", "cpu".to_owned())];
        let rest = "spec: {}\n  status:\n    allocatable: {cpu: 8, memory: 32Gi, pods: 110}";
        add(&format!("cpu-{n}"), &labels, rest, "True");
    }
    let rest = "spec: {}\n  status:\n    allocatable: {cpu: 8, pods: 110}";
    add("dead", &[("pool", "cpu".to_owned())], rest, "Unknown");
    expected.sort();
    (text, expected)
}

fn labels_of(topology: &TopologySpec) -> Vec<BTreeMap<String, String>> {
    let cluster = ClusterBuilder::build(topology, &["pods".to_owned()]);
    let nodes = (0..cluster.len() as u32).map(NodeId);
    let keys = ["cloud.google.com/gke-nodepool", "cloud.google.com/gke-tpu-topology", "pool"];
    let labels = |node: NodeId| {
        let result = keys.iter().filter_map(|k| Some((k.to_string(), cluster.label(node, k)?)));
        result.collect()
    };
    let mut all: Vec<BTreeMap<String, String>> = nodes.map(labels).collect();
    all.sort();
    all
}

#[test]
fn every_node_of_the_list_is_in_the_topology_with_its_name_and_unequal_ones_are_in_one_pool() {
    let (text, expected) = node_list();
    let ImportedTopology { topology, notes, .. } = import(&text);
    assert_eq!(labels_of(&topology), expected);
    let pools: Vec<(&str, u32, u32)> =
        topology.pools.iter().map(|p| (p.name.as_str(), p.islands, p.nodes_per_island)).collect();
    assert_eq!(pools, [("nodes-{node}", 1, 1), ("v5p-{node}", 1, 2)]);
    assert_eq!((topology.pools[0].count, topology.pools[1].count), (3, 4));
    let tpus = &topology.pools[1];
    assert_eq!(tpus.labels["cloud.google.com/gke-nodepool"], "v5p-{island}");
    let dead = topology.pools[0].nodes.iter().find(|node| node.name == "dead").expect("kept with its name");
    assert_eq!(dead.taints[0].key, "node.kubernetes.io/not-ready");
    assert_eq!(dead.allocatable.get("memory"), Some(&0), "it has no memory");
    assert_eq!((tpus.accelerator.as_str(), tpus.taints.len()), ("google.com/tpu", 1));
    assert!(topology.extended_resource_toleration);
    let notes = notes.join("; ");
    for part in ["not ready or cordoned, kept with a NoSchedule taint: dead", "each node is listed with its name"] {
        assert!(notes.contains(part), "{notes}");
    }
    // The written topology is equal to the imported one.
    let again = SourceText { file: "t.yaml".into(), text: print_yaml(&written_topology(&topology)) };
    let again = read_topology(&again).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(labels_of(&again), expected);
    assert_eq!(written_topology(&again), written_topology(&topology));
}

#[test]
fn the_program_imports_and_checks() {
    let (text, _) = node_list();
    let output = run_with_stdin(&["topology", "import", "-", "--name", "prod"], &text);
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(out.contains("name: prod") && out.contains("v5p-{island}"), "{out}");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("note: not ready or cordoned, kept with a NoSchedule taint: dead"), "{printed}");
    let output = run_with_stdin(&["topology", "import", "-"], "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n");
    assert_eq!(output.status.code(), Some(2));
    let output = run_with_stdin(&["topology", "check", "small-16"], "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "small-16: 16 nodes in 1 pool\n");
}

/// `-t` and the field `topology` of a scenario accept a list of Nodes, with the same result as a prior import.
#[test]
fn node_list_is_accepted_as_topology() {
    let dir = crate::program::scratch("nodes");
    let (text, _) = node_list();
    let (nodes, imported) = (dir.join("nodes.yaml"), dir.join("imported.yaml"));
    std::fs::write(&nodes, &text).unwrap();
    let (nodes, imported) = (nodes.to_str().unwrap(), imported.to_str().unwrap());
    let mut import = crate::program::program(&["topology", "import", nodes, "--out", imported]);
    assert!(import.output().unwrap().status.success());
    let digest = |words: &[&str]| {
        let output = crate::program::program(words).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {printed}");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (summary["digest"].as_str().unwrap().to_owned(), printed)
    };
    let (jobset, scenario) = (dir.join("jobset.yaml"), dir.join("scenario.yaml"));
    std::fs::write(&jobset, JOBSET).unwrap();
    std::fs::write(&scenario, SCENARIO).unwrap();
    let (jobset, scenario) = (jobset.to_str().unwrap(), scenario.to_str().unwrap());
    let json = ["--format", "json"];
    let (with_list, printed) = digest(&[&["run", "-f", jobset, "-t", nodes], &json[..]].concat());
    assert!(printed.contains("not ready or cordoned, kept with a NoSchedule taint: dead"), "{printed}");
    let (with_import, _) = digest(&[&["run", "-f", jobset, "-t", imported], &json[..]].concat());
    assert_eq!(with_list, with_import);
    let (_, printed) = digest(&[&["run", scenario], &json[..]].concat());
    assert!(printed.contains("not ready or cordoned, kept with a NoSchedule taint: dead"), "{printed}");
    std::fs::remove_dir_all(dir).unwrap();
}

const SCENARIO: &str = "
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: s}
topology: nodes.yaml
jobSets: [{manifest: jobset.yaml}]
";

/// A dump of nodes and pods whose names do not count up: names are kept, pods hold their nodes, and a larger count adds
/// nodes.
#[test]
fn imported_nodes_keep_their_names_and_their_pods() {
    let node = |name: &str, slice: &str, memory: u32| {
        format!(
            "- apiVersion: v1\n  kind: Node\n  metadata: {{name: {name}, labels: {{cloud.google.com/gke-nodepool: {slice}, \
             cloud.google.com/gke-tpu-topology: 2x4, zone: z-{memory}}}}}\n  status: {{allocatable: {{google.com/tpu: 4, \
             memory: {memory}Gi, pods: 110}}}}\n"
        )
    };
    let mut text = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    for (name, slice, memory) in
        [("gke-x7f", "s-b", 64), ("gke-a10", "s-b", 64), ("gke-q2z", "s-k", 64), ("gke-m", "s-k", 90)]
    {
        text += &node(name, slice, memory);
    }
    text += "- apiVersion: v1\n  kind: Pod\n  metadata: {name: other, namespace: team-b}\n  spec:\n    nodeName: gke-q2z\n    \
             containers: [{name: w, image: x, resources: {limits: {google.com/tpu: 4}}}]\n  status: {phase: Running}\n";
    let ImportedTopology { topology, notes, .. } = import(&text);
    assert!(notes.contains(&"pods that hold resources of their nodes: 1".to_owned()), "{notes:?}");
    let [pool] = topology.pools.as_slice() else { panic!("one pool, not {}", topology.pools.len()) };
    assert_eq!((pool.count, pool.islands, pool.nodes_per_island), (2, 1, 2));
    let mut larger = topology.clone();
    larger.pools[0].count = 3;
    let cluster = ClusterBuilder::build(&larger, &["pods".to_owned(), "memory".to_owned()]);
    assert_eq!(cluster.names, ["gke-a10", "gke-x7f", "gke-m", "gke-q2z", "s-4", "s-5"]);
    let label = |node: u32, key: &str| cluster.label(NodeId(node), key);
    let slices: Vec<_> = (0..6).filter_map(|n| label(n, "cloud.google.com/gke-nodepool")).collect();
    assert_eq!(slices, ["s-b", "s-b", "s-k", "s-k", "s-2", "s-2"]);
    assert_eq!((label(2, "zone").as_deref(), label(4, "zone")), (Some("z-90"), None), "no label is invented");
    assert_eq!(label(0, "kubernetes.io/hostname").as_deref(), Some("gke-a10"));
    let gib = |node: usize| (cluster.allocatable[2 * node + 1] / 1_000) >> 30;
    assert_eq!([gib(0), gib(2), gib(3), gib(5)], [64, 90, 64, 64]);
    assert_eq!(cluster.accelerators, [4, 4, 4, 0, 4, 4], "the pod holds the chips of gke-q2z");
}

/// A label that identifies nodes must not separate them, whether or not all nodes have it.
#[test]
fn a_label_with_about_as_many_values_as_nodes_does_not_separate_pools() {
    type Value = fn(usize) -> Option<String>;
    let cases: [(&str, usize, Value); 5] = [
        ("numbers", 16, |i| Some(format!("s{i}"))),
        ("one value twice", 16, |i| Some(format!("s{}", i.max(1)))),
        ("one node lacks it", 16, |i| (i > 0).then(|| format!("s{i}"))),
        ("numbers from 1", 2, |i| Some((i + 1).to_string())),
        ("hexadecimal", 16, |i| Some(format!("i-{:x}", (i.max(1) + 7) * 0x9e37_79b9))),
    ];
    for (name, count, value) in cases {
        let node = |i: usize| {
            let mut labels = serde_json::json!({"cloud.google.com/gce-topology-block": format!("b{}", i / 8),
                "cloud.google.com/gce-topology-subblock": format!("s{}", i / 4),
                "cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb",
                "node.kubernetes.io/instance-type": "a3-megagpu-8g"});
            if let Some(value) = value(i) {
                labels["example.com/serial"] = value.into();
            }
            serde_json::json!({"kind": "Node", "metadata": {"name": format!("x-{i}"), "labels": labels},
                "status": {"allocatable": {"nvidia.com/gpu": "8", "pods": "110"}}})
        };
        let list = serde_json::json!({"kind": "List", "items": (0..count).map(node).collect::<Vec<_>>()});
        let ImportedTopology { topology, .. } = import(&list.to_string());
        let listed: usize = topology.pools.iter().map(|pool| pool.nodes.len()).sum();
        assert_eq!((topology.pools.len(), listed, topology.nodes() as usize), (1, count, count), "{name}");
    }
}

/// The host label of A4X counts up over all machines, but it does not make an NVLink domain of each.
#[test]
fn a_numbered_label_of_each_node_does_not_split_islands() {
    let node = |i: u32| {
        serde_json::json!({"kind": "Node", "metadata": {"name": format!("a4x-{}-{:02}", i / 3, i % 3), "labels": {
            "cloud.google.com/gce-topology-block": "b0", "cloud.google.com/gce-topology-subblock": format!("sb{}", i / 3),
            "cloud.google.com/gce-topology-host": format!("h{i:02}"), "cloud.google.com/gke-accelerator": "nvidia-gb200",
            "cloud.google.com/gke-nodepool": format!("a4x-{}", i / 3),
            "node.kubernetes.io/instance-type": "a4x-highgpu-4g"}},
            "status": {"allocatable": {"nvidia.com/gpu": "4", "pods": "110"}}})
    };
    let list = serde_json::json!({"kind": "List", "items": (0..6).map(node).collect::<Vec<_>>()});
    let ImportedTopology { topology, .. } = import(&list.to_string());
    let pools: Vec<[u32; 3]> = topology.pools.iter().map(|p| [p.count, p.islands, p.nodes_per_island]).collect();
    let islands: u32 = pools.iter().map(|[count, islands, _]| count * islands).sum();
    assert_eq!((topology.pools.len(), islands), (1, 2), "{pools:?}");
    assert_eq!(topology.nodes(), 6);
}
