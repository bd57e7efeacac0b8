//! Regression tests for defects of the engine, each with the smallest scenario that showed the defect.

mod controllers;
mod finalizers;
mod in_place;
mod owned_objects;
mod placement;
mod run_end;
mod slow_components;
mod wrong_results;

use crate::checker::Checker;
use crate::support;
use sim_analysis::metrics::RestartFold;
use sim_analysis::metrics::restarts::restart::CauseKind;
use sim_api::spec::{ScenarioSpec, SchedulerTies};
use sim_engine::record::*;

pub const POD: &str = "{name: w, image: \"x:1\", resources: {limits: {example.com/accelerator: 4}}}";

/// Runs a scenario with one pool of `nodes` nodes; `rest` and `jobset` are inserted unchanged.
pub fn play(nodes: u32, rest: &str, jobset: &str) -> (RunOutcome, Vec<SimulationRecord>) {
    play_submitted(nodes, "0s", rest, jobset)
}

/// Runs the same scenario with a JobSet that is submitted at `at`.
fn play_submitted(nodes: u32, at: &str, rest: &str, jobset: &str) -> (RunOutcome, Vec<SimulationRecord>) {
    let scenario = scenario(nodes, at, rest, jobset);
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = Checker::new(&scenario);
    let outcome = simulation.run(1, 0, &mut checker);
    (outcome, checker.records)
}

pub fn scenario(nodes: u32, at: &str, rest: &str, jobset: &str) -> ScenarioSpec {
    let scenario = format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: small}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: small}}\n  pools:\n    \
         - name: node-{{node:03}}\n      nodesPerIsland: {nodes}\n      accelerator: example.com/accelerator\n      \
         allocatable: {{cpu: 8, example.com/accelerator: 4}}\n      labels: {{example.com/rack: rack}}\n      \
         features: [RestartAllContainersOnContainerExits]\njobSets: [{{manifest: jobset.yaml, submitAt: {at}}}]\n\
         {rest}\nseed: 1\n"
    );
    let jobset = format!("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: a\n{jobset}");
    support::parse(&scenario, &jobset).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns a replicatedJob of `replicas` Jobs with `pods` pods each.
pub fn workers(replicas: u32, pods: u32, job: &str, pod: &str) -> String {
    format!(
        "    - name: w\n      replicas: {replicas}\n      template:\n        spec:\n          parallelism: {pods}\n          \
         completions: {pods}\n          {job}\n          template:\n            spec:\n              \
         restartPolicy: Never\n              {pod}\n"
    )
}

pub fn count(records: &[SimulationRecord], what: impl Fn(&Body) -> bool) -> usize {
    records.iter().filter(|r| what(&r.body)).count()
}

#[test]
fn success_of_any_replicated_job_ends_a_jobset_whose_other_pods_still_run() {
    let jobs = workers(1, 2, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let other = jobs.replace("name: w\n", "name: v\n");
    let (outcome, _) = play(
        4,
        "containers: [{runFor: 60s, replicatedJob: v}]",
        &format!("spec:\n  successPolicy: {{operator: Any}}\n  replicatedJobs:\n{jobs}{other}"),
    );
    assert_eq!(outcome.jobsets[0].terminal_state, "Completed");
}

#[test]
fn a_pod_that_succeeds_does_not_make_its_jobset_unready_for_an_instant() {
    let jobs = workers(2, 3, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let (_, records) = play(6, "containers: [{runFor: 60s}]", &format!("spec:\n  replicatedJobs:\n{jobs}"));
    let flips = count(&records, |b| matches!(b, Body::AllReady { .. }));
    assert_eq!(flips, 1, "AllReady must be recorded once");
}

/// Pod garbage collection removes a terminating pod that was never bound. With podReplacementPolicy Failed, there is
/// no replacement before that.
#[test]
fn pods_that_were_deleted_before_they_had_a_node_are_replaced_after_a_resume() {
    let jobs = workers(1, 3, "podReplacementPolicy: Failed", &format!("containers: [{POD}]"));
    let (outcome, records) = play(
        2,
        "faults:\n  - {at: 30s, suspendJobSet: {name: a}}\n  - {at: 90s, resumeJobSet: {name: a}}\nstop: {at: 1h}",
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    let created = count(&records, |b| matches!(b, Body::PodCreated { .. }));
    assert_eq!(created, 6, "{:?}", outcome.blocked);
}

/// A toleration of 300 s restarts when the taint is added again.
#[test]
fn a_taint_that_went_and_came_back_evicts_after_the_whole_toleration() {
    let jobs = workers(1, 1, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let (_, records) = play(
        2,
        "faults:\n  - {at: 100s, partitionNode: {node: node-000, alias: lost}}\n  \
         - {at: 250s, returnNode: {alias: lost}}\n  - {at: 300s, partitionNode: {alias: lost}}\nstop: {at: 1h}",
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    let last_taint = records.iter().rfind(|r| {
        matches!(r.body, Body::NodeTaint { added: true, effect, .. }
            if effect == sim_api::spec::TaintEffect::NoExecute as u8)
    });
    let eviction =
        records.iter().find(|r| matches!(r.body, Body::PodDeleting { by: DeletionActor::TaintEviction, .. }));
    let (taint, eviction) = (last_taint.expect("a taint"), eviction.expect("an eviction"));
    let waited_s = eviction.at.since(taint.at).seconds();
    assert!((300.0..301.0).contains(&waited_s), "evicted after {waited_s} s");
}

/// The controller numbers its workers beyond 255.
#[test]
fn three_hundred_workers_of_a_controller_work() {
    let jobs = workers(
        300,
        2,
        "backoffLimit: 0",
        &format!("terminationGracePeriodSeconds: 0\n              containers: [{POD}]"),
    );
    let (outcome, records) = play(
        610,
        "controlPlane:\n  kubeControllerManager: {qps: 100000, burst: 100000, concurrentJobSyncs: 300, \
         concurrentGcSyncs: 300}\n  jobsetManager: {qps: 100000, burst: 100000}\n\
         faults:\n  - {afterReady: 5s, containerExit: {pod: a-w-0-0, exitCode: 1}}\nstop: {at: 1h}",
        &format!("spec:\n  failurePolicy: {{maxRestarts: 1}}\n  replicatedJobs:\n{jobs}"),
    );
    assert_eq!(outcome.blocked, Vec::<String>::new());
    let created = count(&records, |b| matches!(b, Body::PodCreated { .. }));
    assert_eq!(created, 1200);
}

/// The object of the succeeded pod may be removed, because the Job has counted it.
#[test]
fn a_jobset_is_ready_again_although_a_succeeded_pod_was_deleted() {
    let jobs = workers(1, 3, "", &format!("containers: [{POD}]"));
    let (outcome, records) = play(
        4,
        "faults:\n  - {at: 60s, containerExit: {pod: a-w-0-0, exitCode: 0}}\n  \
         - {at: 90s, deletePod: {pod: a-w-0-0}}\n  - {at: 120s, containerExit: {pod: a-w-0-1, exitCode: 1}}\n\
         stop: {at: 1h}",
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    assert_eq!(outcome.blocked, Vec::<String>::new());
    let ready = count(&records, |b| matches!(b, Body::AllReady { ready: true, .. }));
    assert_eq!(ready, 2);
}

/// The rate limiter of a zone resumes when enough of its nodes are back, even after hours.
#[test]
fn a_zone_that_was_silent_for_hours_taints_the_last_silent_node_when_the_others_return() {
    let jobs = workers(1, 4, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let lost = |n: u32| format!("  - {{at: 100s, partitionNode: {{node: node-00{n}, alias: n{n}}}}}\n");
    let back = |n: u32| format!("  - {{at: 6h, returnNode: {{alias: n{n}}}}}\n");
    let faults = [lost(0), lost(1), lost(2), back(0), back(1)].concat();
    let (_, records) =
        play(4, &format!("faults:\n{faults}stop: {{at: 12h}}"), &format!("spec:\n  replicatedJobs:\n{jobs}"));
    let no_execute = sim_api::spec::TaintEffect::NoExecute as u8;
    let late = records.iter().filter(|r| r.at.seconds() > 6.0 * 3600.0);
    let tainted = late.filter(|r| {
        matches!(r.body, Body::NodeTaint { added: true, effect, node, .. }
            if effect == no_execute && node == sim_base::NodeId(2))
    });
    let at: Vec<f64> = tainted.map(|r| r.at.seconds() - 6.0 * 3600.0).collect();
    assert_eq!(at.len(), 1, "once: {at:?}");
    // The new bucket is empty (`SwapLimiter`).
    assert!((10.0..=15.0).contains(&at[0]), "10 s after the next run of the node monitor: {at:?}");
}

/// Returns the explanations of blocked objects in a run with one pool of four nodes.
fn blocked_explanations(rest: &str, jobset: &str) -> Vec<String> {
    play(4, rest, jobset).0.blocked
}

#[test]
fn a_deadline_of_centuries_is_not_a_deadline() {
    let jobs = workers(1, 1, "activeDeadlineSeconds: 1099511627776", &format!("containers: [{POD}]"));
    let (outcome, _) = play(1, "", &format!("spec:\n  replicatedJobs:\n{jobs}"));
    assert_eq!(outcome.end_reason, EndReason::Settled);
}

/// The scheduler counts pods by a topology key from the first pod that needs the key on, including earlier pods.
#[test]
fn a_key_of_exclusive_placement_may_come_into_use_while_pods_run() {
    let pod = format!("containers: [{POD}]");
    let first = workers(1, 2, "backoffLimit: 0", &pod);
    let gated = workers(1, 1, "", &format!("schedulingGates: [{{name: g}}]\n              {pod}"));
    let later = gated.replace("name: w\n", "name: v\n      dependsOn: [{name: w, status: Ready}]\n");
    let later = later.replace(
        "template:\n        spec:\n          parallelism",
        "template:\n        metadata: {annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: \
         example.com/rack}}\n        spec:\n          parallelism",
    );
    let sentences = blocked_explanations(
        "faults: [{at: 100s, containerExit: {pod: a-w-0-1, exitCode: 0}}]",
        &format!("spec:\n  replicatedJobs:\n{first}{later}"),
    );
    assert_eq!(
        sentences,
        ["JobSet a is not ready: pod a-v-0-0 has scheduling gates that nothing removes; a scenario can remove them: \
             faults: [{at: 10m, patch: {kind: Pod, name: a-v-0-0, merge: {spec: {schedulingGates: null}}}}]"]
    );
}

/// The kubelet's work takes longer than the idle time after which a run ends.
#[test]
fn a_run_is_not_over_while_a_kubelet_is_at_work() {
    let jobs = workers(1, 1, "", &format!("containers: [{POD}]"));
    let jobset = format!("spec:\n  replicatedJobs:\n{jobs}");
    for slow in ["statusWrite: 1h", "sandbox: 2h", "apiWrite: 30m"] {
        let rest = format!("timing: {{{slow}}}\ncontainers: [{{runFor: 10m}}]");
        let (outcome, _) = play(1, &rest, &jobset);
        assert_eq!(outcome.jobsets[0].terminal_state, "Completed", "{slow}");
    }
}

#[test]
fn what_waits_for_its_deadline_is_not_stuck_before() {
    let pod = format!("schedulingGates: [{{name: g}}]\n              containers: [{POD}]");
    let jobs = workers(1, 1, "activeDeadlineSeconds: 7200", &pod);
    let (outcome, _) = play(1, "", &format!("spec:\n  replicatedJobs:\n{jobs}"));
    assert_eq!(outcome.jobsets[0].terminal_state, "Failed");
}

#[test]
fn a_jobset_that_comes_late_is_waited_for() {
    let jobs = workers(1, 1, "", &format!("containers: [{POD}]"));
    let jobset = format!("spec:\n  replicatedJobs:\n{jobs}");
    let (outcome, _) = play(
        1,
        "objects:\n  - {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: b}, spec: {replicatedJobs: \
         []}}\nfaults: [{at: 2h, resumeJobSet: {name: a}}]\nstop: {at: 3h}",
        &jobset.replace("spec:\n  rep", "spec:\n  suspend: true\n  rep"),
    );
    assert_eq!(outcome.blocked.len(), 1, "{:?}", outcome.blocked);
    assert!(outcome.blocked[0].starts_with("JobSet b"));
}

#[test]
fn containers_restarting_without_delay_end_the_run() {
    let jobs = workers(1, 1, "", &format!("containers: [{POD}]"));
    let sentences = blocked_explanations(
        "timing: {kubelet: {scripted: {restart: 0s}}}\ncontainers: [{runFor: 0s, exitCode: 1}]",
        &format!("spec:\n  replicatedJobs:\n{}", jobs.replace("Policy: Never", "Policy: OnFailure")),
    );
    assert_eq!(sentences.len(), 1);
    assert!(sentences[0].starts_with("virtual time does not advance past "), "{sentences:?}");
}

#[test]
fn permanently_blocked_jobsets_have_a_reason() {
    let pod = format!("containers: [{POD}]");
    let spec = |jobs: &str| format!("spec:\n  replicatedJobs:\n{jobs}");
    let other = workers(1, 1, "managedBy: example.com/other", &pod);
    assert_eq!(
        blocked_explanations("", &spec(&other)),
        ["JobSet a is not ready: Job a-w-0 is left to example.com/other, which does nothing here"]
    );
    let none = workers(1, 2, "", &pod).replace("parallelism: 2", "parallelism: 0");
    assert_eq!(
        blocked_explanations("", &spec(&none)),
        ["JobSet a never completes: its Jobs have parallelism 0, and so no pod"]
    );
    let beside = none + &workers(1, 1, "", &pod).replace("name: w", "name: z");
    assert_eq!(
        blocked_explanations("containers: [{runFor: 60s}]", &spec(&beside)),
        ["JobSet a is not finished: Job a-w-0 never completes: it has parallelism 0, and so no pod"]
    );
    let one_by_one = workers(1, 3, "", &pod).replace("parallelism: 3", "parallelism: 1");
    let exclusive = format!(
        "  annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}}\n{}",
        spec(&one_by_one)
    );
    assert_eq!(
        blocked_explanations("containers: [{runFor: 60s}]", &exclusive),
        ["JobSet a is not ready: followers of Job a-w-0 are refused, because its leader pod has ended"]
    );
}

/// A `delete` of a Pod, a Node or a Job has the same effect as the dedicated action, and is the same root cause of a
/// restart.
#[test]
fn what_a_script_deletes_is_the_root_of_the_restart_that_follows() {
    let jobs = workers(1, 2, "", &format!("containers: [{POD}]"));
    let root = |action: &str| {
        let faults = format!("faults:\n- {{at: 60s, {action}}}\nstop: {{at: 10m}}");
        let jobset = format!("spec:\n  replicatedJobs:\n{jobs}");
        let mut scenario = scenario(4, "0s", &faults, &jobset);
        scenario.control_plane.ties = SchedulerTies::InOrder;
        let mut simulation = support::simulation(&scenario);
        let mut fold = RestartFold::new(&scenario);
        let outcome = simulation.run(1, 0, &mut fold);
        let restarts = fold.finish(&outcome, simulation.names());
        let all = restarts.iter().map(|r| (r.cause.kind, r.start, r.total()));
        all.collect::<Vec<_>>()
    };
    let fault = CauseKind::Fault { index: 0 };
    for (action, same) in [
        ("deletePod: {pod: a-w-0-1}", "delete: {kind: Pod, name: a-w-0-1}"),
        ("deleteNode: {node: node-001}", "delete: {kind: Node, name: node-001}"),
    ] {
        let (one, other) = (root(action), root(same));
        assert_eq!(one.len(), 1, "{action}");
        assert_eq!(one[0].0, fault, "{action}");
        assert_eq!(one, other, "{same}");
    }
    for propagation in ["Background", "Foreground"] {
        let action = format!("delete: {{kind: Job, name: a-w-0, propagation: {propagation}}}");
        let restarts = root(&action);
        let starts: Vec<_> = restarts.iter().map(|r| (r.0, r.1.0)).collect();
        assert_eq!(starts, [(fault, 60_000_000_000)], "{action}");
    }
    // The pods of the orphaned Job continue.
    assert_eq!(root("delete: {kind: Job, name: a-w-0, propagation: Orphan}"), []);
}

/// The explanation names the blocking pod or node, the webhook's message, and the remedy.
#[test]
fn followers_that_are_rejected_indefinitely_have_the_reason_by_name() {
    let jobs = workers(1, 2, "", &format!("containers: [{POD}]"));
    let exclusive = format!(
        "  annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}}\nspec:\n  replicatedJobs:\n{jobs}"
    );
    let text = |script: &str| {
        let script =
            format!("controlPlane: {{kubeScheduler: {{ties: InOrder}}}}\nfaults:\n{script}\nstop: {{at: 10m}}");
        play(8, &script, &exclusive).0.blocked.join("\n")
    };
    let orphan = text("- {at: 60s, delete: {kind: Job, name: a-w-0, propagation: Orphan}}");
    let (before, pod) = orphan.split_once("leader pods: ").unwrap_or_default();
    assert_eq!(before, "JobSet a is not ready: followers of Job a-w-0 are refused, because they have two ");
    let (pod, after) = pod.split_once(' ').unwrap_or_default();
    assert!(pod.starts_with("a-w-0-0-"), "{orphan}");
    assert_eq!(
        after,
        "was left behind by an earlier Job of that name, which was deleted with propagationPolicy Orphan (admission \
         webhook \"vpod.kb.io\" denied the request: follower pod node selector not set); it helps to delete that pod"
    );
    let unlabeled = "- {at: 60s, patch: {kind: Node, name: node-000, merge: {metadata: {labels: {example.com/rack: null}}}}}\n\
                     - {at: 61s, deletePod: {pod: a-w-0-1}}";
    assert_eq!(
        text(unlabeled),
        "JobSet a is not ready: followers of Job a-w-0 are refused, because the Node node-000 of their leader pod has \
         no label example.com/rack (admission webhook \"mpod.kb.io\" denied the request: node does not have topology \
         label: example.com/rack); it helps to give it one"
    );
}

/// A user binds a pod to a full node. The accelerators of the node must be counted only once.
#[test]
fn a_pod_that_is_bound_to_a_full_node_holds_what_is_left() {
    let jobs = workers(1, 1, "", &format!("containers: [{POD}]"));
    let (outcome, _) = play(
        1,
        &format!(
            "faults:\n  - {{at: 60s, create: {{object: {{apiVersion: v1, kind: Pod, metadata: {{name: lone}}, spec: \
             {{nodeName: node-000, containers: [{POD}]}}}}}}}}\nstop: {{at: 1h, when: Time}}"
        ),
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    let all: u128 = outcome.ledger.accelerator_ns.iter().sum();
    assert_eq!(all, 4 * 3_600 * 1_000_000_000);
}

#[test]
fn a_job_that_is_being_deleted_begins_to_be_deleted_once() {
    let jobs = workers(1, 2, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let delete = |at, how| format!("  - {{at: {at}, delete: {{kind: Job, name: a-w-0, propagation: {how}}}}}\n");
    let held = "  - {at: 60s, patch: {kind: Job, name: a-w-0, merge: {metadata: {finalizers: [example.com/hold]}}}}\n";
    for (first, gone) in [(delete("60s", "Foreground").as_str(), 1), (held, 0)] {
        let script = first.to_owned() + &delete("60100ms", "Orphan");
        let (_, records) = play(2, &format!("faults:\n{script}"), &format!("spec:\n  replicatedJobs:\n{jobs}"));
        let of = |what: fn(&Body) -> bool| count(&records, what);
        assert_eq!(of(|b| matches!(b, Body::JobDeleting { .. })), 1);
        assert_eq!(of(|b| matches!(b, Body::JobGone { .. })), gone);
    }
}

#[test]
fn a_pod_that_was_there_before_its_node_is_scheduled_when_the_node_comes() {
    let jobs = workers(1, 1, "", &format!("containers: [{POD}]"));
    let node =
        "{apiVersion: v1, kind: Node, metadata: {name: late, labels: {pool: late}}, status: {allocatable: {cpu: 8}}}";
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: lone}, spec: {nodeSelector: {pool: late}, containers: \
               [{name: c, image: i}]}}";
    let create = |object| format!("  - {{at: 60s, create: {{object: {object}}}}}\n");
    let script = format!("faults:\n{}{}", create(pod), create(node));
    let (_, records) = play(1, &script, &format!("spec:\n  replicatedJobs:\n{jobs}"));
    let bound = |b: &Body| matches!(b, Body::PodBound { node, .. } if node.0 == 1);
    assert_eq!(count(&records, bound), 1);
}

#[test]
fn a_jobset_that_is_submitted_while_another_has_its_name_is_rejected() {
    let jobs = workers(1, 1, "backoffLimit: 0", &format!("containers: [{POD}]"));
    let spec = format!("spec:\n  replicatedJobs:\n{jobs}");
    let first = format!("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: a}}\n{spec}");
    let first = first.replace('\n', "\n        ");
    let script = format!("faults:\n- at: 1s\n  create:\n      jobSet:\n        {first}");
    let (outcome, records) = play_submitted(4, "20s", &script, &spec);
    let refused = |b: &Body| matches!(b, Body::JobSetRefused { .. });
    assert_eq!(count(&records, refused), 1);
    assert_eq!(count(&records, |b| matches!(b, Body::JobSetCreated { .. })), 1);
    let text = "JobSet a was not created: jobsets.jobset.x-k8s.io \"a\" already exists";
    assert_eq!(outcome.warnings, [text]);
}
