//! Unit tests of `sim_recordings::validate::last_second`.

use super::*;
use crate::validate::read::tests::example;
use serde_json::{Value, json};

fn recording(log: Value) -> RecordedRun {
    example(|j| {
        j["log"] = log;
        j["status"] = json!({"restarts": 1});
        j["deleted"] = json!(true);
        j["jobs"] = json!([{"name": "js-w-0", "exists": false, "conditions": ["Complete=True x: y"], "succeeded": 2}]);
    })
}

#[test]
fn changes_of_the_last_second_are_taken_back() {
    let log = json!([
        [10, "Job", "js-w-0", "created", ""],
        [100, "JobSet", "js", "status", {"restarts": 0}],
        [200, "Job", "js-w-0", "counts", "active=2 ready=1 terminating=0 succeeded=0 failed=0"],
        [8001, "Job", "js-w-0", "condition", "Complete=True x: y"],
        [8002, "Job", "js-w-0", "counts", "active=0 ready=0 terminating=0 succeeded=2 failed=0"],
        [8003, "JobSet", "js", "status", {"restarts": 1}],
        [8004, "Job", "js-w-0", "gone", ""],
        [8005, "JobSet", "js", "gone", null]
    ]);
    let cut = without_last_second(&recording(log)).expect("something happens in the last second");
    let job = &cut.jobs[0];
    assert_eq!((job.exists, job.conditions.len()), (true, 0));
    assert_eq!((job.active, job.ready, job.succeeded), (2, 1, 0));
    assert_eq!((cut.status.map(|s| s.restarts), cut.deleted, cut.log.len()), (Some(0), false, 3));
}

#[test]
fn a_recording_that_ends_quietly_is_compared_unchanged() {
    let log = json!([[8000, "JobSet", "js", "status", {"restarts": 1}]]);
    assert!(without_last_second(&recording(log)).is_none());
}
