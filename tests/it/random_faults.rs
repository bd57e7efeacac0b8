//! Random faults of a scenario: identical for every policy, at the configured rate, and reported with their cause.

mod billing;
mod kinds;
mod repair;
mod sources;
mod spares;
mod usage_aging;

use crate::support;
use sim_analysis::experiment::ExperimentSubject;
use sim_api::spec::{FaultAction, FaultTime, RandomAction, ScenarioSpec, ScriptedFault, SilentFaults, SilentTarget};
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_reliability::faults::draw_faults;

const JOBSET: &str = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: train}\nspec:\n  \
    failurePolicy: {maxRestarts: 1000, restartStrategy: Recreate}\n  replicatedJobs:\n  - name: w\n    replicas: 2\n    \
    template: {spec: {parallelism: 4, completions: 4, backoffLimit: 0, template: {spec: {restartPolicy: Never, \
    containers: [{name: w, image: x}]}}}}\n";

fn scenario(nodes: u32, stop: &str, processes: &str) -> ScenarioSpec {
    let text = text(nodes, stop, &format!("faultProcesses:\n{processes}"));
    support::parse(&text, JOBSET).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns a scenario with nodes `n-000` and so on in a single rack.
fn text(nodes: u32, stop: &str, rest: &str) -> String {
    format!(
        "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: random}}\ntopology:\n  \
         apiVersion: jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n  - name: n-{{node:03}}\n    \
         nodesPerIsland: {nodes}\n    allocatable: {{cpu: 8}}\n    labels: {{example.com/rack: all}}\n\
         jobSets: [{{manifest: jobset.yaml}}]\nstop: {{at: {stop}}}\n{rest}"
    )
}

fn at(fault: &ScriptedFault) -> Duration {
    match fault.at {
        FaultTime::At(at) => at,
        other => panic!("the fault has no absolute time: {other:?}"),
    }
}

fn crashes(scenario: &ScenarioSpec) -> usize {
    let all = scenario.faults.iter();
    all.filter(|f| matches!(f.action, FaultAction::CrashNode(_))).count()
}

#[test]
fn faults_come_at_the_rate_that_was_asked_for_whatever_the_distribution() {
    for distribution in [
        "",
        ", distribution: {weibull: {shape: 0.7}}",
        ", distribution: {logNormal: {sigma: 1}}",
        ", distribution: {gamma: {shape: 0.7}}",
        ", distribution: {gamma: {shape: 4}}",
        ", distribution: {empirical: {values: [1, 2, 30], weights: [5, 2, 1]}}",
    ] {
        for (rate, per_hour) in [("mtbf: 10h", 0.1), ("perMinute: 0.002", 0.12), ("per1000NodeDays: 2000", 1.0 / 12.0)]
        {
            let process = format!("- {{cause: host, {rate}, backAfter: 0s{distribution}}}\n");
            let scenario = scenario(100, "2000h", &process);
            let long = crashes(&draw_faults(&scenario, 1, 0)) as f64;
            let expected = 100.0 * 2000.0 * per_hour;
            assert!((long / expected - 1.0).abs() < 0.05, "{process}: {long} faults, expected {expected}");
        }
    }
}

#[test]
fn a_change_of_policy_cluster_or_other_processes_leaves_the_faults_of_a_node_what_they_were() {
    let one = "- {cause: host, mtbf: 5h, backAfter: 1h}\n";
    let of_first = |scenario: &ScenarioSpec| -> Vec<String> {
        let mine =
            |f: &&ScriptedFault| matches!(&f.action, FaultAction::CrashNode(n) if n.name.as_deref() == Some("n-000"));
        let all = scenario.faults.iter().filter(mine);
        all.filter(|f| f.random_cause.as_deref() == Some("host")).map(|f| at(f).to_string()).collect()
    };
    let base = of_first(&draw_faults(&scenario(4, "100h", one), 3, 5));
    assert!(base.len() > 5, "{base:?}");
    let mut other_policy = scenario(4, "100h", one);
    other_policy.jobsets[0].jobset.spec.failure_policy = None;
    assert_eq!(base, of_first(&draw_faults(&other_policy, 3, 5)));
    assert_eq!(base, of_first(&draw_faults(&scenario(40, "100h", one), 3, 5)));
    let first = format!("- {{cause: rare, mtbf: 99h, on: Pod}}\n{one}");
    assert_eq!(base, of_first(&draw_faults(&scenario(4, "100h", &first), 3, 5)));
    assert_ne!(base, of_first(&draw_faults(&scenario(4, "100h", one), 3, 6)), "another replication");
}

#[test]
fn a_domain_fails_at_one_instant_and_pods_by_their_names() {
    let rack = draw_faults(
        &scenario(5, "50h", "- {cause: power, on: {label: example.com/rack}, mtbf: 10h, backAfter: 1h}\n"),
        1,
        0,
    );
    for five in rack.faults.chunks(5) {
        assert!(five.iter().all(|f| at(f) == at(&five[0])), "{five:?}");
    }
    assert!(crashes(&rack) >= 5);
    let pods = draw_faults(&scenario(5, "50h", "- {cause: bug, on: Pod, mtbf: 10h, exitCode: 42}\n"), 1, 0);
    let exit = |f: &ScriptedFault| matches!(&f.action, FaultAction::ContainerExit { pod, exit_code: 42 } if pod.starts_with("train-w-"));
    assert!(!pods.faults.is_empty() && pods.faults.iter().all(exit));
}

#[test]
fn silent_faults_are_drawn_with_their_detection_time() {
    let host = "- {cause: host, mtbf: 10h, backAfter: 1h}\n";
    let with = |does: RandomAction| -> Vec<(Duration, SilentTarget, SilentFaults)> {
        let mut scenario = scenario(5, "50h", host);
        scenario.fault_processes[0].action = does;
        let one = |f: &ScriptedFault| match &f.action {
            FaultAction::Silent { on, fault: what } => (at(f), on.clone(), *what),
            other => panic!("{other:?}"),
        };
        draw_faults(&scenario, 1, 0).faults.iter().map(one).collect()
    };
    let footer =
        with(RandomAction::Hang { detected_after: Some(Distribution::Exponential { mean_s: 600.0 }), exit_code: 3 });
    let all: std::collections::BTreeSet<Option<Duration>> = footer
        .iter()
        .map(|(_, _, what)| match what {
            SilentFaults::Hang { detected_after, exit_code: 3 } => *detected_after,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(all.len() == footer.len() && all.len() > 5, "{footer:?}");
    let slow = with(RandomAction::Slow(1.5));
    let of_first: Vec<f64> = slow
        .iter()
        .filter(|(_, on, _)| matches!(on, SilentTarget::Node(n) if n.name.as_deref() == Some("n-000")))
        .map(|(_, _, what)| match what {
            SilentFaults::Slow { factor } => *factor,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(of_first.len() > 3, "{slow:?}");
    for (i, factor) in of_first.iter().enumerate() {
        assert_eq!(*factor, [1.5, 1.0][i % 2], "{of_first:?}");
    }
    let found_after = Distribution::Fixed(Duration::from_secs(9));
    let wrong = with(RandomAction::Corrupt { found_after });
    let after = Duration::from_secs(9);
    assert!(wrong.iter().all(|(_, _, what)| *what == SilentFaults::Corrupt { found_after: after }));
    let instants = |all: &[(Duration, SilentTarget, SilentFaults)]| -> Vec<Duration> {
        all.iter().map(|(at, ..)| *at).take(3).collect()
    };
    assert_eq!(instants(&footer), instants(&wrong), "the action does not affect the times");
}

#[test]
fn replications_differ_and_a_restart_names_its_cause() {
    let scenario = scenario(12, "3h", "- {cause: software, on: Pod, mtbf: 4h, exitCode: 3}\n");
    let limits = sim_analysis::experiment::ReplicationLimits::unlimited();
    let play = |threads| {
        let rows = ExperimentSubject::from(scenario.clone()).replicate((1, 0..6), (threads, &limits), &|_| {});
        rows.unwrap_or_else(|e| panic!("{e}"))
    };
    let rows = play(1);
    assert_eq!(rows, play(2), "the number of threads does not affect results");
    let restarts: Vec<u32> = rows.iter().map(|r| r.jobsets[0].restarts).collect();
    assert!(restarts.iter().any(|n| *n != restarts[0]), "{restarts:?}");
    // Eight pods with a mean time of 4 h between faults, for 3 h: six faults on average.
    let mean = f64::from(restarts.iter().sum::<u32>()) / 6.0;
    assert!((3.0..9.0).contains(&mean), "{restarts:?}");
}

/// A pod on a lost node is terminating until its Node is deleted; a pod on a drained node is evicted at once.
#[test]
fn pods_of_a_lost_node_come_back_when_its_node_is_deleted_and_those_of_a_drained_one_at_once() {
    let slowest = |process: &str| {
        let scenario = scenario(12, "40h", &format!("- {{cause: host, mtbf: 60h, {process}}}\n"));
        let limits = sim_analysis::experiment::ReplicationLimits::unlimited();
        let rows = ExperimentSubject::from(scenario.clone()).replicate((1, 0..4), (1, &limits), &|_| {});
        let rows = rows.unwrap_or_else(|e| panic!("{e}"));
        let all = rows.iter().map(|r| r.jobsets[0].latency_quantile(1.0).seconds());
        all.flatten().fold(0.0, f64::max)
    };
    let repaired = slowest("backAfter: 3h, asNew: true");
    assert!(repaired > 3.0 * 3600.0, "the pod waits for the repair: {repaired}");
    let deleted = slowest("backAfter: 3h, deletedAfter: 20m");
    assert!((1200.0..4000.0).contains(&deleted), "the pod waits for the deletion of its Node: {deleted}");
    let drained = slowest("backAfter: 3h, does: Drain");
    assert!((1.0..120.0).contains(&drained), "the pod waits only for its grace period: {drained}");
}

/// A repair that ends after the end of the run does not make the JobSet permanently blocked.
#[test]
fn what_waits_for_a_repair_after_the_end_of_the_run_is_not_stuck() {
    let ends = |process: &str| {
        let scenario = scenario(8, "4h", &format!("- {{cause: host, mtbf: 8h, {process}}}\n"));
        let limits = sim_analysis::experiment::ReplicationLimits::unlimited();
        let rows = ExperimentSubject::from(scenario.clone()).replicate((1, 0..3), (1, &limits), &|_| {});
        let rows = rows.unwrap_or_else(|e| panic!("{e}"));
        rows.iter().map(|r| (r.end_reason, r.end_s)).collect::<Vec<_>>()
    };
    assert!(ends("backAfter: 100d").iter().all(|e| *e == ("TimeLimit", 4.0 * 3600.0)));
    assert!(ends("does: Crash").iter().all(|e| e.0 == "Stuck"), "nodes without a repair time never return");
}

#[test]
fn what_makes_no_sense_is_rejected() {
    let refused = |process: &str| {
        let text = format!(
            "apiVersion: jobset-sim/v1alpha1\nkind: Scenario\nmetadata: {{name: r}}\ntopology:\n  apiVersion: \
             jobset-sim/v1alpha1\n  kind: Topology\n  metadata: {{name: t}}\n  pools:\n  - {{name: node, nodesPerIsland: 2, \
             labels: {{example.com/rack: a}}}}\njobSets: [{{manifest: jobset.yaml}}]\nfaultProcesses: [{process}]\n"
        );
        match support::parse(&text, JOBSET) {
            Ok(_) => panic!("{process} is accepted"),
            Err(e) => e.to_string(),
        }
    };
    for (process, part) in [
        ("{cause: a}", "a rate"),
        ("{cause: a, mtbf: 1h, perMinute: 1}", "perMinute"),
        ("{cause: a, mtbf: 0s}", "the mean time to failure is 0: it must be positive"),
        ("{cause: a, mtbf: 1ms}", "the maximum is 1,000,000 in a run"),
        // 691,200 faults per day, and each affects another node as well.
        ("{cause: a, mtbf: 250ms, takesAlong: {label: example.com/rack}}", "about 1382400 faults"),
        ("{cause: a, mtbf: 1h, on: Pod, backAfter: 1h}", "a Job always replaces its pods"),
        ("{cause: a, mtbf: 1h, does: Exit}", "does: Exit applies to pods, not nodes"),
        ("{cause: a, mtbf: 1h, on: Pod, does: Drain}", "does: Drain applies to nodes, not pods"),
        ("{cause: a, mtbf: 1h, on: Pod, deletedAfter: 1h}", "deletedAfter applies to nodes only"),
        ("{cause: a, mtbf: 1h, does: Drain, asNew: true}", "asNew: a drained node is not replaced by a new Node"),
        ("{cause: a, mtbf: 1h, exitCode: 3}", "exitCode requires does: Exit or does: Hang"),
        ("{cause: a, mtbf: 1h, does: Hang}", "only affects training, but no JobSet has a training"),
        ("{cause: a, mtbf: 1h, does: Slow}", "does: Slow requires factor"),
        ("{cause: a, mtbf: 1h, does: Corrupt}", "does: Corrupt requires foundAfter"),
        ("{cause: a, mtbf: 1h, factor: 2}", "factor requires does: Slow"),
        ("{cause: a, mtbf: 1h, on: Pod, does: Slow, factor: 2}", "does: Slow applies to nodes, not pods"),
        ("{cause: a, mtbf: 1h, does: Hang, backAfter: 1h}", "the fault lasts until the affected process ends"),
        (
            "{cause: a, mtbf: 1h, does: Slow, factor: 2, asNew: true}",
            "computes slowly or wrongly is not replaced by a new Node",
        ),
        ("{cause: a, mtbf: 1h, on: {label: example.com/rak}}", "example.com/rack"),
    ] {
        let message = refused(process);
        assert!(message.contains(part), "{process}: {message}");
    }
}
