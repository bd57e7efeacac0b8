//! Objects that are kept or deleted because of finalizers, owners or unresponsive nodes, and the explanations of
//! that.

use super::owned_objects::claim_jobset;
use super::wrong_results::responses;
use super::{POD, count, play, workers};
use sim_engine::record::*;

pub fn at_seconds(records: &[SimulationRecord], what: impl Fn(&Body) -> bool) -> Vec<u64> {
    let result = records.iter().filter(|r| what(&r.body));
    result.map(|r| r.at.seconds() as u64).collect()
}

/// The Job controller adds its finalizer to those of the template. Only the owner of a finalizer removes it.
#[test]
fn finalizers_of_a_pod_template_keep_the_pods() {
    let jobs = workers(1, 1, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let jobs = jobs.replace(
        "template:\n            spec:\n              restart",
        "template:\n            metadata: {finalizers: [example.com/hold]}\n            spec:\n              restart",
    );
    let jobset = format!("spec:\n  failurePolicy: {{maxRestarts: 1}}\n  replicatedJobs:\n{jobs}");
    let exit = "  - {at: 60s, containerExit: {pod: a-w-0-0, exitCode: 1}}\n";
    let (outcome, _) = play(1, &format!("faults:\n{exit}stop: {{at: 10m}}"), &jobset);
    assert_eq!(
        outcome.blocked,
        ["JobSet a is not ready: pod a-w-0-0 is being deleted, but no modelled controller removes its finalizers"]
    );
    let free = "  - {at: 100s, patch: {kind: Pod, name: a-w-0-0, merge: {metadata: {finalizers: null}}}}\n";
    let (outcome, records) = play(1, &format!("faults:\n{exit}{free}stop: {{at: 10m}}"), &jobset);
    assert_eq!(outcome.blocked, Vec::<String>::new());
    let gone = at_seconds(&records, |b| matches!(b, Body::PodGone { .. }));
    assert_eq!(gone, [100]);
}

/// With background deletion, dependents are deleted after their owner.
#[test]
fn a_job_that_a_finalizer_keeps_keeps_its_pods_when_it_is_deleted_in_the_background() {
    let jobs = workers(1, 2, "", &format!("containers: [{POD}]"));
    let (outcome, records) = play(
        2,
        "faults:\n  - {at: 50s, patch: {kind: Job, name: a-w-0, merge: {metadata: {finalizers: [x.y/hold]}}}}\n  \
         - {at: 60s, delete: {kind: Job, name: a-w-0}}\n  \
         - {at: 120s, patch: {kind: Job, name: a-w-0, merge: {metadata: {finalizers: null}}}}\nstop: {at: 10m}",
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    assert_eq!(at_seconds(&records, |b| matches!(b, Body::JobDeleting { .. })), [60]);
    assert_eq!(at_seconds(&records, |b| matches!(b, Body::JobGone { .. })), [120]);
    let deleting = at_seconds(&records, |b| matches!(b, Body::PodDeleting { .. }));
    assert_eq!(deleting, [120, 120]);
    assert_eq!(outcome.blocked, Vec::<String>::new());
}

/// SUS-5: before 1.36, a suspended Job keeps its startTime, and the manager clears it with a separate request.
#[test]
fn a_job_with_a_start_time_is_resumed_by_two_requests() {
    let script = "faults:\n  - {at: 60s, suspendJobSet: {name: a}}\n  - {at: 90s, resumeJobSet: {name: a}}\n\
                  stop: {at: 10m}";
    for (version, clears) in [("1.35", 2), ("1.36", 0)] {
        let jobs = workers(2, 1, "", &format!("containers: [{POD}]"));
        // Responses that arrive together start one pass of the manager.
        let rest =
            format!("timing: {{apiWrite: 7ms, watchLag: 3ms}}\ncontrolPlane: {{kubernetes: \"{version}\"}}\n{script}");
        let (outcome, _) = play(2, &rest, &format!("spec:\n  replicatedJobs:\n{jobs}"));
        let sent = |verb: &str, resource: &str| -> u64 {
            let of = outcome.requests.iter();
            let of = of.filter(|r| (r.client, r.verb, r.resource) == ("jobset", verb, resource));
            of.map(|r| r.count).sum()
        };
        assert_eq!(sent("update", "jobs/status"), clears, "{version}");
        assert_eq!(sent("update", "jobs"), 4, "{version}");
    }
}

/// NamespaceLifecycle: the admission plugin rejects objects in a namespace that does not exist.
#[test]
fn nothing_is_created_in_a_namespace_that_does_not_exist() {
    let service = "create: {object: {apiVersion: v1, kind: Service, metadata: {name: s, namespace: team}, \
                   spec: {clusterIP: None}}}";
    let namespace = "create: {object: {apiVersion: v1, kind: Namespace, metadata: {name: team}}}";
    let rest = format!(
        "faults:\n  - {{at: 10s, {service}}}\n  - {{at: 20s, {namespace}}}\n  - {{at: 30s, {service}}}\n\
         stop: {{at: 1m, when: Time}}"
    );
    let output = responses(1, &rest, &claim_jobset());
    let printed: Vec<&str> = output.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(printed, ["namespaces \"team\" not found", "", ""]);
}

/// A Job that replaces only failed pods keeps its finalizer on a pod that was removed by force.
#[test]
fn no_advice_to_remove_by_force_what_force_does_not_remove() {
    let policy = "backoffLimit: 0\n          podFailurePolicy: {rules: [{action: Ignore, onPodConditions: \
                  [{type: DisruptionTarget}]}]}";
    let stuck = |job: &str, force: &str| {
        let jobs = workers(1, 1, job, &format!("containers: [{POD}]"));
        let (outcome, _) = play(
            2,
            &format!("faults:\n  - {{at: 60s, crashNode: {{ofPod: a-w-0-0}}}}\n{force}stop: {{at: 1h}}"),
            &format!("spec:\n  failurePolicy: {{maxRestarts: 1}}\n  replicatedJobs:\n{jobs}"),
        );
        outcome.blocked.join("\n")
    };
    let force = "  - {at: 500s, deletePod: {pod: a-w-0-0, force: true}}\n";
    let advice = "or the pod is removed by force";
    assert!(stuck("podReplacementPolicy: TerminatingOrFailed\n          suspend: false", force).is_empty());
    let before = stuck(policy, "");
    assert!(!before.contains(advice) && before.contains("removal by force does not help"), "{before}");
    let after = stuck(policy, force);
    assert!(after.contains("was removed by force") && after.contains("finalizer keeps it"), "{after}");
}

/// FailedScheduling counts every existing node once.
#[test]
fn nodes_of_a_failed_scheduling_add_up_after_a_node_is_deleted() {
    let jobs = workers(1, 3, "", &format!("containers: [{POD}]"));
    let selects = jobs
        .replace("restartPolicy: Never", "restartPolicy: Never\n              nodeSelector: {example.com/rack: rack}");
    let scenario = super::scenario(
        3,
        "0s",
        "faults:\n  - {at: 60s, deleteNode: {node: node-002}}\nstop: {at: 30m}",
        &format!("spec:\n  failurePolicy: {{maxRestarts: 3}}\n  replicatedJobs:\n{selects}"),
    );
    let mut simulation = crate::support::simulation(&scenario);
    let outcome = simulation.run(1, 0, &mut KeepSink::default());
    let why = &outcome.blocked[0];
    assert!(why.contains("0/2 nodes are available: 2 Insufficient"), "{why}");
}

/// AG-3: the agent exits with the code of its environment variable. The container's rules, and then the restart
/// policy, decide the effect.
#[test]
fn the_code_that_an_agent_ends_with_decides_what_its_container_does() {
    let simulated = |code: &str| {
        let agent = format!(
            "{{name: w, image: \"x:1\", restartPolicy: Never, restartPolicyRules: [{{action: Restart, exitCodes: \
             {{operator: In, values: [42]}}}}], env: [{{name: JOBSET_NAME, value: a}}, {{name: POD_NAME, value: p}}, \
             {{name: WORKER_COMMAND, value: train}}, {{name: IN_PLACE_RESTART_EXIT_CODE, value: \"{code}\"}}]}}"
        );
        let jobs = workers(
            1,
            2,
            "backoffLimit: 2147483647\n          podReplacementPolicy: Failed",
            &format!("containers: [{agent}]"),
        );
        play(
            2,
            "faults:\n  - {afterReady: 60s, containerExit: {pod: a-w-0-0, exitCode: 42}}\nstop: {at: 10m}",
            &format!(
                "spec:\n  failurePolicy: {{maxRestarts: 3, restartStrategy: InPlaceRestart}}\n  replicatedJobs:\n{jobs}"
            ),
        )
    };
    let exits = |records: &[SimulationRecord], code: i32| {
        count(records, |b| matches!(b, Body::ContainerExited { exit_code, .. } if *exit_code == code))
    };
    let (_, records) = simulated("42");
    assert_eq!(exits(&records, 42), 2, "the agents of the failed pod and of the other pod must exit");
    assert_eq!(count(&records, |b| matches!(b, Body::PodFinished { .. })), 0, "both pods must continue");
    let (_, records) = simulated("7");
    assert_eq!(exits(&records, 7), 1);
    let failed = count(&records, |b| matches!(b, Body::PodFinished { succeeded: false, .. }));
    assert!(failed > 0, "no rule matches 7, so restartPolicy Never must end the pod");
}

/// The kubelet's last status update may be sent before the previous one is answered.
#[test]
fn pods_that_succeed_take_no_readiness_away_however_fast_their_kubelets_are() {
    for period in ["100ms", "1s"] {
        let jobs = workers(1, 3, "", &format!("containers: [{POD}]"));
        let (outcome, records) = play(
            3,
            &format!(
                "containers: [{{podIndex: 0, runFor: 60s}}, {{podIndex: 1, runFor: 70s}}, {{runFor: 80s}}]\n\
                 timing: {{plegPeriod: {period}}}"
            ),
            &format!("spec:\n  replicatedJobs:\n{jobs}"),
        );
        assert_eq!(outcome.jobsets[0].terminal_state, "Completed");
        let flips = count(&records, |b| matches!(b, Body::AllReady { .. }));
        assert_eq!(flips, 1, "{period}: AllReady must be recorded once");
    }
}

/// C-58: orphaned pods have no owner. Neither the status of the JobSet (REC-6) nor the simulator's counters include
/// them.
#[test]
fn orphaned_pods_do_not_make_a_jobset_ready() {
    let jobs = workers(3, 1, "", &format!("containers: [{POD}]"));
    let jobset = format!("spec:\n  replicatedJobs:\n{jobs}");
    let delete = "  - {at: 60s, delete: {kind: Job, name: a-w-0, propagation: Orphan}}\n";
    let look = "  - {at: 90s, show: {kind: JobSet, name: a, fields: [status.replicatedJobsStatus]}}\n";
    for (nodes, ready, stuck) in [(3, 2, 1), (4, 3, 0)] {
        let rest = format!("faults:\n{delete}stop: {{at: 10m}}");
        let (outcome, records) = play(nodes, &rest, &jobset);
        assert_eq!(outcome.blocked.len(), stuck, "{:?}", outcome.blocked);
        let lost = at_seconds(&records, |b| matches!(b, Body::AllReady { ready: false, .. }));
        assert_eq!(lost, [60], "{nodes} nodes");
        let held = |c: LedgerCategory| outcome.ledger.accelerator_ns[c as usize] > 0;
        assert!(held(LedgerCategory::Terminating), "the accelerators of the orphaned pod must be in the ledger");
        let rest = format!("faults:\n{delete}{look}stop: {{at: 2m, when: Time}}");
        let text = responses(nodes, &rest, &jobset);
        let output = &text.last().unwrap().1;
        assert!(output.contains(&format!("\"ready\":{ready}")), "{output}");
    }
}

/// `k8s.io/apiserver`, rest.BeforeDelete. The garbage collector's finalizer keeps a Job during foreground deletion.
#[test]
fn what_is_being_deleted_shows_since_when_and_what_keeps_it() {
    let jobs = workers(1, 1, "", &format!("containers: [{POD}]")).replace(
        "template:\n            spec:\n              restart",
        "template:\n            metadata: {finalizers: [example.com/hold]}\n            spec:\n              restart",
    );
    let fields = "metadata.finalizers, metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds";
    let show = |at: &str, kind: &str, name: &str| {
        format!("  - {{at: {at}, show: {{kind: {kind}, name: {name}, fields: [{fields}]}}}}\n")
    };
    let patch = |at: &str, finalizers: &str| {
        format!(
            "  - {{at: {at}, patch: {{kind: Job, name: a-w-0, merge: {{metadata: {{finalizers: {finalizers}}}}}}}}}\n"
        )
    };
    let script = [
        show("50s", "Pod", "a-w-0-0"),
        "  - {at: 60s, delete: {kind: Job, name: a-w-0, propagation: Foreground}}\n".to_owned(),
        show("70s", "Pod", "a-w-0-0"),
        show("70s", "Job", "a-w-0"),
        patch("71s", "[foregroundDeletion, new.example.com/x]"),
        // The pod is no longer kept, so the next Job is created.
        patch("72s", "null"),
        show("200s", "Pod", "a-w-0-0"),
    ];
    let rest = format!("faults:\n{}stop: {{at: 5m, when: Time}}", script.concat());
    let output = responses(2, &rest, &format!("spec:\n  replicatedJobs:\n{jobs}"));
    let printed: Vec<&str> = output.iter().map(|(_, text)| text.as_str()).collect();
    let format_value = |at: &str, grace: &str, finalizers: &str| {
        format!(
            "{{\"metadata.deletionGracePeriodSeconds\":{grace},\"metadata.deletionTimestamp\":{at},\
             \"metadata.finalizers\":{finalizers}}}"
        )
    };
    let both = "[\"example.com/hold\",\"batch.kubernetes.io/job-tracking\"]";
    let minute = "\"1970-01-01T00:01:00Z\"";
    let refusal = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found \
                   new finalizers []string{\"new.example.com/x\"}";
    let expected = [
        format_value("null", "null", both),
        String::new(),
        format_value(minute, "0", "[\"example.com/hold\"]"),
        format_value(minute, "0", "[\"foregroundDeletion\"]"),
        refusal.to_owned(),
        String::new(),
        // The pod belongs to the next Job.
        format_value("null", "null", both),
    ];
    assert_eq!(printed, expected);
}

#[test]
fn finalizers_keep_a_deleted_job_and_come_too_late_for_one_that_is_being_deleted() {
    let jobs = workers(1, 2, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let jobset = format!("spec:\n  replicatedJobs:\n{jobs}");
    let hold = |at| {
        format!(
            "  - {{at: {at}, patch: {{kind: Job, name: a-w-0, merge: {{metadata: {{finalizers: [x.y/hold]}}}}}}}}\n"
        )
    };
    let delete = "  - {at: 60s, delete: {kind: Job, name: a-w-0, propagation: Foreground}}\n";
    let (outcome, _) = play(2, &format!("faults:\n{}{delete}", hold("59s")), &jobset);
    assert_eq!(
        outcome.blocked,
        ["JobSet a is not ready: Job a-w-0 is being deleted, but no modelled controller removes its finalizers"]
    );
    let (outcome, records) = play(2, &format!("faults:\n{delete}{}", hold("60100ms")), &jobset);
    assert_eq!(outcome.blocked, [""; 0]);
    assert_eq!(count(&records, |b| matches!(b, Body::JobGone { .. })), 1);
}
