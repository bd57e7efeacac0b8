//! Unit tests of `sim_recordings::validate::simulate`.

use super::super::read::{read, tests::shared};
use super::*;

#[test]
fn replayed_jobset_equals_stored_jobset() {
    let defaults = defaults().unwrap();
    let mut compared = 0;
    for folder in ["decisions", "corner", "nodes"] {
        for (file, text) in shared(folder) {
            let recording = read(&file, &text).unwrap();
            let scenario = replay_scenario(&recording, &defaults, &ScenarioOverrides::default()).unwrap();
            let (Ok(simulated), Some(stored)) = (admit_recorded_jobset(&recording, &scenario), &recording.stored_spec)
            else {
                continue;
            };
            assert_eq!(simulated["spec"], *stored, "{file}");
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn script_times_count_from_creation_and_objects_exist_before() {
    let recording = super::super::read::tests::example(|j| {
        j["controlPlane"]["gateSwitches"] = serde_json::json!([{"atMs": 3000}]);
        j["script"]["actions"] = serde_json::json!([{"atMs": 1000, "do": "suspend"}]);
    });
    let mut scenario = replay_scenario(&recording, &defaults().unwrap(), &ScenarioOverrides::default()).unwrap();
    shift_start(Duration::from_secs(2), &mut scenario);
    assert_eq!(scenario.faults[0].at, FaultTime::At(Duration::from_secs(3)));
    assert_eq!(scenario.faults[1].at, FaultTime::At(Duration::from_secs(5)));
    assert_eq!(scenario.stop.at, Duration::from_secs(10));
}

#[test]
fn unsupported_object_is_not_simulated() {
    let recording = super::super::read::tests::example(|j| {
        j["objects"] = serde_json::json!([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
            "status": {"conditions": [{"type": "Ready", "status": "False"}]}}]);
    });
    let defaults = defaults().unwrap();
    let result = validate("f", &recording, &defaults, &ScenarioOverrides::default());
    assert_eq!(result.verdict(), Some(ValidationVerdict::NotSimulated));
    assert_eq!(result.not_simulated, ["object Node n: a Node with condition Ready=False at the start is not modelled"]);
}

#[test]
fn a_job_without_jobset_that_is_gone_keeps_its_suspension_and_attempt() {
    let pod = serde_json::json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "example.com/i:1"}]}});
    let owner = serde_json::json!([{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "js",
        "uid": "00000000-0000-0000-0000-0000000000aa", "controller": true}]);
    let metadata = serde_json::json!({"name": "js-x-0", "ownerReferences": owner,
        "labels": {"jobset.sigs.k8s.io/restart-attempt": "3"}});
    for suspend in [true, false] {
        let recording = super::super::read::tests::example(|j| {
            let spec = serde_json::json!({"suspend": suspend, "template": pod});
            j["objects"] =
                serde_json::json!([{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}]);
            j["jobSet"] = serde_json::json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
                "metadata": {"name": "js"},
                "spec": {"replicatedJobs": [{"name": "u", "template": {"spec": {"template": pod}}}]}});
        });
        let scenario = default_replay_scenario("f", &recording).unwrap();
        let mut simulation = SimulationInput::new(&scenario).unwrap();
        let (observed, DiscardSink) = run_observed(&recording, &mut simulation, SEED, DiscardSink);
        let rows = observed.sink.history.other_jobs();
        let seen: Vec<_> = rows.map(|row| (row.exists, row.suspended, row.restart_attempt.as_str())).collect();
        assert_eq!(seen, [(false, suspend, "3")]);
    }
}
