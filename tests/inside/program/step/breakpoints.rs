//! Unit tests of `jobset_sim::step::breakpoints`.

use super::*;
use serde_json::json;

#[test]
fn a_breakpoint_is_a_kind_and_perhaps_a_member() {
    for (text, kind) in [
        ("PodReady", "PodReady"),
        ("RestartCounted.restarts=2", "RestartCounted"),
        ("jobset.condition=RestartingJobSet", "JobSetCondition"),
        ("pod.phase=Running", "PodRunning"),
        ("pod.phase=Failed", "PodFinished"),
        ("PodReady.object=train-workers-0-1", "PodReady"),
    ] {
        let actual: Breakpoint = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!((actual.kind, actual.to_string()), (kind, text.to_owned()));
    }
    for (text, words) in [
        ("PodRedy", "did you mean \"PodReady\"?"),
        ("PodReady=1", "expected KIND or KIND.MEMBER=VALUE"),
        ("PodReady.exitCode=1", "PodReady has no member \"exitCode\"; its members are incarnation"),
        ("jobset.condition", "expected jobset.condition=VALUE"),
        ("pod.phase=Lost", "Pending, Running, Succeeded or Failed"),
    ] {
        let refused = text.parse::<Breakpoint>().expect_err(text);
        assert!(refused.contains(words), "{text}: {refused}");
    }
}

#[test]
fn all_that_it_names_must_be_so() {
    let result: Breakpoint = "jobset.condition=Failed".parse().unwrap();
    assert!(result.meets(&json!({"type": "Failed", "status": "True"})));
    assert!(!result.meets(&json!({"type": "Failed", "status": "False"})));
    let of: Breakpoint = "PodReady.object=t-w-0-1".parse().unwrap();
    assert!(of.meets(&json!({"object": "pod/default/t-w-0-1-x2m4q"})));
    assert!(!of.meets(&json!({"object": "pod/default/t-w-0-11-x2m4q"})));
}
