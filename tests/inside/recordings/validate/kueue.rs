//! Unit tests of `sim_recordings::validate::kueue`.

use super::*;
use crate::validate::result::ValidationVerdict;
use serde_json::json;
use std::path::Path;

/// A story with preemptions and a stopped queue.
fn story() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings/kueue/k2-0047.json");
    let text = std::fs::read_to_string(path).expect("a recording of the repository");
    serde_json::from_str(&text).expect("a recording is JSON")
}

fn validated(recording: &Value) -> FileResult {
    validate("story.json", &read(&recording.to_string()).expect("a story"))
}

fn paths(result: &FileResult) -> Vec<&str> {
    result.differences.iter().flatten().map(|d| d.path.as_str()).collect()
}

#[test]
fn a_recorded_story_is_equal_and_a_changed_message_is_a_difference() {
    let mut recording = story();
    assert_eq!(validated(&recording).verdict(), Some(ValidationVerdict::Equal));
    recording["results"][0]["workloads"]["js0"]["conditions"][0]["message"] = json!("Quota reserved elsewhere");
    let result = validated(&recording);
    assert_eq!(result.verdict(), Some(ValidationVerdict::Different));
    assert!(paths(&result).iter().all(|path| path.starts_with("0.js0.")), "{:?}", paths(&result));
}

#[test]
fn counts_of_a_queue_that_it_never_had_are_a_difference() {
    let mut recording = story();
    let queue = recording["clusterQueues"][0]["metadata"]["name"].as_str().expect("a name").to_owned();
    recording["results"][0]["clusterQueues"][&queue]["pending"] = json!(7);
    assert_eq!(paths(&validated(&recording)), [format!("0.{queue}.pending")]);
}

#[test]
fn a_uid_that_stands_for_two_workloads_is_a_difference() {
    let mut recording = story();
    let text = recording.to_string();
    let first = text.split("(UID: ").nth(1).and_then(|rest| rest.split(',').next()).expect("a preemption").to_owned();
    // The first recorded UID is replaced in the messages of the last step only.
    let last = recording["results"].as_array_mut().and_then(|results| results.last_mut()).expect("a step");
    let changed = last.to_string().replace("(UID: ", "(UID: x").replace(&format!("x{first}"), &first);
    *last = serde_json::from_str(&changed).expect("still JSON");
    // A new UID alone is no difference, because UIDs are random.
    assert_eq!(validated(&recording).verdict(), Some(ValidationVerdict::Equal));
}

#[test]
fn an_unknown_field_or_step_is_named_and_not_simulated() {
    let mut recording = story();
    recording["clusterQueues"][0]["spec"]["concurrentAdmissionPolicy"] = json!({"migration": {}});
    recording["steps"][0]["explode"] = json!("js0");
    assert_eq!(
        validated(&recording).not_simulated,
        ["field ClusterQueue.spec.concurrentAdmissionPolicy", "step explode"]
    );
}
