//! Unit tests of `sim_recordings::validate::decisions::events`.

use super::*;
use crate::validate::read::tests::example;
use serde_json::{Value, json};

const COLUMNS: [&str; 11] = [
    "replicatedJob", "jobIndex", "podIndex", "restartAttempt", "node", "createdMs", "boundMs", "finishedMs",
    "deletingMs", "goneMs", "phase",
];

/// Returns the rule for a Job with pods of these indexes, times of creation and binding.
fn rule(pods: &[(u32, i64, i64)]) -> Option<RejectionRule> {
    let recording = example(|j| {
        let columns: Vec<&str> = COLUMNS.into_iter().chain(["containerRestarts"]).collect();
        j["podColumns"] = json!(columns);
        let row = |(index, created, bound): &(u32, i64, i64)| -> Value {
            json!(["w", 0, index, 0, "", created, bound, -1, -1, -1, "Pending", 0])
        };
        j["pods"] = pods.iter().map(row).collect();
    });
    rejection_rules(&recording).get("Job/js-w-0").copied()
}

#[test]
fn rejections_of_followers_are_compared_as_far_as_they_are_not_a_race() {
    assert_eq!(rule(&[(0, 100, 150), (1, 200, 250)]), Some(RejectionRule::Ignored));
    assert_eq!(rule(&[(0, 100, 150)]), Some(RejectionRule::Compared));
    assert_eq!(rule(&[(0, 100, 2100), (1, 2200, 2300)]), Some(RejectionRule::Ignored));
    assert_eq!(rule(&[(0, 100, 2101), (1, 2200, 2300)]), Some(RejectionRule::RecordedOnly));
    assert_eq!(rule(&[(0, 100, -1), (1, 2200, 2300)]), Some(RejectionRule::RecordedOnly));
    assert_eq!(rule(&[]), None);
}

#[test]
fn only_the_four_texts_are_rejections_of_followers() {
    let denied = |text: &str| format!("Error creating: {FOLLOWER_WEBHOOK}{text}");
    for (text, expected) in [
        ("follower pod node selector not set", true),
        ("follower pod node selector for topology domain not found. missing selector: pool", true),
        ("expected 1 leader pod (js-w-0-0), but got 0. this is an expected, transient error", true),
        ("leader pod not yet scheduled, not creating follower pod. this is an expected, transient error", true),
        ("follower pod owner UID (a) != leader pod owner UID (b)", false),
        ("expected 1 leader pod (js-w-0-0), but got 0", false),
        ("follower pod node selector not set at all", false),
    ] {
        assert_eq!(is_follower_rejection(&denied(text)), expected, "{text}");
        assert!(!is_follower_rejection(text), "{text}");
    }
}

#[test]
fn only_the_sentence_about_an_existing_job_is_dropped() {
    let existing = "job \"js-a-0\" creation failed with error: jobs.batch \"js-a-0\" already exists";
    let other = "job \"js-b-0\" creation failed with error: Job.batch \"js-b-0\" is invalid";
    let without = |reason: &str, message: &str| without_existing_jobs(reason, message);
    assert_eq!(without("JobCreationFailed", existing), None);
    let both = format!("{existing}\n{other}");
    assert_eq!(without("JobCreationFailed", &both).as_deref(), Some(other));
    assert_eq!(without("JobCreationFailed", other).as_deref(), Some(other));
    assert_eq!(without("HeadlessServiceCreationFailed", existing).as_deref(), Some(existing));
}
