//! All orders of events over small JobSets with the Job controller and pods below them: `policy::reconcile` and
//! `policy::job::sync` run together.
//!
//! States are defined in `world.rs`. The Job controller's internal state (finalizers, uncounted pods, expectations)
//! is kept here as upstream keeps it; `policy` makes the decisions.

mod blocked;
mod caches;
mod cases;
mod count;
mod events;
mod explore;
mod idle;
mod invariants;
mod job_templates;
mod objects;
mod pass;
mod rules;
mod setups;
mod status;
mod sync;
mod track;
mod transition;
mod world;
mod writes;

use super::{enumerates_all, explore_all};
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
    check("one pod", &cases::one_pod(enumerates_all()), &[]);
}

#[test]
fn every_order_of_events_over_two_pods_and_their_job_keeps_every_promise() {
    check("two pods", &cases::two_pods(enumerates_all()), &[]);
}

#[test]
fn every_order_of_events_over_two_jobs_and_their_pods_keeps_every_promise() {
    check("two Jobs with pods", &cases::two_jobs(enumerates_all()), &[]);
}

#[test]
fn a_controller_whose_caches_lag_behind_breaks_no_promise_about_pods() {
    check("stale cache of JobSets", &cases::stale_jobsets(enumerates_all()), &[]);
    check("stale cache of Jobs and pods", &cases::stale_jobs(enumerates_all()), &[]);
}

#[test]
fn expectations_bridge_what_a_controller_has_not_seen_of_its_own_writes() {
    check("Kubernetes 1.35, stale cache of the controller's own writes", &cases::blind_caches(), &[]);
}

#[test]
fn before_1_31_jobs_that_fail_before_their_pods_end_break_no_other_promise() {
    check("Kubernetes 1.30", &cases::old_version(), &[]);
}

#[test]
fn a_job_that_counts_as_started_stays_suspended_in_order() {
    let name = "SU-3: InOrder does not resume a Job that counts as started";
    check("InOrder with pods", &[cases::in_order()], &[name]);
}
