//! What is a restart and when it begins: only the loss of a pod that is still needed.

use crate::support;
use sim_analysis::metrics::restarts::path::PathPart;
use sim_analysis::metrics::restarts::restart::{CauseKind, RestartOutcome};
use sim_analysis::metrics::{RestartFold, RestartScope};
use sim_engine::record::TicketWait;

/// Returns the replicatedJobs: an initializer that completes after 5 s, and Jobs of workers that run indefinitely.
fn replicated_jobs(replicas: u32, parallelism: u32) -> String {
    let template = |cpu: u32, more: &str| {
        let container = format!("{{name: c, image: x, resources: {{requests: {{cpu: {cpu}}}}}}}");
        format!("backoffLimit: 0, template: {{spec: {{restartPolicy: Never, {more}containers: [{container}]}}}}")
    };
    let init = template(1, "nodeSelector: {kubernetes.io/hostname: i-0}, ");
    let size = format!("parallelism: {parallelism}, completions: {parallelism}, completionMode: Indexed");
    let workers = template(4, "");
    format!(
        "[{{name: init, groupName: default, replicas: 1, template: {{spec: {{{init}}}}}}}, \
         {{name: w, groupName: default, replicas: {replicas}, template: {{spec: {{{size}, {workers}}}}}}}]"
    )
}

fn jobset() -> String {
    let jobs = replicated_jobs(2, 4);
    format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: a}}\nspec:\n  failurePolicy: \
         {{maxRestarts: 5}}\n  replicatedJobs: {jobs}\n"
    )
}

fn scenario(faults: &str) -> String {
    let faults = match faults {
        "" => String::new(),
        faults => format!("faults:\n{faults}"),
    };
    format!(
        "apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata: {{name: detection}}
topology:
  apiVersion: jobset-sim/v1alpha1
  kind: Topology
  metadata: {{name: t}}
  pools:
  - {{name: \"i-{{node}}\", nodesPerIsland: 1, allocatable: {{cpu: 2}}}}
  - {{name: \"h-{{node}}\", nodesPerIsland: 12, allocatable: {{cpu: 8}}}}
jobSets: [{{manifest: jobset.yaml}}]
controlPlane: {{featureGates: {{ElasticJobSet: true}}}}
containers:
- {{replicatedJob: init, runFor: 5s}}
{faults}stop: {{at: 40m, when: Time}}
"
    )
}

fn scale(at: &str, replicas: u32, parallelism: u32) -> String {
    let jobs = replicated_jobs(replicas, parallelism);
    format!("- {{at: {at}, patch: {{kind: JobSet, name: a, merge: {{spec: {{replicatedJobs: {jobs}}}}}}}}}\n")
}

const FAILURE: &str = "- {at: 20m, containerExit: {pod: a-w-0-1, exitCode: 1}}\n";

/// Start and duration of a restart in whole seconds, and its scope.
type RestartRow = (u64, u64, RestartScope);

fn restarts(faults: &str, jobset: &str) -> Vec<RestartRow> {
    restarts_of(&scenario(faults), jobset)
}

fn restarts_of(scenario: &str, jobset: &str) -> Vec<RestartRow> {
    let scenario = support::parse(scenario, jobset).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    let mut fold = RestartFold::new(simulation.scenario());
    let outcome = simulation.run(scenario.seed, 0, &mut fold);
    let restarts = fold.finish(&outcome, simulation.names());
    let row =
        |r: &sim_analysis::metrics::RestartMetrics| (r.start.seconds() as u64, r.total().seconds() as u64, r.shape);
    restarts.iter().map(row).collect()
}

#[test]
fn only_the_loss_of_a_needed_pod_begins_a_restart() {
    let one = [(1200, 7, RestartScope::Recreate)];
    let cases: [(&str, String, &[RestartRow]); 7] = [
        ("no other event", FAILURE.into(), &one),
        ("pod of a finished Job is deleted", format!("- {{at: 60s, deletePod: {{pod: a-init-0-0}}}}\n{FAILURE}"), &one),
        (
            "node of a completed initializer is lost",
            format!("- {{at: 60s, crashNode: {{node: i-0}}}}\n{FAILURE}"),
            // The pod on the lost node keeps terminating, so its Job is never removed.
            &[(1200, 1200, RestartScope::Recreate)],
        ),
        ("Jobs become smaller", format!("{}{FAILURE}", scale("60s", 2, 2)), &one),
        ("a Job is removed", format!("{}{FAILURE}", scale("60s", 1, 4)), &one),
        (
            "Jobs become smaller and larger again",
            format!("{}{}{FAILURE}", scale("60s", 2, 2), scale("65s", 2, 4)),
            &one,
        ),
        ("no failure", scale("60s", 2, 2), &[]),
    ];
    for (case, faults, expected) in cases {
        assert_eq!(restarts(&faults, &jobset()), expected, "{case}");
    }
}

/// The cause is a suspension by a user, or the crash of a node 20 s or 40 s before, which the control plane has not
/// noticed.
#[test]
fn a_suspension_of_a_ready_jobset_is_a_restart_whose_cause_may_be_an_unnoticed_crash() {
    let crash = "- {at: 20m, crashNode: {ofPod: a-w-0-1, alias: lost}}\n";
    let suspend = |at: &str| format!("- {{at: {at}, suspendJobSet: {{name: a}}}}\n");
    let patch =
        |at: &str| format!("- {{at: {at}, patch: {{kind: JobSet, name: a, merge: {{spec: {{suspend: true}}}}}}}}\n");
    let resume = "- {at: 30m, resumeJobSet: {name: a}}\n";
    let exit = "- {at: 20m40s, containerExit: {pod: a-w-1-2, exitCode: 1}}\n- {at: 21m, deleteNode: {alias: lost}}\n";
    let crashed = CauseKind::Fault { index: 0 };
    let cases = [
        (format!("{}{resume}", suspend("20m")), CauseKind::Suspended, RestartScope::Resume),
        (format!("{}{resume}", patch("20m")), CauseKind::Suspended, RestartScope::Resume),
        (format!("{crash}{}{resume}", suspend("20m20s")), crashed, RestartScope::Resume),
        (format!("{crash}{exit}"), crashed, RestartScope::Recreate),
    ];
    for (faults, cause, scope) in cases {
        let scenario = support::parse(&scenario(&faults), &jobset()).unwrap_or_else(|e| panic!("{e}"));
        let mut simulation = support::simulation(&scenario);
        let mut fold = RestartFold::new(simulation.scenario());
        let outcome = simulation.run(scenario.seed, 0, &mut fold);
        let restarts = fold.finish(&outcome, simulation.names());
        let [restart] = &restarts[..] else { panic!("one restart: {faults}{restarts:?}") };
        assert_eq!((restart.cause.kind, restart.shape), (cause, scope), "{faults}");
        assert_eq!((restart.start.seconds(), restart.ending), (1200.0, RestartOutcome::Ready), "{faults}");
        // The initializer runs again if all Jobs are recreated.
        let pods = if scope == RestartScope::Recreate { 8..=9 } else { 8..=8 };
        assert!(pods.contains(&restart.pods), "{faults}: {}", restart.pods);
        assert_eq!(restart.path.total(), restart.total(), "{faults}");
    }
}

/// A Job whose pods run on until they complete is not what the restart of another Job waits for.
#[test]
fn a_blocked_restart_waits_for_the_dead_node_and_not_for_pods_that_run_on() {
    let faults = "- {at: 20m, crashNode: {ofPod: a-w-0-1}}\n";
    let text = scenario(faults).replace("runFor: 5s}\n", "runFor: 5s}\n- {replicatedJob: w, runFor: 30m}\n");
    let text = text.replace("stop: {at: 40m, when: Time}", "stop: {at: 2h, when: AllJobSetsFinished}");
    let scenario = support::parse(&text, &jobset()).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = support::simulation(&scenario);
    let mut fold = RestartFold::new(simulation.scenario());
    let outcome = simulation.run(scenario.seed, 0, &mut fold);
    let restarts = fold.finish(&outcome, simulation.names());
    let [restart] = &restarts[..] else { panic!("one restart: {restarts:?}") };
    let steps = &restart.path.steps;
    let time_of = |waited: TicketWait| {
        let of_wait = steps.iter().filter(|step| step.waited == waited && step.part == PathPart::Whole);
        of_wait.map(|step| step.duration().seconds()).sum::<f64>()
    };
    assert_eq!(time_of(TicketWait::Running), 0.0, "{steps:?}");
    assert!((299.0..301.0).contains(&time_of(TicketWait::Toleration)), "{steps:?}");
    let last = steps.last().expect("a step");
    assert!(last.part == PathPart::Open && last.duration().seconds() > 200.0, "{last:?}");
    assert_eq!(restart.path.total(), restart.total());
}

#[test]
fn pods_that_a_job_success_policy_ends_are_not_a_restart() {
    let policy = "spec: {parallelism: 4, successPolicy: {rules: [{succeededIndexes: \"0\"}]},";
    let jobset = jobset().replacen("spec: {parallelism: 4,", policy, 1);
    assert_ne!(jobset, self::jobset());
    let exit = "- {at: 60s, containerExit: {pod: a-w-1-0, exitCode: 0}}\n";
    assert_eq!(restarts(exit, &jobset), []);
    let failure = format!("{exit}{FAILURE}");
    assert_eq!(restarts(&failure, &jobset), [(1200, 6, RestartScope::Recreate)]);
}

#[test]
fn deadline_of_a_job_begins_a_restart_with_the_deletion_of_its_pods() {
    let jobset = jobset().replacen("spec: {parallelism: 4,", "spec: {activeDeadlineSeconds: 600, parallelism: 4,", 1);
    let result = restarts("", &jobset);
    assert_eq!(result.first().map(|r| (r.0, r.2)), Some((600, RestartScope::Recreate)));
}

/// The next indexes start because pods succeeded: the JobSet is unready in between, and nothing restarts.
#[test]
fn pods_that_succeed_in_a_job_with_more_completions_than_parallelism_are_not_a_restart() {
    let ends = "\ncontainers:\n- {replicatedJob: w, runFor: 1m}\n";
    for policy in ["Never", "OnFailure"] {
        let jobset = jobset()
            .replacen("parallelism: 4, completions: 4", "parallelism: 3, completions: 10", 1)
            .replace("restartPolicy: Never", &format!("restartPolicy: {policy}"));
        assert_ne!(jobset, self::jobset());
        for seed in 1..=5 {
            let text = scenario("").replacen("\ncontainers:\n", ends, 1) + &format!("seed: {seed}\n");
            assert_eq!(restarts_of(&text, &jobset), [], "{policy}, seed {seed}");
        }
    }
}
