//! All orders of events over small JobSets with the Job controller and pods below them: `policy::reconcile` and
//! `policy::job::sync` run together.
//!
//! States are defined in `world.rs`. The Job controller's internal state (finalizers, uncounted pods, expectations)
//! is kept here as upstream keeps it; `policy` makes the decisions.

mod after;
mod caches;
mod cases;
mod count;
mod ends;
mod events;
mod explore;
mod idle;
mod kinds;
mod objects;
mod pass;
mod promises;
mod rules;
mod setups;
mod status;
mod sync;
mod track;
mod world;
mod writes;

use super::{everything, explore_all};
use explore::explore;
use setups::Setup;

/// Asserts that both terminal states are reached, and that no JobSet is permanently blocked except for the given
/// reasons.
fn check(what: &str, setups: &[Setup], dead_ends: &[&str]) {
    let seen = explore_all(what, setups, explore);
    assert_eq!(Vec::from_iter(seen.finished), ["Completed", "Failed"]);
    assert_eq!(Vec::from_iter(seen.dead_ends), dead_ends);
}

#[test]
fn every_order_of_events_over_one_pod_and_its_job_keeps_every_promise() {
    check("one pod", &cases::one_pod(everything()), &[]);
}

#[test]
fn every_order_of_events_over_two_pods_and_their_job_keeps_every_promise() {
    check("two pods", &cases::two_pods(everything()), &[]);
}

#[test]
fn every_order_of_events_over_two_jobs_and_their_pods_keeps_every_promise() {
    check("two Jobs with pods", &cases::two_jobs(everything()), &[]);
}

#[test]
fn a_controller_whose_caches_lag_behind_breaks_no_promise_about_pods() {
    check(
        "JobSets seen late",
        &cases::stale_jobsets(everything()),
        &[],
    );
    check(
        "Jobs and pods seen late",
        &cases::stale_jobs(everything()),
        &[],
    );
}

#[test]
fn expectations_bridge_what_a_controller_has_not_seen_of_its_own_writes() {
    check(
        "Kubernetes 1.35, own writes seen late",
        &cases::blind(),
        &[],
    );
}

#[test]
fn before_1_31_jobs_that_fail_before_their_pods_end_break_no_other_promise() {
    check("Kubernetes 1.30", &cases::old_version(), &[]);
}

#[test]
fn a_job_that_counts_as_started_stays_suspended_in_order() {
    let name = "SU-3: InOrder resumes no Job that counts as started";
    check("InOrder with pods", &[cases::in_order()], &[name]);
}
