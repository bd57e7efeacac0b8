//! Unit tests of `sim_engine::script::patch_status`.

use super::*;
use serde_json::json;
use sim_base::{Duration, SimTime};

fn condition_json(kind: &str, status: &str, reason: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": "by hand",
        "lastTransitionTime": "1970-01-01T00:02:00Z"})
}

#[test]
fn a_condition_is_read_with_the_rule_that_its_reason_names() {
    let read = read_condition(0, &condition_json("RestartingJobSet", "True", "FailurePolicy_a_b")).unwrap();
    assert_eq!((&*read.reason, &*read.reason_suffix), ("FailurePolicy_", "a_b"));
    assert_eq!(read.last_transition, SimTime::ZERO + Duration::from_secs(120));
    let own = read_condition(0, &condition_json("Failed", "False", "Own_reason")).unwrap();
    assert_eq!(own.full_reason(), "Own_reason");
}

#[test]
fn fields_outside_the_model_are_rejected_by_name() {
    for (kind, status, words) in [
        ("Paused", "True", "status.conditions[1].type: the value \"Paused\" is"),
        ("Failed", "Unknown", "status.conditions[1].status: the value \"Unknown\" is"),
    ] {
        let refusal = read_condition(1, &condition_json(kind, status, "R")).unwrap_err().to_string();
        assert!(refusal.starts_with(words), "{refusal}");
    }
    let rjs = json!([{"name": "c", "ready": 1}]);
    let unknown = read_replicated_jobs(&["a", "b"], &rjs).unwrap_err().to_string();
    assert!(unknown.starts_with("status.replicatedJobsStatus[].name: the value \"c\" is"), "{unknown}");
    assert!(read_count("status.restarts", &json!(-1)).is_err());
    assert_eq!(read_count("status.restarts", &json!(i32::MAX)), Ok(i32::MAX as u32));
}
