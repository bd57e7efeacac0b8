//! Unit tests of `sim_recordings::validate::decisions::exit_races`.

use super::*;
use crate::validate::read::tests::example;
use serde_json::{Value, json};

const KEY: PodKey<'static> = ("w", 0, 0, 0);

#[test]
fn only_an_exit_between_the_marks_or_near_one_is_a_race() {
    for (exit_s, recorded, simulated, expected) in [
        (5.0, Some(5.3), Some(7.0), true),
        (5.0, Some(5.31), Some(7.0), false),
        (5.0, Some(4.0), Some(6.0), true),
        (5.0, Some(6.0), Some(4.0), true),
        (5.0, Some(3.0), Some(4.7), true),
        (5.0, Some(3.0), Some(4.6), false),
        // A mark on one side only.
        (5.0, Some(5.2), None, true),
        (5.0, None, Some(5.2), true),
        (5.0, Some(4.0), None, false),
        (5.0, None, None, false),
    ] {
        assert_eq!(is_race(exit_s, [recorded, simulated]), expected, "{exit_s} {recorded:?} {simulated:?}");
    }
}

fn exits(rules: Value, pod: &RecordedPodRow) -> Vec<f64> {
    let recording = example(|j| j["script"]["pods"] = rules);
    let selected = PodSelection { jobset: "js", key: KEY, job_restart: 0, job_try: 0 };
    let ready_s: Vec<f64> = ready_times(pod).map(|ms| ms as f64 / 1e3).collect();
    let bound = pod.bound_ms.map(|ms| (ms + recording.script.start_ms) as f64 / 1e3);
    run_exits(&recording, pod.container_restarts, &selected, &ready_s, bound)
}

#[test]
fn own_exits_come_from_the_script_and_not_from_the_deletion() {
    let pod = |ready_changes_ms: &[i64], container_restarts| RecordedPodRow {
        bound_ms: Some(100),
        ready_changes_ms: ready_changes_ms.to_vec(),
        container_restarts,
        ..RecordedPodRow::default()
    };
    let once = json!([{"runMs": 2000}]);
    assert_eq!(exits(once.clone(), &pod(&[1000, -2500], 0)), [3.0]);
    // Never ready: the containers would have started 500 ms after the binding.
    assert_eq!(exits(once.clone(), &pod(&[], 0)), [2.6]);
    // Runs without a change of readiness follow the exit by 700 ms, others start when they become ready.
    assert_eq!(exits(once.clone(), &pod(&[1000], 1)), [3.0, 5.7]);
    assert_eq!(exits(once, &pod(&[1000, -3000, 4000], 1)), [3.0, 6.0]);
    // The rule selects the first run only; a pod without a rule, or one that never ends, has no own exit.
    let first = json!([{"containerRun": 0, "runMs": 2000}, {"runMs": -1}]);
    assert_eq!(exits(first, &pod(&[1000, -3000, 4000], 1)), [3.0]);
    assert_eq!(exits(json!([]), &pod(&[1000], 0)), [0.0; 0]);
    assert_eq!(exits(json!([{"podIndex": 1, "runMs": 5}]), &pod(&[1000], 0)), [0.0; 0]);
}
