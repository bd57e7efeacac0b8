//! Unit tests of `sim_recordings::validate::read`.

use super::*;
use std::path::{Path, PathBuf};

/// Returns a small recording for test cases. `edit` changes the JSON before it is read.
pub fn example(edit: impl FnOnce(&mut Value)) -> RecordedRun {
    let mut json = serde_json::json!({
        "schema": SCHEMA, "kind": "decisions", "name": "ns",
        "controlPlane": {
            "kubernetes": "1.36.3", "featureGates": ["InPlaceRestart"],
            "kubeControllerManager": {"qps": 50, "burst": 60, "concurrentJobSyncs": 5},
            "kubeScheduler": {"qps": 70, "burst": 80}, "jobsetManager": {"qps": 500, "burst": 500},
            "nodes": 10, "nodesPerPool": 2, "podsPerNode": 110
        },
        "jobSet": {"metadata": {"name": "js"}, "spec": {"replicatedJobs": []}},
        "script": {"startMs": 500, "termMs": 400, "termExit": 143, "restartMs": 700, "pods": []},
        "playedForMs": 9000, "podColumns": [], "pods": []
    });
    edit(&mut json);
    read("example.json", &json.to_string()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the directory of recordings of one kind: the complete set if it is next to the repository, otherwise the
/// subset in the repository.
pub fn folder(kind: &str) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let all = root.join("../shared/recordings").join(kind);
    if all.is_dir() {
        return all;
    }
    root.join("tests/recordings").join(kind)
}

/// Returns the recordings of one kind, each with its path.
pub fn shared(kind: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder(kind)).unwrap();
    let mut files: Vec<(String, String)> = entries
        .map(|e| e.unwrap().path().to_string_lossy().into_owned())
        .filter(|p| p.ends_with(".json"))
        .map(|p| (p.clone(), std::fs::read_to_string(&p).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn every_shared_recording_is_read() {
    for (folder, least) in [("times", 4), ("nodes", 10), ("decisions", 30), ("corner", 29)] {
        let files = shared(folder);
        let kinds = files.iter().map(|(f, t)| read(f, t).unwrap().kind.as_str());
        assert!(kinds.filter(|k| *k == folder).count() >= least, "{folder}");
    }
}

#[test]
fn admission_recordings_are_rejected_by_name() {
    for (file, text) in shared("admission") {
        let error = read(&file, &text).unwrap_err();
        assert_eq!(error.problem, RecordingFileProblem::ListOfCases);
    }
}

#[test]
fn what_is_not_a_recording_says_so_with_the_file_name() {
    let head = r#""schema":"jobset-sim/recording/v1""#;
    for (text, expected) in [
        ("", "f.json: not JSON"),
        ("{}", "key `schema` is missing"),
        (r#"{"schema":"x/v1"}"#, "unknown schema \"x/v1\""),
        (&format!("{{{head}}}"), "key `kind` is missing"),
        (&format!("{{{head},\"kind\":\"film\"}}"), "unknown kind \"film\""),
        (&format!("{{{head},\"kind\":\"times\"}}"), "missing field `name`"),
    ] {
        let error = read("f.json", text).unwrap_err().to_string();
        assert!(error.starts_with("f.json: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn absurd_numbers_are_rejected() {
    type Edit = fn(&mut Value);
    let cases: [(Edit, &str); 5] = [
        (|j| j["controlPlane"]["nodes"] = 0.into(), "controlPlane.nodes"),
        (|j| j["controlPlane"]["kubeScheduler"]["qps"] = 0.into(), "kubeScheduler"),
        (|j| j["controlPlane"]["nodesPerPool"] = 0.into(), "nodesPerPool"),
        (|j| j["playedForMs"] = u64::MAX.into(), "100 years"),
        (|j| j["kind"] = "times".into(), "milestones"),
    ];
    for (edit, expected) in cases {
        let good = example(|_| {});
        assert_eq!(good.kind, RecordingKind::Decisions);
        let error = std::panic::catch_unwind(|| example(edit)).unwrap_err();
        let error = error.downcast_ref::<String>().cloned().unwrap_or_default();
        assert!(error.contains(expected), "{error}");
    }
}
