//! Unit tests of `sim_recordings::validate::output`.

use super::super::recording::RecordingKind;
use super::super::result::tests::*;
use super::*;
use crate::validate::result::RestartResult;

#[test]
fn json_has_the_documented_keys_and_no_others() {
    let mut decided = file(RecordingKind::Decisions);
    decided.differences = Some(vec![RecordedDifference::new("status.restarts", 1, 0)]);
    decided.exit_races = 2;
    let mut skipped = file(RecordingKind::Corner);
    skipped.not_simulated = vec!["action patch".into(), "key x".into()];
    let mut other = file(RecordingKind::Nodes);
    other.differences = decided.differences.clone();
    other.equal_replay = Some("ties broken by last name".into());
    let mut timed = file(RecordingKind::Times);
    timed.restart = Some(restart(100.0, Some(103.1)));
    timed.milestones =
        vec![MilestoneResult { name: "jobFailed".into(), recorded_s: Some(2.0), simulated_s: Some(2.5) }];
    let files = [decided, skipped, other, timed];
    assert_eq!(
        json(&files, &ResultTotals::from_files(&files)),
        json!({"recordings": [
                {"file": "decisions.json", "kind": "decisions", "decisions": {"result": "different", "equal": false, "eitherWay": 2,
                    "differences": [{"path": "status.restarts", "recorded": 1, "simulated": 0}]}},
                {"file": "corner.json", "kind": "corner", "decisions": {"result": "notSimulated", "equal": false,
                    "notSimulated": ["action patch", "key x"]}},
                {"file": "nodes.json", "kind": "nodes", "decisions": {"result": "otherPlay", "equal": false,
                    "play": "ties broken by last name", "eitherWay": 0,
                    "differences": [{"path": "status.restarts", "recorded": 1, "simulated": 0}]}},
                {"file": "times.json", "kind": "times",
                    "milestones": [{"name": "jobFailed", "recorded_s": 2.0, "simulated_s": 2.5}],
                    "restart": {"recorded_s": 100.0, "simulated_s": 103.1, "error": 0.031, "scored": true}}],
                "decisions": {"equal": 0, "otherPlay": 1, "different": 1, "notSimulated": 1, "eitherWay": 0, "total": 3},
                "kinds": {
                    "corner": {"equal": 0, "otherPlay": 0, "different": 0, "notSimulated": 1, "eitherWay": 0, "total": 1},
                    "decisions": {"equal": 0, "otherPlay": 0, "different": 1, "notSimulated": 0, "eitherWay": 0, "total": 1},
                    "nodes": {"equal": 0, "otherPlay": 1, "different": 0, "notSimulated": 0, "eitherWay": 0, "total": 1}},
                "restart": {"error": {"p50": 0.031, "max": 0.031}}})
    );
    assert_eq!(json(&[], &ResultTotals::default()), json!({"recordings": []}));
}

#[test]
fn there_is_one_row_per_comparison() {
    let mut timed = file(RecordingKind::Times);
    timed.restart = Some(RestartResult { scored: false, ..restart(10.0, Some(9.0)) });
    timed.requests = vec![RequestDifference {
        window: "restart",
        client: "jobset".into(),
        verb: "create".into(),
        resource: "jobs".into(),
        code: "409".into(),
        recorded: 0,
        simulated: 2,
        note: None,
    }];
    assert_eq!(
        rows(&[timed]),
        [
            ["times.json", "times", "restart, not scored", "lastPodReady", "10", "9", "-0.1"],
            ["times.json", "times", "requests restart", "jobset create jobs (409)", "0", "2", ""],
        ]
    );
}
