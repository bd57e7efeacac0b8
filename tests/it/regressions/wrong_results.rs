//! Results that were wrong in earlier versions: the failed object, the time, the author of a change, the reported
//! reason.

use super::{POD, count, play, workers};
use crate::support;
use sim_api::spec::ScenarioSpec;
use sim_base::*;
use sim_engine::record::*;

fn scenario(nodes: u32, rest: &str, jobset: &str) -> ScenarioSpec {
    super::scenario(nodes, "0s", rest, jobset)
}

fn at(records: &[SimulationRecord], what: impl Fn(&Body) -> bool) -> Option<SimTime> {
    records.iter().find(|r| what(&r.body)).map(|r| r.at)
}

fn seconds(from: SimTime, to: Option<SimTime>) -> f64 {
    to.expect("the event occurs").since(from).seconds()
}

/// Runs one JobSet of one pod that restarts its container.
fn restarting(containers: &str, job: &str) -> (RunOutcome, Vec<SimulationRecord>) {
    let pod = format!("containers: [{POD}]");
    let jobs = workers(1, 1, job, &pod).replace("restartPolicy: Never", "restartPolicy: OnFailure");
    let spec = format!("spec:\n  replicatedJobs:\n{jobs}");
    play(1, &format!("containers: [{containers}]\nstop: {{at: 1h}}"), &spec)
}

/// No kubelet reports the containers of a lost node: pod garbage collection fails the pods without a container
/// status, so no exit code rule matches (recordings/nodes, n-lost-crash-exit-rule).
#[test]
fn pods_of_a_crashed_and_of_a_partitioned_node_end_equally_when_the_node_is_deleted() {
    let policy = "backoffLimit: 0\n          podFailurePolicy: {rules: [{action: FailJob, onExitCodes: \
                  {operator: NotIn, values: [42]}}]}";
    let jobs = workers(1, 2, policy, &format!("containers: [{POD}]"));
    let lose = |how: &str| {
        let faults = format!(
            "faults:\n  - {{at: 100s, {how}: {{node: node-000, alias: lost}}}}\n  \
             - {{at: 1200s, deleteNode: {{alias: lost}}}}\nstop: {{at: 1h}}"
        );
        let policy = "spec:\n  failurePolicy:\n    maxRestarts: 2\n    rules: [{action: FailJobSet, \
                      onJobFailureReasons: [PodFailurePolicy]}]\n  replicatedJobs:\n";
        play(3, &faults, &format!("{policy}{jobs}"))
    };
    let (crashed, partitioned) = (lose("crashNode"), lose("partitionNode"));
    for (outcome, records) in [&crashed, &partitioned] {
        let restarts = count(records, |b| matches!(b, Body::RestartCounted { .. }));
        assert_eq!((restarts, outcome.jobsets[0].restarts), (1, 1));
        assert_eq!(outcome.jobsets[0].terminal_state, "");
    }
    let text = |records: &[SimulationRecord]| -> Vec<String> {
        let later = records.iter().filter(|r| r.at > SimTime::ZERO + Duration::from_secs(101));
        later.map(|r| format!("{} {:?}", r.at, r.body)).collect()
    };
    assert_eq!(text(&crashed.1), text(&partitioned.1));
}

/// The restartCount increases when the container has started again, so the sixth restart occurs after 0 + 10 + 20 +
/// 40 + 80 + 160 s of back-off, each up to 50 % longer (kubernetes.md 3.1, 3.4, 1.6).
#[test]
fn a_container_that_dies_at_once_fails_its_job_at_backoff_limit() {
    for run_for in ["0s", "100ms", "1s"] {
        let rule = format!("{{runFor: {run_for}, exitCode: 1}}");
        let (outcome, records) = restarting(&rule, "");
        assert_eq!(outcome.jobsets[0].terminal_state, "Failed", "{run_for}");
        let restarts = count(&records, |b| matches!(b, Body::ContainersRestarting { .. }));
        assert!((6..=7).contains(&restarts), "{run_for}: {restarts} restarts");
        let failed = |b: &Body| matches!(b, Body::JobCondition { kind: JobConditionType::FailureTarget, .. });
        let after = seconds(SimTime::ZERO, at(&records, failed));
        assert!((310.0..490.0).contains(&after), "{run_for}: failed after {after} s");
    }
}

#[test]
fn a_container_that_is_to_run_again_is_counted_when_it_runs() {
    let (_, records) = restarting(
        "{containerRun: 0, runFor: 5s, exitCode: 1}, \
         {containerRun: 1, runFor: 5s, exitCode: 1}",
        "backoffLimit: 2",
    );
    let exits = records.iter().filter(|r| matches!(r.body, Body::ContainerExited { .. }));
    let second = exits.map(|r| r.at).nth(1).expect("two exits");
    let target = |b: &Body| matches!(b, Body::JobCondition { kind: JobConditionType::FailureTarget, .. });
    let after = seconds(second, at(&records, target));
    assert!((10.0..18.0).contains(&after), "the Job failed before the end of the back-off: {after} s");
}

/// jobset #928: on a real cluster, the sidecar ended 61 s after the worker, FailureTarget was set after 65 s, and
/// the other pod ended 62 s after its deletion, because its sidecar got the minimum grace period of a kubelet.
#[test]
fn a_pod_with_a_sidecar_has_not_failed_before_the_sidecar_has_ended() {
    let sidecar = "initContainers: [{name: s, image: \"s:1\", restartPolicy: Always}]";
    let pod = format!("terminationGracePeriodSeconds: 60\n              {sidecar}\n              containers: [{POD}]");
    let jobs = workers(1, 2, "backoffLimit: 0", &pod);
    let (_, records) = play(
        2,
        "containers: [{stopAfter: 10m}]\nfaults: [{afterReady: 60s, containerExit: {pod: a-w-0-0, exitCode: 1}}]\n\
         stop: {at: 10m}",
        &format!("spec:\n  failurePolicy: {{maxRestarts: 1}}\n  replicatedJobs:\n{jobs}"),
    );
    let exit = at(&records, |b| matches!(b, Body::ContainerExited { .. }));
    let exit = exit.expect("the worker exits");
    let not_ready = at(&records, |b| matches!(b, Body::PodNotReady { .. }));
    let target = at(&records, |b| matches!(b, Body::JobCondition { kind: JobConditionType::FailureTarget, .. }));
    assert!((0.0..2.0).contains(&seconds(exit, not_ready)));
    let detected = seconds(exit, target);
    assert!((61.0..66.0).contains(&detected), "detected in {detected} s");
    let deleted = at(&records, |b| matches!(b, Body::PodDeleting { .. }));
    let ends = records.iter().filter(|r| matches!(r.body, Body::PodFinished { .. }));
    let last = ends.map(|r| r.at).nth(1);
    let stopped = seconds(deleted.expect("the other pod is deleted"), last);
    assert!((62.0..63.5).contains(&stopped), "ended after {stopped} s");
}

/// trackJobStatusAndRemoveFinalizers: without completion indexes, a success is counted after the finalizer is
/// removed.
#[test]
fn a_job_without_indexes_counts_successes_after_their_finalizers() {
    // One request per second: status, finalizer, status.
    let first = |mode: &str| {
        let shows: String = (0..400)
            .map(|k| {
                let at = 15_000 + 100 * k;
                format!("  - {{at: {at}ms, show: {{kind: Job, name: a-w-0, fields: [status.succeeded]}}}}\n")
            })
            .collect();
        let jobs = workers(1, 1, mode, &format!("containers: [{POD}]"));
        let output = responses(
            1,
            &format!(
                "containers: [{{runFor: 15s}}]\ncontrolPlane: {{kubeControllerManager: {{qps: 1, burst: 1}}}}\n\
                 stop: {{at: 10m, when: Time}}\nfaults:\n{shows}"
            ),
            &format!("spec:\n  replicatedJobs:\n{jobs}"),
        );
        let counted = output.iter().find(|(_, text)| text.contains(":1"));
        counted.map(|(at, _)| *at).expect("a success").seconds()
    };
    let (indexed, without) = (first(""), first("completionMode: NonIndexed"));
    let later = without - indexed;
    assert!((1.5..3.0).contains(&later), "{indexed} s and {without} s");
}

/// Returns the responses to a user's requests, with their times.
pub fn responses(nodes: u32, rest: &str, jobset: &str) -> Vec<(SimTime, String)> {
    let scenario = scenario(nodes, rest, jobset);
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut keep = KeepSink::default();
    simulation.run(1, 0, &mut keep);
    let names = simulation.names();
    let output = |r: &SimulationRecord| match r.body {
        Body::Answered { answer, .. } => Some((r.at, names.text(answer).to_owned())),
        _ => None,
    };
    keep.0.iter().filter_map(output).collect()
}

/// Returns fields of the JobSet's status at several times, with a status patch at 30 s; `manager` may stop the
/// manager.
fn patched_status(manager: &str, status: &str, fields: &str) -> Vec<String> {
    let jobs = workers(1, 2, "", &format!("containers: [{POD}]"));
    let show = |at: &str| format!("  - {{at: {at}, show: {{kind: JobSet, name: a, fields: [{fields}]}}}}\n");
    let output = responses(
        2,
        &format!(
            "faults:\n{manager}  - {{at: 30s, patch: {{kind: JobSet, name: a, status: true, \
             merge: {{status: {status}}}}}}}\n{}{}\
             stop: {{at: 5m, when: Time}}",
            show("31s"),
            show("100s")
        ),
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    output.into_iter().map(|(_, text)| text).collect()
}

const MANAGER_DOWN: &str = "  - {at: 20s, stopManager: {for: 40s}}\n";

#[test]
fn conditions_that_another_hand_writes_stay_and_count() {
    let condition = "{conditions: [{type: Failed, status: \"True\", reason: ByHand, message: enough, \
                     lastTransitionTime: \"1970-01-01T00:00:29Z\"}]}";
    let text = patched_status("", condition, "status.conditions");
    assert_eq!(text[0], "", "accepted");
    for later in &text[1..] {
        assert!(later.contains("\"reason\":\"ByHand\""), "{later}");
        assert!(later.contains("1970-01-01T00:00:29Z"), "{later}");
    }
    let missing = "{conditions: [{type: Failed, status: \"True\", reason: ByHand, message: enough}]}";
    let text = patched_status("", missing, "status.conditions");
    let required = "status.conditions[0].lastTransitionTime: Required value";
    assert!(text[0].contains(required), "{}", text[0]);
}

/// REC-7: the active Jobs of a JobSet with a terminal condition are deleted, regardless of the author of the
/// condition.
#[test]
fn a_terminal_condition_by_another_hand_ends_the_jobs() {
    let jobs = workers(1, 2, "", &format!("containers: [{POD}]"));
    let condition = "{type: Completed, status: \"True\", reason: ByHand, message: enough, \
                     lastTransitionTime: \"1970-01-01T00:00:29Z\"}";
    let (outcome, records) = play(
        2,
        &format!(
            "faults: [{{at: 30s, patch: {{kind: JobSet, name: a, status: true, \
             merge: {{status: {{conditions: [{condition}]}}}}}}}}]\nstop: {{at: 5m}}"
        ),
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    assert_eq!(count(&records, |b| matches!(b, Body::JobDeleting { .. })), 1);
    assert!(outcome.jobsets[0].jobs.iter().all(|j| !j.exists));
}

/// REC-6: the manager recomputes the counters in its next pass, which its watch triggers.
#[test]
fn counters_that_another_hand_writes_stay_until_the_manager_counts() {
    let status = "{replicatedJobsStatus: [{name: w, ready: 7, succeeded: 0, failed: 0, active: 7, suspended: 0}]}";
    let fields = "status.replicatedJobsStatus";
    let outage = patched_status(MANAGER_DOWN, status, fields);
    assert!(outage.iter().any(|t| t.contains("\"ready\":7")), "{outage:?}");
    let last = outage.last().expect("the status was shown");
    assert!(last.contains("\"ready\":1"), "counters are wrong: {last}");
    let there = patched_status("", status, fields);
    assert!(there[1..].iter().all(|t| t.contains("\"ready\":1")), "{there:?}");
}

/// newFailedConditionForFailureTarget: Failed takes its reason from FailureTarget.
#[test]
fn a_failure_target_by_another_hand_keeps_its_reason() {
    let jobs = workers(1, 2, "backoffLimit: 6", &format!("containers: [{POD}]"));
    let text = responses(
        2,
        "faults:\n  - {at: 30s, jobCondition: {job: a-w-0, type: FailureTarget, reason: LostRack, \
         message: a rack is gone}}\n  \
         - {at: 60s, show: {kind: Job, name: a-w-0, fields: [status.conditions]}}\nstop: {at: 2m, when: Time}",
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    let displayed = &text[1].1;
    let failed = displayed.split("\"type\":\"Failed\"").count() - 1;
    assert_eq!(failed, 1, "{displayed}");
    assert_eq!(displayed.matches("\"reason\":\"LostRack\"").count(), 2, "{displayed}");
}

#[test]
fn scheduling_gates_can_be_taken_off_and_the_pods_run() {
    let pod = format!("schedulingGates: [{{name: example.com/gate}}]\n              containers: [{POD}]");
    let jobs = workers(1, 2, "", &pod);
    let (outcome, records) = play(
        2,
        "faults:\n  - {at: 60s, patch: {kind: Pod, name: a-w-0-0, merge: {spec: {schedulingGates: []}}}}\n  \
         - {at: 90s, patch: {kind: Pod, name: a-w-0-1, merge: {spec: {schedulingGates: null}}}}\nstop: {at: 10m}",
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    let bound = records.iter().filter(|r| matches!(r.body, Body::PodBound { .. }));
    let bound: Vec<u64> = bound.map(|r| r.at.seconds() as u64).collect();
    assert_eq!(bound, [60, 90]);
    assert_eq!(outcome.blocked, Vec::<String>::new());
}

/// While the manager is down, nothing is reconciled, and its unreachable webhooks reject pods and changes of
/// JobSets.
#[test]
fn while_the_manager_is_down_nothing_is_decided() {
    let jobs = workers(2, 1, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let script = "faults:\n  - {at: 60s, stopManager: {for: 100s}}\n  \
         - {at: 70s, containerExit: {pod: a-w-0-0, exitCode: 1}}\n  \
         - {at: 80s, patch: {kind: JobSet, name: a, merge: {spec: {suspend: true}}}}\nstop: {at: 10m}";
    let jobset = format!("spec:\n  failurePolicy: {{maxRestarts: 1}}\n  replicatedJobs:\n{jobs}");
    let (outcome, records) = play(2, script, &jobset);
    let counted = at(&records, |b| matches!(b, Body::RestartCounted { .. }));
    let after = seconds(SimTime::ZERO, counted);
    assert!((160.0..160.1).contains(&after), "the restart must follow the return of the manager: {after} s");
    assert_eq!(outcome.blocked, Vec::<String>::new());
    let text = responses(2, script, &jobset);
    assert!(text[0].1.contains("failed calling webhook \"vjobset.kb.io\""), "{text:?}");
}

/// Of overlapping stops, the one that ends last determines the end.
#[test]
fn a_manager_that_is_stopped_twice_is_back_after_the_longer_stop() {
    let jobs = workers(1, 1, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let (_, records) = play(
        1,
        "faults:\n  - {at: 60s, stopManager: {for: 100s}}\n  - {at: 70s, stopManager: {for: 5s}}\n  \
         - {at: 71s, containerExit: {pod: a-w-0-0, exitCode: 1}}\nstop: {at: 10m}",
        &format!("spec:\n  failurePolicy: {{maxRestarts: 1}}\n  replicatedJobs:\n{jobs}"),
    );
    let counted = at(&records, |b| matches!(b, Body::RestartCounted { .. }));
    assert!((160.0..160.1).contains(&seconds(SimTime::ZERO, counted)));
}

/// C-43: the action of a rule requires the gate at the time of its execution.
#[test]
fn gates_that_change_decide_from_then_on() {
    let jobs = workers(2, 1, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let jobset = format!(
        "spec:\n  failurePolicy: {{maxRestarts: 3, rules: [{{name: one, action: RestartJob}}]}}\n  \
         replicatedJobs:\n{jobs}"
    );
    let script = |gates: &str| {
        format!(
            "faults:\n  - {{at: 60s, stopManager: {{for: 5s{gates}}}}}\n  \
             - {{at: 70s, containerExit: {{pod: a-w-0-0, exitCode: 1}}}}\nstop: {{at: 10m}}"
        )
    };
    let restarts = |b: &Body| matches!(b, Body::JobRestartCounted { .. });
    let (_, records) = play(2, &script(""), &jobset);
    assert_eq!(count(&records, restarts), 1, "as before");
    let (outcome, records) = play(2, &script(", featureGates: {RestartJob: false}"), &jobset);
    assert_eq!(count(&records, restarts), 0);
    assert!(outcome.blocked[0].contains("passes end with an error"), "{:?}", outcome.blocked);
}

#[test]
fn rejected_jobset_does_not_exist() {
    let jobs = workers(1, 1, "", &format!("containers: [{POD}]"));
    let (outcome, records) = super::play_submitted(
        1,
        "50s",
        "faults: [{at: 1s, stopManager: {for: 100s}}]\nstop: {at: 10m}",
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    assert_eq!(count(&records, |b| matches!(b, Body::JobSetRefused { .. })), 1);
    assert_eq!(count(&records, |b| matches!(b, Body::JobSetCreated { .. })), 0);
    let text = outcome.warnings.iter().find(|w| w.contains("mjobset.kb.io"));
    assert!(text.is_some(), "{:?}", outcome.warnings);
    assert_eq!(outcome.end_reason, EndReason::Settled);
}

/// FP-2: the record, the condition and the report name the same Job as the first failure.
#[test]
fn record_and_condition_name_the_same_failed_job() {
    let jobs = workers(3, 1, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let scenario = scenario(
        3,
        "containers:\n  - {jobIndex: 2, restartAttempt: 0, runFor: 59.9s, exitCode: 1, startAfter: 1s}\n  \
         - {jobIndex: 1, restartAttempt: 0, runFor: 60s, exitCode: 1, startAfter: 1s}\n  \
         - {jobIndex: 0, restartAttempt: 0, runFor: 60.2s, exitCode: 1, startAfter: 1s}\nstop: {at: 10m}",
        &format!("spec:\n  failurePolicy: {{maxRestarts: 2}}\n  replicatedJobs:\n{jobs}"),
    );
    let mut simulation = support::simulation(&scenario);
    for seed in 0..30 {
        let mut keep = KeepSink::default();
        simulation.run(seed, 0, &mut keep);
        let names = simulation.names();
        let counted = keep.0.iter().find_map(|r| match r.body {
            Body::RestartCounted { failed_job, .. } => Some(names.job(failed_job).to_owned()),
            _ => None,
        });
        let output = keep.0.iter().find_map(|r| match r.body {
            Body::JobSetCondition { message, .. } => Some(names.text(message).to_owned()),
            _ => None,
        });
        let (counted, output) = (counted.expect("a restart"), output.expect("a condition"));
        let named = format!("(first failed job: {counted})");
        assert!(output.ends_with(&named), "seed {seed}: {output}, but {counted}");
    }
}

/// AG-5: the startup probe is the barrier. Without it, a sidecar counts as started when it runs, and the workers
/// start.
#[test]
fn workers_behind_an_agent_without_startup_probe_do_not_wait_for_it() {
    let restarts = "restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [42]}}]";
    let play = |probe: &str| {
        let agent = format!(
            "initContainers: [{{name: agent, image: \"a:1\", restartPolicy: Always, {restarts}, {probe} \
             env: [{{name: IN_PLACE_RESTART_EXIT_CODE, value: \"42\"}}]}}]\n              containers: [{POD}]"
        );
        let job = "backoffLimit: 2147483647\n          podReplacementPolicy: Failed";
        let jobset = format!(
            "spec:\n  failurePolicy: {{maxRestarts: 3, restartStrategy: InPlaceRestart}}\n  replicatedJobs:\n{}",
            workers(1, 2, job, &agent)
        );
        let (_, records) = play(2, "stop: {at: 2m, when: Time}", &jobset);
        let lifted = count(&records, |b| matches!(b, Body::BarrierLifted { .. }));
        let written = count(&records, |b| matches!(b, Body::AttemptWritten { .. }));
        let ready = at(&records, |b| matches!(b, Body::AllReady { ready: true, .. }));
        (lifted, written, seconds(SimTime::ZERO, ready))
    };
    let probe =
        "startupProbe: {httpGet: {path: /barrier-is-down, port: 8081}, periodSeconds: 10, failureThreshold: 60},";
    let (lifted, written, ready) = play(probe);
    assert_eq!((lifted, written), (2, 2));
    assert!(ready > 3.0, "the probe runs every ten seconds: {ready} s");
    let (lifted, written, ready) = play("");
    assert_eq!((lifted, written), (0, 2));
    assert!(ready < 3.0, "the pods must not wait for a probe: {ready} s");
}

/// The pod's containers exited with 0 and its status shows that, when the node is replaced by a new machine without
/// these containers: they restart (`kubelet_pods.go`, ContainerStatusUnknown). The simulator's counters must not
/// count the pod as ready.
#[test]
fn a_pod_that_had_almost_succeeded_on_a_node_that_is_replaced_is_not_ready() {
    let jobs = workers(2, 1, "", &format!("containers: [{POD}]"));
    let jobs = jobs.replace("restartPolicy: Never", "restartPolicy: OnFailure");
    let spec = format!("spec:\n  replicatedJobs:\n{jobs}");
    let mut again = 0;
    for delay in (100..2000).step_by(100) {
        let rest = format!(
            "training: {{work: 1ns, checkpoint: Continuous}}\nfaults:\n  - {{afterReady: {delay}ms, newNode: {{ofPod: \
             a-w-0-0}}}}\nstop: {{at: 1h}}"
        );
        let (outcome, records) = play(3, &rest, &spec);
        assert_eq!(outcome.blocked, Vec::<String>::new(), "{delay} ms");
        again += count(&records, |b| matches!(b, Body::ContainersRestarting { .. }));
    }
    assert!(again > 3, "{again}");
}
