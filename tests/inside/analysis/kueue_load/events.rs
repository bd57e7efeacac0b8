//! Unit tests of the Events of performance tests of Kueue.

use crate::kueue_load::world::World;
use sim_api::spec::kueue::KueueLoadTest;
use sim_inputs::{SourceText, parse_kueue_load};
use sim_kueue::workload::WorkloadKey;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns a test with one CPU: a Workload of priority 50 is preempted by one of priority 200.
fn load_test() -> KueueLoadTest {
    let template = |class: &str, priority: u32| {
        format!("{{className: {class}, runtimeMs: 3000, priority: {priority}, request: 1}}")
    };
    let text = format!(
        "cohorts:\n- className: cohort\n  count: 1\n  queuesSets:\n  - {{className: cq, count: 1, nominalQuota: 1, \
         withinClusterQueue: LowerPriority, workloadsSets: [{{count: 1, creationIntervalMs: 900, workloads: [{}, \
         {}]}}]}}\n",
        template("low", 50),
        template("high", 200),
    );
    let source = SourceText { file: "generator.yaml".to_owned(), text };
    parse_kueue_load(&source, &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn admissions_preemptions_and_waiting_workloads_have_events() {
    let test = load_test();
    let mut world = World::new(&test);
    world.run();
    let recorded: BTreeSet<(WorkloadKey, &str)> = world.event_recorder.recorded.keys().copied().collect();
    let (low, high) = (0, 1);
    let expected = [
        (low, "QuotaReserved"),
        (low, "Admitted"),
        (low, "Preempted"),
        (low, "EvictedDueToPreempted"),
        (low, "WaitingForQuota"),
        (high, "PreemptedWorkload"),
        (high, "WaitingForPreemptedWorkloads"),
        (high, "QuotaReserved"),
        (high, "Admitted"),
    ];
    assert_eq!(recorded, expected.into());
}

#[test]
fn an_event_about_the_same_version_of_a_workload_is_two_requests_however_often_it_is_repeated() {
    let test = load_test();
    let mut world = World::new(&test);
    world.run();
    let versions = [world.store[0].clone(), Arc::new((*world.store[0]).clone())];
    for version in versions {
        let cases = [("first", true), ("second", true), ("third", false), ("fourth", false)];
        for (nth, is_request) in cases {
            let sent = world.event_recorder.record(0, &version, "Repeated", world.now);
            assert_eq!(sent.is_some(), is_request, "{nth}");
        }
    }
}
