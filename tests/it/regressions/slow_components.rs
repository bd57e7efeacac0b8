//! Very slow operations are not reported as blocked.

use super::{POD, count, play, scenario, workers};
use crate::support;
use sim_engine::record::{Body, DiscardSink, EndReason, SimulationRecord};

/// The cache of the pod webhook learns of the leader without an event, and nothing else happens until then. A slow
/// response reflects an early state of the webhook's cache.
#[test]
fn a_follower_that_waits_for_a_slow_cache_or_a_slow_answer_is_not_stuck() {
    let jobs = workers(1, 2, "", &format!("containers: [{POD}]"));
    let timings = [
        "watchLag: {uniform: [1s, 1h]}",
        "watchLag: {uniform: [1s, 1m]}, apiPodCreate: {logNormal: {p50: 1s, p95: 30m}}",
    ];
    for timing in timings {
        let scenario = scenario(
            2,
            "0s",
            &format!("timing: {{{timing}}}\nstop: {{at: 30d}}"),
            &format!(
                "  annotations: {{alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}}\nspec:\n  \
                 replicatedJobs:\n{jobs}"
            ),
        );
        let mut simulation = support::simulation(&scenario);
        for seed in 0..100 {
            let outcome = simulation.run(seed, 0, &mut DiscardSink);
            assert_eq!(outcome.blocked, Vec::<String>::new(), "seed {seed}, {timing}");
            assert_eq!(outcome.jobsets[0].jobs[0].ready, 2, "seed {seed}, {timing}");
        }
    }
}

/// One pod after another finds its node cordoned. That takes half an hour without any progress, which may still
/// follow.
#[test]
fn a_pod_that_a_slow_scheduler_has_not_looked_at_is_not_stuck() {
    let jobs = workers(1, 40, "", &format!("containers: [{POD}]"));
    let cordoned = (2..40).map(|n| format!("  - {{at: 0s, cordonNode: {{node: node-{n:03}}}}}\n"));
    let cordoned: String = cordoned.collect();
    let rest = format!("timing: {{schedulerFixed: 1m}}\nstop: {{at: 30d}}\nfaults:\n{cordoned}");
    let (outcome, records) = play(40, &rest, &format!("spec:\n  replicatedJobs:\n{jobs}"));
    let bound = count(&records, |b| matches!(b, Body::PodBound { .. }));
    let waits = count(&records, |b| matches!(b, Body::PodUnschedulable { .. }));
    assert_eq!((bound, waits), (2, 38), "{:?}", outcome.blocked);
}

/// A pod that is patched during its scheduling attempt is not queued a second time (kube-scheduler defers events of
/// pods in flight).
#[test]
fn a_pod_that_is_patched_while_the_scheduler_looks_at_it_is_bound_once() {
    let jobs = workers(1, 1, "", &format!("containers: [{POD}]"));
    let patch = "patch: {kind: Pod, name: a-w-0-0, merge: {metadata: {annotations: {a: b}}}}";
    let rest = format!(
        "timing: {{schedulerFixed: 10s}}\nstop: {{at: 1h}}\nfaults:\n  \
         - {{at: 0s, cordonNode: {{node: node-000}}}}\n  - {{at: 5s, {patch}}}\n  \
         - {{at: 9s, uncordonNode: {{node: node-000}}}}"
    );
    let (outcome, records) = play(1, &rest, &format!("spec:\n  replicatedJobs:\n{jobs}"));
    let of = |what: fn(&Body) -> bool| count(&records, what);
    let bound = of(|b| matches!(b, Body::PodBound { .. }));
    let waits = of(|b| matches!(b, Body::PodUnschedulable { .. }));
    assert_eq!((bound, waits), (1, 1), "{:?}", outcome.blocked);
}

/// The create request was sent while the webhooks were down, and is rejected long after they are back; the next
/// request is accepted. Nothing else happens in the meantime: the Job was always active and never ready.
#[test]
fn a_pod_that_was_refused_late_for_want_of_the_manager_is_not_given_up() {
    let jobs = workers(1, 2, "", &format!("containers: [{POD}]"));
    let (outcome, records) = play(
        2,
        "timing: {apiPodCreate: 2000s}\nfaults:\n  - {afterReady: 0s, deletePod: {pod: a-w-0-0}}\n  - {afterReady: 0s, \
         stopManager: {for: 1000s}}\nstop: {at: 10h}",
        &format!("spec:\n  replicatedJobs:\n{jobs}"),
    );
    let refused = |r: &&SimulationRecord| matches!(r.body, Body::PodCreateRejected { .. });
    assert!(records.iter().filter(refused).count() >= 1, "the request was sent while the manager was down");
    assert_eq!((outcome.end_reason, outcome.blocked), (EndReason::Settled, Vec::new()));
}
