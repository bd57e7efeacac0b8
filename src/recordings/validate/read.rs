//! Reads recordings: one JSON file each.
//!
//! Must never guess: what it cannot read, or what is absurd, is an error that names the file.

use super::recording::{Kind, Recording, SCHEMA};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Longest time a recording may name: 100 years, as everywhere else.
const LONGEST_MS: u64 = 100 * 365 * 86_400 * 1_000;
/// Most nodes a recording may name; more is a typing error and would only exhaust memory.
const MOST_NODES: u32 = 1_000_000;

#[derive(Deserialize)]
struct Head {
    schema: Option<Value>,
    kind: Option<Value>,
}

/// Reads one recording; `file` appears in the error.
pub fn read(file: &str, text: &str) -> Result<Recording, String> {
    check_head(file, text)?;
    let recording: Recording = serde_json::from_str(text)
        .map_err(|e| format!("{file}: not a recording of schema {SCHEMA}: {e}"))?;
    check(&recording).map_err(|e| format!("{file}: {e}"))?;
    Ok(recording)
}

fn check_head(file: &str, text: &str) -> Result<(), String> {
    let not_json = |e| format!("{file}: not JSON: {e}");
    if text.trim_start().starts_with('[') {
        serde_json::from_str::<IgnoredAny>(text).map_err(not_json)?;
        return Err(format!(
            "{file}: a list of admission cases, not one recording"
        ));
    }
    let head: Head = serde_json::from_str(text).map_err(not_json)?;
    match head.schema {
        Some(Value::String(s)) if s == SCHEMA => {}
        Some(other) => {
            return Err(format!(
                "{file}: schema {other} is not known; this command reads {SCHEMA:?}"
            ));
        }
        None => {
            return Err(format!(
                "{file}: no key `schema`; a recording has \"schema\": {SCHEMA:?}"
            ));
        }
    }
    let known = ["decisions", "times", "corner", "nodes"];
    match head.kind {
        Some(Value::String(k)) if known.contains(&k.as_str()) => Ok(()),
        Some(other) => Err(format!(
            "{file}: kind {other} is not known; the kinds are {}",
            known.join(", ")
        )),
        None => Err(format!(
            "{file}: no key `kind`; the kinds are {}",
            known.join(", ")
        )),
    }
}

fn check(recording: &Recording) -> Result<(), String> {
    let cp = &recording.control_plane;
    for (name, rate) in [
        ("kubeControllerManager", cp.kube_controller_manager),
        ("kubeScheduler", cp.kube_scheduler),
        ("jobsetManager", cp.jobset_manager),
    ] {
        if !(rate.qps.is_finite() && rate.qps > 0.0 && rate.burst > 0) {
            return Err(format!(
                "controlPlane.{name}: qps {} and burst {} must be greater than 0",
                rate.qps, rate.burst
            ));
        }
    }
    let own = recording.objects.iter().any(|o| o["kind"] == "Node");
    if (cp.nodes == 0 && !own) || cp.nodes > MOST_NODES {
        return Err(format!(
            "controlPlane.nodes: {} is not between 1 and {MOST_NODES}",
            cp.nodes
        ));
    }
    if cp.nodes_per_pool == 0 || cp.nodes_per_zone == Some(0) {
        return Err("controlPlane.nodesPerPool and nodesPerZone must be greater than 0".to_owned());
    }
    if let Some(latency) = cp.api_latency_ms {
        let (p50, p95) = latency.p50_p95();
        super::check_latency(p50, p95).map_err(|e| format!("controlPlane.apiLatencyMs: {e}"))?;
    }
    let script = &recording.script;
    let mut times = vec![script.start_ms, script.term_ms, script.restart_ms];
    times.extend(recording.played_for_ms);
    times.extend(script.actions.iter().map(|a| a.at_ms));
    for rule in &script.pods {
        times.extend([rule.start_ms, rule.term_ms].into_iter().flatten());
        times.push(rule.run_ms.max(0) as u64);
    }
    if let Some(ms) = times.into_iter().find(|ms| *ms > LONGEST_MS) {
        return Err(format!("a time of {ms} ms is longer than 100 years"));
    }
    if recording.kind == Kind::Times && recording.milestones.is_none() {
        return Err("kind times needs the key `milestones`".to_owned());
    }
    if recording.kind != Kind::Times && recording.played_for_ms.is_none() {
        return Err(format!(
            "kind {} needs the key `playedForMs`",
            recording.kind.as_str()
        ));
    }
    Ok(())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    /// A small recording to build test cases from; `edit` changes the JSON before it is read.
    pub fn example(edit: impl FnOnce(&mut Value)) -> Recording {
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
        read("example.json", &json.to_string()).unwrap()
    }

    /// The folder of recordings of one kind: all of them where they are beside the repository, else the part in it.
    pub fn folder(kind: &str) -> PathBuf {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let all = root.join("../shared/recordings").join(kind);
        if all.is_dir() {
            return all;
        }
        root.join("tests/recordings").join(kind)
    }

    /// The recordings of one kind, each with its path.
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
        for (folder, least) in [
            ("times", 4),
            ("nodes", 10),
            ("decisions", 30),
            ("corner", 30),
        ] {
            let files = shared(folder);
            let kinds = files.iter().map(|(f, t)| read(f, t).unwrap().kind.as_str());
            assert!(kinds.filter(|k| *k == folder).count() >= least, "{folder}");
        }
    }

    #[test]
    fn admission_recordings_are_refused_by_name() {
        for (file, text) in shared("admission") {
            assert!(read(&file, &text).unwrap_err().contains("admission"));
        }
    }

    #[test]
    fn what_is_not_a_recording_says_so_with_the_file_name() {
        let head = r#""schema":"jobset-sim/recording/v1""#;
        for (text, expected) in [
            ("", "f.json: not JSON"),
            ("{}", "no key `schema`"),
            (r#"{"schema":"x/v1"}"#, "schema \"x/v1\" is not known"),
            (&format!("{{{head}}}"), "no key `kind`"),
            (
                &format!("{{{head},\"kind\":\"film\"}}"),
                "kind \"film\" is not known",
            ),
            (
                &format!("{{{head},\"kind\":\"times\"}}"),
                "missing field `name`",
            ),
        ] {
            let error = read("f.json", text).unwrap_err();
            assert!(
                error.starts_with("f.json: ") && error.contains(expected),
                "{error}"
            );
        }
    }

    #[test]
    fn absurd_numbers_are_refused() {
        type Edit = fn(&mut Value);
        let cases: [(Edit, &str); 5] = [
            (
                |j| j["controlPlane"]["nodes"] = 0.into(),
                "controlPlane.nodes",
            ),
            (
                |j| j["controlPlane"]["kubeScheduler"]["qps"] = 0.into(),
                "kubeScheduler",
            ),
            (
                |j| j["controlPlane"]["nodesPerPool"] = 0.into(),
                "nodesPerPool",
            ),
            (|j| j["playedForMs"] = u64::MAX.into(), "100 years"),
            (|j| j["kind"] = "times".into(), "milestones"),
        ];
        for (edit, expected) in cases {
            let good = example(|_| {});
            assert_eq!(good.kind, Kind::Decisions);
            let error = std::panic::catch_unwind(|| example(edit)).unwrap_err();
            let error = error.downcast_ref::<String>().cloned().unwrap_or_default();
            assert!(error.contains(expected), "{error}");
        }
    }
}
