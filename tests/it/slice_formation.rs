//! Slices of TPU cubes that are formed again after the loss of a cube (`sliceFormation`).

use crate::support;
use sim_api::spec::SchedulerTies;
use sim_engine::record::*;
use std::collections::{BTreeMap, BTreeSet};

/// A Job of four pods on a slice of two cubes with two nodes each. Cube 0 and 1 are the slice; others are free. The
/// last cube is in another block.
fn scenario(cubes: u32, formation: &str, faults: &str) -> String {
    format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: cubes}}\ntopology:\n  apiVersion: \
         jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: cubes}}\n  slices: [{{name: a, shape: 4x4x8, \
         cubes: [cube-0, cube-1]}}]\n  pools:\n  - {{name: \"n-{{node}}\", count: {cubes}, nodesPerIsland: 2, \
         accelerator: google.com/tpu, allocatable: {{google.com/tpu: 32}}, labels: \
         {{cloud.google.com/gke-tpu-partition-4x4x4-id: \"cube-{{pool}}\", cloud.google.com/gce-topology-block: b}}}}\n  \
         - {{name: \"far-{{node}}\", nodesPerIsland: 2, accelerator: google.com/tpu, allocatable: \
         {{google.com/tpu: 32}}, labels: {{cloud.google.com/gke-tpu-partition-4x4x4-id: far, \
         cloud.google.com/gce-topology-block: other}}}}\n\
         {formation}\njobSets: [{{manifest: js.yaml}}]\nfaults: {faults}\nstop: {{at: 2h}}\nseed: 1\n"
    )
}

const JOBSET: &str = "
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js, annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-tpu-slice}}
spec:
  failurePolicy: {maxRestarts: 5}
  replicatedJobs:
    - name: w
      template:
        spec:
          parallelism: 4
          completions: 4
          backoffLimit: 0
          podFailurePolicy: {rules: [{action: FailJob, onPodConditions: [{type: DisruptionTarget}]}]}
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              containers: [{name: c, image: 'x:1', resources: {limits: {google.com/tpu: 32}}}]
";

/// What happened to the slice and when, in seconds, and the nodes of the pods at the end.
struct SliceRun {
    texts: Vec<String>,
    nodes: BTreeSet<String>,
    blocked: Vec<String>,
}

#[derive(Default)]
struct Records(Vec<SimulationRecord>);

impl RecordSink for Records {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.0.push(*record);
    }
}

fn play(text: &str) -> SliceRun {
    let mut scenario = support::parse_with(text, &[("js.yaml", JOBSET)]).unwrap_or_else(|e| panic!("{e}"));
    // The pods on a lost node, and so the times, are the same in all cases.
    scenario.control_plane.ties = SchedulerTies::InOrder;
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut records = Records::default();
    let outcome = simulation.run(1, 0, &mut records);
    let names = simulation.names();
    let mut nodes = BTreeMap::new();
    let mut texts = Vec::new();
    for record in &records.0 {
        let at = record.at.0 / 1_000_000_000;
        match record.body {
            Body::SliceForming { slice, replaced } => {
                texts.push(format!("{at} s: {} loses {replaced}", names.text(slice)));
            }
            Body::SliceFormed { slice } => texts.push(format!("{at} s: {} is formed", names.text(slice))),
            Body::RestartCounted { restarts, .. } => texts.push(format!("restart {restarts}")),
            Body::AllReady { ready: true, .. } => texts.push("ready".to_owned()),
            Body::PodBound { pod, node, .. } => drop(nodes.insert(pod, names.node(node).to_owned())),
            Body::PodGone { pod, .. } => drop(nodes.remove(&pod)),
            _ => {}
        }
    }
    SliceRun { texts, nodes: nodes.into_values().collect(), blocked: outcome.blocked }
}

const FORMATION: &str = "sliceFormation: 30s";
/// A crash, whose Node object is deleted after 10 min.
const LOST: &str = "{at: 60s, crashNode: {node: n-2}}, {at: 10m, deleteNode: {node: n-2}}";

#[test]
fn a_slice_is_formed_again_with_usable_cubes_of_its_block() {
    let cordon = "{at: 1s, cordonNode: {node: n-5}}, ";
    let cases = [
        (
            "a lost cube is replaced by the first free cube of the block when the pods are gone",
            scenario(4, FORMATION, &format!("[{LOST}]")),
            "ready; restart 1; 658 s: a loses 1; 688 s: a is formed; ready",
            "n-0 n-1 n-4 n-5",
        ),
        (
            "a cube with a cordoned node is no spare",
            scenario(4, FORMATION, &format!("[{cordon}{LOST}]")),
            "ready; restart 1; 658 s: a loses 1; 688 s: a is formed; ready",
            "n-0 n-1 n-6 n-7",
        ),
        (
            "a cube that is lost during the formation is replaced after it",
            scenario(4, FORMATION, &format!("[{LOST}, {{at: 670s, deleteNode: {{node: n-4}}}}]")),
            "ready; restart 1; 658 s: a loses 1; 688 s: a is formed; 688 s: a loses 1; 718 s: a is formed; ready",
            "n-0 n-1 n-6 n-7",
        ),
        (
            "without a spare the slice keeps its cubes and is complete when the node is back",
            scenario(2, FORMATION, &format!("[{LOST}, {{at: 1h, newNode: {{node: n-2}}}}]")),
            "ready; restart 1; ready",
            "n-0 n-1 n-2 n-3",
        ),
        (
            "a cordoned node makes its cube unusable",
            scenario(3, FORMATION, "[{at: 5m, drainNode: {node: n-1}}]"),
            "ready; restart 1; 303 s: a loses 1; 333 s: a is formed; ready",
            "n-2 n-3 n-4 n-5",
        ),
        (
            "a repaired cube is a spare for the next loss",
            scenario(
                3,
                FORMATION,
                &format!("[{LOST}, {{at: 30m, newNode: {{node: n-2}}}}, {{at: 1h, drainNode: {{node: n-0}}}}]"),
            ),
            "ready; restart 1; 658 s: a loses 1; 688 s: a is formed; ready; restart 2; 3602 s: a loses 1; \
             3632 s: a is formed; ready",
            "n-2 n-3 n-4 n-5",
        ),
    ];
    for (case, scenario, texts, nodes) in cases {
        let run = play(&scenario);
        assert_eq!(run.texts.join("; "), texts, "{case}");
        assert_eq!(run.nodes.into_iter().collect::<Vec<String>>().join(" "), nodes, "{case}");
    }
}

#[test]
fn a_job_is_blocked_if_its_slice_is_not_complete_at_the_end() {
    for (case, scenario) in [
        ("the slice is never formed again", scenario(4, "", &format!("[{LOST}]"))),
        (
            "the block has no spare, and cubes of other blocks cannot be used",
            scenario(2, FORMATION, &format!("[{LOST}]")),
        ),
    ] {
        let run = play(&scenario);
        assert_eq!(run.texts.join("; "), "ready; restart 1", "{case}");
        assert_eq!(run.blocked.len(), 1, "{case}: {:?}", run.blocked);
    }
}

#[test]
fn slice_formation_needs_slices() {
    let text = scenario(2, FORMATION, "[]").replace("slices: [{name: a, shape: 4x4x8, cubes: [cube-0, cube-1]}]", "");
    let error = support::parse_with(&text, &[("js.yaml", JOBSET)]).expect_err("no slices");
    assert!(error.contains("sliceFormation has no effect: the topology has no slices"), "{error}");
}
