//! `recording replay`: simulates an incident with another strategy while everything else is unchanged.

use crate::program::{program, scratch};
use serde_json::Value;
use std::path::Path;

fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let done = program(words).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

fn replayed(incident: &str, change: &str) -> Value {
    let (code, text, errors) = run(&["recording", "replay", incident, "--counterfactual", change, "--format", "json"]);
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str(&text).expect("JSON")
}

fn milestone<'j>(json: &'j Value, name: &str) -> &'j Value {
    let all = json["milestones"].as_array().expect("milestones");
    all.iter().find(|m| m["name"] == name).expect("the milestone")
}

fn imported(dir: &Path) -> String {
    let out = dir.join("incident.json").display().to_string();
    let kubectl = |file: &str| format!("tests/recordings/kubectl/{file}");
    let [jobsets, jobs, pods, events] =
        ["jobsets", "jobs", "pods", "events"].map(|kind| kubectl(&format!("watch-{kind}.json")));
    let (code, _, errors) = run(&["recording", "import", &jobsets, &jobs, &pods, &events, "--out", &out]);
    assert_eq!(code, Some(0), "{errors}");
    out
}

#[test]
fn replay_with_another_strategy_changes_only_dependent_results() {
    let dir = scratch("replay");
    let incident = imported(&dir);
    let blocking = replayed(&incident, "strategy=BlockingRecreate");
    // Both runs are equal until Jobs are recreated; then the first Job waits until the last old one is removed.
    for same in ["failureTarget", "jobFailed", "restartCounted", "lastJobGone"] {
        assert_eq!(milestone(&blocking, same)["difference_s"], 0.0, "{same}");
    }
    let first = milestone(&blocking, "firstJobCreated");
    assert!(first["difference_s"].as_f64().expect("both values exist") > 1.0, "{first}");
    assert!(first["recorded_s"].is_number() && first["asItWas_s"].is_number());
    let in_place = replayed(&incident, "strategy=InPlaceRestart");
    assert!(milestone(&in_place, "jobFailed")["counterfactual_s"].is_null());
    let (was, with) = (&in_place["total"]["asItWas_s"], &in_place["total"]["counterfactual_s"]);
    assert!(with.as_f64() < was.as_f64(), "{with} {was}");
    // A recorded fault occurs only once, whatever state it meets.
    let restarts = in_place["metrics"].as_array().expect("metrics");
    let counted = restarts.iter().find(|m| m["name"] == "restarts");
    assert!(counted.is_none_or(|m| m["counterfactual"].as_f64() <= Some(1.0)), "{counted:?}");
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}

#[test]
fn a_run_is_replayed_with_its_own_faults() {
    let dir = scratch("replay-run");
    let out = dir.join("run").display().to_string();
    let (code, _, errors) = run(&["run", "scenarios/first-steps.yaml", "--out", &out]);
    assert_eq!(code, Some(0), "{errors}");
    let json = replayed(&out, "strategy=BlockingRecreate");
    assert_eq!(milestone(&json, "podFailed")["difference_s"], 0.0);
    assert_ne!(json["digests"][0], json["digests"][1]);
    let summary = std::fs::read_to_string(dir.join("run/summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(json["digests"][0], summary["digest"], "the unchanged replay must be equal to the run");
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}

#[test]
fn contradictory_options_are_rejected() {
    let dir = scratch("replay-refused");
    let incident = imported(&dir);
    let out = dir.join("run").display().to_string();
    assert_eq!(run(&["run", "scenarios/first-steps.yaml", "--out", &out]).0, Some(0));
    for (what, change, expected) in [
        (&incident, "script.startMs=5", "is the incident itself"),
        (&incident, "spec.failurePolicy.restartStrategy=Recreate", "nothing differs"),
        (&incident, "spec.failurePolicy.restartStrategie=Recreate", "unknown field"),
        (&incident, "strategy=Hope", "\"Hope\" is not a restart strategy"),
        (&incident, "controlPlane.kubeScheduler.qps=-1", "legal: a number from 0.01"),
        (&incident, "controlPlane.preset=stok", "control plane preset \"stok\" does not exist"),
        (&out, "seed=3", "is the incident itself"),
        (&out, "faults.0.at=3s", "is the incident itself"),
    ] {
        let (code, text, errors) = run(&["recording", "replay", what, "--counterfactual", change]);
        assert_eq!(code, Some(2), "{change}: {text}");
        assert!(errors.contains(expected), "{change}: {errors}");
    }
    let (code, _, errors) = run(&["recording", "replay", "scenarios", "--counterfactual", "strategy=Recreate"]);
    assert!(code == Some(2) && errors.contains("is not a run directory"), "{errors}");
    std::fs::remove_dir_all(&dir).expect("the directory can be removed");
}
