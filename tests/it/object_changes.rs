//! Changes of stored objects take effect as if the objects had been created that way.

use crate::regressions::{POD, count, play, workers};
use sim_base::*;
use sim_engine::record::*;
use std::collections::BTreeMap;

const QUIET: &str = "backoffLimit: 0";

fn plain_worker() -> String {
    workers(1, 2, QUIET, &format!("containers: [{POD}]"))
}

/// Returns the number of evictions by a NoExecute taint, a minute after all pods ran. The JobSet is initially
/// suspended, and is resumed with `pod` as its pod spec.
fn evictions(pod: &str) -> usize {
    // A merge patch replaces the whole list, so fields that the webhook had defaulted are spelled out.
    let jobs = workers(1, 1, "backoffLimit: 0\n          completionMode: Indexed", pod);
    let indented: String = jobs.lines().map(|l| format!("            {l}\n")).collect();
    let faults = format!(
        "faults:\n  - at: 10s\n    patch:\n      kind: JobSet\n      name: a\n      merge:\n        spec:\n          \
         suspend: false\n          replicatedJobs:\n{indented}  - afterReady: 1m\n    \
         taintNode: {{ofPod: a-w-0-0, key: example.com/maintenance, value: soon, effect: NoExecute}}\n\
         stop: {{at: 1h}}"
    );
    let before = workers(1, 1, QUIET, &format!("containers: [{POD}]"));
    let spec = format!("spec:\n  suspend: true\n  replicatedJobs:\n{before}");
    let (_, records) = play(2, &faults, &spec);
    let by_taint = |b: &Body| matches!(b, Body::PodDeleting { by: DeletionActor::TaintEviction, .. });
    count(&records, by_taint)
}

#[test]
fn a_toleration_patched_in_before_the_resume_is_the_pods() {
    let containers = format!("containers: [{POD}]");
    let tolerating = format!(
        "tolerations: [{{key: example.com/maintenance, operator: Exists, effect: NoExecute}}]\n              {containers}"
    );
    assert_eq!(evictions(&containers), 1, "without the toleration the pod is evicted");
    assert_eq!(evictions(&tolerating), 0, "with the toleration the pod stays");
}

#[test]
fn a_node_that_is_deleted_and_created_again_takes_pods() {
    // The only node is deleted and created again with the same name; the pods wait for it.
    let node = "{apiVersion: v1, kind: Node, metadata: {name: node-000, labels: {example.com/rack: rack}}, \
                status: {allocatable: {cpu: 8, pods: 110, example.com/accelerator: 8}}}";
    let faults = format!(
        "faults:\n  - {{at: 1s, deleteNode: {{node: node-000}}}}\n  - {{at: 60s, create: {{object: {node}}}}}\n  \
         - {{at: 2m, resumeJobSet: {{name: a}}}}\nstop: {{at: 1h}}"
    );
    let spec = format!("spec:\n  suspend: true\n  replicatedJobs:\n{}", plain_worker());
    let (_, records) = play(1, &faults, &spec);
    let bound = count(&records, |b| matches!(b, Body::PodBound { .. }));
    assert_eq!(bound, 2, "both pods fit the new Node, which has twice the capacity of the old one");
}

#[test]
fn foreign_job_blocks_the_name() {
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: a-w-0}, spec: {template: {spec: \
               {restartPolicy: Never, containers: [{name: w, image: \"x:1\"}]}}}}";
    let objects = format!("objects: [{job}]\nstop: {{at: 10m}}");
    let spec = format!("spec:\n  replicatedJobs:\n{}", plain_worker());
    let (outcome, records) = play(4, &objects, &spec);
    let created = count(&records, |b| matches!(b, Body::JobCreated { .. }));
    assert_eq!(created, 1, "only the foreign Job may have pods: {:?}", outcome.blocked);
    let ready = count(&records, |b| matches!(b, Body::AllReady { ready: true, .. }));
    assert_eq!(ready, 0, "the JobSet must not get a Job of its own");
}

#[test]
fn node_patch_takes_effect_immediately() {
    let patch = "patch: {kind: Node, name: node-000, status: true, merge: {status: {allocatable: {example.com/accelerator: 0}}}}";
    let faults =
        format!("faults:\n  - {{at: 1s, {patch}}}\n  - {{at: 10s, resumeJobSet: {{name: a}}}}\nstop: {{at: 10m}}");
    let spec = format!("spec:\n  suspend: true\n  replicatedJobs:\n{}", plain_worker());
    let (_, records) = play(2, &faults, &spec);
    let nodes: Vec<NodeId> = records
        .iter()
        .filter_map(|r| match r.body {
            Body::PodBound { node, .. } => Some(node),
            _ => None,
        })
        .collect();
    assert_eq!(nodes, [NodeId(1)], "the other pod must not fit any node");
}

/// Returns the times from bound to running by completion index of the pods of a Job.
fn start_times(records: &[SimulationRecord], of_job: u32) -> BTreeMap<u32, Vec<Duration>> {
    let mut bound: BTreeMap<PodId, (u32, SimTime)> = BTreeMap::new();
    let mut of = BTreeMap::new();
    let mut starts: BTreeMap<u32, Vec<Duration>> = BTreeMap::new();
    for r in records {
        match r.body {
            Body::PodCreated { pod, job, index, .. } if job == JobId(of_job) => {
                of.insert(pod, index);
            }
            Body::PodBound { pod, .. } => {
                if let Some(index) = of.get(&pod) {
                    bound.insert(pod, (*index, r.at));
                }
            }
            Body::PodRunning { pod, .. } => {
                if let Some((index, since)) = bound.remove(&pod) {
                    starts.entry(index).or_default().push(r.at.since(since));
                }
            }
            _ => {}
        }
    }
    starts
}

#[test]
fn one_more_jobset_changes_no_number_of_the_others() {
    let spec = format!("spec:\n  replicatedJobs:\n{}", plain_worker());
    let (_, alone) = play(8, "stop: {at: 10m}", &spec);
    let other = format!("---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: z\n{spec}");
    let (_, together) = play(8, "stop: {at: 10m}", &format!("{spec}{other}"));
    let created = |records| count(records, |b| matches!(b, Body::PodCreated { .. }));
    assert_eq!((created(&alone), created(&together)), (2, 4));
    // The order in which the two JobSets get their Jobs is random.
    let same = |job: &u32| start_times(&together, *job) == start_times(&alone, 0);
    assert_eq!((0..2).filter(same).count(), 1);
}

#[test]
fn strategies_meet_the_same_pod_with_the_same_start() {
    let of = |strategy: &str| {
        let spec = format!(
            "spec:\n  failurePolicy: {{maxRestarts: 2, restartStrategy: {strategy}}}\n  replicatedJobs:\n{}",
            plain_worker()
        );
        let fault = "faults: [{afterReady: 5s, containerExit: {pod: a-w-0-0, exitCode: 1}}]\nstop: {at: 10m}";
        start_times(&play(8, fault, &spec).1, 0)
    };
    let (recreate, blocking) = (of("Recreate"), of("BlockingRecreate"));
    assert_eq!(recreate[&0].len(), 2, "each pod must have two attempts");
    assert_eq!(recreate, blocking, "second attempts must be equal, regardless of their start time");
}
