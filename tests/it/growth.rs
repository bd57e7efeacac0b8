//! From 500 to 50,000 nodes, the cost of a restart per pod is constant: simulated seconds and the simulator's
//! events.

use crate::{restart_times, support};
use sim_api::spec::ScenarioSpec;
use sim_engine::record::DiscardSink;

/// Returns a scenario of 5 Jobs that fill the cluster. At 10 requests per second the token bucket dominates, and
/// constant delays are negligible.
pub fn scenario(nodes: u32) -> ScenarioSpec {
    with_pods(nodes, nodes)
}

/// Returns a scenario with the same nodes and fewer pods.
pub fn with_pods(nodes: u32, pods: u32) -> ScenarioSpec {
    let (per_island, per_job) = (nodes / 5, pods / 5);
    let text = format!(
        "
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {{name: growth}}
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {{name: growth}}
  pools:
    - name: node-{{node:05}}
      count: 5
      nodesPerIsland: {per_island}
      accelerator: example.com/accelerator
      allocatable: {{cpu: 8, example.com/accelerator: 4}}
      labels: {{example.com/rack: \"rack-{{pool}}\"}}
controlPlane:
  preset: stock
  kubeControllerManager: {{qps: 10, burst: 10}}
  kubeScheduler: {{ties: InOrder}}
jobSets:
  - manifest: jobset.yaml
faults:
  - {{afterReady: 30s, containerExit: {{pod: train-workers-0-1, exitCode: 1}}}}
stop: {{at: 24h, when: Settled}}
seed: 42
"
    );
    let jobset = format!(
        "
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}}
spec:
  failurePolicy: {{maxRestarts: 3}}
  replicatedJobs:
    - name: workers
      replicas: 5
      template:
        spec:
          parallelism: {per_job}
          completions: {per_job}
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 0
              containers: [{{name: w, image: \"x:1\", resources: {{limits: {{example.com/accelerator: 4}}}}}}]
"
    );
    support::parse(&text, &jobset).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_restart_costs_the_same_per_pod_at_every_size() {
    let sizes = &[500, 5_000, 50_000][..support::cases(2, 3) as usize];
    let costs: Vec<(f64, f64)> = sizes
        .iter()
        .map(|&nodes| {
            let scenario = scenario(nodes);
            let seconds = restart_times::restart_s(&scenario) / f64::from(nodes);
            let events = support::simulation(&scenario).run(42, 0, &mut DiscardSink).events;
            (seconds, events as f64 / f64::from(nodes))
        })
        .collect();
    println!("simulated seconds and events per pod at {sizes:?}: {costs:?}");
    for (nodes, (seconds, events)) in sizes.iter().zip(&costs) {
        let flat = |now: f64, first: f64| (now / first - 1.0).abs() <= 0.10;
        assert!(flat(*seconds, costs[0].0), "{nodes} nodes: {costs:?}");
        assert!(flat(*events, costs[0].1), "{nodes} nodes: {costs:?}");
    }
}
