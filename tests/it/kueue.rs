//! Kueue in a run: admission, preemption, pending Workloads and changes of `suspend` by hand.

use crate::support;
use sim_engine::record::*;

/// One text per condition of a Workload, change of readiness and Event of Kueue, and the sentences about blocked
/// JobSets.
fn play(sets: &[(&str, &str)]) -> (Vec<String>, RunOutcome) {
    play_scenario("kueue", sets)
}

fn play_scenario(scenario: &str, sets: &[(&str, &str)]) -> (Vec<String>, RunOutcome) {
    let scenario = support::scenario(scenario, sets);
    let mut simulation = support::simulation(&scenario);
    simulation.set_paranoid(true);
    let mut checker = crate::checker::Checker::new(&scenario);
    let outcome = simulation.run(1, 0, &mut checker);
    let names = simulation.names();
    let text = |record: &SimulationRecord| match record.body {
        Body::WorkloadCondition { jobset, kind, status, reason, .. } => {
            Some(format!("{} {}={status} {}", names.jobset(jobset), kind.as_str(), names.text(reason)))
        }
        Body::PodBound { node, .. } => Some(format!("bound to {}", names.nodes[node.ix()])),
        Body::AllReady { jobset, ready } => Some(format!("{} ready={ready}", names.jobset(jobset))),
        Body::KubeEvent { object: ObjectRef::JobSet(jobset), reason, .. } => {
            Some(format!("{} {}", names.jobset(jobset), names.text(reason)))
        }
        _ => None,
    };
    let texts = checker.records.iter().filter_map(text).collect();
    (texts, outcome)
}

/// Returns the position of a text.
fn at(texts: &[String], text: &str) -> usize {
    let found = texts.iter().position(|t| t == text);
    found.unwrap_or_else(|| panic!("{text:?} is missing in\n{}", texts.join("\n")))
}

#[test]
fn a_preempted_jobset_frees_its_quota_after_its_pods_and_runs_again_without_a_restart() {
    let (texts, outcome) = play(&[]);
    let order = [
        "train QuotaReserved=true QuotaReserved", "train Started", "train ready=true", "train Evicted=true Preempted",
        "train Stopped", "train QuotaReserved=false PendingEvaluation", "urgent QuotaReserved=true QuotaReserved",
        "urgent ready=true", "urgent Finished=true Succeeded", "train Evicted=false QuotaReserved",
        "train AllJobsCompleted",
    ];
    let places: Vec<usize> = order.iter().map(|text| at(&texts, text)).collect();
    assert!(places.is_sorted(), "{places:?}\n{}", texts.join("\n"));
    assert_eq!(outcome.end_reason, EndReason::AllJobSetsFinished);
    assert_eq!(outcome.jobsets.iter().map(|j| j.restarts).sum::<u32>(), 0);
}

#[test]
fn a_jobset_beyond_the_quota_is_blocked_with_the_message_of_its_workload() {
    let (texts, outcome) = play(&[("spec.replicatedJobs[0].replicas", "5")]);
    assert!(!texts.iter().any(|text| text.ends_with("Started")), "{}", texts.join("\n"));
    let message = "its Workload waits for admission in LocalQueue training";
    assert!(outcome.blocked.iter().all(|blocked| blocked.contains(message)), "{:?}", outcome.blocked);
    let quota = "insufficient quota for example.com/accelerator in flavor zone-a";
    assert!(outcome.blocked.iter().any(|blocked| blocked.contains(quota)), "{:?}", outcome.blocked);
}

#[test]
fn kueue_undoes_a_suspension_by_hand() {
    let (texts, outcome) = play(&[("faults", "[{at: 30s, suspendJobSet: {name: train}}]")]);
    assert!(texts.iter().filter(|text| *text == "train Started").count() >= 3, "{}", texts.join("\n"));
    assert_eq!(outcome.end_reason, EndReason::AllJobSetsFinished);
}

#[test]
fn the_pods_of_a_topology_assignment_are_bound_to_its_nodes_and_to_the_replacement_of_a_lost_one() {
    let (texts, outcome) = play_scenario("kueue-node-lost", &[]);
    let mut bound: Vec<&str> = texts.iter().filter_map(|text| text.strip_prefix("bound to ")).collect();
    bound[..3].sort_unstable();
    bound[3..].sort_unstable();
    assert_eq!(bound, ["node-00", "node-01", "node-02", "node-00", "node-02", "node-03"]);
    assert_eq!(outcome.end_reason, EndReason::AllJobSetsFinished);
    assert!(!texts.iter().any(|text| text.contains("Evicted=true")), "{}", texts.join("\n"));
}

#[test]
fn a_lost_node_without_a_replacement_evicts_the_jobset_which_preempts_the_work_on_spare_nodes() {
    let (texts, outcome) = play_scenario("kueue-warm-spares", &[]);
    let order = [
        "warm ready=true", "pool Evicted=true NodeFailures", "warm Evicted=true Preempted",
        "pool Evicted=false QuotaReserved", "pool AllJobsCompleted", "warm Evicted=false QuotaReserved",
        "warm AllJobsCompleted",
    ];
    let places: Vec<usize> = order.iter().map(|text| at(&texts, text)).collect();
    assert!(places.is_sorted(), "{places:?}\n{}", texts.join("\n"));
    assert_eq!(outcome.end_reason, EndReason::AllJobSetsFinished);
}

#[test]
fn pods_wait_for_the_topology_ungater_for_a_second() {
    let ready_after_s = |scenario: &str| {
        let scenario = support::scenario(scenario, &[]);
        let mut simulation = support::simulation(&scenario);
        let mut kept = KeepSink::default();
        simulation.run(1, 0, &mut kept);
        let time = |wanted: fn(&Body) -> bool| kept.0.iter().find(|r| wanted(&r.body)).expect("a record").at.seconds();
        time(|body| matches!(body, Body::PodBound { .. })) - time(|body| matches!(body, Body::PodCreated { .. }))
    };
    assert!(ready_after_s("kueue") < 0.5);
    assert!((1.0..1.5).contains(&ready_after_s("kueue-node-lost")));
}
