//! Mechanisms of single controllers: the garbage collector, kubelets without a Node object, anti-affinity and the pod
//! webhook of exclusive placement, the scheduler's Events.

use super::finalizers::at_seconds;
use super::wrong_results::responses;
use super::{POD, count, play, scenario, workers};
use crate::support;
use sim_base::SimTime;
use sim_engine::record::*;

/// A scripted kubelet, so that times are short and exact.
const FAST: &str = "timing: {kubelet: {scripted: {start: 100ms, stop: 500ms, stopExitCode: 143, restart: 500ms}}}\n";
const NODE: &str = "{apiVersion: v1, kind: Node, metadata: {name: node-000, labels: {example.com/rack: rack}}, \
                    status: {allocatable: {cpu: 8, example.com/accelerator: 4}}}";

fn script(actions: &str) -> String {
    format!("{FAST}stop: {{at: 2m, when: Time}}\nfaults:\n{actions}")
}

fn jobset(replicas: u32, pods: u32) -> String {
    let jobs = workers(replicas, pods, "backoffLimit: 0", &format!("containers: [{POD}]"));
    format!("spec:\n  replicatedJobs:\n{jobs}")
}

/// Returns the reasons of all failed scheduling attempts.
fn scheduling_failures(nodes: u32, rest: &str, jobset: &str) -> Vec<String> {
    let scenario = scenario(nodes, "0s", rest, jobset);
    let mut simulation = support::simulation(&scenario);
    let mut keep = KeepSink::default();
    simulation.run(1, 0, &mut keep);
    let names = simulation.names();
    let reason = |r: &SimulationRecord| match r.body {
        Body::PodUnschedulable { reason, .. } => Some(names.text(reason).to_owned()),
        _ => None,
    };
    keep.0.iter().filter_map(reason).collect()
}

/// `attemptToDeleteItem`: the propagation is Foreground only if the object has dependents.
#[test]
fn the_collector_deletes_a_job_without_pods_in_the_background() {
    for (suspend, marked) in [(true, 0), (false, 2)] {
        let jobset = jobset(2, 1).replace("spec:\n  repl", &format!("spec:\n  suspend: {suspend}\n  repl"));
        let (_, records) = play(2, &script("  - {at: 10s, deleteJobSet: {name: a}}\n"), &jobset);
        let deleting = count(&records, |b| matches!(b, Body::JobDeleting { .. }));
        assert_eq!(deleting, marked, "suspend: {suspend}");
        assert_eq!(count(&records, |b| matches!(b, Body::JobGone { .. })), 2);
        assert_eq!(count(&records, |b| matches!(b, Body::JobSetDeleted { .. })), 1);
    }
}

/// The graph requeues the owner whichever client removes the last dependent.
#[test]
fn a_jobset_in_foreground_deletion_goes_with_its_last_job_however_that_goes() {
    let finalizers = |at: u32, list: &str| {
        format!("  - {{at: {at}s, patch: {{kind: Job, name: a-w-0, merge: {{metadata: {{finalizers: [{list}]}}}}}}}}\n")
    };
    let delete = |at: u32, kind: &str, name: &str, propagation: &str| {
        format!("  - {{at: {at}s, delete: {{kind: {kind}, name: {name}, propagation: {propagation}}}}}\n")
    };
    let owner = delete(20, "JobSet", "a", "Foreground");
    let slow = |rest: String| format!("containers: [{{stopAfter: 20s}}]\n{rest}");
    let ends = [
        script(&(finalizers(10, "example.com/keep") + &owner + &finalizers(40, ""))),
        slow(script(&(owner.clone() + &delete(40, "Job", "a-w-0", "Background"))))
            .replace("stopAfter: 20s", "stopAfter: 30s"),
        slow(script(&(owner.clone() + &delete(40, "Job", "a-w-0", "Orphan"))))
            .replace("stopAfter: 20s", "stopAfter: 30s"),
    ];
    for rest in ends {
        let (_, records) = play(2, &rest, &jobset(1, 1));
        let gone = at_seconds(&records, |b| matches!(b, Body::JobSetDeleted { .. }));
        assert_eq!(gone, [40], "{rest}");
    }
}

/// A kubelet needs no Node object to report and to stop its pods, and a POST of a Node changes no machine.
#[test]
fn a_kubelet_without_its_node_object_works_on() {
    let gone = "  - {at: 10s, delete: {kind: Node, name: node-000}}\n";
    let back = format!("  - {{at: 20s, create: {{object: {NODE}}}}}\n");
    let finished = |b: &Body| matches!(b, Body::PodFinished { .. });
    for (rest, expected) in [
        (format!("containers: [{{runFor: 15s}}]\n{}", script(gone)), 15),
        (format!("containers: [{{runFor: 30s}}]\n{}", script(&(gone.to_owned() + &back))), 30),
        (script(&format!("{gone}  - {{at: 12s, deletePod: {{pod: a-w-0-0}}}}\n{back}")), 12),
    ] {
        let (_, records) = play(1, &rest, &jobset(1, 1));
        assert_eq!(at_seconds(&records, finished).first(), Some(&expected), "{rest}");
    }
}

#[test]
fn a_new_machine_reports_the_lost_containers_at_once() {
    for (crash, code) in [("  - {at: 10s, crashNode: {node: node-000}}\n", 255), ("", 137)] {
        let rest = script(&format!("{crash}  - {{at: 13s, newNode: {{node: node-000}}}}\n"));
        let (_, records) = play(1, &rest, &jobset(1, 1));
        let finished = |b: &Body| matches!(b, Body::PodFinished { exit_code, .. } if *exit_code == Some(code));
        assert_eq!(at_seconds(&records, finished), [13], "exit code {code}");
    }
}

/// `satisfyExistingPodsAntiAffinity` asks every term of an existing pod, whatever its topology key.
#[test]
fn exclusive_leaders_with_different_topology_keys_repel_each_other() {
    let key = |key: &str| {
        format!(
            "template:\n        metadata: {{annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: {key}}}}}\n        spec:"
        )
    };
    let job = |name: &str, topology: &str, depends: &str| {
        let job = workers(1, 1, "", "containers: [{name: w, image: \"x:1\"}]");
        let job = job.replacen("template:\n        spec:", &key(topology), 1);
        job.replace("name: w\n", &format!("name: {name}\n{depends}"))
    };
    let first = job("first", "example.com/rack", "");
    let depends = "      dependsOn: [{name: first, status: Ready}]\n";
    let second = job("second", "kubernetes.io/hostname", depends);
    let failures = scheduling_failures(
        3,
        &script("").replace("faults:\n", ""),
        &format!("spec:\n  replicatedJobs:\n{first}{second}"),
    );
    assert_eq!(failures.len(), 1, "{failures:?}");
    let words =
        "1 node(s) didn't match pod anti-affinity rules, 2 node(s) didn't satisfy existing pods anti-affinity rules.";
    assert!(failures[0].contains(words), "{failures:?}");
}

/// `leaderPodForFollower` looks for pods by name, also for pods that no Job created.
#[test]
fn a_pod_created_by_hand_with_the_name_of_a_leader_blocks_the_followers() {
    let byhand = |name: &str| {
        format!(
            "objects:\n- {{apiVersion: v1, kind: Pod, metadata: {{name: {name}, annotations: \
             {{alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}}}}, spec: {{nodeSelector: {{no: where}}, \
             restartPolicy: Never, containers: [{{name: c, image: \"x:1\"}}]}}}}\n"
        )
    };
    let exclusive =
        format!("  annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}}\n{}", jobset(1, 2));
    for (name, pods) in [("a-w-0-0-hand", 2), ("a-w-1-0-hand", 3), ("a-w-0-1-hand", 3)] {
        let (_, records) = play(2, &(byhand(name) + &script("").replace("faults:\n", "")), &exclusive);
        assert_eq!(count(&records, |b| matches!(b, Body::PodCreated { .. })), pods, "{name}");
    }
}

/// The node lifecycle controller removes the taint after spec.unschedulable is false, and each failed attempt has an
/// Event unless it repeats the last one.
#[test]
fn the_scheduler_reports_every_reason_until_the_taint_of_an_uncordoned_node_is_gone() {
    let actions = "  - {at: 0s, cordonNode: {node: node-000}}\n  - {at: 10s, uncordonNode: {node: node-000}}\n";
    let rest = format!("timing: {{watchLag: 1s}}\nstop: {{at: 1m, when: Time}}\nfaults:\n{actions}");
    let failures = scheduling_failures(1, &rest, &jobset(1, 1));
    let first: Vec<&str> = failures.iter().filter_map(|text| text.split('.').next()).collect();
    let expected = [
        "0/1 nodes are available: 1 node(s) were unschedulable",
        "0/1 nodes are available: 1 node(s) had untolerated taint(s)",
    ];
    assert_eq!(first, expected);
    let (_, records) = play(1, &rest, &jobset(1, 1));
    assert_eq!(at_seconds(&records, |b| matches!(b, Body::PodBound { .. })), [11]);
}

/// Other controllers may write the status of some replicatedJobs; the manager adds the others at its next pass.
#[test]
fn a_partial_status_is_stored_as_it_was_sent() {
    let jobs = jobset(1, 1);
    let other = workers(1, 1, "", &format!("containers: [{POD}]")).replace("name: w\n", "name: v\n");
    let merge =
        "{status: {replicatedJobsStatus: [{name: v, ready: 1, succeeded: 0, failed: 0, active: 1, suspended: 0}]}}";
    let show = |at: u32| {
        format!("  - {{at: {at}s, show: {{kind: JobSet, name: a, fields: [status.replicatedJobsStatus]}}}}\n")
    };
    let actions = format!(
        "  - {{at: 20s, patch: {{kind: JobSet, name: a, status: true, merge: {merge}}}}}\n{}{}",
        show(20),
        show(30)
    );
    let answers = responses(2, &script(&actions), &format!("{jobs}{other}"));
    let entries = |answer: &(SimTime, String)| answer.1.matches("\"name\":").count();
    let result: Vec<usize> = answers.iter().map(entries).collect();
    assert_eq!(result, [0, 1, 2], "{answers:?}");
}

/// The strategy of Jobs adds the selector and the labels.
#[test]
fn a_job_is_shown_with_the_selector_that_the_api_server_adds() {
    let show =
        "  - {at: 20s, show: {kind: Job, name: a-w-0, fields: [spec.selector, spec.template.metadata.labels]}}\n";
    let answers = responses(2, &script(show), &jobset(1, 1));
    assert_eq!(answers[0].1.matches("batch.kubernetes.io/controller-uid").count(), 2, "{answers:?}");
    assert!(answers[0].1.contains("\"batch.kubernetes.io/job-name\":\"a-w-0\""), "{answers:?}");
}
