//! Runs that fail in comparisons and searches: a choice that completes more replications is better, whatever the
//! metrics of the others are.

use super::shell::run;
use crate::program::scratch;
use std::fs;
use std::path::{Path, PathBuf};

const JOBSET: &str = "\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: tr}
spec:
  failurePolicy: {maxRestarts: 4, restartStrategy: BlockingRecreate}
  replicatedJobs:
    - name: w
      replicas: 4
      template:
        spec:
          parallelism: 4
          completions: 4
          completionMode: Indexed
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              containers: [{name: c, image: x, resources: {limits: {example.com/gpu: 8}}}]
";

const SCENARIO: &str = "\
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {name: failing}
parameters: {nodes: 18}
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: t}
  pools:
    - name: n-{node}
      count: \"${nodes}\"
      nodesPerIsland: 1
      accelerator: example.com/gpu
      allocatable: {cpu: 100, memory: 400Gi, example.com/gpu: 8, pods: 110}
      pricePerAcceleratorHour: 2
controlPlane: {kubeScheduler: {ties: InOrder}}
jobSets: [{manifest: js.yaml}]
training: {work: 5d, step: 5s, checkpoint: {every: 20m, blocking: 10s, restore: 2m}, initialization: 1m}
faultProcesses: [{cause: host, mtbf: 20d, deletedAfter: 5m, asNew: true, backAfter: 4h}]
stop: {at: 12d, when: AllJobSetsFinished}
";

/// Writes the scenario; returns the directory and its path.
fn scenario(name: &str) -> (PathBuf, String) {
    let dir = scratch(name);
    fs::write(dir.join("js.yaml"), JOBSET).unwrap();
    let path: &Path = &dir.join("s.yaml");
    fs::write(path, SCENARIO).unwrap();
    (dir.clone(), path.to_str().unwrap().to_owned())
}

/// Both alternatives complete everything, so neither is best in completion; the scenario itself completes less than
/// each of them and is not ranked in goodput.
#[test]
fn a_variant_that_completes_fewer_replications_is_named_before_the_ranking_of_the_others() {
    let (dir, path) = scenario("completes-fewer");
    let free = "free: spec.failurePolicy.maxRestarts=1000";
    let jobs = "jobs: spec.failurePolicy.rules=[{name: one, action: RestartJobAndIgnoreMaxRestarts}]";
    let compare = ["compare", &path, "--variant", free, "--variant", jobs, "--seeds", "30", "--quiet"];
    let (text, _) = run(&compare, 0);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("baseline completes significantly fewer replications than free: 20 against 30 of 30."));
    assert!(text.contains("No variant is best in goodput: jobs − free:"), "{text}");
    assert!(!text.contains("free − baseline"), "{text}");
    assert!(text.contains("completed baseline 66.7 % free 100.0 % 33.3 % (18.2 % to 51.2 %) better"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_choice_that_completes_more_replications_breaks_even_whatever_the_others_cost() {
    let (dir, path) = scenario("breakeven-failing");
    let (a, b) = ("few: spec.failurePolicy.maxRestarts=4", "many: spec.failurePolicy.maxRestarts=50");
    let over = "faultProcesses[0].mtbf=5d..60d";
    let arguments = ["plan", "breakeven", &path, "--a", a, "--b", b, "--over", over, "--metric", "cost.total"];
    let (text, _) = run(&[&arguments[..], &["--seeds", "40", "--quiet"]].concat(), 0);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("many is better in cost.total up to faultProcesses[0].mtbf = "), "{text}");
    assert!(text.contains("replications of few and 0 of "), "{text}");
    assert!(text.contains(" 120h - 20 0 and 20 many "), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn replications_without_completed_work_are_counted_by_the_search_for_an_interval() {
    let (dir, path) = scenario("interval-failing");
    let (text, _) = run(&["plan", "interval", &path, "--seeds", "10", "--quiet"], 0);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("replications do not complete their work and are excluded"), "{text}");
    // With fewer than two pairs there is no interval.
    let input = ["sensitivity", &path, "--seeds", "6", "--quiet", "--input", "faultProcesses[0].times=0.5..4"];
    let (text, _) = run(&input, 0);
    assert!(!text.contains("inf"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}

/// With maxRestarts 0 every run ends with the first fault, so it has no restarts.
#[test]
fn a_choice_whose_runs_fail_is_not_best_in_restarts() {
    let (dir, path) = scenario("failing-restarts");
    let limits = |values: &str| format!("spec.failurePolicy.maxRestarts={values}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sweep = |values: &str| {
        let axis = limits(values);
        let arguments = ["sweep", &path, "--grid", &axis, "--seeds", "3", "--metric", "restarts", "--quiet"];
        words(&run(&arguments, 0).0)
    };
    let text = sweep("0,50");
    assert!(text.contains("No point is best in restarts: replications that fail or are blocked"), "{text}");
    let text = sweep("0,50,60");
    assert!(text.contains("maxRestarts=50 has the lowest mean of restarts"), "{text}");
    assert!(text.contains("not ranked, because fewer of their replications complete: maxRestarts=0."), "{text}");
    assert!(text.contains("! maxRestarts=0") && text.contains("! not ranked: fewer replications complete"), "{text}");
    let variant = format!("none: {}", limits("0"));
    let compare = ["compare", &path, "--set", &limits("50"), "--variant", &variant, "--seeds", "3", "--quiet"];
    let text = words(&run(&[&compare[..], &["--metric", "restarts"]].concat(), 0).0);
    assert!(text.contains("No variant is best in restarts: replications that fail or are blocked"), "{text}");
    fs::remove_dir_all(dir).unwrap();
}
