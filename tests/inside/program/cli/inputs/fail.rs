//! Unit tests of `jobset_sim::cli::inputs::fail`.

use super::*;

#[test]
fn a_failure_is_a_pod_what_happens_and_when() {
    let seconds = Duration::from_secs;
    for (text, pod, kind, at) in [
        ("w-0-1:exit=42@10m", "w-0-1", FailKind::Exit(42), FaultTime::At(seconds(600))),
        ("w/0/1:exit=1", "w-0-1", FailKind::Exit(1), FaultTime::AfterReady(seconds(0))),
        ("js-w-0-1:delete@ready", "js-w-0-1", FailKind::Delete, FaultTime::AfterReady(seconds(0))),
        ("w-0-1:evict@ready+30s", "w-0-1", FailKind::Evict, FaultTime::AfterReady(seconds(30))),
    ] {
        let fail = parse(text).unwrap();
        assert_eq!((fail.pod.as_str(), &fail.kind, fail.at), (pod, &kind, at), "{text}");
    }
}

#[test]
fn what_is_none_says_how_to_write_it() {
    for (text, expected) in [
        ("w-0-1", "expected POD:exit=CODE"),
        (":exit=1", "missing pod name"),
        ("w-0-1:explode", "unknown failure \"explode\""),
        ("w-0-1:exit=256", "not a number from 0 to 255"),
        ("w-0-1:exit=1@later", "expected 10m, ready or ready+30s"),
        ("w-0-1:exit=1@ready-3s", "expected 10m, ready or ready+30s"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
