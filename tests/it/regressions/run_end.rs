//! The end of a run: as soon as no pending event can change anything, not when the last timer of a removed object
//! expires.

use super::{POD, play, workers};
use sim_engine::record::*;

/// Runs two Jobs of two pods with these containers. Returns the reason and the time of the end in seconds.
fn end(job: &str, policy: &str, containers: &str, faults: &str) -> (EndReason, f64) {
    let jobs = workers(2, 2, job, &format!("containers: [{POD}]"));
    let rest = format!("containers: [{containers}]\nfaults: [{faults}]\nstop: {{at: 100h}}");
    let jobset = format!("spec:\n{policy}  replicatedJobs:\n{jobs}");
    let (outcome, _) = play(4, &rest, &jobset);
    (outcome.end_reason, outcome.end.seconds())
}

#[test]
fn run_ends_despite_pending_stale_events() {
    let long = "{runFor: 10h}";
    let fails = "{at: 60s, containerExit: {pod: a-w-0-1, exitCode: 1}}";
    let never = "  failurePolicy: {maxRestarts: 0}\n";
    let finished = EndReason::AllJobSetsFinished;
    for (sentence, job, policy, containers, faults, reason) in [
        ("exits of the containers of a JobSet that failed", "backoffLimit: 0", never, long, fails, finished),
        (
            "exits of containers that a suspension ended",
            "",
            "",
            long,
            "{at: 60s, suspendJobSet: {name: a}}",
            EndReason::Settled,
        ),
        (
            "exits of the containers of a JobSet that was deleted", "", "", long, "{at: 60s, deleteJobSet: {name: a}}",
            finished,
        ),
        ("the deadline of Jobs that completed", "activeDeadlineSeconds: 36000", "", "{runFor: 50s}", "", finished),
        (
            "the deadline of Jobs that are gone", "activeDeadlineSeconds: 36000", "", long,
            "{at: 60s, deleteJobSet: {name: a}}", finished,
        ),
        (
            "the time to live of Jobs that are gone", "ttlSecondsAfterFinished: 36000", "", "{runFor: 30s}",
            "{at: 60s, deleteJobSet: {name: a}}", finished,
        ),
        (
            "the time to live of a JobSet that is gone", "", "  ttlSecondsAfterFinished: 36000\n", "{runFor: 30s}",
            "{at: 60s, deleteJobSet: {name: a}}", finished,
        ),
    ] {
        let (ended, at) = end(job, policy, containers, faults);
        assert_eq!(ended, reason, "{sentence}");
        assert!((50.0..80.0).contains(&at), "{sentence}: {at} s");
    }
}

#[test]
fn run_continues_while_effective_events_are_pending() {
    let ten_hours = 36_000.0..36_100.0;
    for (sentence, job, policy, containers) in [
        ("exits", "", "", "{runFor: 10h}"),
        ("the time to live of Jobs", "ttlSecondsAfterFinished: 36000", "", "{runFor: 30s}"),
        ("the time to live of a JobSet", "", "  ttlSecondsAfterFinished: 36000\n", "{runFor: 30s}"),
        ("deadlines", "activeDeadlineSeconds: 36000", "", "{runFor: 50h}"),
    ] {
        let (_, at) = end(job, policy, containers, "");
        assert!(ten_hours.contains(&at), "{sentence}: {at} s");
    }
}

/// The first attempt would have run for ten hours. The pods of the second attempt cannot be placed, and the
/// scheduler keeps retrying.
#[test]
fn a_dead_end_is_found_however_long_the_containers_before_it_would_have_run() {
    let lost =
        |n| format!("{{at: 60s, crashNode: {{node: node-00{n}}}}}, {{at: 70s, deleteNode: {{node: node-00{n}}}}}");
    let faults: Vec<String> = (0..4).map(lost).collect();
    let policy = "  failurePolicy: {maxRestarts: 3}\n";
    let (reason, at) = end("backoffLimit: 0", policy, "{runFor: 10h}", &faults.join(", "));
    assert_eq!(reason, EndReason::Stuck);
    assert!(at < 2_000.0, "{at} s");
}
