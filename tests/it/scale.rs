//! JobSets of the maximum size that the API allows: 1,024 replicatedJobs, 10,000 Jobs.
//!
//! Must never measure wall time; `cargo bench` does.

use crate::support;
use sim_engine::record::{DiscardSink, EndReason};

const TOPOLOGY: &str = "topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {name: scale}
  pools:
    - name: node-{node}
      count: 64
      nodesPerIsland: 64
      accelerator: example.com/accelerator
      allocatable: {cpu: 64, memory: 256Gi, pods: 500, example.com/accelerator: 8}
";

fn jobset(replicated_jobs: &[(String, u32)]) -> String {
    let mut text = String::from(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: js}\nspec:\n  \
         failurePolicy: {maxRestarts: 3}\n  replicatedJobs:\n",
    );
    for (name, replicas) in replicated_jobs {
        text.push_str(&format!(
            "    - name: {name}\n      replicas: {replicas}\n      template: {{spec: {{parallelism: 1, completions: 1, \
             backoffLimit: 0, template: {{spec: {{restartPolicy: Never, containers: [{{name: w, image: \"x:1\"}}]}}}}}}}}\n"
        ));
    }
    text
}

/// Runs a JobSet with the rest of a scenario. Returns the end reason, the terminal state, and the numbers of
/// restarts and Jobs.
fn play(jobset: &str, rest: &str) -> (EndReason, String, u32, usize) {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: scale}}\n{TOPOLOGY}\
         jobSets: [{{manifest: jobset.yaml}}]\n{rest}"
    );
    let scenario = support::parse(&scenario, jobset).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    let outcome = simulation.run(1, 0, &mut DiscardSink);
    let js = &outcome.jobsets[0];
    let living = js.jobs.iter().filter(|j| j.exists).count();
    (outcome.end_reason, js.terminal_state.to_string(), js.restarts, living)
}

#[test]
fn a_jobset_with_1024_replicated_jobs_restarts_and_completes() {
    if !support::runs_long_tests() {
        return;
    }
    let jobs: Vec<(String, u32)> = (0..1024).map(|i| (format!("r{i}"), 1)).collect();
    let rest = "containers: [{runFor: 60s, stopAfter: 1s}]\n\
                faults: [{afterReady: 5s, containerExit: {pod: js-r7-0-0, exitCode: 1}}]\nstop: {at: 6h}\n";
    let (end, terminal, restarts, living) = play(&jobset(&jobs), rest);
    assert_eq!(end, EndReason::AllJobSetsFinished);
    assert_eq!((terminal.as_str(), restarts, living), ("Completed", 1, 1024));
}

#[test]
fn a_jobset_with_10000_jobs_starts() {
    let rest = "stop: {at: 6h}\n";
    let (end, terminal, restarts, living) = play(&jobset(&[("w".to_owned(), 10_000)]), rest);
    assert_eq!(end, EndReason::Settled);
    assert_eq!((terminal.as_str(), restarts, living), ("", 0, 10_000));
}
