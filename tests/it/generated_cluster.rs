//! Clusters generated for manifests: every replication is placed, random faults have a spare, the composition is
//! printed, and `new` injects a fault that leads to a restart.

use crate::program::{program, run_with_stdin, scratch};
use crate::support::cases;
use std::fs;
use std::process::Output;

/// A coordinator without accelerators and slices with them, all with exclusive placement. A failed coordinator fails
/// the JobSet.
const SLICES: &str = "apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool}
spec:
  failurePolicy:
    maxRestarts: 6
    rules: [{name: bug, action: FailJobSet, targetReplicatedJobs: [lead]}]
  replicatedJobs:
  - name: lead
    template:
      spec:
        parallelism: 1
        completions: 1
        backoffLimit: 0
        template:
          spec: {restartPolicy: Never, containers: [{name: c, image: 'i:1', resources: {requests: {cpu: 2}}}]}
  - name: slice
    replicas: 6
    template:
      spec:
        parallelism: 8
        completions: 8
        backoffLimit: 0
        template:
          spec: {restartPolicy: Never, containers: [{name: c, image: 'i:1', resources: {limits: {google.com/tpu: 4}}}]}
";

/// Returns the output with single spaces, because lines are wrapped.
fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    all.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Without accelerators, a small Job can take the domain of a large one, and a large one must fit in any domain.
fn without_accelerators() -> String {
    SLICES.replace("limits: {google.com/tpu: 4}", "requests: {cpu: 1}")
}

#[test]
fn no_replication_is_blocked_on_a_generated_cluster() {
    let tainted = ("6 domains of 8 nodes with 4 google.com/tpu", SLICES.to_owned());
    let shared = SLICES.replace(
        "  name: train\n  annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool}\n",
        "  name: train\n",
    );
    let only_slices = shared.replace(
        "  - name: slice\n    replicas: 6\n    template:\n",
        "  - name: slice\n    replicas: 6\n    template:\n      metadata: {annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}\n",
    );
    assert_ne!(shared, only_slices);
    let free_lead = only_slices.replace("limits: {google.com/tpu: 4}", "requests: {cpu: 1}");
    for (expected, manifest) in [
        tainted,
        ("1 domain of 8 nodes; node-0-1: 6 domains", without_accelerators()),
        ("", only_slices),
        ("7 domains", free_lead),
    ] {
        let run = run_with_stdin(&["run", "-f", "-", "--seeds", "60"], &manifest);
        let output = text(&run);
        assert!(output.contains("60 running") && !output.contains("blocked,"), "{output}");
        assert!(output.contains("cluster generated for the JobSets: ") && output.contains(expected), "{output}");
    }
    let run = text(&run_with_stdin(&["run", "-f", "-"], SLICES));
    assert!(run.contains("6 domains of 8 nodes with 4 google.com/tpu)"), "{run}");
}

/// Nodes are the domains of the hostname label: one node holds all pods of a Job.
#[test]
fn jobs_that_share_no_node_get_one_node_each() {
    let by_node = SLICES.replace("cloud.google.com/gke-nodepool", "kubernetes.io/hostname");
    let run = text(&run_with_stdin(&["run", "-f", "-", "--seeds", "8"], &by_node));
    assert!(run.contains("8 running") && run.contains("6 nodes with 32 google.com/tpu"), "{run}");
    // Without accelerators, the small Job can take the node of a large one.
    let shared = by_node.replace("limits: {google.com/tpu: 4}", "requests: {cpu: 2}");
    let run = text(&run_with_stdin(&["run", "-f", "-", "--seeds", "8"], &shared));
    assert!(run.contains("8 running") && run.contains("node-0-0: 1 node; node-0-1: 7 nodes"), "{run}");
}

#[test]
fn random_faults_have_a_spare_slice_or_node() {
    let faults = "faultProcesses=[{cause: host, mtbf: 30d, deletedAfter: 5m}]";
    let stop = ["--set", "stop={at: 1h}", "--seeds", "2"];
    let shared = SLICES.replace("annotations: {alpha", "annotations: {other");
    for (manifest, set, expected) in [
        (SLICES, faults, "7 domains of 8 nodes"),
        (SLICES, "seed=1", "6 domains of 8 nodes"),
        (&shared, faults, "48 nodes with 4 google.com/tpu; spare-node-0-1: 1 node"),
    ] {
        let run = run_with_stdin(&[&["run", "-f", "-", "--set", set][..], &stop].concat(), manifest);
        let output = text(&run);
        assert!(output.contains(expected), "{set}: {output}");
    }
    let compare = ["compare", "-f", "-", "--set", faults, "--strategies", "all"];
    let output = text(&run_with_stdin(&[&compare[..], &stop].concat(), SLICES));
    assert!(output.contains("cluster generated for the JobSets: "), "{output}");
}

#[test]
fn a_new_scenario_restarts_although_rules_fail_the_jobset() {
    let dir = scratch("new-restarts");
    // The rule of the pods fails the Job on each code up to 41, as xpk writes it, and the JobSet then fails.
    let by_code = without_accelerators()
        .replace("        backoffLimit: 0\n", "        backoffLimit: 0\n        podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: NotIn, values: [42, 137]}}]}\n")
        .replace("targetReplicatedJobs: [lead]}]", "targetReplicatedJobs: [lead]}, {name: code, action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}]");
    let manifests = [
        ("slices", SLICES, "{pod: train-slice-0-7, exitCode: 1}"),
        ("codes", by_code.as_str(), "{pod: train-slice-0-7, exitCode: 137}"),
    ];
    for (name, manifest, fault) in manifests.into_iter().take(cases(1, 2) as usize) {
        let out = dir.join(name);
        let out = out.to_str().unwrap();
        let made = run_with_stdin(&["new", "-f", "-", "--out", out], manifest);
        assert!(made.status.success(), "{}", text(&made));
        let scenario = fs::read_to_string(format!("{out}/scenario.yaml")).unwrap();
        assert!(scenario.contains(fault), "{scenario}");
        let run = text(&program(&["run", &format!("{out}/scenario.yaml")]).output().unwrap());
        assert!(run.contains("Restart 1 of JobSet train") && !run.contains("condition Failed"), "{run}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_refusal_names_the_field_of_the_topology_that_cures_it() {
    let dir = scratch("remedies");
    let topology = "apiVersion: jobset-sim/v1alpha1
kind: Topology
metadata: {name: t}
pools:
- {name: 'c-{node}', count: 1, nodesPerIsland: 1, allocatable: {cpu: 8}, labels: {cloud.google.com/gke-nodepool: c}}
- name: 'n-{node}'
  count: 7
  nodesPerIsland: 8
  labels: {cloud.google.com/gke-nodepool: 'p-{pool}'}
  allocatable: {cpu: 8, google.com/tpu: 4}
  taints: [{key: google.com/tpu, value: present, effect: NoSchedule}]
";
    let refusal = |topology: &str, more: &[&str]| {
        let path = dir.join("t.yaml");
        fs::write(&path, topology).unwrap();
        let path = path.to_str().unwrap();
        let run = run_with_stdin(&[&["compare", "-f", "-", "-t", path, "--seeds", "2"][..], more].concat(), SLICES);
        assert_eq!(run.status.code(), Some(4), "{}", text(&run));
        text(&run)
    };
    let one = ["--variant", "same: stop.at=1h"];
    let output = refusal(topology, &one);
    assert!(output.contains("extendedResourceToleration: true"), "{output}");
    let tolerated = topology.replace("pools:\n", "extendedResourceToleration: true\npools:\n");
    let output = refusal(&tolerated, &["--strategies", "InPlaceRestart"]);
    assert!(output.contains("features: [RestartAllContainersOnContainerExits]"), "{output}");
    // Of all strategies, those that the cluster does not permit are left out.
    let all = ["compare", "-f", "-", "-t", dir.join("t.yaml").to_str().unwrap(), "--seeds", "2", "--strategies", "all"]
        .map(str::to_owned);
    let run = run_with_stdin(&all.each_ref().map(String::as_str), SLICES);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    assert!(text(&run).contains("InPlaceRestart is left out: "), "{}", text(&run));
    fs::remove_dir_all(dir).unwrap();
}
